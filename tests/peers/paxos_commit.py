"""Paxos commit over (managers as a string of w p c a, acceptors as (ballot, vote), messages as bits)."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import prod

from peers.search import Constants, Counted, walk

Acceptor = tuple[int, str]  # the latest ballot; its last vote as ballot and p or a, or nothing
State = tuple[str, tuple[Acceptor, ...], int]


@cache
def bit(*message: object) -> int:
    """A bit of its own for each message."""
    return int(1 << bit.cache_info().currsize)


def put(acceptors: tuple[Acceptor, ...], i: int, new: Acceptor) -> tuple[Acceptor, ...]:
    return (*acceptors[:i], new, *acceptors[i + 1 :])


@dataclass(frozen=True)
class Commit:
    """So many managers, acceptors and ballots, and whether each way to find a majority counts."""

    size: int
    voters: int
    ballots: range
    as_tlc: bool

    @cached_property
    def majorities(self) -> list[tuple[int, ...]]:
        return list(combinations(range(self.voters), self.voters // 2 + 1))

    def won(self, sent: int, i: int, outcome: str) -> int:
        """In how many ways that outcome can be seen to be chosen."""
        return sum(
            all(sent & bit("2b", i, a, ballot, outcome) for a in majority)
            for ballot in (0, *self.ballots)
            for majority in self.majorities
        )

    def told(self, sent: int, i: int, a: int, ballot: int) -> list[str]:
        """The vote that the acceptor has told a leader, if it has."""
        votes = ["", *(f"{before}{outcome}" for before in range(ballot) for outcome in "pa")]
        return [vote for vote in votes if sent & bit("1b", i, a, ballot, vote)]

    def safe(self, sent: int, i: int, ballot: int) -> list[str]:
        told = [self.told(sent, i, a, ballot) for a in range(self.voters)]
        found = [
            max(told[a][0] for a in majority)[1:] or "a"
            for majority in self.majorities
            if all(told[a] for a in majority)
        ]
        return found if self.as_tlc else sorted(set(found))

    def leaders(self, state: State) -> Iterator[tuple[str, State]]:
        stages, acceptors, sent = state
        for i in range(self.size):
            for ballot in self.ballots:
                yield "begin", (stages, acceptors, sent | bit("1a", i, ballot))
                if not sent & (bit("2a", i, ballot, "p") | bit("2a", i, ballot, "a")):
                    for outcome in self.safe(sent, i, ballot):
                        yield "propose", (stages, acceptors, sent | bit("2a", i, ballot, outcome))
        commit = prod(self.won(sent, i, "p") for i in range(self.size))
        abort = sum(self.won(sent, i, "a") for i in range(self.size))
        for name, times in (("commit", commit), ("abort", abort)):
            for _ in range(times if self.as_tlc else min(times, 1)):
                yield name, (stages, acceptors, sent | bit(name))

    def manager(self, state: State, i: int) -> Iterator[tuple[str, State]]:
        stages, acceptors, sent = state
        head, tail = stages[:i], stages[i + 1 :]
        if stages[i] == "w":
            yield "prepare", (head + "p" + tail, acceptors, sent | bit("2a", i, 0, "p"))
            yield "give_up", (head + "a" + tail, acceptors, sent | bit("2a", i, 0, "a"))
        if sent & bit("commit"):
            yield "obey_commit", (head + "c" + tail, acceptors, sent)
        if sent & bit("abort"):
            yield "obey_abort", (head + "a" + tail, acceptors, sent)

    def voter(self, state: State, i: int, a: int) -> Iterator[tuple[str, State]]:
        stages, acceptors, sent = state
        place = i * self.voters + a
        latest, vote = acceptors[place]
        for ballot in (0, *self.ballots):
            if ballot > latest and sent & bit("1a", i, ballot):
                joined = put(acceptors, place, (ballot, vote))
                yield "promise", (stages, joined, sent | bit("1b", i, a, ballot, vote))
            for outcome in "pa":
                if ballot >= latest and sent & bit("2a", i, ballot, outcome):
                    voted = put(acceptors, place, (ballot, f"{ballot}{outcome}"))
                    yield "vote", (stages, voted, sent | bit("2b", i, a, ballot, outcome))

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        yield from self.leaders(state)
        for i in range(self.size):
            yield from self.manager(state, i)
            for a in range(self.voters):
                yield from self.voter(state, i, a)


def counts(constants: Constants, *, as_tlc: bool = False) -> Counted:
    """With `as_tlc` what a leader does counts once for each way to find its majorities."""
    size, voters = constants["MANAGERS"], constants["ACCEPTORS"]
    commit = Commit(size, voters, range(1, constants["LAST_BALLOT"] + 1), as_tlc)
    return walk([("w" * size, ((0, ""),) * (size * voters), 0)], commit.steps)

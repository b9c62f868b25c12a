"""Paxos over (latest ballots, last votes, messages), a message being a tuple that begins with its phase."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from peers.search import Constants, Counted, walk

Message = tuple[int, ...]
State = tuple[tuple[int, ...], tuple[tuple[int, int], ...], frozenset[Message]]
NEVER = (-1, -1)


@dataclass(frozen=True)
class Ballots:
    """So many acceptors, ballots and values, and whether a proposal counts once for each of its reasons."""

    size: int
    ballots: range
    values: range
    as_tlc: bool

    def reasons(self, sent: frozenset[Message], ballot: int, value: int) -> Iterator[bool]:
        """One for each quorum, and each of its votes, that allows the value."""
        told = {m[2]: m[3:] for m in sent if m[:2] == (1, ballot)}
        for quorum in map(set, combinations(range(self.size), self.size // 2 + 1)):
            if quorum <= told.keys():
                before = [told[acceptor] for acceptor in quorum if told[acceptor] != NEVER]
                if not before:
                    yield True
                yield from (True for vote in before if vote == (max(before)[0], value))

    def leaders(self, state: State) -> Iterator[tuple[str, State]]:
        latest, voted, sent = state
        for ballot in self.ballots:
            yield "begin", (latest, voted, sent | {(0, ballot)})
            if any(m[:2] == (2, ballot) for m in sent):
                continue
            for value in self.values:
                times = sum(self.reasons(sent, ballot, value))
                for _ in range(times if self.as_tlc else min(times, 1)):
                    yield "propose", (latest, voted, sent | {(2, ballot, value)})

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        latest, voted, sent = state
        yield from self.leaders(state)
        for a in range(self.size):
            for phase, ballot, *rest in sent:
                now = (*latest[:a], ballot, *latest[a + 1 :])
                if phase == 0 and ballot > latest[a]:
                    yield "promise", (now, voted, sent | {(1, ballot, a, *voted[a])})
                elif phase == 2 and ballot >= latest[a]:
                    after = (*voted[:a], (ballot, rest[0]), *voted[a + 1 :])
                    yield "vote", (now, after, sent | {(3, ballot, a, rest[0])})


def counts(constants: Constants, *, as_tlc: bool = False) -> Counted:
    """With `as_tlc` a proposal counts once for each quorum and each of its votes that allow it."""
    size, ballots, values = constants["ACCEPTORS"], constants["LAST_BALLOT"] + 1, constants["VALUES"]
    paxos = Ballots(size, range(ballots), range(values), as_tlc)
    start: State = ((-1,) * size, (NEVER,) * size, frozenset())
    return walk([start], paxos.steps)

"""Servers that run Paxos, as actors: (servers, clients, messages under way), each handler a function.

A server is (ballot, proposal, promises by server, who agreed, accepted, decided), a ballot (round, leader),
a proposal the number of its client. Servers come first in the numbering, then clients; a message is (from,
to, what, content…), and one that its receiver makes nothing of is not delivered.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from peers.search import Constants, Counted, walk

Message = tuple[Any, ...]
Actor = tuple[Any, ...]
State = tuple[tuple[Actor, ...], tuple[Message, ...]]
Reaction = tuple[Actor, list[Message]] | None
HEARS = {
    "put": "hear_write",
    "prepare": "hear_prepare",
    "prepared": "hear_promise",
    "accept": "hear_accept",
    "accepted": "hear_agreement",
    "decided": "hear_decision",
    "get": "hear_read",
    "put_ok": "hear_confirmation",
    "get_ok": "hear_answer",
}


@dataclass(frozen=True)
class Actors:
    """So many servers; the others are clients."""

    size: int

    def others(self, me: int, what: str, *content: object) -> list[Message]:
        return [(me, other, what, *content) for other in range(self.size) if other != me]

    def lead(self, me: int, server: Actor, message: Message) -> Reaction:
        ballot, proposal, promises, agreed, accepted, _ = server
        sender, _, what, *content = message
        if what == "put" and proposal is None:
            ballot = (ballot[0] + 1, me)
            led = (ballot, content[0], ((me, accepted),), (), accepted, False)
            return led, self.others(me, "prepare", ballot)
        if what == "prepared" and content[0] == ballot:
            promises = tuple(sorted({**dict(promises), sender: content[1]}.items()))
            sent: list[Message] = []
            if len(promises) == self.size // 2 + 1:
                told = [vote for _, vote in promises if vote is not None]
                proposal = max(told)[1] if told else proposal
                accepted, agreed = (ballot, proposal), (me,)
                sent = self.others(me, "accept", ballot, proposal)
            return (ballot, proposal, promises, agreed, accepted, False), sent
        if what == "accepted" and content[0] == ballot:
            agreed = tuple(sorted({*agreed, sender}))
            if len(agreed) == self.size // 2 + 1:
                sent = [*self.others(me, "decided", ballot, proposal), (me, proposal, "put_ok")]
                return (ballot, proposal, promises, agreed, accepted, True), sent
            return (ballot, proposal, promises, agreed, accepted, False), []
        return None

    def follow(self, me: int, server: Actor, message: Message) -> Reaction:
        ballot, proposal, promises, agreed, accepted, decided = server
        sender, _, what, *content = message
        if decided:
            return (server, [(me, sender, "get_ok", accepted[1])]) if what == "get" else None
        if what == "prepare" and content[0] > ballot:
            after = (content[0], proposal, promises, agreed, accepted, False)
            return after, [(me, sender, "prepared", content[0], accepted)]
        if what == "accept" and content[0] >= ballot:
            after = (content[0], proposal, promises, agreed, tuple(content), False)
            return after, [(me, sender, "accepted", content[0])]
        if what == "decided":
            return (content[0], proposal, promises, agreed, tuple(content), True), []
        return self.lead(me, server, message)

    def ask(self, me: int, client: Actor, message: Message) -> Reaction:
        if message[2] == "put_ok" and client == ("put",):
            return ("get",), [(me, (me + 1) % self.size, "get")]
        if message[2] == "get_ok" and client == ("get",):
            return ("done", message[3]), []
        return None

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        actors, sent = state
        for i, message in enumerate(sent):
            me = message[1]
            reaction = (self.follow if me < self.size else self.ask)(me, actors[me], message)
            if reaction is not None:
                after, replies = reaction
                left = sorted([*sent[:i], *sent[i + 1 :], *replies], key=repr)
                assert len(set(left)) == len(left), "the same message twice"
                yield HEARS[message[2]], ((*actors[:me], after, *actors[me + 1 :]), tuple(left))


def counts(constants: Constants) -> Counted:
    size, clients = constants["SERVERS"], constants["CLIENTS"]
    server: Actor = ((0, 0), None, (), (), None, False)
    puts = [(client, client % size, "put", client) for client in range(size, size + clients)]
    return walk([((server,) * size + (("put",),) * clients, tuple(puts))], Actors(size).steps)

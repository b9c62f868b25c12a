"""Paxos as servers run it: clients write and read one value, and the servers agree on what was written.

A message is delivered once, in any order; one that its receiver has no use for stays where it is. Each client
writes its own value and, when it has been told that this is done, reads from the next server. That what they
see is linearizable follows from three invariants: one write is ever confirmed, its writer is the only one who
reads, and it reads what it wrote. The other writes may stand after it, for ever unconfirmed.
"""

from __future__ import annotations

from enum import Enum
from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Map,
    Model,
    Record,
    Set,
    action,
    count,
    internal,
    invariant,
    reachable,
    require,
    terminal,
)

Server = Annotated[int, Below("SERVERS")]
Client = Annotated[int, Below("CLIENTS")]  # and the value that it writes
# The round times SERVERS, plus the leader: later rounds are larger numbers, and of one round later leaders.
Ballot = Annotated[int, Below("(CLIENTS + 1) * SERVERS")]


class Wants(Enum):
    """What a client waits for."""

    TO_WRITE = 0
    TO_READ = 1
    NOTHING = 2


class Vote(Record):
    """The value that a server accepted, and the ballot in which it did."""

    ballot: Ballot
    value: Client


class Promise(Record):
    """The answer to a leader: what the server had accepted before, if anything."""

    vote: Vote | None


class PaxosRegister(Model):
    """A leader has its client's value accepted, unless a majority tells it of a value accepted before."""

    SERVERS: ClassVar[int] = 3
    CLIENTS: ClassVar[int] = 2

    wants: Map[Client, Wants] = Map(Wants.TO_WRITE)
    read: Map[Client, Client | None] = Map(None)  # the value that the client was told
    ballot: Map[Server, Ballot] = Map(0)  # the latest that the server has taken part in
    accepted: Map[Server, Vote | None] = Map(None)
    decided: Set[Server] = Set()
    proposal: Map[Server, Client | None] = Map(None)  # of a server that leads or has led
    promised: Map[tuple[Server, Server], Promise | None] = Map(None)  # to the first, by the second
    agreed: Set[tuple[Server, Server]] = Set()  # with the first, the second

    # Messages, each until it is delivered.
    writes_heard: Set[Client] = Set()  # and not those that are still under way
    reads: Set[Client] = Set()
    confirmations: Set[tuple[Server, Client]] = Set()
    answers: Map[Client, Client | None] = Map(None)
    prepares: Set[tuple[Ballot, Server]] = Set()
    promises: Map[tuple[Ballot, Server], Promise | None] = Map(None)
    accepts: Map[tuple[Ballot, Server], Client | None] = Map(None)
    agreements: Set[tuple[Ballot, Server]] = Set()
    decisions: Map[tuple[Ballot, Server], Client | None] = Map(None)

    # The joints.

    def is_majority(self, servers: int) -> bool:
        return 2 * servers > self.SERVERS

    def may_promise(self, server: Server, ballot: Ballot) -> bool:
        return ballot > self.ballot[server]

    def may_accept(self, server: Server, ballot: Ballot) -> bool:
        return ballot >= self.ballot[server]

    def value_to_propose(self, leader: Server, own: Client) -> Client:
        """The value of the latest vote that the leader was told of, or else its own client's."""
        value = own
        latest = -1
        for server in range(self.SERVERS):
            promise = self.promised[leader, server]
            if promise is not None and promise.vote is not None and promise.vote.ballot > latest:
                latest = promise.vote.ballot
                value = promise.vote.value
        return value

    def may_answer(self, server: Server) -> bool:
        return server in self.decided

    def writer_to_confirm(self, leader: Server, value: Client) -> Client:
        return value

    def leader_of(self, ballot: Ballot) -> Server:
        return ballot % self.SERVERS

    def promises_of(self, leader: Server) -> int:
        return count(self.promised[leader, server] is not None for server in range(self.SERVERS))

    def agreements_of(self, leader: Server) -> int:
        return count((leader, server) in self.agreed for server in range(self.SERVERS))

    # What servers do with a message.

    @action
    def hear_write(self, client: Client) -> None:
        leader = client % self.SERVERS
        require(client not in self.writes_heard and leader not in self.decided)
        require(self.proposal[leader] is None)
        ballot = self.ballot[leader] - self.leader_of(self.ballot[leader]) + self.SERVERS + leader
        self.writes_heard.add(client)
        self.proposal[leader] = client
        self.ballot[leader] = ballot
        self.promised[leader, leader] = Promise(self.accepted[leader])
        for server in range(self.SERVERS):
            if server != leader:
                self.prepares.add((ballot, server))

    @internal
    def hear_prepare(self, ballot: Ballot, server: Server) -> None:
        require((ballot, server) in self.prepares)
        require(server not in self.decided and self.may_promise(server, ballot))
        self.prepares.discard((ballot, server))
        self.ballot[server] = ballot
        self.promises[ballot, server] = Promise(self.accepted[server])

    @internal
    def hear_promise(self, ballot: Ballot, server: Server) -> None:
        leader = self.leader_of(ballot)
        require(self.promises[ballot, server] is not None)
        require(leader not in self.decided and self.ballot[leader] == ballot)
        before = self.promises_of(leader)
        self.promised[leader, server] = self.promises[ballot, server]
        self.promises[ballot, server] = None
        if self.is_majority(self.promises_of(leader)) and not self.is_majority(before):
            self.propose(leader, ballot)

    def propose(self, leader: Server, ballot: Ballot) -> None:
        own = self.proposal[leader]
        if own is not None:
            value = self.value_to_propose(leader, own)
            self.proposal[leader] = value
            self.accepted[leader] = Vote(ballot, value)
            self.agreed.add((leader, leader))
            for server in range(self.SERVERS):
                if server != leader:
                    self.accepts[ballot, server] = value

    @internal
    def hear_accept(self, ballot: Ballot, server: Server) -> None:
        value = self.accepts[ballot, server]
        require(value is not None and server not in self.decided and self.may_accept(server, ballot))
        if value is not None:
            self.accepts[ballot, server] = None
            self.ballot[server] = ballot
            self.accepted[server] = Vote(ballot, value)
            self.agreements.add((ballot, server))

    @internal
    def hear_agreement(self, ballot: Ballot, server: Server) -> None:
        leader = self.leader_of(ballot)
        require((ballot, server) in self.agreements)
        require(leader not in self.decided and self.ballot[leader] == ballot)
        before = self.agreements_of(leader)
        self.agreements.discard((ballot, server))
        self.agreed.add((leader, server))
        if self.is_majority(self.agreements_of(leader)) and not self.is_majority(before):
            self.decide(leader, ballot)

    def decide(self, leader: Server, ballot: Ballot) -> None:
        value = self.proposal[leader]
        if value is not None:
            self.decided.add(leader)
            self.confirmations.add((leader, self.writer_to_confirm(leader, value)))
            for server in range(self.SERVERS):
                if server != leader:
                    self.decisions[ballot, server] = value

    @internal
    def hear_decision(self, ballot: Ballot, server: Server) -> None:
        value = self.decisions[ballot, server]
        require(value is not None and server not in self.decided)
        if value is not None:
            self.decisions[ballot, server] = None
            self.ballot[server] = ballot
            self.accepted[server] = Vote(ballot, value)
            self.decided.add(server)

    @action
    def hear_read(self, client: Client) -> None:
        server = (client + 1) % self.SERVERS
        require(client in self.reads and self.may_answer(server))
        self.reads.discard(client)
        vote = self.accepted[server]
        if vote is not None:
            self.answers[client] = vote.value

    # What clients do with a message.

    @action
    def hear_confirmation(self, server: Server, client: Client) -> None:
        require((server, client) in self.confirmations and self.wants[client] is Wants.TO_WRITE)
        self.confirmations.discard((server, client))
        self.wants[client] = Wants.TO_READ
        self.reads.add(client)

    @action
    def hear_answer(self, client: Client) -> None:
        require(self.answers[client] is not None)
        self.read[client] = self.answers[client]
        self.answers[client] = None
        self.wants[client] = Wants.NOTHING

    @terminal
    def all_is_done(self) -> bool:
        return len(self.decided) == self.SERVERS and any(
            wants is Wants.NOTHING for wants in self.wants.values()
        )

    @invariant
    def one_value_is_decided(self) -> bool:
        return not any(
            self.proposal_differs(server, other) for server in self.decided for other in self.decided
        )

    def proposal_differs(self, server: Server, other: Server) -> bool:
        vote = self.accepted[server]
        other_vote = self.accepted[other]
        return vote is not None and other_vote is not None and vote.value != other_vote.value

    @invariant
    def one_write_is_confirmed(self) -> bool:
        return count(wants is not Wants.TO_WRITE for wants in self.wants.values()) <= 1

    @invariant
    def who_reads_has_written(self) -> bool:
        """Its value, and nobody else's, is what it reads."""
        return all(value is None or value == client for client, value in self.read.items())

    @reachable
    def a_value_is_read(self) -> bool:
        return any(value is not None for value in self.read.values())

    @reachable
    def a_leader_gives_way_to_a_value_accepted_before(self) -> bool:
        return any(
            self.proposal[client % self.SERVERS] is not None
            and self.proposal[client % self.SERVERS] != client
            for client in self.writes_heard
        )

"""Safra's termination detection (EWD 998): a token counts messages round a ring whose nodes wake each other.

Nodes may send for ever, so the system itself has no bound: how far it is searched is said in `send`.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from falsework.language import (
    Below,
    Between,
    Map,
    Model,
    Upto,
    action,
    bound,
    configuration,
    initial,
    internal,
    invariant,
    reachable,
    require,
    terminal,
)

Node = Annotated[int, Below("NODES")]
# A set of nodes as a number in binary, the lowest digit for node 0. Two to the power of NODES is the product
# of a factor for each of eight nodes, 2 where the ring has that node and else 1; a larger ring has no such
# number.
Nodes = Annotated[
    int,
    Below(
        " * ".join(f"min(2, max(1, NODES + 1 - {node}))" for node in range(8))
        + " * min(1, max(0, 9 - NODES))"
    ),
]


class TerminationDetection(Model):
    """Node 0 announces the end only when a white token found every node passive and all messages received."""

    NODES: ClassVar[int] = 3
    COUNT: ClassVar[int] = 1  # the bound on how many more messages a node has sent than received
    PENDING: ClassVar[int] = 1  # the bound on messages under way to one node
    ANY_START: ClassVar[bool] = False  # else all start black, the token at 0

    active: Map[Node, bool] = Map(False)
    black: Map[Node, bool] = Map(True)
    counter: Map[Node, Annotated[int, Between("-(NODES - 1) * COUNT", "COUNT")]] = Map(0)
    pending: Map[Node, Annotated[int, Upto("PENDING")]] = Map(0)
    token_at: Node = 0
    token_black: bool = True
    token_count: Annotated[int, Between("-(NODES - 1) * (NODES - 1) * COUNT", "(NODES - 1) * COUNT")] = 0

    @initial
    def start(self, awake: Nodes, blackened: Nodes, token_at: Node) -> None:
        require(self.ANY_START or (token_at == 0 and self.is_everyone(blackened)))
        awake_left = awake
        black_left = blackened
        for node in self.active:
            self.active[node] = awake_left % 2 == 1
            self.black[node] = black_left % 2 == 1
            awake_left = awake_left // 2
            black_left = black_left // 2
        self.token_at = token_at

    def is_everyone(self, nodes: Nodes) -> bool:
        rest = nodes
        everyone = True
        for _ in self.active:
            everyone = everyone and rest % 2 == 1
            rest = rest // 2
        return everyone

    # The joints of rules 0 to 7.

    def counted(self, change: int) -> int:
        """What a node adds to its counter for a message that it sends (1) or receives (-1)."""
        return change

    def may_pass(self, node: Node) -> bool:
        return not self.active[node]

    def blackens(self, node: Node) -> bool:
        """Whether a message leaves its receiver black."""
        return True

    def token_darkens(self, node: Node) -> bool:
        """Whether the token leaves that node black."""
        return self.token_black or self.black[node]

    def another_round_is_due(self) -> bool:
        """What node 0 asks when the token has come home."""
        return self.token_black or self.black[0] or self.count_at_home() > 0

    def count_at_home(self) -> int:
        return self.token_count + self.counter[0]

    @action
    def send(self, node: Node, to: Node) -> None:
        require(node != to and self.active[node])
        bound(self.counter[node] < self.COUNT and self.pending[to] < self.PENDING)
        self.counter[node] += self.counted(1)
        self.pending[to] += 1

    @action
    def receive(self, node: Node) -> None:
        require(self.pending[node] > 0)
        self.pending[node] -= 1
        self.counter[node] += self.counted(-1)
        self.black[node] = self.black[node] or self.blackens(node)
        self.active[node] = True

    @action
    def finish(self, node: Node) -> None:
        require(self.active[node])
        self.active[node] = False

    @internal
    def start_probe(self) -> None:
        require(self.token_at == 0 and self.another_round_is_due())
        self.token_at = self.NODES - 1
        self.token_count = 0
        self.token_black = False
        self.black[0] = False

    @internal
    def pass_token(self, node: Node) -> None:
        require(node > 0 and self.token_at == node and self.may_pass(node))
        self.token_at = node - 1
        self.token_count += self.counter[node]
        self.token_black = self.token_darkens(node)
        self.black[node] = False

    def termination_is_announced(self) -> bool:
        return (
            self.token_at == 0
            and not self.token_black
            and not self.black[0]
            and not self.active[0]
            and self.count_at_home() == 0
        )

    def messages_under_way(self) -> int:
        return sum(self.pending.values())

    @terminal
    def all_is_done(self) -> bool:
        return self.termination_is_announced()

    @invariant
    def what_is_announced_is_true(self) -> bool:
        return not self.termination_is_announced() or (
            self.messages_under_way() == 0 and not any(self.active.values())
        )

    @invariant
    def counters_add_up_to_the_messages_under_way(self) -> bool:
        return sum(self.counter.values()) == self.messages_under_way()

    @invariant
    def the_probe_is_right_or_will_fail(self) -> bool:
        """Safra's invariant, P1 to P4, of the nodes that the token has visited and of those before it."""
        visited_are_passive = all(not self.active[node] for node in self.active if node > self.token_at)
        visited_were_counted = self.token_count == sum(
            self.counter[node] for node in self.counter if node > self.token_at
        )
        count_will_be_positive = (
            self.token_count + sum(self.counter[node] for node in self.counter if node <= self.token_at) > 0
        )
        someone_will_darken_it = any(self.black[node] for node in self.black if node <= self.token_at)
        return (
            (visited_are_passive and visited_were_counted)
            or count_will_be_positive
            or someone_will_darken_it
            or self.token_black
        )

    @reachable
    def termination_is_announced_in_the_end(self) -> bool:
        return self.termination_is_announced()

    @reachable
    def a_white_token_comes_home_too_early(self) -> bool:
        return self.token_at == 0 and not self.token_black and not self.black[0] and self.count_at_home() > 0


@configuration(holds=True)
class TwoNodes(TerminationDetection):
    """The smallest ring, where most mistakes show already."""

    NODES = 2


@configuration(holds=True)
class AnyStart(TerminationDetection):
    """Two nodes, from every colouring and every place of the token."""

    NODES = 2
    COUNT = 2
    PENDING = 2
    ANY_START = True


@configuration(holds=True)
class TwoMessagesANode(TerminationDetection):
    """Each node may have sent two messages more than it has received: 321,370 states."""

    COUNT = 2
    PENDING = 6

"""How the end is announced too early: each twin forgets one of the rules of the ring.

The token is black at the start, so the first round (a start and a pass for each other node) decides nothing.
"""

from __future__ import annotations

from falsework.language import deadlock, twin
from falsework.models.classics.ewd998 import Node, TerminationDetection, TwoNodes


# Shortest: send by 0; two rounds of two steps, in which 1 is passive; receive and send by 1; receive by 0.
# The token is white at a white node 0, all counters are 0, and both nodes are awake.
@twin(breaks={TerminationDetection.the_probe_is_right_or_will_fail: 8}, within=TwoNodes)
class ReceiverStaysWhite(TerminationDetection):
    """A node that is woken behind the token's back does not turn black."""

    def blackens(self, node: Node) -> bool:
        return False


# Shortest: start_probe and pass by 2; 1 sends to 2, which receives, and answers, and 1 receives and finishes;
# 1, black, passes the token on as white as it came. Node 2 is still awake, and node 0 hears of the end.
@twin(
    breaks={
        TerminationDetection.the_probe_is_right_or_will_fail: 8,
        TerminationDetection.what_is_announced_is_true: 8,
    }
)
class TokenForgetsBlackNodes(TerminationDetection):
    """The token leaves a black node as white as it came."""

    def token_darkens(self, node: Node) -> bool:
        return self.token_black


# Shortest: two rounds of two steps, while 1 is awake from the start.
@twin(
    breaks={
        TerminationDetection.the_probe_is_right_or_will_fail: 4,
        TerminationDetection.what_is_announced_is_true: 4,
    },
    within=TwoNodes,
)
class ActiveNodePassesTheToken(TerminationDetection):
    """A node passes the token on while it is still at work."""

    def may_pass(self, node: Node) -> bool:
        return True


# Shortest: a node that is awake at the start sends. No step leads on from there: no count is ever positive.
@twin(
    breaks={
        TerminationDetection.counters_add_up_to_the_messages_under_way: 1,
        TerminationDetection.a_white_token_comes_home_too_early: None,
    },
    within=TwoNodes,
)
class MessagesSentAreNotCounted(TerminationDetection):
    """A node counts the messages that it receives and forgets those that it sends."""

    def counted(self, change: int) -> int:
        return min(change, 0)


# Shortest: a node that is awake at the start sends, and the other receives.
@twin(breaks={TerminationDetection.counters_add_up_to_the_messages_under_way: 2}, within=TwoNodes)
class MessagesReceivedAreNotCounted(TerminationDetection):
    """A node counts the messages that it sends and forgets those that it receives."""

    def counted(self, change: int) -> int:
        return max(change, 0)


# Shortest: send and finish by 0, receive and finish by 1, and two rounds of two steps: one to whiten token
# and nodes, and one that ends at a white node 0 which has sent one message more than it has received.
@twin(breaks={deadlock: 8}, within=TwoNodes)
class NodeZeroForgetsItsOwnMessages(TerminationDetection):
    """Node 0 looks at the token's count alone, and waits for ever if its own messages are missing in it."""

    def another_round_is_due(self) -> bool:
        return self.token_black or self.black[0] or self.token_count > 0

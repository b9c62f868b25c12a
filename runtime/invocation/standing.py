"""Which of an invocation's closings is the act's: by name first, transitively, and only then by position."""

from collections.abc import Sequence

from falsework.runtime.invocation.answers import State
from falsework.runtime.invocation.records import Closing, Sort


def unsuperseded(closings: Sequence[Closing]) -> list[Closing]:
    """The closings that no other names, in the journal's order.

    Whatever is reachable through names is named by somebody, so that leaving out what is named reads
    supersession transitively.
    """
    if len(closings) < 2:  # nothing supersedes itself
        return list(closings)
    named = {name for closing in closings for name in closing.supersedes if name != closing.event_id}
    left = [closing for closing in closings if closing.event_id not in named]
    return sorted(left, key=lambda closing: closing.sequence_number)


def standing(closings: Sequence[Closing]) -> Closing | None:
    """The closing that no other names; of several, the first that landed."""
    left = unsuperseded(closings)
    return left[0] if left else None


def duplicated(closings: Sequence[Closing]) -> bool:
    """Whether two closings stand beside each other, neither naming the other: the closings key."""
    return len(unsuperseded(closings)) > 1


def state(closings: Sequence[Closing]) -> State:
    """The state that the standing closing projects."""
    closing = standing(closings)
    if closing is None:
        return State.OPEN
    match closing.sort:
        case Sort.OUTCOME:
            return State.CLOSED
        case Sort.REFUSED:
            return State.REFUSED
        case Sort.ESCALATED:
            return State.ESCALATED
        case Sort.ABANDONED:
            return State.ABANDONED if closing.resolved_by is None else State.RESOLVED

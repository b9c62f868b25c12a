"""Runtimes of the race that are wrong on purpose: the operator's Resolve."""

from falsework.conformance.subject import runtime_twin
from falsework.models.recoverable_invocation.race import Race
from falsework.runtime.invocation.answers import NotKnown, RecordingFailure
from falsework.runtime.subjects.race import OperatorSubject
from falsework.runtime.subjects.race_parts import TICK
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always

YOUNG = "invocation.resolve"


@runtime_twin(
    breaks={Race.an_operator_abandons_only_what_is_aged: 14, Race.nothing_abandoned_ever_happens: 15},
    within=15,
)
class ResolveWithoutAGuard(OperatorSubject):
    """An abandonment is the operator's word, so nobody asks how young the intent is."""

    bends = (Bend(YOUNG, "in_flight", always(False)),)


def _one_tick_ahead(right: Right) -> Right:
    def in_flight(kind: object, figures: object, recorded_at: int, now: int) -> object:
        return right(kind, figures, recorded_at, now + 2 * TICK)

    return in_flight


# A tick passes behind the take, the intent lands in step 6, and two ticks later the lease has ended: the call
# comes in step 9, while the intent is two ticks old, and its closing lands in step 14.
@runtime_twin(
    breaks={Race.an_operator_abandons_only_what_is_aged: 14, Race.nothing_abandoned_ever_happens: 17},
    within=17,
)
class OperatorAheadOfTheAllowance(OperatorSubject):
    """The operator's reading is one tick further ahead than the allowance covers."""

    bends = (Bend(YOUNG, "in_flight", _one_tick_ahead),)


def _as_absence(right: Right) -> Right:
    def under_the_section(*arguments: object) -> object:
        answer = right(*arguments)
        return NotKnown() if isinstance(answer, RecordingFailure) else answer

    return under_the_section


@runtime_twin(breaks={Race.a_resolution_is_refused_for_what_the_records_say: 11}, within=11)
class ResolveThatReadsAnOutageAsAbsence(OperatorSubject):
    """A journal that cannot be read answers not-known, as if there were no intent."""

    bends = (Bend(YOUNG, "_under_the_section", _as_absence),)


@runtime_twin(breaks={Race.an_operator_passes_its_gate_in_time: 15}, within=15)
class ResolveWithoutAGate(OperatorSubject):
    """An operator who has decided writes, however little is left of the lease."""

    bends = (
        Bend(
            "invocation.journal",
            "may_write",
            lambda right: (
                lambda parties, standing: (
                    right(parties, standing) or (1 if " OPERATOR " in standing.holder else None)
                )
            ),
        ),
    )


@runtime_twin(
    breaks={
        Race.an_outcome_is_never_superseded_nor_an_abandonment_but_by_one: 19,
        Race.nothing_abandoned_ever_happens: 15,
        Race.an_operator_abandons_only_what_is_aged: 14,
    },
    within=19,
)
class ResolveOverAnything(OperatorSubject):
    """Whatever stands can be named, so an operator may overrule an outcome."""

    bends = (Bend(YOUNG, "_accounted", always(None)), Bend(YOUNG, "_refused", always(None)))

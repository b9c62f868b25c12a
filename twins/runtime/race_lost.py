"""Runtimes of the race that are wrong on purpose: what becomes of a write whose reply is lost."""

from dataclasses import replace

from falsework.conformance.subject import runtime_twin
from falsework.models.recoverable_invocation.race import Race
from falsework.runtime import trail
from falsework.runtime.invocation.journal import NotLanded, Why, Write
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.subjects.race import LostSubject
from falsework.runtime.subjects.race_parts import FOR_EVER, KIND, TICK
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right

DRIVEN = "falsework.models.recoverable_invocation.race_driven:"


def _blind(right: Right) -> Right:
    def after_a_lost_reply(parties: Parties, write: Write, answer: trail.ReplyLost) -> object:
        if write.action_ref == f"{KIND}.intended":
            return right(parties, write, answer)
        return NotLanded(Why.ABSENT, "no reply has come")

    return after_a_lost_reply


# The intent lands in step 5, and two ticks pass before it is read back. A refusal, which is not tried again,
# is given up as it is issued, and step 14 lands what nobody waits for. An outcome is tried again: both of its
# writes are on their way in step 17, and the second lands in step 19.
@runtime_twin(
    breaks={Race.a_closing_lands_under_its_writers_lease: 14, Race.no_two_closings_stand: 19}, within=19
)
class BlindRetry(LostSubject):
    """A closing whose reply is lost is written again at once, and both of them land."""

    model = f"{DRIVEN}DrivenLostTwice"
    bends = (Bend("invocation.journal", "_after_a_lost_reply", _blind),)


def _with_terminus(moved: int) -> Bend:
    """The write's own terminus, later than it was minted."""

    def made(right: Right) -> Right:
        def fence(*arguments: object) -> trail.Fence | None:
            minted: trail.Fence | None = right(*arguments)
            return None if minted is None else replace(minted, terminus=minted.terminus + moved)

        return fence

    return Bend("invocation.journal", "_fence", made)


@runtime_twin(
    breaks={
        Race.an_intent_in_flight_has_its_section: 7,
        Race.a_closing_lands_under_its_writers_lease: 17,
    },
    within=17,
)
class FenceThatKnowsTheLeaseAlone(LostSubject):
    """The fence knows the lease and not the write, which lands after it was read back."""

    bends = (_with_terminus(FOR_EVER),)


@runtime_twin(
    breaks={
        Race.an_intent_in_flight_has_its_section: 7,
        Race.a_closing_lands_under_its_writers_lease: 17,
        Race.no_two_closings_stand: 23,
    },
    within=23,
)
class FenceMintedBare(LostSubject):
    """The write's own terminus travels without its margin, from a writer whose clock is ahead."""

    model = f"{DRIVEN}DrivenLostAhead"
    bends = (_with_terminus(TICK),)

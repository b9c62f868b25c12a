"""The text's sentences that do not hold, each with the counterexample that it has in some configuration."""

from falsework.language import configuration
from falsework.models.recoverable_invocation.race import (
    ONE_CALL,
    UNATTENDED,
    FencelessStore,
    OneCall,
    Race,
    Unattended,
    Unrepeatable,
)
from falsework.models.recoverable_invocation.race_letters import Letter
from falsework.models.recoverable_invocation.race_limits import FencelessJournal


@configuration(breaks={Race.two_closings_never_name_one_act: 22})
class TwoClosingsToTheLetter(OneCall):
    """No two closings name one act, superseded or not."""

    LETTER = Letter.TWO_CLOSINGS


@configuration(breaks={Race.open_holds_the_section_when_it_returns: 9})
class HeldAtReturnToTheLetter(Unattended):
    """Open returns with the section held."""

    LETTER = Letter.HELD_AT_RETURN


@configuration(breaks={Race.the_act_happens_under_its_section: 9})
class HeldWhenAppliedToTheLetter(Unattended):
    """The section is held until all is written."""

    LETTER = Letter.HELD_WHEN_APPLIED


@configuration(breaks=UNATTENDED)
class WorkInProgressUnderAFence(Unattended):
    """With a commit fence the sweep writes nothing about work in progress."""

    LETTER = Letter.WORK_IN_PROGRESS


@configuration(breaks={Race.the_sweep_never_writes_about_work_in_progress: 17})
class WorkInProgressToTheLetter(FencelessStore):
    """The sweep never writes about work still in progress."""

    LETTER = Letter.WORK_IN_PROGRESS
    OPERATOR_CALLS = 0


@configuration(breaks={Race.an_expired_invocation_writes_nothing: 14})
class ExpiredWritesNothingToTheLetter(Unattended):
    """An invocation whose lease has ended does not write."""

    LETTER = Letter.EXPIRED_WRITES_NOTHING


@configuration(breaks={Race.an_expired_invocation_says_outcome: 6})
class ExpiredSaysOutcomeToTheLetter(Unattended):
    """An invocation whose lease has ended answers in the outcome's position."""

    LETTER = Letter.EXPIRED_SAYS_OUTCOME


@configuration(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
        Race.a_duplicate_can_be_resolved: 22,
    }
)
class DuplicatesResolvedToTheLetter(FencelessJournal):
    """Whatever duplicate a fenceless journal has is resolved."""

    LETTER = Letter.DUPLICATES_RESOLVED


@configuration(
    breaks={
        Race.no_two_closings_stand: 21,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.an_intent_in_flight_has_its_section: 7,
        Race.the_closings_key_tells_every_duplicate: 29,
    }
)
class ClosingsKeyToTheLetter(OneCall):
    """The closings key reports every duplicate."""

    JOURNAL_FENCE = False
    TARDY = False
    LETTER = Letter.CLOSINGS_KEY


@configuration(breaks={Race.what_has_happened_is_not_begun_again: 20})
class BegunOnceToTheLetter(Unrepeatable):
    """An act that may happen once is begun once."""

    LETTER = Letter.BEGUN_ONCE


@configuration(breaks=UNATTENDED)
class BegunOnceAfterItsOperator(BegunOnceToTheLetter):
    """A standing escalation keeps an act that may happen once from being begun again."""

    ESCALATION_BLOCKS = True


@configuration(breaks={Race.one_act_of_a_key_is_in_flight_at_a_time: 16})
class OneInFlightToTheLetter(OneCall):
    """No second act of a key is begun while the first may still happen."""

    LETTER = Letter.ONE_IN_FLIGHT


@configuration(breaks=ONE_CALL)
class OneInFlightGuarded(OneInFlightToTheLetter):
    """An operator may escalate only what is aged."""

    ESCALATES_THE_YOUNG = False


@configuration(breaks={Race.an_escalation_over_an_abandonment_has_an_answer: 20})
class RefusedDispositionsToTheLetter(OneCall):
    """Every disposition that is refused has a cause to be refused with."""

    LETTER = Letter.REFUSED_DISPOSITIONS

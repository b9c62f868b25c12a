"""The race with its clocks, edges, margins and readings varied one at a time, up to their limits."""

from falsework.language import configuration
from falsework.models.recoverable_invocation.race import (
    ONE_CALL,
    UNATTENDED,
    FencelessStore,
    OneCall,
    Race,
    Unattended,
)

# --- constants near their limits ----------------------------------------------------------------------------


@configuration(holds=True)
class Conforming(Race):
    """Figures that meet the conditions of instance start, so that a lost reply can be retried."""

    COMPLETION_BOUND = 6
    SWEEP_LEASE = 7


@configuration(breaks=ONE_CALL)
class ClocksInStep(OneCall):
    """No clock differs from another: the allowance is spent and not needed."""

    JOURNAL_LAG = 0
    STORE_LAG = 0


@configuration(breaks=ONE_CALL)
class BareInstantsInStep(ClocksInStep):
    """With clocks in step the journal's fence may be minted bare."""

    LEASE_MARGIN = False
    WRITE_MARGIN = False


@configuration(
    breaks={
        Race.no_two_closings_stand: 26,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
    }
)
class MarginOnTheLeaseAlone(Unattended):
    """The write's own terminus is minted bare."""

    WRITE_MARGIN = False


@configuration(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
    }
)
class MarginOnTheWriteAlone(Unattended):
    """The lease's terminus is minted bare."""

    LEASE_MARGIN = False


@configuration(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.the_sweep_abandons_only_past_the_abandon_edge: 15,
        Race.the_sweep_examines_no_intent_in_flight: 10,
        Race.an_intent_in_flight_has_its_section: 7,
    }
)
class JournalBeyondAllowance(Unattended):
    """The journal is one tick further behind than the allowance covers."""

    JOURNAL_LAG = 2


@configuration(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
    }
)
class JournalAtItsInstant(Unattended):
    """The journal still admits a write at the very instant of its fence."""

    CLOSED_JOURNAL_EDGE = True


@configuration(breaks=ONE_CALL)
class JournalAtItsInstantInStep(ClocksInStep):
    """In step with the host, a journal that admits at the very instant does no harm: the margin covers it."""

    CLOSED_JOURNAL_EDGE = True


@configuration(breaks={Race.nothing_abandoned_ever_happens: 17})
class StoreAtItsInstant(OneCall):
    """The store still applies an act at the very instant of its fence; the operator abandons it there."""

    CLOSED_COMMIT_EDGE = True


@configuration(breaks=ONE_CALL)
class StoreAtItsInstantAndPatience(StoreAtItsInstant):
    """The operator waits as long as the sweep does, and is not surprised either."""

    PATIENCE = 2


@configuration(breaks=UNATTENDED)
class StoreAtItsInstantUnattended(Unattended):
    """The sweep waits one allowance longer than the operator, and is not surprised."""

    CLOSED_COMMIT_EDGE = True


@configuration(breaks={Race.nothing_abandoned_ever_happens: 17})
class StoreWithoutMargin(OneCall):
    """The commit's fence is minted bare."""

    COMMIT_MARGIN = False


@configuration(breaks=UNATTENDED)
class StoreWithoutMarginUnattended(Unattended):
    """The abandon edge of the sweep pays for the margin a second time."""

    COMMIT_MARGIN = False


@configuration(
    breaks={
        Race.a_run_waits_for_a_dead_holder: None,
        Race.an_act_happens_after_its_invocation_is_gone: None,
        Race.the_sweep_records_an_outcome: None,
        Race.the_sweep_abandons: None,
        Race.an_operator_abandons: None,
        Race.a_supersession_is_superseded: None,
        Race.an_operator_corrects_an_escalation: None,
        Race.a_dead_writer_has_a_write_in_flight: None,
        Race.an_operator_holds_the_section: None,
        Race.a_retry_lands: None,
    }
)
class JournalAhead(Unattended):
    """The journal is ahead by the allowance, and fences out whatever is written."""

    JOURNAL_LAG = -1


@configuration(breaks=UNATTENDED)
class JournalAheadWithHeadroom(Unattended):
    """The write bound has two allowances of headroom, not one."""

    JOURNAL_LAG = -1
    WRITE_BOUND = 3


@configuration(breaks=ONE_CALL)
class SweepAhead(OneCall):
    """The sweep's clock is ahead by all of the allowance."""

    JOURNAL_LAG = 0
    STORE_LAG = 0
    SWEEP_SKEW = 1


@configuration(breaks=ONE_CALL)
class OperatorAhead(OneCall):
    """The operator's clock is ahead by all of the allowance."""

    JOURNAL_LAG = 0
    STORE_LAG = 0
    OPERATOR_SKEW = 1


@configuration(
    breaks={
        Race.a_run_waits_for_a_dead_holder: None,
        Race.an_act_happens_after_its_invocation_is_gone: None,
        Race.the_sweep_records_an_outcome: None,
        Race.the_sweep_abandons: None,
        Race.an_operator_abandons: None,
        Race.a_supersession_is_superseded: None,
        Race.an_operator_corrects_an_escalation: None,
        Race.a_dead_writer_has_a_write_in_flight: None,
        Race.a_retry_lands: None,
    }
)
class InvocationBehind(OneCall):
    """The invocation's clock is behind by all of the allowance."""

    JOURNAL_LAG = 0
    INVOCATION_SKEW = -1


@configuration(
    breaks={
        Race.no_two_closings_stand: 25,
        Race.a_closing_lands_under_its_writers_lease: 17,
        Race.nothing_abandoned_ever_happens: 17,
        Race.an_operator_abandons_only_what_is_aged: 14,
    }
)
class OperatorBeyondAllowance(OneCall):
    """The operator's clock is as far ahead of the host's as the journal's is behind."""

    OPERATOR_SKEW = 1


# --- gates, edges and readings ------------------------------------------------------------------------------


@configuration(breaks=ONE_CALL)
class Ungated(OneCall):
    """Nobody asks what remains of the lease: the fence is what keeps two closings apart."""

    GATE = False


@configuration(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
    }
)
class FencelessJournal(Unattended):
    """No journal fence, and a journal that keeps its bound: the gate does not help."""

    JOURNAL_FENCE = False
    TARDY = False


@configuration(
    breaks={
        Race.no_two_closings_stand: 22,
        Race.a_closing_lands_under_its_writers_lease: 15,
        Race.two_runs_never_close_one_act: 26,
        Race.an_intent_in_flight_has_its_section: 7,
    }
)
class FencelessUngated(FencelessJournal):
    """Neither fence nor gate."""

    GATE = False


@configuration(breaks=ONE_CALL)
class WithoutLowerEdge(OneCall):
    """The sweep examines whatever is open: the section and the fences are enough."""

    LOWER_EDGE = False


@configuration(breaks=ONE_CALL)
class SweepReadsLate(OneCall):
    """The sweep reads its clock after the probe, and not at its start."""

    SWEEP_READS_LATE = True


@configuration(breaks={Race.nothing_abandoned_ever_happens: 20})
class SweepReadsLateWithoutLowerEdge(SweepReadsLate):
    """Now the lower edge carries the weight, under a long lease: the probe may be older than the reading."""

    LOWER_EDGE = False
    SWEEP_LEASE = 6


@configuration(breaks={Race.nothing_abandoned_ever_happens: 17})
class OperatorReadsLate(OneCall):
    """The operator looked into the store first, waited for the section, and reads its clock only then."""

    OPERATOR_READS_LATE = True


@configuration(breaks=ONE_CALL)
class CloseWithoutReRead(OneCall):
    """Under a fence Close need not read again: what it could not see cannot be doubled."""

    CLOSE_RE_READS = False


@configuration(breaks={Race.nothing_abandoned_ever_happens: 17})
class FencelessJudgement(FencelessStore):
    """The operator of a fenceless store attests what it has seen, and not what will be."""

    JUDGEMENT = False

"""The race as the runtime is built, and small enough to be driven: each step is a call of a real store.

The journal reads the host's own clock and looks at the lease itself, so its fence needs no margin there; a
writer asks what remains of its lease more often than it must; and Close tries again as long as it may.
"""

from falsework.language import configuration
from falsework.models.recoverable_invocation.race import ONE_CALL, UNATTENDED, UNTROUBLED, Race, Unattended

UNSWEPT: dict[object, int | None] = {
    Race.a_run_waits_for_a_dead_holder: None,
    Race.the_sweep_records_an_outcome: None,
    Race.the_sweep_abandons: None,
}
"""What does not happen where no sweep runs."""


@configuration(breaks=UNATTENDED)
class AsBuilt(Unattended):
    """The invocation and one run of the sweep, with whatever may happen to them."""

    JOURNAL_LAG = 0
    LEASE_MARGIN = False
    ASKS_AGAIN = True
    GIVES_UP = False
    ESCALATES_THE_YOUNG = False


@configuration(breaks=UNATTENDED | UNTROUBLED)
class Driven(AsBuilt):
    """Nobody dies, nothing is tried again, and the store can always tell."""

    DEATHS = 0
    RETRIES = 0
    UNDECIDABLE = False


@configuration(breaks=UNATTENDED | {Race.a_retry_lands: None})
class DrivenDeaths(Driven):
    """One of them dies, anywhere."""

    DEATHS = 1


@configuration(breaks=UNATTENDED | UNSWEPT)
class DrivenInvocation(AsBuilt):
    """The invocation alone: it dies anywhere, and tries again."""

    FIRST_RUN = False


@configuration(breaks=UNATTENDED | UNTROUBLED | UNSWEPT)
class DrivenAlone(Driven):
    """The invocation alone, which does not die."""

    FIRST_RUN = False


@configuration(breaks=UNATTENDED | UNSWEPT | {Race.a_dead_writer_has_a_write_in_flight: None})
class DrivenLost(DrivenAlone):
    """Every reply of the journal is lost, and the lease is long enough to read back and try again."""

    COMPLETION_BOUND = 6
    RETRIES = 1
    REPLIES = False


@configuration(breaks=UNATTENDED | UNSWEPT | {Race.a_dead_writer_has_a_write_in_flight: None})
class DrivenLostTwice(DrivenLost):
    """Close may try again twice."""

    RETRIES = 2


@configuration(breaks=UNATTENDED | UNSWEPT | {Race.a_dead_writer_has_a_write_in_flight: None})
class DrivenLostAhead(DrivenLost):
    """Besides, the invocation's clock is ahead by all of the allowance."""

    INVOCATION_SKEW = 1


@configuration(breaks=UNATTENDED | UNTROUBLED | UNSWEPT)
class DrivenOnce(DrivenAlone):
    """The invocation of an act that may happen only once."""

    REPEATABLE = False
    ESCALATION_BLOCKS = True


@configuration(breaks=UNATTENDED | UNTROUBLED)
class DrivenBrief(Driven):
    """Leases that hold one write and nothing else."""

    COMPLETION_BOUND = 2
    SWEEP_LEASE = 2


@configuration(breaks=UNATTENDED | UNTROUBLED)
class DrivenUndecidable(DrivenBrief):
    """The store may hold what it cannot tell from the act."""

    UNDECIDABLE = True


@configuration(breaks=UNATTENDED | UNTROUBLED)
class DrivenSweepAhead(DrivenBrief):
    """The sweep's clock is ahead by all of the allowance."""

    SWEEP_SKEW = 1


@configuration(breaks=UNATTENDED | UNTROUBLED | {Race.the_sweep_abandons: None})
class DrivenFencelessStore(DrivenBrief):
    """The store cannot be told when to stop."""

    COMMIT_FENCE = False


@configuration(breaks=UNATTENDED | UNTROUBLED | UNSWEPT)
class DrivenReportOnly(DrivenBrief):
    """The sweep has no identity to write under."""

    SERVICE_IDENTITY = False


@configuration(breaks=UNATTENDED | UNTROUBLED)
class DrivenTwoRuns(AsBuilt):
    """Two runs on two nodes, and nobody dies."""

    SECOND_RUN = True
    DEATHS = 0
    RETRIES = 0


@configuration(breaks=ONE_CALL)
class DrivenTogether(AsBuilt):
    """The invocation, a run, and a call of the operator."""

    DEATHS = 0
    RETRIES = 0
    OPERATOR_CALLS = 1


@configuration(breaks=UNTROUBLED)
class DrivenTwoCalls(DrivenTogether):
    """Two calls of the operator."""

    OPERATOR_CALLS = 2


@configuration(
    breaks=ONE_CALL | UNSWEPT | {Race.an_operator_corrects_an_escalation: None},
)
class DrivenOperator(Driven):
    """An operator, and no sweep."""

    FIRST_RUN = False
    OPERATOR_CALLS = 1

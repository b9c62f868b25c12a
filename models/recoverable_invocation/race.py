"""Race: one act, and three writers who may each close it; a crash or a pause anywhere."""

from falsework.language import configuration, reachable
from falsework.models.recoverable_invocation.race_letters import Letters
from falsework.models.recoverable_invocation.vocabulary import At, Author, Commit, Kind, Reply, Who


class Race(Letters):
    """However its writers die and dawdle, one of them closes the act, by what the store says of it."""

    # What must be able to happen.

    @reachable
    def an_act_happens_after_its_invocation_is_gone(self) -> bool:
        return self.at[Who.INVOCATION] is At.DONE and self.commit is Commit.IN_FLIGHT

    @reachable
    def another_is_let_in_before_the_intent(self) -> bool:
        return self.at[Who.ANOTHER] is At.OPEN

    @reachable
    def a_dead_writer_has_a_write_in_flight(self) -> bool:
        return self.in_flight[Who.GHOST] is not None

    @reachable
    def a_retry_lands(self) -> bool:
        return self.retries > 0 and self.reply[Who.INVOCATION] is Reply.LANDED

    @reachable
    def a_run_waits_for_a_dead_holder(self) -> bool:
        return self.holder is Who.GHOST and self.at[Who.FIRST_RUN] is At.CALLED

    @reachable
    def the_sweep_records_an_outcome(self) -> bool:
        return self.wrote(Author.SWEEP, Kind.OUTCOME)

    @reachable
    def the_sweep_abandons(self) -> bool:
        return self.wrote(Author.SWEEP, Kind.ABANDONED)

    @reachable
    def an_operator_holds_the_section(self) -> bool:
        return self.holder is Who.OPERATOR

    @reachable
    def an_operator_abandons(self) -> bool:
        return self.wrote(Author.OPERATOR, Kind.ABANDONED)

    @reachable
    def an_operator_corrects_an_escalation(self) -> bool:
        return any(c.kind is Kind.OUTCOME and c.names is not None for c in self.journal)

    @reachable
    def a_supersession_is_superseded(self) -> bool:
        return any(c.names is not None and self.journal[c.names].names is not None for c in self.journal)


UNATTENDED: dict[object, int | None] = {
    Race.an_operator_holds_the_section: None,
    Race.an_operator_abandons: None,
    Race.an_operator_corrects_an_escalation: None,
    Race.a_supersession_is_superseded: None,
}
"""What does not happen where no operator calls."""

UNTROUBLED: dict[object, int | None] = {
    Race.a_dead_writer_has_a_write_in_flight: None,
    Race.a_retry_lands: None,
    Race.a_run_waits_for_a_dead_holder: None,
}
"""What does not happen where nobody dies and nothing is tried again."""

ONE_CALL: dict[object, int | None] = UNTROUBLED | {Race.a_supersession_is_superseded: None}
"""What does not happen where, besides, an operator calls once."""


@configuration(holds=True)
class Main(Race):
    """Both runs, on two nodes."""

    SECOND_RUN = True


@configuration(holds=True)
class Unlimited(Main):
    """No budget bounds deaths, retries and the operator's calls, so nothing is counted."""

    DEATHS = -1
    RETRIES = -1
    OPERATOR_CALLS = -1
    RECORDS = 3


@configuration(holds=True)
class Scaled(Unlimited):
    """Longer leases, a longer write bound and twice the allowance, all of which the clocks use up."""

    COMPLETION_BOUND = 4
    SWEEP_LEASE = 4
    WRITE_BOUND = 3
    ALLOWANCE = 2
    JOURNAL_LAG = 2
    STORE_LAG = 2


@configuration(breaks=UNATTENDED)
class Unattended(Race):
    """No operator calls."""

    OPERATOR_CALLS = 0


@configuration(breaks=ONE_CALL)
class OneCall(Race):
    """One call of the operator, and nobody dies."""

    DEATHS = 0
    RETRIES = 0
    OPERATOR_CALLS = 1


@configuration(breaks=UNTROUBLED)
class SecondCall(OneCall):
    """Two calls of the operator, and nobody dies."""

    OPERATOR_CALLS = 2


@configuration(breaks=UNTROUBLED | {Race.the_sweep_abandons: None})
class FencelessStore(SecondCall):
    """The store cannot be told when to stop, so the sweep escalates what it does not find there."""

    COMMIT_FENCE = False


@configuration(
    breaks=ONE_CALL
    | {
        Race.the_sweep_abandons: None,
        Race.the_sweep_records_an_outcome: None,
        Race.an_operator_corrects_an_escalation: None,
    }
)
class ReportOnly(OneCall):
    """The sweep has no identity to write under: it reports, and an operator closes."""

    SERVICE_IDENTITY = False


@configuration(breaks=UNATTENDED)
class Unrepeatable(Unattended):
    """An act that may happen only once."""

    REPEATABLE = False

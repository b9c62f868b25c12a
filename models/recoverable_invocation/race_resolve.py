"""The operator: a third writer, with a clock and a judgement of its own."""

from typing import Annotated, ClassVar

from falsework.language import Upto, action, require
from falsework.models.recoverable_invocation.race_sweep import Sweep
from falsework.models.recoverable_invocation.vocabulary import Answer, At, Kind, Place, Who


class Resolve(Sweep):
    """An operator closes what no run can, and corrects an escalation or an abandonment by naming it."""

    OPERATOR_CALLS: ClassVar[int] = 2  # -1 is no limit
    SUPERSEDES_NAMED: ClassVar[bool] = True
    JUDGEMENT: ClassVar[bool] = True  # whether the operator of a fenceless store attests what is true
    PATIENCE: ClassVar[int] = 1  # how many allowances past the bound an operator calls an intent aged
    ESCALATES_THE_YOUNG: ClassVar[bool] = True
    OPERATOR_READS_LATE: ClassVar[bool] = False  # whether its clock is read only when it holds the section

    calls: Annotated[int, Upto("max(OPERATOR_CALLS, 0)")] = 0
    named: Place | None = None  # the closing that the operator is to supersede

    def forgets(self, who: Who) -> None:
        super().forgets(who)
        if who is Who.OPERATOR:
            self.named = None

    def supports(self, disposition: Kind) -> bool:
        """What the operator's own look into the store supports; an escalation says that it does not know."""
        if disposition is Kind.OUTCOME:
            return self.happened()
        if disposition is Kind.ABANDONED:
            return self.attests()
        return disposition is Kind.ESCALATED

    def attests(self) -> bool:
        """The store does not hold the act; without a fence, that it never will is the operator's word."""
        return self.stays_quiet() if self.JUDGEMENT and not self.COMMIT_FENCE else not self.happened()

    def is_aged(self) -> bool:
        return self.is_past(self.COMPLETION_BOUND + self.PATIENCE * self.ALLOWANCE, Who.OPERATOR)

    @action(source=("resolve 1", "resolve 19", "resolve 20"))
    def resolve_calls(self, disposition: Kind) -> None:
        """The operator has looked into the store, and its clock is read, once."""
        require(self.at[Who.OPERATOR] is At.IDLE and self.supports(disposition))
        require(self.OPERATOR_CALLS < 0 or self.calls < self.OPERATOR_CALLS)
        self.calls = 0 if self.OPERATOR_CALLS < 0 else self.calls + 1
        self.decided[Who.OPERATOR] = disposition
        self.late[Who.OPERATOR] = self.is_aged()
        self.at[Who.OPERATOR] = At.CALLED

    @action(source=("resolve 4", "resolve 5", "resolve 6"))
    def resolve_takes(self) -> Answer:
        require(self.at[Who.OPERATOR] is At.CALLED)
        if not self.free():
            self.goes_home(Who.OPERATOR)
            return Answer.SECTION_UNAVAILABLE
        self.enter(Who.OPERATOR, self.SWEEP_LEASE)
        self.at[Who.OPERATOR] = At.TAKEN
        return Answer.PROCEED

    def judged_aged(self) -> bool:
        return self.is_aged() if self.OPERATOR_READS_LATE else self.late[Who.OPERATOR]

    def verdict(self) -> Answer:
        """What the records allow: PROCEED, or the refusal."""
        if not self.sees_the_intent():
            return Answer.NOT_KNOWN
        if self.sees(Kind.OUTCOME) or self.sees(Kind.REFUSED):
            return Answer.ALREADY_ACCOUNTED
        if self.decided[Who.OPERATOR] is not Kind.OUTCOME and self.an_abandonment_stands():
            return Answer.ALREADY_ABANDONED
        if self.may_be_too_young() and not self.judged_aged():
            return Answer.TOO_YOUNG
        return Answer.PROCEED

    def may_be_too_young(self) -> bool:
        escalates = self.decided[Who.OPERATOR] is Kind.ESCALATED
        return self.decided[Who.OPERATOR] is Kind.ABANDONED or (escalates and not self.ESCALATES_THE_YOUNG)

    def an_abandonment_stands(self) -> bool:
        return any(
            closing.hidden == 0 and closing.kind is Kind.ABANDONED and not self.is_superseded(place)
            for place, closing in enumerate(self.journal)
        )

    @action(
        source=(
            "resolve 8",
            "resolve 9",
            "resolve 10",
            "resolve 14",
            "resolve 15",
            "resolve 16",
            "resolve 17",
            "resolve 18",
            "Capability requirement 9",
        )
    )
    def resolve_reads(self, readable: bool) -> Answer:
        require(self.at[Who.OPERATOR] is At.TAKEN)
        answer = self.verdict() if readable else Answer.RECORDING_FAILURE_RESOLUTION
        if answer is not Answer.PROCEED:
            self.goes_home(Who.OPERATOR)
            return answer
        self.named = self.standing()
        self.late[Who.OPERATOR] = False
        self.at[Who.OPERATOR] = At.DECIDED
        return Answer.PROCEED

    @action(source=("resolve 7", "journal write bound 1"))
    def resolve_gates(self) -> Answer:
        require(self.at[Who.OPERATOR] is At.DECIDED)
        if not self.may_write(Who.OPERATOR):
            self.goes_home(Who.OPERATOR)
            return Answer.RECORDING_FAILURE_RESOLUTION
        self.at[Who.OPERATOR] = At.GATED
        return Answer.PROCEED

    def names(self) -> Place | None:
        return self.named if self.SUPERSEDES_NAMED else None

    @action(source=("resolve 13", "resolve 21", "Which closing stands 2"))
    def resolve_issues(self) -> None:
        require(self.at[Who.OPERATOR] is At.GATED)
        kind = self.decided[Who.OPERATOR]
        self.send(Who.OPERATOR, Kind.ESCALATED if kind is None else kind, self.names())

    @action(source=("resolve 22", "resolve 23", "resolve 26"))
    def resolve_returns(self) -> Answer:
        require(self.at[Who.OPERATOR] is At.ISSUED and self.knows(Who.OPERATOR))
        landed = self.has_landed(Who.OPERATOR)
        self.goes_home(Who.OPERATOR)
        return Answer.RESOLVED if landed else Answer.RECORDING_FAILURE_RESOLUTION

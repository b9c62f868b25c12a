"""A second Open of the same act, as far as its answer: what follows it is another invocation's story."""

from typing import ClassVar

from falsework.language import action, require
from falsework.models.recoverable_invocation.race_resolve import Resolve
from falsework.models.recoverable_invocation.vocabulary import Answer, At, Kind, Who


class Reopen(Resolve):
    """A second Open is let in only where no intent stands open, or, report-only, an aged one."""

    REPEATABLE: ClassVar[bool] = True
    ESCALATION_BLOCKS: ClassVar[bool] = False  # whether an act that may happen once waits for its operator

    def an_intent_stands_open(self) -> bool:
        return self.sees_the_intent() and not self.sees_a_closing()

    def an_escalation_stands(self) -> bool:
        place = self.standing()
        return place is not None and self.journal[place].kind is Kind.ESCALATED

    def passes_by(self) -> bool:
        """Report-only, a second Open leaves an aged intent to the operator."""
        return not self.SERVICE_IDENTITY and self.is_past(self.examine_edge(), Who.ANOTHER)

    def reopens(self) -> Answer:
        """What the pre-check says of the first invocation."""
        if self.an_intent_stands_open() and not self.passes_by():
            return Answer.ACT_IN_FLIGHT
        if not self.REPEATABLE and self.sees(Kind.OUTCOME):
            return Answer.ACT_LANDED
        if self.ESCALATION_BLOCKS and self.an_escalation_stands():
            return Answer.ACT_IN_FLIGHT
        return Answer.OPENED

    @action(
        source=(
            "open step 2.3",
            "open step 3.1",
            "open step 3.5",
            "open step 3.7",
            "open step 3.8",
            "open step 3.9",
        )
    )
    def another_opens(self) -> Answer:
        """Take, read and answer in one step: while it holds the section others only wait, as they always may.

        That it was let in is remembered as long as the first invocation's intent has not landed.
        """
        require(self.at[Who.ANOTHER] is At.IDLE and self.at[Who.INVOCATION] is not At.IDLE)
        if not self.free():
            return Answer.SECTION_UNAVAILABLE
        answer = self.reopens()
        if answer is Answer.OPENED and self.intent_age is None:
            self.at[Who.ANOTHER] = At.OPEN
        return answer

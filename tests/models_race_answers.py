"""The race with the question, for each action, which of its answers are ever given."""

from typing import ClassVar

from falsework.language import implies, invariant
from falsework.models.recoverable_invocation.race import Race
from falsework.models.recoverable_invocation.vocabulary import Answer


class Answers(Race):
    """A premise for each answer: one that is never true is an answer that is never given."""

    DEATHS: ClassVar[int] = 0
    OPERATOR_CALLS: ClassVar[int] = 1

    @invariant(on=Race.open_takes)
    def of_open_takes(self, answer: Answer) -> bool:
        return implies(answer is Answer.SECTION_UNAVAILABLE, True) and implies(answer is Answer.PROCEED, True)

    @invariant(on=Race.open_reads)
    def of_open_reads(self, answer: Answer) -> bool:
        return implies(answer is Answer.JOURNAL_UNAVAILABLE, True) and implies(answer is Answer.PROCEED, True)

    @invariant(on=Race.open_gates)
    def of_open_gates(self, answer: Answer) -> bool:
        return implies(answer is Answer.SECTION_UNAVAILABLE, True) and implies(answer is Answer.PROCEED, True)

    @invariant(on=Race.open_returns)
    def of_open_returns(self, answer: Answer) -> bool:
        failed = implies(answer is Answer.RECORDING_FAILURE_INTENT, True)
        return failed and implies(answer is Answer.OPENED, True)

    @invariant(on=Race.commit_replies)
    def of_commit_replies(self, answer: Answer) -> bool:
        unknown = implies(answer is Answer.RECORDING_FAILURE_OUTCOME, True)
        return unknown and implies(answer is Answer.PROCEED, True)

    @invariant(on=Race.close_gates)
    def of_close_gates(self, answer: Answer) -> bool:
        refusal = implies(answer is Answer.RECORDING_FAILURE_REFUSAL, True)
        return refusal and implies(answer is Answer.RECORDING_FAILURE_OUTCOME, True)

    @invariant(on=Race.close_reads)
    def of_close_reads(self, answer: Answer) -> bool:
        return (
            implies(answer is Answer.RECORDING_FAILURE_REFUSAL, True)
            and implies(answer is Answer.RECORDING_FAILURE_OUTCOME, True)
            and implies(answer is Answer.LANDED_BY_SWEEP, True)
            and implies(answer is Answer.LANDED_BY_OPERATOR, True)
            and implies(answer is Answer.ALREADY_ACCOUNTED, True)
        )

    @invariant(on=Race.close_returns)
    def of_close_returns(self, answer: Answer) -> bool:
        return (
            implies(answer is Answer.RECORDING_FAILURE_REFUSAL, True)
            and implies(answer is Answer.RECORDING_FAILURE_OUTCOME, True)
            and implies(answer is Answer.LANDED_BY_INVOCATION, True)
            and implies(answer is Answer.REFUSED, True)
        )

    @invariant(on=Race.run_takes)
    def of_run_takes(self, answer: Answer) -> bool:
        return implies(answer is Answer.SKIPPED, True) and implies(answer is Answer.PROCEED, True)

    @invariant(on=Race.run_reads)
    def of_run_reads(self, answer: Answer) -> bool:
        return implies(answer is Answer.CLOSED_ALREADY, True)

    @invariant(on=Race.run_probes)
    def of_run_probes(self, answer: Answer) -> bool:
        return implies(answer is Answer.SKIPPED, True) and implies(answer is Answer.PROCEED, True)

    @invariant(on=Race.run_gates)
    def of_run_gates(self, answer: Answer) -> bool:
        return implies(answer is Answer.SKIPPED, True)

    @invariant(on=Race.run_returns)
    def of_run_returns(self, answer: Answer) -> bool:
        return (
            implies(answer is Answer.SKIPPED, True)
            and implies(answer is Answer.CLOSED, True)
            and implies(answer is Answer.ABANDONED, True)
            and implies(answer is Answer.ESCALATED, True)
        )

    @invariant(on=Race.resolve_takes)
    def of_resolve_takes(self, answer: Answer) -> bool:
        return implies(answer is Answer.SECTION_UNAVAILABLE, True)

    @invariant(on=Race.resolve_reads)
    def of_resolve_reads(self, answer: Answer) -> bool:
        return (
            implies(answer is Answer.NOT_KNOWN, True)
            and implies(answer is Answer.ALREADY_ACCOUNTED, True)
            and implies(answer is Answer.TOO_YOUNG, True)
            and implies(answer is Answer.ALREADY_ABANDONED, True)
            and implies(answer is Answer.RECORDING_FAILURE_RESOLUTION, True)
        )

    @invariant(on=Race.resolve_gates)
    def of_resolve_gates(self, answer: Answer) -> bool:
        return implies(answer is Answer.RECORDING_FAILURE_RESOLUTION, True)

    @invariant(on=Race.resolve_returns)
    def of_resolve_returns(self, answer: Answer) -> bool:
        failed = implies(answer is Answer.RECORDING_FAILURE_RESOLUTION, True)
        return failed and implies(answer is Answer.RESOLVED, True)

    @invariant(on=Race.another_opens)
    def of_another_opens(self, answer: Answer) -> bool:
        return (
            implies(answer is Answer.SECTION_UNAVAILABLE, True)
            and implies(answer is Answer.ACT_IN_FLIGHT, True)
            and implies(answer is Answer.OPENED, True)
        )


class AnswersOfOneAct(Race):
    """What a second Open answers of an act that may happen once."""

    DEATHS: ClassVar[int] = 0
    OPERATOR_CALLS: ClassVar[int] = 0
    REPEATABLE: ClassVar[bool] = False

    @invariant(on=Race.another_opens)
    def of_another_opens(self, answer: Answer) -> bool:
        return implies(answer is Answer.ACT_LANDED, True)


class AnswersOfAReport(Race):
    """What a run answers that writes nothing, and a second Open that it leaves an aged intent to."""

    DEATHS: ClassVar[int] = 0
    OPERATOR_CALLS: ClassVar[int] = 0
    SERVICE_IDENTITY: ClassVar[bool] = False

    @invariant(on=Race.run_probes)
    def of_run_probes(self, answer: Answer) -> bool:
        return implies(answer is Answer.REPORTED, True)

    @invariant(on=Race.another_opens)
    def of_another_opens(self, answer: Answer) -> bool:
        return implies(answer is Answer.OPENED and self.sees_the_intent() and len(self.journal) == 0, True)

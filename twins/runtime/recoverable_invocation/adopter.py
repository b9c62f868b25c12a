"""Blocks that misread their constituent, and tell their caller what is not so.

Step counts are the model twins' own but where a comment tells another: Open, the reply, the question for what
is left of the lease, and the re-read with its write.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from falsework.conformance.subject import OBSERVATION, runtime_twin
from falsework.models.recoverable_invocation.records_adopter import Adopter
from falsework.runtime.invocation.answers import (
    AlreadyAccounted,
    Closed,
    LandedBy,
    Misuse,
    NotCommitted,
    Opened,
    Outcome,
    Position,
    RecordingFailure,
)
from falsework.runtime.invocation.journal import Landed, may_write
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.use import ConstituentRefused, Invocation, InvocationFailed
from falsework.runtime.subjects.recoverable_invocation.adopter import DONE, AdopterSubject
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always
from falsework.runtime.subjects.recoverable_invocation.place import credential_of
from falsework.runtime.subjects.recoverable_invocation.world import REFUSED_CODE, SERVICE

Does = Callable[[], Outcome]


def _silence_refuses(right: Right) -> Right:
    def committed(self: Invocation, opened: Opened, does: Does) -> object:
        def timed() -> Outcome:
            try:
                return does()
            except ConnectionError as problem:
                raise ConstituentRefused(REFUSED_CODE) from problem

        return right(self, opened, timed)

    return committed


@runtime_twin(breaks={Adopter.a_refused_act_did_not_happen: 4})
class NoReplyIsARefusal(AdopterSubject):
    """The call timed out, so it was refused, and the intent is closed over an act that may be there."""

    bends = (Bend("invocation.use:Invocation", "_committed", _silence_refuses),)

    def part(self) -> str | None:
        """In which part this block takes the reply to be."""
        return "PRE_COMMIT" if self.reply == "LOST" else super().part()


def _any_reply(right: Right) -> Right:
    def committed(self: Invocation, opened: Opened, does: Does) -> object:
        def answered() -> Outcome:
            try:
                return does()
            except ConstituentRefused as refused:
                if refused.code == "teapot":
                    return DONE
                raise

        return right(self, opened, answered)

    return committed


@runtime_twin(breaks={Adopter.an_outcome_is_of_an_act_that_happened: 4})
class AnyReplyIsACommit(AdopterSubject):
    """The constituent answered something that it does not declare, and it did answer."""

    bends = (Bend("invocation.use:Invocation", "_committed", _any_reply),)

    def part(self) -> str | None:
        """In which part this block takes the reply to be."""
        return "COMMITTED" if self.reply == "UNDECLARED" else super().part()


def _closed_anyway(right: Right) -> Right:
    def committed(self: Invocation, opened: Opened, does: Does) -> object:
        def done() -> Outcome:
            try:
                return does()
            except ConnectionError:
                return DONE

        return right(self, opened, done)

    return committed


# It goes on to its re-read where it should have yielded, and its caller hears nothing yet.
@runtime_twin(breaks={Adopter.an_unknown_act_is_not_to_be_run_again: 3})
class CloseOfTheUnknown(AdopterSubject):
    """The caller wants an answer, so the adopter closes what it does not know."""

    bends = (Bend("invocation.use:Invocation", "_committed", _closed_anyway),)


@runtime_twin(
    breaks={
        Adopter.a_refused_act_is_answered_as_one: 6,
        Adopter.what_nobody_closed_is_closed_unless_the_journal_is_out_of_reach: 6,
        Adopter.an_invocation_is_closed_by_one_writer: 6,
    }
)
class WriteWithoutAReread(AdopterSubject):
    """The lease was good a moment ago, so nobody else can have written, and no second gate is needed."""

    bends = (
        Bend("invocation.close", "standing_closing", always(None)),
        Bend("invocation.refuse", "standing_closing", always(None)),
        Bend("invocation.journal", "may_write", always(1)),
    )


@runtime_twin(breaks={Adopter.who_has_returned_holds_nothing: 3})
class ReturnWithoutARelease(AdopterSubject):
    """The lease will end by itself, and until then the sweep waits for nobody."""

    bends = (Bend("invocation.section:ActSection", "release", always(None)),)


def _looks_first(right: Right) -> Right:
    def close(parties: Parties, kind: Any, act_key: str, write: Any, *more: Any) -> object:
        if may_write(parties, write.standing) is None:
            parties.indexes.refresh()
        return right(parties, kind, act_key, write, *more)

    return close


# Without its lease it stands before a read, and has not said so: Open, the reply, an end, and the question.
@runtime_twin(
    breaks={
        Adopter.who_does_not_stand_does_not_look: 4,
        Adopter.who_does_not_stand_says_so_at_its_position: 4,
    }
)
class ReadBeforeStanding(AdopterSubject):
    """A caller whose lease has ended looks at what it has no standing to observe."""

    bends = (Bend("invocation.close", "_close", _looks_first),)


def _one_failure(right: Right) -> Right:
    def refuse(*call: Any) -> object:
        found = right(*call)
        failed = isinstance(found, RecordingFailure)
        return RecordingFailure(Position.OUTCOME, found.detail) if failed else found

    return refuse


@runtime_twin(
    breaks={
        Adopter.who_does_not_stand_says_so_at_its_position: 4,
        Adopter.a_refused_act_is_answered_as_one: 4,
    }
)
class OneFailureForBoth(AdopterSubject):
    """Close and Refuse fail alike, and a caller whose act was refused is told that it may have happened."""

    bends = (Bend("invocation.use", "refuse", _one_failure),)


def _as_close_would(right: Right) -> Right:
    def refuse(*call: Any) -> object:
        found = right(*call)
        accounted = isinstance(found, AlreadyAccounted)
        return RecordingFailure(Position.OUTCOME, found.code) if accounted else found

    return refuse


@runtime_twin(breaks={Adopter.a_refused_act_is_answered_as_one: 6})
class RefusalThatAdopts(AdopterSubject):
    """Refuse finds the invocation closed and reports what Close would."""

    bends = (Bend("invocation.use", "refuse", _as_close_would),)


@dataclass(frozen=True, slots=True)
class _Accounted(AlreadyAccounted):
    """A code that Close does not declare."""

    detail: str = "the sweep was first"


def _accounted(right: Right) -> Right:
    def close(*call: Any) -> object:
        found = right(*call)
        swept = isinstance(found, Closed) and found.landed_by is LandedBy.SWEEP
        return _Accounted(found.outcome_event_id) if swept else found

    return close


@runtime_twin(breaks={Adopter.a_committed_act_is_answered_as_one: 6})
class CloseThatIsAlreadyAccounted(AdopterSubject):
    """Close answers a code that it does not declare, which says nothing of who wrote what."""

    bends = (Bend("invocation.use", "close", _accounted),)


def _whatever_it_is(_: Right) -> Right:
    return lambda closing: Closed(closing.event_id, LandedBy.SWEEP)


@runtime_twin(breaks={Adopter.landed_by_says_who_wrote_the_outcome: 6})
class AnyClosingIsAdopted(AdopterSubject):
    """The invocation is closed, by an abandonment, and the caller is told that its outcome has landed."""

    bends = (Bend("invocation.close", "_adopted", _whatever_it_is),)


@runtime_twin(breaks={Adopter.what_nobody_closed_is_closed_unless_the_journal_is_out_of_reach: 4})
class RefusalNotWorthARecord(AdopterSubject):
    """Nothing happened, so nothing is written, and the attempt is gone."""

    bends = (Bend("invocation.refuse", "append", always(Landed("0" * 32))),)


def _as_refused(right: Right) -> Right:
    def yielded(self: Invocation, opened: Opened, detail: str) -> InvocationFailed:
        right(self, opened, detail)
        return InvocationFailed(REFUSED_CODE, detail, may_retry=True)

    return yielded


@runtime_twin(breaks={Adopter.an_unknown_act_is_not_to_be_run_again: 3})
class UnknownAnsweredAsRefused(AdopterSubject):
    """The adopter passes on that it heard nothing, in the words for a refusal."""

    bends = (Bend("invocation.use:Invocation", "_yielded", _as_refused),)


def _not_in_the_map(right: Right) -> Right:
    def call(parties: Parties, kind: str, act_key: str, invocation_id: str, *more: Any) -> object:
        if invocation_id not in parties.indexes.maps.invocations:
            raise Misuse("not-open")
        return right(parties, kind, act_key, invocation_id, *more)

    return call


@runtime_twin(breaks={Adopter.not_open_is_the_adopters_to_say: 1})
class NotOpenFromAMap(AdopterSubject):
    """The composition looks for the pair among what this node has open, and another node has it."""

    bends = (
        Bend("invocation.instance", "close", _not_in_the_map),
        Bend("invocation.instance", "refuse", _not_in_the_map),
    )


def _left_to_the_sweep(_: Right) -> Right:
    def closed(self: Invocation, opened: Opened, outcome: Outcome) -> Closed:
        raise self._yielded(opened, f"{outcome} is in hand")

    return closed


# Its reply in hand and its lease standing, it returns and never looks: Open, the reply, and the question.
@runtime_twin(breaks={Adopter.who_does_not_stand_does_not_look: 3})
class YieldsWhatIsCommitted(AdopterSubject):
    """The reply is in hand, and the adopter leaves the record to the sweep all the same."""

    bends = (Bend("invocation.use:Invocation", "_closed", _left_to_the_sweep),)


# Open, the lease's end, and a run: what the store could not tell is abandoned.
@runtime_twin(breaks={OBSERVATION: 3})
class SweepWithoutAProbe(AdopterSubject):
    """The run closes an intent as it likes, and asks no store."""

    bends = (Bend("invocation.closing:Sweep", "_probe", always(NotCommitted())),)


def _under_another(right: Right) -> Right:
    def close(*call: Any) -> object:
        *whose, _, _, action_ref, data = call
        return right(*whose, SERVICE, credential_of(SERVICE), action_ref, data)

    return close


# Open, the reply, the question, and the write: an outcome stands, and none of the invocation's own.
@runtime_twin(
    breaks={
        Adopter.landed_by_says_who_wrote_the_outcome: 4,
        Adopter.what_nobody_closed_is_closed_unless_the_journal_is_out_of_reach: 4,
    }
)
class ClosesUnderAnotherActor(AdopterSubject):
    """The process has a credential that always works, and the outcome is not the caller's."""

    bends = (Bend("invocation.use", "close", _under_another),)

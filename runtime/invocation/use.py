"""How a service runs one act: a block that opens at its begin and is closed by the arm of its one commit.

    with instance.invocation("payment", order, clerk, credential, {"nonce": nonce}) as act:
        act.commit(lambda: charge(order, nonce, act.deadline))

What commits returns an Outcome, or raises ConstituentRefused with the constituent's own code. Whatever else
it raises may have committed: the act is yielded to the sweep, and never run again.
"""

from collections.abc import Callable, Mapping
from enum import Enum
from types import TracebackType
from typing import Self

from falsework.runtime.invocation.answers import (
    Closed,
    InvalidCredential,
    Misuse,
    OpenAnswer,
    Opened,
    Outcome,
    Position,
    RecordingFailure,
    RefusalRecorded,
    RefuseAnswer,
)
from falsework.runtime.invocation.close import close
from falsework.runtime.invocation.open import open_act
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.refuse import refuse, yield_act
from falsework.runtime.invocation.section import Standing, section_key
from falsework.runtime.trail import Data


class ConstituentRefused(Exception):
    """The constituent answered with a code; an arm that committed carries the outcome too."""

    def __init__(self, code: str, reason: str = "", outcome: Outcome | None = None) -> None:
        self.code = code
        self.reason = reason
        self.outcome = outcome
        super().__init__(f"{code}: {reason}" if reason else code)


class InvocationFailed(Exception):
    """The act has no outcome of this invocation; the answer tells its code, and whether to run it again."""

    def __init__(self, code: str, advice: str, *, may_retry: bool) -> None:
        self.code = code
        self.may_retry = may_retry
        super().__init__(f"{code}: {advice}")


class NotOpened(InvocationFailed):
    """Nothing was committed, and the block was not entered."""

    def __init__(self, answer: OpenAnswer) -> None:
        assert not isinstance(answer, Opened)
        self.answer = answer
        again = answer.code in ("section-unavailable", "journal-unavailable", "recording-failure(intent)")
        detail = getattr(answer, "detail", "")
        super().__init__(answer.code, str(detail) or "nothing was committed", may_retry=again)


class ActRefused(InvocationFailed):
    """The constituent refused before committing; the attempt is recorded, by this invocation or the sweep."""

    def __init__(self, refused: ConstituentRefused, answer: RefuseAnswer) -> None:
        self.answer = answer
        self.constituent_code = refused.code
        code = refused.code if isinstance(answer, RefusalRecorded) else answer.code
        super().__init__(code, refused.reason or "the constituent refused", may_retry=False)


class Unrecorded(InvocationFailed):
    """The act happened or may have: its account is the sweep's, and it is never run again."""

    def __init__(self, answer: RecordingFailure) -> None:
        self.answer = answer
        super().__init__(answer.code, f"{answer.detail}; never run the act again", may_retry=False)


class _Stage(Enum):
    NEW = "not entered yet"
    OPEN = "open"
    COMMITTING = "committing"
    OVER = "over"


class Invocation:
    """One act of one caller, for one `with` block and one commit."""

    def __init__(
        self, parties: Parties, kind: str, act_key: str, actor_ref: str, credential: str, data: Data
    ) -> None:
        self._parties = parties
        self._kind = parties.kind(kind)
        self.act_key = act_key
        self._actor_ref = actor_ref
        self._credential = credential
        self._data = data
        self._stage = _Stage.NEW
        self._opened: Opened | None = None

    def __enter__(self) -> Self:
        if self._stage is not _Stage.NEW:
            raise Misuse(f"this invocation is {self._stage.value}: make another one for another act")
        self._stage = _Stage.OVER
        answer = open_act(
            self._parties, self._kind.name, self.act_key, self._actor_ref, self._credential, self._data
        )
        if not isinstance(answer, Opened):
            raise NotOpened(answer)
        self._opened = answer
        self._stage = _Stage.OPEN
        return self

    @property
    def invocation_id(self) -> str:
        """The id that every record of this invocation carries."""
        return self._own("its id", _Stage.COMMITTING).invocation_id

    @property
    def deadline(self) -> int | None:
        """The instant that the commit's fence is to be told; None for a kind without one.

        Minted from the section's own terminus, with the allowance between the clocks taken off.
        """
        opened = self._own("its deadline", _Stage.COMMITTING)
        if not self._kind.fenced:
            return None
        allowance = self._parties.figures.clock_offset_allowance
        deadline = self._parties.section.deadline(self._standing(opened), allowance)
        if deadline is None:
            raise Misuse("the section is held no longer: nothing may be committed under it")
        return deadline

    def commit(self, does: Callable[[], Outcome]) -> Closed:
        """The act has run, once, and its outcome is recorded; every other arm is raised."""
        opened = self._own("commit")
        self._stage = _Stage.COMMITTING
        try:
            return self._committed(opened, does)
        finally:
            self._stage = _Stage.OVER

    def _committed(self, opened: Opened, does: Callable[[], Outcome]) -> Closed:
        """The act has run under a lease that holds it, and its arm has been followed."""
        if not self._may_commit(opened):
            raise self._yielded(
                opened, "less of the lease is left than the commit may take: it was not begun"
            )
        try:
            outcome: object = does()
        except ConstituentRefused as refused:
            return self._partitioned(opened, refused)
        except Exception as problem:
            raise self._yielded(opened, f"{type(problem).__name__}: {problem}") from problem
        except BaseException:
            self._yield(opened)
            raise
        match outcome:
            case Outcome(str(), Mapping()):
                return self._closed(opened, outcome)
        raise self._yielded(opened, f"the commit returned {outcome!r}, and no Outcome")

    def _may_commit(self, opened: Opened) -> bool:
        """Whether the lease still holds the commit's own round trip."""
        remaining = self._parties.section.remaining(self._standing(opened))
        return remaining is not None and remaining >= self._kind.commit_round_trip

    def _standing(self, opened: Opened) -> Standing:
        return Standing(section_key(self._kind.name, self.act_key), opened.invocation_id)

    def _partitioned(self, opened: Opened, refused: ConstituentRefused) -> Closed:
        """What the constituent's contract makes of its code."""
        if refused.code in self._kind.partition.pre_commit:
            answer = refuse(
                self._parties,
                self._kind.name,
                self.act_key,
                opened.invocation_id,
                opened.intent_event_id,
                self._actor_ref,
                self._credential,
                refused.reason or refused.code,
                refused.code,
            )
            raise ActRefused(refused, answer) from refused
        if refused.code in self._kind.partition.committed and refused.outcome is not None:
            return self._closed(opened, refused.outcome)
        raise self._yielded(opened, f"{refused} is on the unknown arm") from refused

    def _closed(self, opened: Opened, outcome: Outcome) -> Closed:
        answer = close(
            self._parties,
            self._kind.name,
            self.act_key,
            opened.invocation_id,
            opened.intent_event_id,
            self._actor_ref,
            self._credential,
            outcome.action_ref,
            outcome.data,
        )
        if isinstance(answer, Closed):
            return answer
        raise Unrecorded(answer)

    def _yielded(self, opened: Opened, detail: str) -> Unrecorded:
        self._yield(opened)
        return Unrecorded(RecordingFailure(Position.OUTCOME, detail))

    def _yield(self, opened: Opened) -> None:
        yield_act(self._parties, self._kind.name, self.act_key, opened.invocation_id)

    def _own(self, what: str, *stages: _Stage) -> Opened:
        """What Open answered, while the block is entered and not committed, or in these stages."""
        if self._stage not in (_Stage.OPEN, *stages) or self._opened is None:
            raise Misuse(
                f"{what} was asked of an invocation that is {self._stage.value}: enter it with `with`, and "
                "commit once inside"
            )
        return self._opened

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stage is not _Stage.OPEN:
            return
        opened = self._own("the end of its block")
        self._stage = _Stage.OVER
        self._yield(opened)
        if error is None:
            raise Misuse(
                "the block ended without a commit: the intent stands open, and the sweep will close it"
            )


__all__ = [
    "ActRefused",
    "ConstituentRefused",
    "InvalidCredential",
    "Invocation",
    "InvocationFailed",
    "NotOpened",
    "Unrecorded",
]

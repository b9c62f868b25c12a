"""Runtimes of the race that are wrong on purpose: the section, the journal and its fence, Open and Close."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import ClassVar

from falsework.conformance.subject import runtime_twin
from falsework.models.recoverable_invocation.race import Race
from falsework.runtime import trail
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.journal import Landed, NotLanded
from falsework.runtime.invocation.records import Noted
from falsework.runtime.invocation.section import Standing
from falsework.runtime.lease import LeaseRow
from falsework.runtime.subjects.race import InvocationSubject
from falsework.runtime.subjects.race_parts import KIND, TICK, Impatient, Mailbox, Message, Section, declared
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always
from falsework.runtime.trail.journal import AuditTrail

DRIVEN = "falsework.models.recoverable_invocation.race_driven:"
ALONE = f"{DRIVEN}DrivenAlone"

# --- the journal and its fence ------------------------------------------------------------------------------


class _LooksAtNoFence(AuditTrail):
    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        return super().record_action(action_ref, actor_ref, credential, data)


@runtime_twin(
    breaks={
        Race.an_intent_in_flight_has_its_section: 7,
        Race.a_write_is_dead_only_past_its_fence: 7,
        Race.a_closing_lands_under_its_writers_lease: 15,
    },
    within=15,
)
class JournalWithoutAFence(InvocationSubject):
    """The journal looks at no fence, so a writer that slept through its lease still writes."""

    model = ALONE
    journal_class = _LooksAtNoFence


def _moved(by: Callable[[trail.Fence], int]) -> Callable[[Right], Right]:
    """The fence of a write, with another terminus."""

    def made(right: Right) -> Right:
        def fence(*arguments: object) -> trail.Fence | None:
            minted: trail.Fence | None = right(*arguments)
            return None if minted is None else replace(minted, terminus=by(minted))

        return fence

    return made


@runtime_twin(breaks={"observation": 4}, within=4)
class FenceMintedBare(InvocationSubject):
    """The write's own terminus travels without its margin."""

    model = ALONE
    bends = (Bend("invocation.journal", "_fence", _moved(lambda fence: fence.terminus + TICK)),)


@runtime_twin(breaks={Race.a_write_is_dead_only_past_its_fence: 4}, within=4)
class MarginTakenOffTwice(InvocationSubject):
    """The allowance is subtracted by the writer and by its client, so that nothing is written any more."""

    model = ALONE
    bends = (Bend("invocation.journal", "_fence", _moved(lambda fence: fence.terminus - TICK)),)


class _ShowsLate(AuditTrail):
    hides: ClassVar[int] = 2 * TICK

    def read_range(
        self, after: int, limit: int | None = None, *, behind_writers: bool = False
    ) -> trail.RangeAnswer:
        page = super().read_range(after, limit, behind_writers=behind_writers)
        if not isinstance(page, trail.Page):
            return page
        shown = tuple(r for r in page.records if r.recorded_at + self.hides <= self.now())
        return trail.Page(shown, shown[-1].sequence_number if shown else after, page.complete)


@runtime_twin(
    breaks={
        Race.nothing_happens_before_the_journal_shows_its_intent: 8,
        Race.two_intents_never_stand_open: 10,
        Race.what_the_invocation_says_it_wrote_is_there: 13,
    },
    within=13,
)
class JournalThatShowsLate(InvocationSubject):
    """A read is served by a replica, which has a record some time after its write has returned."""

    model = ALONE
    journal_class = _ShowsLate


class _FreesOnDeath(Impatient):
    def connection_lost(self, holder: str) -> None:
        with self.store.transaction("lease.connection_lost") as transaction:
            transaction.execute("DELETE FROM lease WHERE holder = ?", (holder,))


@runtime_twin(breaks={"observation": 2}, within=2)
class HostThatFreesOnDeath(InvocationSubject):
    """A lost connection is taken for a death; that the journal looks at the lease keeps its writes out."""

    host_class = _FreesOnDeath


@runtime_twin(breaks={"observation": 5}, within=5)
class WriteOfTheDeadTakenBack(InvocationSubject):
    """A write is dropped because its writer is no longer there to hear of it."""

    def die(self, who: str) -> None:
        super().die(who)
        self.orphan = None


class _AnswersAtOnce(Mailbox):
    """What is not a closing is answered before it has landed."""

    answer: ClassVar[trail.RecordAnswer]

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        if action_ref != f"{KIND}.intended":
            return super().record_action(action_ref, actor_ref, credential, data, fence=fence)
        message = Message(action_ref, actor_ref, credential, data, fence, self.inner.now())
        self.posts(self.process, message)
        return self.answer


class _Queues(_AnswersAtOnce):
    answer = trail.Recorded("queued", 1, 1)


@runtime_twin(
    breaks={
        Race.nothing_happens_before_the_journal_shows_its_intent: 6,
        Race.an_intent_in_flight_has_its_section: 6,
    },
    within=6,
)
class OpenInTheBackground(InvocationSubject):
    """Open hands the intent to a queue and returns, and the act is done before the journal has it."""

    model = ALONE
    mailbox_class = _Queues

    def open_issues(self) -> None:
        self.goes("INVOCATION", "record", "remaining")


class _GivesUp(_AnswersAtOnce):
    answer = trail.RecordingFailure(trail.Step.APPEND, trail.Because.BUSY, "no answer yet")


@runtime_twin(
    breaks={Race.an_intent_in_flight_has_its_section: 4, Race.a_write_is_dead_only_past_its_fence: 4},
    within=4,
)
class OpenThatGivesUp(InvocationSubject):
    """A call that has not returned is taken for one that failed, and the caller is told to try again."""

    model = ALONE
    mailbox_class = _GivesUp


# --- the section --------------------------------------------------------------------------------------------


class _StaysTaken(Section):
    def release(self, standing: Standing) -> None:
        """The section runs out by itself."""


@runtime_twin(breaks={Race.who_has_ended_holds_nothing: 2}, within=2)
class SectionLeftToTheClock(InvocationSubject):
    """Nobody gives the section back: it will run out by itself."""

    model = ALONE
    section_class = _StaysTaken


class _CutsShort(Section):
    def take(self, standing: Standing, duration: int) -> bool:
        return super().take(standing, duration - TICK)


@runtime_twin(breaks={Race.open_is_granted_a_whole_lease: 1}, within=1)
class LeaseCutShort(InvocationSubject):
    """The time that the call took is taken off the lease."""

    model = ALONE
    section_class = _CutsShort


class _CountsTheTerminusIn(Impatient):
    def ended(self, row: LeaseRow, now: int) -> bool:
        return now > row.expires_at


@runtime_twin(breaks={Race.the_section_is_held_as_long_as_a_lease: 4}, within=4)
class HolderPastItsLease(InvocationSubject):
    """The comparison is closed: at its terminus the lease still stands."""

    model = ALONE
    host_class = _CountsTheTerminusIn


# --- the commit, Close and Refuse ---------------------------------------------------------------------------


@runtime_twin(breaks={Race.a_refused_act_never_happens: 12}, within=12)
class SilenceTakenForARefusal(InvocationSubject):
    """A lost reply is mapped to a refusal, which closes the intent over an act that happens."""

    model = ALONE

    def taken_for(self, arm: str) -> str:
        return "PRE_COMMIT" if arm == "UNKNOWN" else arm


def _trusting(right: Right) -> Right:
    def append(*arguments: object) -> object:
        found = right(*arguments)
        return Landed("unknown") if isinstance(found, NotLanded) else found

    return append


@runtime_twin(breaks={Race.what_the_invocation_says_it_wrote_is_there: 14}, within=14)
class CloseThatTrustsItsCall(InvocationSubject):
    """Close answers that it wrote the outcome as soon as the journal has answered anything."""

    model = ALONE
    bends = (Bend("invocation.close", "append", _trusting),)


def _as_long_as_it_stands(module: str) -> Bend:
    """The gate asks whether the lease is over, and not whether a write still fits in."""
    return Bend(
        f"invocation.{module}",
        "may_write",
        lambda _: lambda parties, standing: parties.section.remaining(standing),
    )


@runtime_twin(
    breaks={
        Race.open_passes_its_gate_in_time: 5,
        Race.close_passes_its_gate_in_time: 11,
    },
    within=11,
)
class GateThatForgetsTheBound(InvocationSubject):
    """The gate asks whether the lease is over, and not whether a write still fits in."""

    model = ALONE
    bends = tuple(map(_as_long_as_it_stands, ("journal", "close", "refuse", "closing")))


def _gateless(module: str) -> Bend:
    """What remains is asked for, and not listened to."""
    return Bend(
        f"invocation.{module}",
        "may_write",
        lambda _: lambda parties, standing: (parties.section.remaining(standing), 1)[1],
    )


@runtime_twin(breaks={Race.close_passes_its_gate_in_time: 12}, within=12)
class CloseWithoutItsGate(InvocationSubject):
    """Close reads and writes, however little is left of its lease."""

    model = ALONE
    bends = (_gateless("close"),)


@runtime_twin(breaks={Race.close_tries_again_as_often_as_declared: 14}, within=14)
class CloseThatNeverGivesUp(InvocationSubject):
    """What did not land is tried again for as long as the lease lasts, whatever was declared."""

    model = ALONE

    def declares(self, constants: Mapping[str, object]) -> Deployment:
        return declared({**constants, "RETRIES": -1})


# --- a second Open ------------------------------------------------------------------------------------------


class _TakesNothing(Section):
    def take(self, standing: Standing, duration: int) -> bool:
        if self.process.who != "ANOTHER":
            return super().take(standing, duration)
        self.process.holder = standing.holder
        return True

    def remaining(self, standing: Standing) -> int | None:
        left = super().remaining(standing)
        return TICK if self.process.who == "ANOTHER" else left


@runtime_twin(breaks={Race.two_intents_never_stand_open: 6}, within=6)
class SecondOpenWithoutTheSection(InvocationSubject):
    """The pre-check is a read, so it is made before the section is taken."""

    model = ALONE
    section_class = _TakesNothing


class _AsksItsMap(Indexes):
    def refresh(
        self, *, behind_writers: bool = False, bounded: bool = False
    ) -> list[Noted] | trail.Unavailable | trail.InvalidQuery:
        if isinstance(self.trail, Mailbox) and self.trail.process.who == "ANOTHER":
            return []
        return super().refresh(behind_writers=behind_writers, bounded=bounded)


@runtime_twin(breaks={Race.another_is_let_in_past_no_open_intent: 9}, within=9)
class SecondOpenThatAsksItsMap(InvocationSubject):
    """A node asks its own map of open intents, and another node wrote the one that is open."""

    model = ALONE
    indexes_class = _AsksItsMap


@runtime_twin(breaks={Race.what_has_landed_is_not_begun_again: 15}, within=15)
class SecondOpenOfALandedAct(InvocationSubject):
    """The pre-check looks for open intents alone, and an act that may happen once is begun twice."""

    model = f"{DRIVEN}DrivenOnce"
    bends = (Bend("invocation.open", "_once_only", always(None)),)

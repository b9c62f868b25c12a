"""Runtimes whose Open lets in what it should keep out, or keeps out what it should let in.

Step counts are the model twins' own but where a comment tells another: an intent is issued, lands and ages,
and a second call meets it. Each is driven along the part of the graph in which it errs: one deployment, and
some of the calls.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

from falsework.conformance.subject import runtime_twin
from falsework.language import require
from falsework.models.recoverable_invocation.records_opening import Call, Invocation, Opened, Opening, Stage
from falsework.runtime.invocation.answers import (
    Abandon,
    ActInFlight,
    ActLanded,
    JournalUnavailable,
    Report,
    SectionUnavailable,
)
from falsework.runtime.invocation.closing import Part, Sweep
from falsework.runtime.invocation.figures import Kind
from falsework.runtime.invocation.journal import Landed, NotLanded, Why, Write
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import Sort, identified
from falsework.runtime.invocation.section import ActSection, Standing, section_key
from falsework.runtime.invocation.sizing import Sizing
from falsework.runtime.invocation.terms import in_flight
from falsework.runtime.subjects.recoverable_invocation.bends import Bend, Right, always
from falsework.runtime.subjects.recoverable_invocation.opening import OpeningSubject
from falsework.runtime.subjects.recoverable_invocation.world import LEDGER
from falsework.runtime.trail import Json, Unavailable

HERE = "falsework.twins.runtime.recoverable_invocation.opening"


class Reported(Opening):
    """One deployment, an act that may be repeated and no identity; calls that fit, the first one's first."""

    SERVED: ClassVar[bool] = False
    REPEATABLE: ClassVar[bool] = True
    FENCED: ClassVar[bool] = False
    CALLS: ClassVar[tuple[Call, ...]] = (Call.FITTING,)

    def start(self, service: bool, repeatable: bool, fenced: bool) -> None:
        require(service == self.SERVED and repeatable == self.REPEATABLE and fenced == self.FENCED)
        super().start(service, repeatable, fenced)

    def open_act(self, invocation: Invocation, call: Call) -> Opened:
        require(call in self.CALLS and (invocation == 0 or self.stage[0] is not Stage.NONE))
        return super().open_act(invocation, call)


class Served(Reported):
    """The same under a service identity."""

    SERVED = True


class ServedOnce(Served):
    """An act that cannot be repeated, under a service identity."""

    REPEATABLE = False


class ServedFenced(Served):
    """An act under a service identity and the journal fence."""

    FENCED = True


class EveryCall(Served):
    """Every call, under a service identity."""

    CALLS = tuple(Call)


class FencedEveryCall(EveryCall):
    """Every call, under a service identity and the fence."""

    FENCED = True


def _the_outcome_alone(right: Right) -> Right:
    def sizes(self: Sizing, kind: Kind, act_key: str, actor_ref: str) -> dict[str, int]:
        found = right(self, kind, act_key, actor_ref)
        return {name: size for name, size in found.items() if "outcome" in name}

    return sizes


@runtime_twin(breaks={Opening.no_intent_is_issued_for_a_call_that_should_be_refused: 1}, within=3)
class OutcomeSizedAlone(OpeningSubject):
    """The outcome fits, and the escalation that may have to stand for it was not measured."""

    model = f"{HERE}:EveryCall"
    bends = (Bend("invocation.sizing:Sizing", "_closings", _the_outcome_alone),)


def _anybody_opens(right: Right) -> Right:
    def refusal(self: Sizing, kind: Kind, *call: Any) -> str | None:
        found: str | None = right(self, replace(kind, service_identity=None), *call)
        return found

    return refusal


@runtime_twin(breaks={Opening.no_intent_is_issued_for_a_call_that_should_be_refused: 1}, within=3)
class ServiceThatOpens(OpeningSubject):
    """The service identity is an actor like any other."""

    model = f"{HERE}:EveryCall"
    bends = (Bend("invocation.sizing:Sizing", "refusal", _anybody_opens),)


# Its section is another's by the second call: the intent that should be dead lands with it, the other's next.
@runtime_twin(breaks={Opening.under_the_fence_one_intent_is_open: 3}, within=5)
class IntentBesideTheFence(OpeningSubject):
    """The fence is declared, and no write carries it, so that a dead Open's intent lands late."""

    model = f"{HERE}:ServedFenced"
    bends = (Bend("invocation.journal", "_fence", always(None)),)


def _closed_is_free(right: Right) -> Right:
    def once_only(parties: Parties, act: tuple[str, str]) -> object:
        found = right(parties, act)
        return None if isinstance(found, ActInFlight) else found

    return once_only


@runtime_twin(breaks={Opening.an_act_that_cannot_be_repeated_happens_once: 8}, within=8)
class EscalationFreesTheKey(OpeningSubject):
    """An escalated act is closed, so it may be done, and it had been done."""

    model = f"{HERE}:ServedOnce"
    bends = (Bend("invocation.open", "_once_only", _closed_is_free),)


def _above_the_mark(right: Right) -> Right:
    def once_only(parties: Parties, act: tuple[str, str]) -> object:
        found = right(parties, act)
        return None if isinstance(found, ActLanded) else found

    return once_only


@runtime_twin(breaks={Opening.an_act_that_cannot_be_repeated_happens_once: 7}, within=7)
class OutcomeBelowTheMark(OpeningSubject):
    """The outcome is looked for in the delta, which begins above it."""

    model = f"{HERE}:ServedOnce"
    bends = (Bend("invocation.open", "_once_only", _above_the_mark),)


def _written_first(right: Right) -> Right:
    def open_act(
        parties: Parties, kind_name: str, act_key: str, actor_ref: str, credential: str, data: dict[str, Json]
    ) -> object:
        kind = parties.kind(kind_name)
        if parties.sizing.refusal(kind, act_key, actor_ref, credential, data) is None:
            standing = Standing(section_key(kind.name, act_key), parties.ids())
            if not parties.section.take(standing, kind.completion_bound):
                intent = identified(data, kind, act_key, standing.holder)
                append_at_once(parties, kind, actor_ref, credential, intent)
                return SectionUnavailable()
            parties.section.release(standing)
        return right(parties, kind_name, act_key, actor_ref, credential, data)

    return open_act


def append_at_once(
    parties: Parties, kind: Kind, actor_ref: str, credential: str, intent: dict[str, Json]
) -> None:
    """The intent is in the journal, however writes are on their way in this world."""
    inner = getattr(parties.trail, "inner")  # noqa: B009  the world's trail is no part of the contract
    inner.record_action(kind.ref("intended"), actor_ref, credential, intent)


# The first invocation opens and lands before the other's call is refused.
@runtime_twin(
    breaks={Opening.a_refusal_writes_nothing: 1, Opening.under_the_fence_one_intent_is_open: 3}, within=3
)
class IntentBeforeTheSection(OpeningSubject):
    """The intent is written first, and the section could not be taken."""

    model = f"{HERE}:FencedEveryCall"
    bends = (Bend("invocation.instance", "open_act", _written_first),)


def _the_newest(right: Right) -> Right:
    def in_the_way(parties: Parties, kind: Kind, act_key: str, standing: Standing) -> object:
        found = right(parties, kind, act_key, standing)
        return ActInFlight(standing.holder) if isinstance(found, ActInFlight) else found

    return in_the_way


@runtime_twin(breaks={Opening.what_holds_the_key_is_named: 3}, within=4)
class NewestIntentIsNamed(OpeningSubject):
    """The code names the last invocation of the act, whichever holds its key."""

    model = f"{HERE}:Served"
    bends = (Bend("invocation.open", "_standing_in_the_way", _the_newest),)


def _the_aged_alone(right: Right) -> Right:
    def in_the_way(parties: Parties, kind: Kind, act_key: str, standing: Standing) -> object:
        found = right(parties, kind, act_key, standing)
        if isinstance(found, ActInFlight):
            now = parties.seam.now()
            intents = parties.indexes.open_intents((kind.name, act_key), now)
            if any(in_flight(kind, parties.figures, intent.recorded_at, now) for intent in intents):
                return None
        return found

    return in_the_way


@runtime_twin(
    breaks={
        Opening.nobody_opens_beside_an_intent_in_flight: 3,
        Opening.with_a_service_identity_an_aged_intent_holds_its_key: 3,
        Opening.an_intent_that_is_passed_over_is_surfaced: 3,  # what is young is none of an operator's
    },
    within=4,
)
class KeyHeldByTheAged(OpeningSubject):
    """An intent counts once a sweep would examine it, and two live invocations share a key."""

    model = f"{HERE}:Served"
    bends = (Bend("invocation.open", "_standing_in_the_way", _the_aged_alone),)


def _as_without_an_identity(right: Right) -> Right:
    def in_the_way(parties: Parties, kind: Kind, act_key: str, standing: Standing) -> object:
        return right(parties, replace(kind, service_identity=None), act_key, standing)

    return in_the_way


@runtime_twin(breaks={Opening.with_a_service_identity_an_aged_intent_holds_its_key: 4}, within=4)
class AgedIntentsHoldNothing(OpeningSubject):
    """Past its bound an invocation is dead, and who will account for it is another matter."""

    model = f"{HERE}:Served"
    bends = (Bend("invocation.open", "_standing_in_the_way", _as_without_an_identity),)


@runtime_twin(breaks={Opening.without_one_an_aged_intent_holds_nothing: 4}, within=4)
class OrphanThatBlocksItsKey(OpeningSubject):
    """A report-only kind waits for a sweep that will never close anything."""

    model = f"{HERE}:Reported"
    bends = (Bend("invocation.open", "in_flight", always(True)),)


@runtime_twin(breaks={Opening.an_intent_that_is_passed_over_is_surfaced: 4}, within=4)
class OrphanPassedOverInSilence(OpeningSubject):
    """Open goes past the old intent, and tells nobody."""

    model = f"{HERE}:Reported"
    bends = (Bend("invocation.open", "_surface", always(None)),)


def _landed_for_good(right: Right) -> Right:
    def in_the_way(parties: Parties, kind: Kind, act_key: str, standing: Standing) -> object:
        found = right(parties, kind, act_key, standing)
        known = parties.indexes.of_act((kind.name, act_key))
        each = known.values() if isinstance(known, dict) else ()
        closings = [closing for invocation in each for closing in invocation.closings]
        outcomes = [closing for closing in closings if closing.sort is Sort.OUTCOME]
        return ActLanded(outcomes[0].event_id) if found is None and outcomes else found

    return in_the_way


@runtime_twin(
    breaks={
        Opening.without_one_an_aged_intent_holds_nothing: 5,
        Opening.landed_is_said_of_an_outcome_that_cannot_be_repeated: 5,
    },
    within=5,
)
class LandedWhateverTheKind(OpeningSubject):
    """An outcome is there, so the act is done, and a transfer can be made once."""

    model = f"{HERE}:Reported"
    bends = (Bend("invocation.open", "_standing_in_the_way", _landed_for_good),)


def _an_outage_is_empty(right: Right) -> Right:
    def refresh(*self: Any, **how: Any) -> object:
        found = right(*self, **how)
        return [] if isinstance(found, Unavailable) else found

    return refresh


@runtime_twin(breaks={Opening.an_outage_and_a_want_of_time_have_their_own_codes: 1}, within=3)
class FailedReadReadsEmpty(OpeningSubject):
    """The range read failed and returned no intent, so there is none."""

    model = f"{HERE}:EveryCall"
    bends = (Bend("invocation.indexes:Indexes", "refresh", _an_outage_is_empty),)


def _duplicated(
    counts: Callable[[Parties, Kind, int, int], bool], *, everywhere: bool
) -> Callable[[Right], Right]:
    """A read that counts the open intents by their age as it likes."""

    def made(right: Right) -> Right:
        def read(parties: Parties, kind_name: str, act_key: str, invocation_id: str | None = None) -> object:
            answer = right(parties, kind_name, act_key, invocation_id)
            kind, now = parties.kind(kind_name), parties.seam.now()
            intents = parties.indexes.open_intents((kind_name, act_key), now)
            counted = [intent for intent in intents if counts(parties, kind, intent.recorded_at, now)]
            duplicate = len(counted) > 1 and (everywhere or not kind.reports_only)
            return replace(answer, binding_duplicate=duplicate) if isinstance(answer, Report) else answer

        return read

    return made


def _each(parties: Parties, kind: Kind, recorded_at: int, now: int) -> bool:
    return True


def _the_young(parties: Parties, kind: Kind, recorded_at: int, now: int) -> bool:
    return in_flight(kind, parties.figures, recorded_at, now)


@runtime_twin(breaks={Opening.a_report_only_kind_has_no_duplicate_intents: 5}, within=5)
class KeyWithoutItsBranch(OpeningSubject):
    """Two open intents are a duplicate, those that the rules tell a report-only kind to leave included."""

    model = f"{HERE}:Reported"
    bends = (Bend("invocation.instance", "read_invocation", _duplicated(_each, everywhere=True)),)


@runtime_twin(breaks={Opening.two_open_intents_under_an_identity_are_reported: 6}, within=6)
class DuplicateOfTheYoungAlone(OpeningSubject):
    """A late intent has aged by the time it is read, and is counted as somebody's orphan."""

    model = f"{HERE}:Served"
    bends = (Bend("invocation.instance", "read_invocation", _duplicated(_the_young, everywhere=False)),)


def _under_whatever_credential(right: Right) -> Right:
    def closed(self: Sweep) -> Part:
        self.kind = replace(self.kind, service_identity=LEDGER.service_identity)
        found: Part = right(self)
        return found

    return closed


@runtime_twin(breaks={Opening.without_an_identity_the_sweep_reports: 4}, within=4)
class SweepWithoutAnIdentity(OpeningSubject):
    """The run closes under whatever credential the process has."""

    model = f"{HERE}:Reported"
    bends = (Bend("invocation.closing:Sweep", "closed", _under_whatever_credential),)


def _blindly_again(right: Right) -> Right:
    def append(parties: Parties, write: Write) -> object:
        found = right(parties, write)
        return right(parties, write) if isinstance(found, Landed) else found

    return append


# The intent has landed by the second step, and is on its way once more.
@runtime_twin(breaks={Opening.an_intent_in_flight_lands_once: 2}, within=4)
class IntentLandsAgain(OpeningSubject):
    """A blind retry of an intent that has landed appends it again."""

    model = f"{HERE}:Served"
    bends = (Bend("invocation.open", "append", _blindly_again),)


def _as_if_it_had(right: Right) -> Right:
    def append(parties: Parties, write: Write) -> object:
        found = right(parties, write)
        failed = isinstance(found, NotLanded) and found.why is Why.FAILED
        return Landed("0" * 32) if failed else found

    return append


@runtime_twin(breaks={Opening.an_intent_that_failed_leaves_nothing: 2}, within=3)
class FailedOpenGoesOn(OpeningSubject):
    """The intent did not land, and the invocation goes on as if it had."""

    model = f"{HERE}:Served"
    bends = (Bend("invocation.open", "append", _as_if_it_had),)


def _abandoned_anyway(right: Right) -> Right:
    return lambda kind, _: right(kind, Abandon("it has stood open for long enough"))


@runtime_twin(breaks={Opening.an_operator_closes_what_nobody_else_will: 5}, within=5)
class OperatorDoesNotProbe(OpeningSubject):
    """What stands open for long enough did not happen."""

    model = f"{HERE}:Served"
    bends = (Bend("invocation.resolve", "_disposed", _abandoned_anyway),)


class _Outage:
    """Whether the call that releases is one that could not read."""

    seen = False


def _noticed(right: Right) -> Right:
    def in_the_way(*call: Any) -> object:
        found = right(*call)
        _Outage.seen = isinstance(found, JournalUnavailable)
        return found

    return in_the_way


def _kept(right: Right) -> Right:
    def release(self: ActSection, standing: Standing) -> None:
        if not _Outage.seen:
            right(self, standing)
        _Outage.seen = False

    return release


@runtime_twin(breaks={Opening.who_is_refused_lets_the_section_go: 1}, within=3)
class SectionKeptThroughAnOutage(OpeningSubject):
    """The read fails, the call returns, and the key is held until its lease ends."""

    model = f"{HERE}:EveryCall"
    bends = (
        Bend("invocation.open", "_standing_in_the_way", _noticed),
        Bend("invocation.section:ActSection", "release", _kept),
    )

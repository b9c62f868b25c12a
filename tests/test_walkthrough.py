"""The text's walkthrough of a disclosure, on both stores: each way it may go, down to the records it ends in.

Times are the text's: the lease is 30 s, the sweep examines from 32 s on, and a crash is accounted for within
about 45 s. The disclosures are kept in a file of their own, which knows nothing of the protocol.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from falsework.runtime.examples.disclosure import (
    KIND,
    Ledger,
    NodeInstants,
    SelectiveDisclosure,
    Subset,
    probed,
)
from falsework.runtime.invocation.answers import (
    Abandon,
    Closed,
    Committed,
    LandedBy,
    Opened,
    Outcome,
    ProbeAnswer,
    Report,
    Resolved,
    State,
    StoreUnavailable,
    Tally,
)
from falsework.runtime.invocation.use import ActRefused, ConstituentRefused, NotOpened, Unrecorded
from falsework.runtime.trail import Data, Record
from invocation_world import SECOND, HandClock, World, deployment_with
from stores import BOTH, placed

pytestmark = pytest.mark.slow

SUBSET = Subset("subject-1", "auditor-1", "2026", "consent")


class Disclosures(World):
    """The ledger of the walkthrough on one node, and its constituent's file."""

    def __init__(self, kind: str, folder: Path, *, repeatable: bool = True) -> None:
        self.placing = placed(kind)
        self.constituent = SelectiveDisclosure(folder / "disclosures.db")
        self.lost = False
        self.hand = HandClock()
        store = self.placing.__enter__().open(self.hand)
        super().__init__(deployment_with(repeatable=repeatable), store, self.hand)
        self.ledger = Ledger(self.instance, self.constituent, NodeInstants(self.clock, node=3))

    def probe(self, act_key: str, payload: Mapping[str, object]) -> ProbeAnswer:
        return StoreUnavailable("down") if self.lost else probed(self.constituent, payload)

    def disclose(self, actor: str = "dana", subset: Subset = SUBSET) -> Closed:
        return self.ledger.disclose_subset(subset, actor, self.credentials[actor])

    def opened_subset(self, actor: str = "dana") -> tuple[Opened, int]:
        """The intent stands; what the process does next, or whether it lives, is the test's."""
        at = self.ledger.instants.now()
        data: Data = {
            "subject_ref": SUBSET.subject_ref,
            "recipient": SUBSET.recipient,
            "scope": SUBSET.scope,
            "authority": SUBSET.authority,
            "disclosed_at": at,
        }
        answer = self.instance.open(KIND, SUBSET.act_key, actor, self.credentials[actor], data)
        assert isinstance(answer, Opened)
        return answer, at

    def sweep(self) -> Tally:
        answer = self.node(word="run").reconcile()
        assert isinstance(answer, Tally)
        return answer

    def read(self) -> Report:
        answer = self.instance.read_invocation(KIND, SUBSET.act_key)
        assert isinstance(answer, Report)
        return answer

    def end(self) -> None:
        self.constituent.close()
        self.placing.__exit__(None, None, None)


@pytest.fixture(params=BOTH)
def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disclosures]:
    world = Disclosures(request.param, tmp_path)
    yield world
    world.end()


def words(records: list[Record]) -> list[str]:
    return [record.action_ref.removeprefix("ledger.") for record in records]


def test_the_clean_run(ledger: Disclosures) -> None:
    """One intent, one outcome, one writer."""
    answer = ledger.disclose()
    intent, outcome = ledger.journal()
    assert words([intent, outcome]) == ["intended", "disclosed"]
    assert answer == Closed(outcome.event_id, LandedBy.INVOCATION)
    assert intent.actor_ref == outcome.actor_ref == "dana"
    assert intent.data is not None
    assert outcome.data == {
        "invocation_id": intent.data["invocation_id"],
        "intent_event_id": intent.event_id,
        "kind": "ledger",
        "act_key": SUBSET.act_key,
        "disclosure_id": "dsc-1",
        "disclosed_at": intent.data["disclosed_at"],
    }
    assert ledger.read().invocations[0].state is State.CLOSED


def test_the_crash(ledger: Disclosures) -> None:
    """The run dies between the commit's return and Close; its section is held to 30 s all the same."""
    act, at = ledger.opened_subset()
    assert ledger.constituent.record(SUBSET, at) == "dsc-1"
    ledger.hand.instant += 29 * SECOND
    assert ledger.held(SUBSET.act_key) == act.invocation_id  # the host does not see the death
    ledger.hand.instant += 2 * SECOND
    assert ledger.held(SUBSET.act_key) is None
    assert ledger.sweep().examined == 0  # 31 s: the act may still be at work by another clock
    ledger.hand.instant += 13 * SECOND
    assert ledger.sweep().closed == 1
    intent, plan, outcome = ledger.journal()
    assert words([intent, plan, outcome]) == ["intended", "recovery_intended", "disclosed"]
    assert plan.actor_ref == outcome.actor_ref == "ledger-reconciler"
    assert outcome.data is not None
    assert (outcome.data["recovery"], outcome.data["acting_actor_ref"]) == (True, "dana")
    assert (outcome.data["disclosure_id"], outcome.data["disclosed_at"]) == ("dsc-1", at)
    assert outcome.recorded_at - intent.recorded_at <= 45 * SECOND
    assert ledger.sweep().examined == 0


def test_the_stall_with_a_write_that_was_applied(ledger: Disclosures) -> None:
    """Applied at 8 s, swept at 35 s, back at 40 s: the invocation writes nothing."""
    act, at = ledger.opened_subset()
    ledger.hand.instant += 8 * SECOND
    ledger.constituent.record(SUBSET, at)
    ledger.hand.instant += 27 * SECOND
    assert ledger.sweep().closed == 1
    ledger.hand.instant += 5 * SECOND
    answer = ledger.instance.close(
        KIND,
        SUBSET.act_key,
        act.invocation_id,
        act.intent_event_id,
        "dana",
        ledger.credentials["dana"],
        "ledger.disclosed",
        {"disclosure_id": "dsc-1", "disclosed_at": at},
    )
    assert not isinstance(answer, Closed)
    assert answer.code == "recording-failure(outcome)"
    assert words(ledger.journal()) == ["intended", "recovery_intended", "disclosed"]


def test_the_stall_with_a_write_that_never_was(ledger: Disclosures) -> None:
    """Not observed is not final without a fence: an operator abandons it once the store has been quiet."""
    act, _ = ledger.opened_subset()
    ledger.hand.instant += 35 * SECOND
    assert ledger.sweep().escalated == 1
    escalation = ledger.journal()[-1]
    assert escalation.data is not None
    assert escalation.data["cause"] == "not-observed"
    ledger.hand.instant += 3_600 * SECOND
    answer = resolved(ledger, act, Abandon("the store has been quiet for an hour"))
    assert words(ledger.journal()) == ["intended", "escalated", "abandoned"]
    data = ledger.journal()[-1].data
    assert data is not None
    assert (data["supersedes"], data["resolved_by"]) == (escalation.event_id, "olga")
    assert answer.closing_event_id == ledger.journal()[-1].event_id
    assert ledger.read().invocations[0].state is State.RESOLVED


def test_the_stall_with_a_write_that_lands_after_the_sweep(ledger: Disclosures) -> None:
    """Empty at 35 s, and not at 50 s: the escalation stands, and the operator's probe finds the write."""
    act, at = ledger.opened_subset()
    ledger.hand.instant += 35 * SECOND
    assert ledger.sweep().escalated == 1
    ledger.hand.instant += 15 * SECOND
    ledger.constituent.record(SUBSET, at)  # the paused process
    assert ledger.sweep().examined == 0
    intent = ledger.journal()[0]
    assert intent.data is not None
    found = ledger.probe(SUBSET.act_key, intent.data)
    assert isinstance(found, Committed)
    resolved(ledger, act, Outcome(found.outcome_action_ref, found.outcome_data))
    assert words(ledger.journal()) == ["intended", "escalated", "disclosed"]
    (entry,) = ledger.read().invocations
    assert (entry.state, entry.binding_duplicate) == (State.CLOSED, False)


def resolved(ledger: Disclosures, act: Opened, disposition: Abandon | Outcome) -> Resolved:
    answer = ledger.instance.resolve(
        KIND,
        SUBSET.act_key,
        act.invocation_id,
        act.intent_event_id,
        "olga",
        ledger.credentials["olga"],
        disposition,
    )
    assert isinstance(answer, Resolved)
    return answer


def test_the_refusal(ledger: Disclosures) -> None:
    """The attempt is kept with its reason, and nothing is left for the sweep."""
    with pytest.raises(ActRefused) as caught:
        ledger.disclose("erin", Subset("subject-1", "", "2026", "consent"))
    assert caught.value.code == "invalid-request"
    intent, refusal = ledger.journal()
    assert words([intent, refusal]) == ["intended", "refused"]
    assert refusal.data is not None
    assert refusal.data["reason"] == "subject, recipient and scope are needed"
    assert refusal.actor_ref == "erin"
    ledger.hand.instant += 60 * SECOND
    assert ledger.sweep().examined == 0


def test_a_second_invocation_of_a_repeatable_act(ledger: Disclosures) -> None:
    """Two operators within a second: the second waits, finds nothing open, and makes its own disclosure."""
    first, at = ledger.opened_subset("dana")
    ledger.hand.instant += SECOND

    def the_first_closes() -> None:
        ledger.constituent.record(SUBSET, at)
        ledger.instance.close(
            KIND,
            SUBSET.act_key,
            first.invocation_id,
            first.intent_event_id,
            "dana",
            ledger.credentials["dana"],
            "ledger.disclosed",
            {"disclosure_id": "dsc-1", "disclosed_at": at},
        )

    ledger.waiter.events.append(the_first_closes)
    ledger.disclose("erin")
    assert words(ledger.journal()) == ["intended", "disclosed", "intended", "disclosed"]
    assert [entry.state for entry in ledger.read().invocations] == [State.CLOSED, State.CLOSED]


@pytest.mark.parametrize("kind", BOTH)
def test_a_second_invocation_of_an_act_that_is_not_repeatable(kind: str, tmp_path: Path) -> None:
    """Had the kind been a genesis, the second would have landed act-landed."""
    ledger = Disclosures(kind, tmp_path, repeatable=False)
    ledger.disclose()
    outcome = ledger.journal()[-1].event_id
    with pytest.raises(NotOpened) as caught:
        ledger.disclose("erin")
    assert caught.value.code == f"act-landed({outcome})"
    assert words(ledger.journal()) == ["intended", "disclosed"]
    ledger.end()


def test_the_retry_after_outcome(ledger: Disclosures, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller does not run the act again; it reads, and a minute later the act is closed by the sweep."""
    real = ledger.constituent.record

    def reply_lost(subset: Subset, disclosed_at: int) -> str:
        real(subset, disclosed_at)
        raise TimeoutError("no reply")

    monkeypatch.setattr(ledger.constituent, "record", reply_lost)
    with pytest.raises(Unrecorded) as caught:
        ledger.disclose()
    assert (caught.value.code, caught.value.may_retry) == ("recording-failure(outcome)", False)
    assert ledger.read().invocations[0].state is State.OPEN
    with pytest.raises(NotOpened) as again:
        ledger.disclose()
    assert again.value.code == f"act-in-flight({ledger.read().invocations[0].invocation_id})"
    ledger.hand.instant += 60 * SECOND
    ledger.sweep()
    (entry,) = ledger.read().invocations
    assert entry.state is State.CLOSED
    assert entry.records[-1].data is not None
    assert entry.records[-1].data["recovery"] is True
    assert len(ledger.constituent.query(SUBSET.subject_ref, SUBSET.recipient)) == 1


def test_the_store_of_disclosures_may_be_away_for_a_while(ledger: Disclosures) -> None:
    """No account is invented meanwhile, and the outage has its span."""
    _, at = ledger.opened_subset()
    ledger.constituent.record(SUBSET, at)
    ledger.hand.instant += 40 * SECOND
    ledger.lost = True
    assert ledger.sweep().skipped == 1
    ledger.hand.instant += 60 * SECOND
    ledger.lost = False
    assert ledger.sweep().closed == 1
    (finding,) = ledger.instance.findings()
    assert (finding.finding.value, finding.kind) == ("store-unavailable", "ledger")
    assert finding.closed_at == ledger.clock.now()


def test_what_the_constituent_refuses_is_its_own(tmp_path: Path) -> None:
    """The partition transcribes the constituent's arms: each is raised before anything is made."""
    store = SelectiveDisclosure(tmp_path / "disclosures.db")
    for subset, code in (
        (Subset("", "r", "s", "consent"), "invalid-request"),
        (Subset("s", "r", "s", "hearsay"), "unknown-authority-type"),
    ):
        with pytest.raises(ConstituentRefused) as caught:
            store.record(subset, 1)
        assert caught.value.code == code
    assert store.query("s", "r") == []
    store.close()

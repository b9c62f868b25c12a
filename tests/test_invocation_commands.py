"""The runtime's commands against a deployment file: what each says and writes, and every user's mistake.

Time is a clock in the test's hand; the figures are the walkthrough's.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Said, falsework
from deployment_world import written
from falsework.runtime.clock import Clock
from falsework.runtime.commands import sweep
from falsework.runtime.examples.disclosure import SelectiveDisclosure, Subset
from falsework.runtime.invocation import host as hosts
from falsework.runtime.invocation.answers import Opened
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.host import credential_in, hosted
from falsework.runtime.invocation.log import JsonLines
from falsework.runtime.trail import Data, Recorded
from falsework.runtime.trail.identity import signing_key
from falsework.runtime.trail.steward import Steward
from invocation_world import START, HandClock, Waiter

pytestmark = pytest.mark.slow

SUBSET = Subset("subject-1", "auditor-1", "2026", "consent")


STEWARD = (
    "witness: ledger.witness",
    "witness: ledger.witness\nsteward:\n  actor: admin\n  credential_file: admin.key",
)


class Site:
    """A folder with a founded deployment, and a clock."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = written(folder)
        self.clock = HandClock(START)

    def found(self) -> None:
        said = falsework(
            "found",
            "ledger.yaml",
            *("--administrator", "admin", "--credential-file", "admin.key"),
            *("--actor", "dana=dana.key", "--actor", "olga=olga.key"),
        )
        assert said.code == 0, said.all

    def disclosed(self, *, committed: bool, subset: Subset = SUBSET) -> Opened:
        """An act whose process dies before it closes it, having committed or not."""
        at = self.clock.now()
        data: Data = {
            "subject_ref": subset.subject_ref,
            "recipient": subset.recipient,
            "scope": subset.scope,
            "authority": subset.authority,
            "disclosed_at": at,
        }
        store = SelectiveDisclosure(self.folder / "disclosures.db")
        with hosted(read_deployment(self.path), self.clock) as host:
            instance = host.started(JsonLines(lambda _: None, self.clock))
            credential = (self.folder / "dana.key").read_text(encoding="utf-8").strip()
            answer = instance.open("ledger", subset.act_key, "dana", credential, data)
        if committed:
            store.record(subset, at)
        store.close()
        assert isinstance(answer, Opened)
        return answer

    def passes(self, seconds: int) -> None:
        self.clock.instant += seconds * 1_000_000


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.chdir(tmp_path)
    made = Site(tmp_path)

    def system_clock() -> Clock:
        return made.clock

    monkeypatch.setattr(hosts, "SystemClock", system_clock)
    return made


def lines(said: Said) -> list[dict[str, object]]:
    return [json.loads(line) for line in said.out.splitlines()]


def counts(line: dict[str, object]) -> dict[str, object]:
    """The figures of a run's line that are not nothing."""
    return {name: value for name, value in line.items() if isinstance(value, int) and value}


def test_a_journal_is_founded_once_and_added_to(site: Site, golden: Callable[[str, str], None]) -> None:
    first = falsework("found", "ledger.yaml", "--administrator", "admin", "--credential-file", "admin.key")
    again = falsework(
        "found",
        "ledger.yaml",
        *("--administrator", "admin", "--credential-file", "admin.key", "--actor", "dana=dana.key"),
    )
    trail_id = first.out.partition("founded ")[2][:32]
    golden("found", (first.all + again.all).replace(trail_id, "TRAIL"))
    for name in ("admin.key", "dana.key", "ledger-reconciler.key"):
        assert (site.folder / name).stat().st_mode & 0o777 == 0o600


def test_a_sweep_tells_what_it_did_and_publishes_its_figures(
    site: Site, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    site.found()
    site.disclosed(committed=True)
    site.passes(40)
    monkeypatch.setenv("FALSEWORK_DISCLOSURES", str(site.folder / "disclosures.db"))
    said = falsework("sweep", "ledger.yaml", "--metrics", "ledger.prom")
    assert said.code == 0
    (line,) = lines(said)
    assert (line["event"], counts(line)) == ("run", {"examined": 1, "closed": 1})
    assert line["at"] == "2001-09-09T01:47:20Z"
    golden("sweep_metrics", (site.folder / "ledger.prom").read_text(encoding="utf-8"))
    listed = falsework("invocations", "ledger.yaml", "ledger", SUBSET.act_key, "--format", "json")
    (entry,) = json.loads(listed.out)["invocations"]
    assert (listed.code, entry["state"], entry["age"]) == (0, "closed", 40_000_000)
    assert [record["action_ref"] for record in entry["records"]] == [
        "ledger.intended",
        "ledger.recovery_intended",
        "ledger.disclosed",
    ]


def test_what_a_sweep_cannot_close_an_operator_resolves(
    site: Site, golden: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Escalated by the sweep, abandoned by the operator, and listed as resolved."""
    site.found()
    act = site.disclosed(committed=False)
    site.passes(40)
    monkeypatch.setenv("FALSEWORK_DISCLOSURES", str(site.folder / "disclosures.db"))
    assert counts(lines(falsework("sweep", "ledger.yaml"))[0]) == {"examined": 1, "escalated": 1}
    resolution = (
        *("resolve", "ledger.yaml", "ledger", SUBSET.act_key, act.invocation_id, act.intent_event_id),
        *("--actor", "olga", "--credential-file", "olga.key"),
    )
    done = falsework(*resolution, "--abandon", "quiet for a day")
    assert (done.code, done.out[:12]) == (0, "resolved by ")
    again = falsework(*resolution, "--abandon", "quiet for a day")
    assert again.code == 10
    assert again.out.startswith("refused: invalid-request(already-abandoned): ")
    shown = falsework("invocations", "ledger.yaml", "ledger", SUBSET.act_key).out
    for name, word in ((act.invocation_id, "INVOCATION"), (act.intent_event_id, "INTENT")):
        shown = shown.replace(name, word)
    golden("invocations_resolved", shown)
    assert falsework("invocations", "ledger.yaml", "--state", "open").out == "no invocations\n"


def test_findings_stand_until_they_are_over(site: Site, golden: Callable[[str, str], None]) -> None:
    """The disclosures' file is not where the probe looks: an outage, and past 268 s an act at risk."""
    site.found()
    act = site.disclosed(committed=True)
    (site.folder / "disclosures.db").rename(site.folder / "elsewhere.db")
    site.passes(300)
    assert counts(lines(falsework("sweep", "ledger.yaml"))[0]) == {"examined": 1, "skipped": 1}
    told = falsework("findings", "ledger.yaml")
    document = json.loads(falsework("findings", "ledger.yaml", "--format", "json").out)
    runs = {found["run_id"] for found in document["findings"]}
    text = told.all.replace(act.invocation_id, "INVOCATION")
    for run in runs:
        text = text.replace(run, "RUN")
    golden("findings", text)
    (site.folder / "elsewhere.db").rename(site.folder / "disclosures.db")
    site.passes(60)
    assert counts(lines(falsework("sweep", "ledger.yaml"))[0]) == {"examined": 1, "closed": 1}
    assert falsework("findings", "ledger.yaml", "--standing").all == "exit 0\n--- stdout\nno findings\n"
    assert len(json.loads(falsework("findings", "ledger.yaml", "--format", "json").out)["findings"]) == 2


def test_a_sweep_runs_a_cadence_after_the_end_of_the_last_run(site: Site) -> None:
    site.found()
    said: list[str] = []
    with hosted(read_deployment(site.path), site.clock) as host:
        log = JsonLines(said.append, site.clock)
        waiter = Waiter(site.clock)
        assert sweep.sweep(host, host.started(log), log, waiter, 3, None) == 0
    instants = [json.loads(line)["at"] for line in said]
    assert instants == ["2001-09-09T01:46:40Z", "2001-09-09T01:47:40Z", "2001-09-09T01:48:40Z"]
    assert waiter.waits == 2


def test_a_steward_purges_what_is_over_and_spares_what_is_owed(site: Site) -> None:
    """7 days after its intent an act's payloads go; an intent that still stands open keeps its own."""
    site.path = written(site.folder, STEWARD)
    site.found()
    site.disclosed(committed=False)
    site.passes(7 * 24 * 3_600)
    assert [line["event"] for line in lines(falsework("sweep", "ledger.yaml"))] == ["run", "kept"]
    (still,) = json.loads(falsework("invocations", "ledger.yaml", "--format", "json").out)["invocations"]
    assert still["state"] == "open"
    site.passes(7 * 24 * 3_600)
    second = Subset("subject-2", "auditor-1", "2026", "consent")
    site.disclosed(committed=True, subset=second)
    site.passes(60)
    (site.folder / "disclosures.db").touch()
    falsework("sweep", "ledger.yaml")
    site.passes(7 * 24 * 3_600)
    kept = lines(falsework("sweep", "ledger.yaml"))[-1]
    assert (kept["event"], kept["purged"]) == ("kept", 1)
    listed = json.loads(falsework("invocations", "ledger.yaml", "--format", "json").out)["invocations"]
    assert [entry["act_key"] for entry in listed] == [SUBSET.act_key]


def test_a_steward_that_may_not_keep_the_journal_is_told_of(site: Site) -> None:
    """The run counts all the same."""
    site.path = written(site.folder, STEWARD)
    site.found()
    other = (site.folder / "dana.key").read_text(encoding="utf-8")
    (site.folder / "admin.key").write_text(other, encoding="utf-8")
    said = falsework("sweep", "ledger.yaml")
    assert said.code == 10
    assert [(line["event"], line["level"]) for line in lines(said)] == [
        ("run", "info"),
        ("journal not kept", "alert"),
    ]


def test_a_refused_identity_is_an_alert_and_no_success(site: Site) -> None:
    """The credential that the file holds has been revoked since it was registered."""
    site.found()
    site.disclosed(committed=False)
    site.passes(40)
    (site.folder / "disclosures.db").touch()
    with hosted(read_deployment(site.path), site.clock) as host:
        key = signing_key(credential_in(site.folder / "ledger-reconciler.key"))
        assert key is not None
        steward = Steward(host.trail, "admin", credential_in(site.folder / "admin.key"))
        assert isinstance(steward.revoke(key.key_id), Recorded)
    with hosted(read_deployment(site.path), site.clock) as host:
        said: list[str] = []
        log = JsonLines(said.append, site.clock)
        instance = host.started(log)
        instance.parties.probes["ledger"] = None
        assert sweep.sweep(host, instance, log, Waiter(site.clock), 2, None) == 10
    events = [(json.loads(line)["event"], json.loads(line)["level"]) for line in said]
    assert ("alert", "alert") in events
    assert json.loads(said[-1])["unreached"] == 1


def test_clocks_that_are_too_far_apart_stop_a_run(site: Site) -> None:
    site.found()
    said: list[str] = []
    with hosted(read_deployment(site.path), site.clock) as host:
        log = JsonLines(said.append, site.clock)
        instance = host.started(log)
        host.clock = HandClock(follows=site.clock, offset=2_000_001)
        assert sweep.sweep(host, instance, log, Waiter(site.clock), 1, None) == 10
    (line,) = map(json.loads, said)
    assert (line["event"], line["level"]) == ("clock offset exceeded", "alert")
    assert line["detail"].startswith(f"{site.path}:7: this machine's clock and the database's are 2.000001 s")


# A user's mistakes.


@pytest.mark.parametrize(
    "arguments, told",
    [
        (("sweep", "ledger.yaml"), "store ledger.db is not there: found it first, with falsework found"),
        (("findings", "none.yaml"), "none.yaml:1: the file cannot be read"),
        (("invocations", "ledger.yaml"), "is not there: found it first"),
    ],
)
def test_a_journal_that_is_not_there_is_not_made(site: Site, arguments: tuple[str, ...], told: str) -> None:
    said = falsework(*arguments)
    assert (said.code, said.out) == (13, "")
    assert told in said.err
    assert not (site.folder / "ledger.db").exists()


@pytest.mark.parametrize(
    "edits, told",
    [
        ((("latency: 12 s", "latency: 5 s"),), "ledger.yaml:8: condition 5 of ledger fails"),
        (
            (("retention_period: 7 d", "retention_period: 8 d"),),
            "ledger.yaml:35: the journal keeps it 7 d where ledger.abandoned is to be kept 8 d",
        ),
        ((("disclosure:probe", "disclosure:prob"),), "ledger.yaml:29: probe falsework.runtime.examples"),
        ((("disclosure:probe", "disclosure:DISCLOSED"),), "ledger.yaml:29: probe"),
        (
            (("falsework.runtime.examples.disclosure:probe", "no.such:probe"),),
            "ledger.yaml:29: probe no.such",
        ),
        (
            (("ledger-reconciler.key", "other.key"),),
            "ledger.yaml:36: credential_file other.key cannot be read",
        ),
    ],
)
def test_a_deployment_that_cannot_run_is_refused_at_its_line(
    site: Site, edits: tuple[tuple[str, str], ...], told: str
) -> None:
    site.found()
    written(site.folder, *edits)
    said = falsework("sweep", "ledger.yaml")
    assert (said.code, said.out) == (13, "")
    assert told in said.err


@pytest.mark.parametrize(
    "arguments, told",
    [
        (("--outcome", "ledger.disclosed", "{"), "'{' is no JSON"),
        (("--outcome", "ledger.disclosed", "[]"), "'[]' is no object"),
    ],
)
def test_a_disposition_that_is_none_is_refused(site: Site, arguments: tuple[str, ...], told: str) -> None:
    site.found()
    said = falsework(
        *("resolve", "ledger.yaml", "ledger", "k", "i", "e", "--actor", "olga"),
        *("--credential-file", "olga.key", *arguments),
    )
    assert (said.code, said.out) == (13, "")
    assert told in said.err


def test_a_kind_that_is_not_bound_is_refused_by_name(site: Site) -> None:
    site.found()
    said = falsework("invocations", "ledger.yaml", "payment")
    assert said.code == 13
    assert "binds no kind 'payment': write one of ledger" in said.err
    unknown = falsework("invocations", "ledger.yaml", "ledger", "nothing")
    assert unknown.all == "exit 10\n--- stdout\nno invocations\n"


def test_an_actor_without_a_file_is_refused(site: Site) -> None:
    said = falsework(
        *("found", "ledger.yaml", "--administrator", "a", "--credential-file", "a.key", "--actor", "dana")
    )
    assert (said.code, "write NAME=FILE" in said.err) == (13, True)
    assert not (site.folder / "ledger.db").exists()


def test_another_database_is_not_taken_for_a_journal(site: Site) -> None:
    (site.folder / "ledger.db").write_bytes(b"x" * 4096)
    said = falsework("sweep", "ledger.yaml")
    assert said.code == 13
    assert "is not an SQLite database" in said.err


def test_a_journal_that_was_rolled_back_is_not_served(site: Site) -> None:
    """The witness has seen a record that the journal no longer has."""
    site.path = written(site.folder, STEWARD)
    site.found()
    backup = site.folder / "backup.db"
    with hosted(read_deployment(site.path), site.clock):
        pass
    backup.write_bytes((site.folder / "ledger.db").read_bytes())
    site.disclosed(committed=False)
    said = falsework("sweep", "ledger.yaml")
    assert [line["event"] for line in lines(said)] == ["run", "kept"]
    for rest in ("", "-wal", "-shm"):
        (site.folder / f"ledger.db{rest}").unlink(missing_ok=True)
    backup.rename(site.folder / "ledger.db")
    refused = falsework("sweep", "ledger.yaml")
    assert refused.code == 13
    assert "rolled back or replaced" in refused.err

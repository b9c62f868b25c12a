"""The deployment file: what the example declares, and every mistake told with its line and its remedy."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

import falsework.runtime.invocation
from deployment_world import EXAMPLE, example, written
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.figures import Fence, Pairing, Partition
from falsework.runtime.invocation.findings import Condition
from falsework.runtime.invocation.located import DeploymentError
from falsework.runtime.invocation.units import UnitError, duration, size, spoken

RUN_BOUND = next(line for line in EXAMPLE.read_text(encoding="utf-8").splitlines() if "run_bound" in line)
PARTITION = """    commit_partition:
      pre_commit: [invalid-request, unknown-authority-type, storage-failure]
      committed: []
"""
OBLIGATION = "      obligation: a source that only grows on each node, with the node in its low bits\n"
PAIRING = f"""    pairing_datum:
      field: disclosed_at
      source: seam instant
{OBLIGATION}"""
CREDENTIAL = "      credential_file: ledger-reconciler.key\n"
IDENTITY = f"    service_identity:\n      actor: ledger-reconciler\n{CREDENTIAL}"
PROBE = "falsework.runtime.examples.disclosure:probe"
TERMINUS = "retry_terminus: lease"

# A mistake, what stands in the example, and what stands there instead.
MISTAKES: tuple[tuple[str, str, str], ...] = (
    ("an unknown key", "read_cap: 50", "read_cap: 50\n  read_capp: 40"),
    ("an unknown binding", "repeatable: yes", "repeatable: yes\n    color: red"),
    ("an unknown section", "instance:", "instanse: {}\ninstance:"),
    ("a key twice", "read_cap: 50", "read_cap: 50\n  read_cap: 40"),
    ("a missing figure", f"{RUN_BOUND}\n", ""),
    ("a missing binding", "    completion_bound: 30 s\n", ""),
    ("a duration without a unit", "cadence: 60 s", "cadence: 60"),
    ("a duration of an unknown unit", "cadence: 60 s", "cadence: 60 sec"),
    ("a duration of half a microsecond", "cadence: 60 s", "cadence: 0.5 us"),
    ("a duration of nothing", "cadence: 60 s", "cadence: 0 s"),
    ("a list where a figure is due", "cadence: 60 s", "cadence: [60 s]"),
    ("an empty value", "cadence: 60 s", "cadence:"),
    ("a cap that is no number", "candidates_cap: 20", "candidates_cap: many"),
    ("a cap of more than nine digits", "candidates_cap: 20", "candidates_cap: 2000000000"),
    ("a size without a unit", "envelope: 4 KiB", "envelope: 4096"),
    ("a word that is no choice", "repeatable: yes", "repeatable: sometimes"),
    ("a relative timeout as a fence", "commit_fence: none", "commit_fence: request timeout"),
    ("an unknown fence", "journal_fence: none", "journal_fence: yes"),
    ("a record bound and no fence", "fence: none\n\n", "fence: none\n  record_action_bound: 2 s\n\n"),
    ("a fence and no record bound", "journal_fence: none", "journal_fence: deadline parameter"),
    ("a code in two parts", "committed: []", "committed: [storage-failure]"),
    ("a code twice", "[invalid-request, ", "[invalid-request, invalid-request, "),
    ("a partition that is a list", PARTITION, "    commit_partition: [invalid-request]\n"),
    ("an obligation that is missing", OBLIGATION, ""),
    ("an unknown source of the datum", "source: seam instant", "source: guess"),
    ("a datum that is a word", PAIRING, "    pairing_datum: disclosed_at\n"),
    ("no outcomes", "outcomes: [disclosed]", "outcomes: []"),
    ("an outcome that every kind has", "outcomes: [disclosed]", "outcomes: [disclosed, refused]"),
    ("a kind of the trail's own", "  ledger:\n", "  audit:\n"),
    ("a kind with a dot", "  ledger:\n", "  ledger.entry:\n"),
    ("a probe that is no function", "disclosure:probe", "disclosure"),
    ("an undecidable probe", PROBE, "undecidable"),
    ("a terminus of no known form", TERMINUS, "retry_terminus: counted(0)"),
    ("a deviation that is none", TERMINUS, f"{TERMINUS}\n    deviations: {{no_sweep: true}}"),
    (
        "a journal without attribution",
        TERMINUS,
        f"{TERMINUS}\n    deviations: {{journal_without_attribution: true}}",
    ),
    ("an identity without a credential", CREDENTIAL, ""),
    ("an identity that is a word", IDENTITY, "    service_identity: ledger-reconciler\n"),
    ("a store of no known kind", "sqlite:ledger.db", "mysql:ledger"),
    ("a tab", "  read_bound: 2 s", "\tread_bound: 2 s"),
)


def told(folder: Path, *edits: tuple[str, str]) -> str:
    path = written(folder, *edits)
    with pytest.raises(DeploymentError) as caught:
        read_deployment(path)
    return str(caught.value).replace(f"{folder}/", "")


def test_every_mistake_is_told_with_its_line(golden: Callable[[str, str], None], tmp_path: Path) -> None:
    texts = [f"{name}\n{told(tmp_path, (old, new))}\n" for name, old, new in MISTAKES]
    both = told(tmp_path, ("cadence: 60 s", "cadence: 60"), ("repeatable: yes", "repeatable: often"))
    texts.append(f"two mistakes at once\n{both}\n")
    golden("deployment_mistakes", "\n".join(texts))


@pytest.mark.parametrize(
    "text, found",
    [
        ("", "holds empty where sections are expected"),
        ("- a\n", "holds a list where sections are expected"),
        ("kinds: {a: {}", "is no YAML: "),
        ("kinds: " + "[" * 20_000, "is nested too deep"),
        ("? [a, b]\n: c\n", "a key of the file is a list"),
        ("kinds: {}\n", "the file lacks instance"),
    ],
)
def test_what_is_no_deployment_at_all(tmp_path: Path, text: str, found: str) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DeploymentError) as caught:
        read_deployment(path)
    assert found in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(DeploymentError, match=r"none\.yaml:1: the file cannot be read"):
        read_deployment(tmp_path / "none.yaml")


def test_a_pipe_and_a_device_are_no_files(tmp_path: Path) -> None:
    """Nothing is waited for: the file itself, and each that it names."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), tmp_path):
        with pytest.raises(DeploymentError, match="it is a folder, a pipe or a device"):
            read_deployment(path)
    for old, new, told in (
        ("sqlite:ledger.db", "sqlite:pipe", "2: store of the file is"),
        ("ledger.witness", "pipe", "3: witness of the file is"),
        ("ledger-reconciler.key", "/dev/zero", "38: credential_file of service_identity of kind ledger is"),
    ):
        with pytest.raises(DeploymentError, match=f"ledger.yaml:{told} .*, which is no file"):
            read_deployment(written(tmp_path, (old, new)))


@pytest.mark.parametrize(
    "store, told",
    [
        ("postgresql://u@host:fifty/db", "the port of store is no number from 1 to 65535"),
        ("postgresql://u@host:0/db", "the port of store is no number"),
        ("postgresql://u@host:65536/db", "the port of store is no number"),
        ("postgresql://u@one:5432,two:x/db", "the port of store is no number"),
        ("postgresql://u@[::1]:x/db", "the port of store is no number"),
        ("postgresql://u:5ecr@et@host/db", "write %40 for an @ of the password"),
        ("postgresql://u:5/ecr@et@host/db", "write %40"),
        ("postgresql:u:5ecr@et", "two slashes are missing"),
        ("host=h password=5ecr@et", "store is no postgresql:// and no sqlite:"),
        ("5ecr@et:x", "store is no postgresql:// and no sqlite:"),
        ("mysql://u:5ecr@et/db", "store begins with 'mysql'"),
    ],
)
def test_a_servers_name_that_none_can_have_is_told_without_a_word_of_it(
    tmp_path: Path, store: str, told: str
) -> None:
    """A password of which a part would be taken for the host is not repeated, not even that part."""
    with pytest.raises(DeploymentError) as caught:
        read_deployment(written(tmp_path, ("sqlite:ledger.db", store)))
    said = str(caught.value)
    assert told in said
    assert not any(part in said for part in ("5ecr", "et@", "@et", "fifty", "65536"))


@pytest.mark.parametrize(
    "store",
    [
        "postgresql://u@host/db",
        "postgresql://u:p%40ss@host:5432/db?sslmode=require",
        "postgresql:///db",
        "postgresql://[::1]:5432/db",
        "postgresql://u@one:1,two:65535/db",
    ],
)
def test_a_servers_name_is_taken_as_the_driver_takes_it(tmp_path: Path, store: str) -> None:
    assert read_deployment(written(tmp_path, ("sqlite:ledger.db", store))).journal.store == store


def test_the_example_declares_what_the_walkthrough_binds() -> None:
    """The walkthrough's list, in microseconds."""
    deployment = example()
    kind, figures = deployment.kinds["ledger"], deployment.figures
    assert kind.partition == Partition(
        frozenset({"invalid-request", "unknown-authority-type", "storage-failure"}), frozenset()
    )
    assert kind.pairing is not None
    assert isinstance(kind.pairing, Pairing)
    assert (kind.pairing.field, kind.pairing.source) == ("disclosed_at", "seam instant")
    assert (kind.commit_fence, figures.journal_fence, kind.repeatable) == (None, None, True)
    assert kind.completion_bound == 30_000_000
    assert kind.service_identity is not None
    assert kind.service_identity.actor == "ledger-reconciler"
    assert figures.compensation_window == 600_000_000
    assert figures.sweep_lease == 15_000_000  # 12 + 3
    assert figures.settle_bound == 5_000_000  # 3 + 2
    assert kind.outcome_refs == {"ledger.disclosed"}
    assert kind.closing_refs == {"ledger.disclosed", "ledger.refused", "ledger.abandoned", "ledger.escalated"}


def test_paths_are_taken_from_the_file_and_not_from_the_working_folder() -> None:
    deployment = example()
    identity = deployment.kinds["ledger"].service_identity
    assert deployment.journal.store == f"sqlite:{EXAMPLE.with_name('ledger.db')}"
    assert identity is not None
    assert identity.credential_file == EXAMPLE.with_name("ledger-reconciler.key")


def test_fences_and_deviations_are_read(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        ("commit_fence: none", "commit_fence: store-applied deadline"),
        ("journal_fence: none", "journal_fence: host-applied deadline\n  record_action_bound: 1 s"),
        (PROBE, "undecidable"),
        ("terminus: lease", "terminus: counted(3)\n    deviations: {minted_key: by subject and day}"),
        (IDENTITY, "    service_identity: none\n"),
    )
    deployment = read_deployment(path)
    kind, figures = deployment.kinds["ledger"], deployment.figures
    assert kind.commit_fence == Fence("store-applied deadline")
    assert figures.journal_fence == Fence("host-applied deadline")
    assert figures.record_action_bound == 1_000_000
    assert (kind.probe, kind.retry_attempts, kind.minted_key) == (None, 3, "by subject and day")
    assert kind.reports_only


@pytest.mark.parametrize(
    "text, amount",
    [("250 us", 250), ("1.5 ms", 1_500), ("60 s", 60_000_000), ("60s", 60_000_000), ("10 min", 600_000_000)],
)
def test_a_duration_is_whole_microseconds(text: str, amount: int) -> None:
    assert duration(text) == amount


@pytest.mark.parametrize(
    "text",
    [
        "60",
        "-1 s",
        "1e3 s",
        "s",
        "0.1 us",
        "1 month",
        "١ s",
        "104250 d",
        f"{'9' * 5_000} s",
        f"0.{'1' * 5_000} s",
    ],
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(UnitError, match="a number with a unit"):
        duration(text)


def test_a_size_is_whole_bytes() -> None:
    assert (size("1 B"), size("4 KiB"), size("0.5 MiB")) == (1, 4_096, 524_288)


@pytest.mark.parametrize(
    "amount, text",
    [(0, "0 s"), (1_500, "1.5 ms"), (559_000_000, "559 s"), (1_000_001, "1.000001 s"), (-4_000_000, "-4 s"),
     (604_800_000_000, "7 d")],
)  # fmt: skip
def test_a_duration_is_spoken_exactly(amount: int, text: str) -> None:
    assert spoken(amount) == text
    assert duration(text.removeprefix("-")) == abs(amount)


# The page.


PACKAGE = Path(falsework.runtime.invocation.__file__).parent
PAGE = (Path(__file__).resolve().parent.parent / "docs" / "runtime.md").read_text(encoding="utf-8")


def test_the_page_names_every_key_of_the_file() -> None:
    """What the shipped examples give, and what the reader knows besides."""
    keys = set(re.findall(r"^ *([a-z_]+):", EXAMPLE.read_text(encoding="utf-8"), re.MULTILINE))
    optional = {"name", "payload_cap", "reference_length_cap", "page_size", "steward", "deviations"}
    fenced = {"record_action_bound", "minted_key", "journal_without_attribution"}
    named = keys - {"ledger"} | optional | fenced
    assert {key for key in named if f"`{key}`" not in PAGE and f"`{key}:`" not in PAGE} == set()


def test_the_page_names_every_alert_and_every_finding() -> None:
    sources = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.glob("*.py"))
    alerts = set(re.findall(r'[._]alert\(\s*(?:Alert\()?"([^"]+)"', sources))
    assert {"undecidable", "findings held", "service credential refused"} <= alerts
    late = {alert for alert in alerts if alert.endswith("appended late")}
    assert {alert for alert in alerts - late if f"`{alert}`" not in PAGE} == set()
    assert {condition.value for condition in Condition if condition.value not in PAGE} == set()

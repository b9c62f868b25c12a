"""`falsework audit` as a regulator calls it: reports, exit codes, a copy offline, every slip of the input."""

import argparse
import ast
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from audit_world import CALLER, FENCED, ByHand
from command_line import ROOT, Said, falsework
from falsework.runtime.audit import auditor
from falsework.runtime.audit.auditor import Asked, audit
from falsework.runtime.audit.found import Verdict
from falsework.runtime.commands import audit as command
from invocation_world import START

pytestmark = pytest.mark.slow

PACKAGE = Path(auditor.__file__).parent
AS_OF = "2001-09-09T02:00:00Z"  # a quarter of an hour after the records
PROBE = '''"""The store of a test: it holds one act."""

from falsework.runtime.invocation.answers import Committed, NotCommitted


def probe(act_key, payload):
    if act_key == "act":
        return Committed("ledger.disclosed", {"disclosure_id": "dsc-411"})
    return NotCommitted()
'''
BOUND = ("falsework.runtime.examples.disclosure:probe", "a_store_of_a_test:probe")


@pytest.fixture
def hand(monkeypatch: pytest.MonkeyPatch) -> Iterator[ByHand]:
    with ByHand(BOUND) as made:
        assert made.clock.instant == START
        (made.folder / "a_store_of_a_test.py").write_text(PROBE, encoding="utf-8")
        monkeypatch.syspath_prepend(str(made.folder))
        monkeypatch.delitem(sys.modules, "a_store_of_a_test", raising=False)
        yield made


def clean(hand: ByHand) -> None:
    """A caller's act, one that the sweep recovered, and one that an operator abandoned over an escalation."""
    first = hand.intent("inv-1", key="first")
    hand.closes("disclosed", first, invocation="inv-1", key="first", disclosure_id="dsc-410")
    second, third = hand.intent("inv-2"), hand.intent("inv-3", key="third")
    hand.passes(90)
    hand.plans(second, "inv-2")
    hand.recovers("disclosed", second, "inv-2", disclosure_id="dsc-411")
    escalated = hand.recovers("escalated", third, "inv-3", "third", cause="not-observed")
    hand.passes(60)
    hand.resolves("abandoned", third, escalated, invocation="inv-3", key="third", cause="quiet")
    hand.witnessed()


def spoilt(hand: ByHand) -> None:
    """Beside all that: a late second closing, an invented outcome, and an act that nobody closed."""
    clean(hand)
    second = hand.audit().check("2.1").examined[1].event_id
    hand.closes("disclosed", second, invocation="inv-2", disclosure_id="dsc-411")
    hand.intent("inv-4", key="forgotten")
    fifth = hand.intent("inv-5", key="fifth")
    hand.passes(90)
    hand.plans(fifth, "inv-5", "fifth")
    hand.recovers("disclosed", fifth, "inv-5", "fifth", disclosure_id="dsc-9")


def said(hand: ByHand, *options: str) -> Said:
    answer = falsework("audit", str(hand.deployment), *options)
    place = str(hand.folder)
    return Said(answer.code, answer.out.replace(place, "FOLDER"), answer.err.replace(place, "FOLDER"))


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
@pytest.mark.parametrize("lives, code", [(clean, 0), (spoilt, 10)])
def test_a_report(
    hand: ByHand, golden: Callable[[str, str], None], lives: Callable[[ByHand], None], code: int, form: str
) -> None:
    lives(hand)
    witness = ("--witness", str(hand.witness))
    answer = said(hand, "--at", AS_OF, "--format", form, *witness)
    assert answer.code == code
    assert answer.err == ""
    golden(f"audit/{lives.__name__}_{form}", answer.out)


def test_the_json_names_every_record_that_was_looked_at(hand: ByHand) -> None:
    spoilt(hand)
    document = json.loads(said(hand, "--at", AS_OF, "--format", "json").out)
    assert document["format"] == "falsework.audit/1"
    checks = {check["check"]: check for check in document["checks"]}
    assert [check for check, found in checks.items() if found["violations"]] == ["2.1", "3.1", "6.1"]
    assert len(checks["2.1"]["records"]) == checks["2.1"]["looked_at"] == 5
    (violation,) = checks["3.1"]["violations"]
    (record,) = violation["records"]
    assert (record["action_ref"], record["actor_ref"]) == ("ledger.intended", CALLER)


def test_an_empty_journal_is_vacuous(hand: ByHand) -> None:
    answer = said(hand)
    assert answer.code == 11
    assert answer.out.startswith("VACUOUS  FOLDER/ledger.yaml")


def test_without_its_store_the_sixth_check_is_not_done(hand: ByHand) -> None:
    clean(hand)
    for options, why in (((), "cannot be found"), (("--no-probe",), "the store was not asked")):
        (hand.folder / "a_store_of_a_test.py").unlink(missing_ok=True)
        sys.modules.pop("a_store_of_a_test", None)
        answer = said(hand, "--at", AS_OF, *options)
        assert answer.code == 12
        assert "\n6.1 NOT CHECKED: " in answer.out
        assert why in answer.out


# Offline.


def copied(hand: ByHand, folder: Path) -> Path:
    """The database's file alone, in a folder that may not be written."""
    hand.store.sweep_destroyed()
    copy = folder / "copy.db"
    shutil.copyfile(hand.path, copy)
    return copy


def test_a_copy_is_audited_as_of_what_it_shows(hand: ByHand, tmp_path: Path) -> None:
    spoilt(hand)
    copy = copied(hand, tmp_path)
    document = json.loads(
        said(hand, "--journal", str(copy), "--witness", str(hand.witness), "--format", "json").out
    )
    # The last record came 240 s after the first: the forgotten act's window has not ended by then.
    assert document["as_of"] == {
        "instant": hand.clock.instant,
        "from": "the newest instant that the copy shows",
    }
    assert [c["check"] for c in document["checks"] if c["violations"]] == ["2.1", "6.1"]
    assert document["unwitnessed"] == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db"]


def test_a_copy_says_what_the_journal_itself_says(hand: ByHand, tmp_path: Path) -> None:
    spoilt(hand)
    copy = copied(hand, tmp_path)
    at = ("--at", AS_OF)
    there, here = said(hand, *at, "--journal", str(copy)), said(hand, *at)
    assert there.out.replace(str(copy), "FOLDER/ledger.db") == here.out


def test_a_copy_needs_no_right_to_write(hand: ByHand, tmp_path: Path) -> None:
    clean(hand)
    copy = copied(hand, tmp_path)
    copy.chmod(0o400)
    tmp_path.chmod(0o500)
    try:
        assert said(hand, "--journal", str(copy)).code == 0
    finally:
        tmp_path.chmod(0o700)


def test_the_journal_that_is_in_use_is_read_in_one_snapshot(hand: ByHand) -> None:
    """What is written while the auditor is at work is not half seen: its own probe writes more."""
    clean(hand)

    def probe(act_key: str, payload: dict[str, object]) -> object:
        hand.intent(f"inv-{len(hand.asked) + 50}", key=f"act-{len(hand.asked) + 50}")
        return hand.probe(act_key, payload)

    before = audit(Asked(hand.deployment, at=hand.clock.instant), {"ledger": probe}).subject.records
    assert audit(Asked(hand.deployment, at=hand.clock.instant), {"ledger": probe}).subject.records > before


# Input.


@pytest.mark.parametrize(
    "option, message",
    [
        (("--at", "yesterday"), "--at yesterday: is no instant"),
        (("--journal", "none.db"), "none.db: is no file: give the journal's database, or a copy of it"),
        (("--witness", "FOLDER/ledger.yaml"), "ledger.yaml:1: is no line of a witness's file"),
        (("--journal", "FOLDER/ledger.yaml"), "ledger.yaml: cannot be read"),
        (("--journal", "FOLDER/other.db"), "other.db: holds no journal of this release (it lacks actor_key"),
    ],
)
def test_what_cannot_be_used_is_told(hand: ByHand, option: tuple[str, str], message: str) -> None:
    sqlite3.connect(hand.folder / "other.db").execute("CREATE TABLE t (x)").connection.close()
    answer = said(hand, *(part.replace("FOLDER", str(hand.folder)) for part in option))
    assert (answer.code, answer.out) == (13, "")
    assert answer.err.startswith("falsework: ")
    assert message in answer.err


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("store: sqlite:ledger.db", "", "lacks store"),
        ("store: sqlite:ledger.db", "store: mysql:x", "a store is named"),
        ("run_bound: 135 s", "run_bound: 135", "run_bound of instance of the file is '135"),
        ("run_bound: 135 s", "run_bound: 0.0000001 s", "run_bound of instance of the file is"),
        ("  run_bound: 135 s", "  run_bound: 1 s\n  run_bound: 135 s", "run_bound stands twice"),
        ("outcomes: [disclosed]", "outcomes: disclosed", "is no list of words"),
        ("journal_fence: none", "journal_fence: [x]", "is no word"),
        ("kinds:", "sorts:", "lacks kinds"),
        ("instance:", "instance: 5\nothers:", "instance of the file is no mapping"),
        ("store:", "store: [", "is no YAML"),
    ],
)
def test_a_slip_of_the_deployment_file_is_told_with_its_line(
    hand: ByHand, old: str, new: str, message: str
) -> None:
    text = hand.deployment.read_text("utf-8")
    assert old in text
    hand.deployment.write_text(text.replace(old, new, 1), "utf-8")
    answer = said(hand)
    assert answer.code == 13
    assert answer.err.startswith("falsework: FOLDER/ledger.yaml:")
    assert message in answer.err


def test_a_deployment_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    answer = falsework("audit", str(tmp_path / "none.yaml"))
    assert answer.code == 13
    assert "cannot be read" in answer.err


# Independence.


def test_the_auditor_shares_no_line_with_the_writers() -> None:
    """Neither by an import that is written, nor by one that happens when it is loaded."""
    imported = {
        name
        for path in PACKAGE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        for name in (
            [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else []
        )
    }
    ours = {name for name in imported if name.startswith("falsework")}
    assert ours
    assert {name for name in ours if not name.startswith("falsework.runtime.audit.")} == set()
    program = (
        "import sys, falsework.runtime.audit.auditor, falsework.runtime.audit.written\n"
        "print([n for n in sys.modules if n.startswith('falsework.runtime.') and '.audit' not in n])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "[]"


def test_a_fenced_kind_is_read_as_one() -> None:
    with ByHand(FENCED) as made:
        assert audit(Asked(made.deployment, probes=False)).verdict is Verdict.VACUOUS


def test_the_page_has_every_option_and_every_check() -> None:
    page = (ROOT / "docs" / "audit.md").read_text("utf-8")
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    options = {option for action in parser._actions for option in action.option_strings} - {"-h", "--help"}
    assert {option for option in options if f"`{option}" not in page} == set()
    for verdict, code in command.EXIT.items():
        assert f"| {code} | {verdict.value} |" in page
    for number in auditor.BESIDE:
        assert number.replace("5.8", "5.7, 5.8") in page


# Damage of any kind.


def test_whatever_is_flipped_in_a_copy_is_an_answer(hand: ByHand, tmp_path: Path) -> None:
    """A byte or some of a database: violated, or no database any more; nothing that nobody catches."""
    spoilt(hand)
    sound = copied(hand, tmp_path).read_bytes()
    damaged = tmp_path / "damaged.db"
    codes = set()
    for seed in range(120):
        draw = random.Random(seed)  # noqa: S311  chance that can be had again, and no secret
        content = bytearray(sound)
        for _ in range(draw.choice((1, 3, 30))):
            content[draw.randrange(len(content))] = draw.randrange(256)
        damaged.write_bytes(content)
        codes.add(said(hand, "--journal", str(damaged), "--no-probe", "--format", "json").code)
    assert codes == {10, 13}


def test_whatever_is_mistyped_in_a_deployment_file_is_an_answer(hand: ByHand) -> None:
    text = hand.deployment.read_text("utf-8")
    codes = set()
    for seed in range(120):
        draw = random.Random(seed)  # noqa: S311  likewise
        letters = list(text)
        for _ in range(draw.choice((1, 2, 5))):
            letters[draw.randrange(len(letters))] = draw.choice(
                ("", ":", " ", "\n", "[", "}", "9", "&a", "#")
            )
        hand.deployment.write_text("".join(letters), "utf-8")
        codes.add(said(hand, "--no-probe").code)
    assert {11, 13} <= codes <= {10, 11, 12, 13}

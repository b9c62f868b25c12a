"""What must never be green: each is non-zero, has a word of its own, and its text is a golden file."""

from collections.abc import Callable

import pytest

from command_line import MODELS, ROOT, falsework

WRONG = "tests/models_wrong.py"

# What is asked, the exit code by the table in docs/cli.md, and the word that must stand in the answer.
CASES = {
    "zero-initial-states": (["check", f"{MODELS}:NoInitialState"], 13, "no-initial-state"),
    "an-action-that-never-fires": (["check", f"{MODELS}:NeverFires"], 11, "never-fires"),
    "a-misspelled-model": (["check", "leese"], 13, "no model 'leese'"),
    "a-misspelled-class": (["check", f"{MODELS}:Laese"], 13, "has no model 'Laese'; did you mean Lease?"),
    "a-misspelled-configuration": (
        ["check", f"{MODELS}:Lease", "--config", "ThreeWorker"],
        13,
        "no configuration 'ThreeWorker'; did you mean ThreeWorkers?",
    ),
    "a-misspelled-twin": (
        ["check", f"{MODELS}:StoreWithoutFence"],
        13,
        "no model 'StoreWithoutFence'; did you mean StoreWithoutFencing?",
    ),
    "a-misspelled-constant": (
        ["check", f"{MODELS}:Lease", "-D", "WORKER=3"],
        13,
        "no constant 'WORKER'; did you mean WORKERS?",
    ),
    "a-predicate-that-raises": (["check", f"{MODELS}:FaultInPredicate"], 13, "fault: ZeroDivisionError"),
    "a-premise-never-true": (["check", f"{MODELS}:PremiseNeverTrue"], 11, "premise-never-true"),
    "a-witness-not-reached": (["check", f"{MODELS}:WitnessNotReached"], 11, "witness-not-reached"),
    "no-invariant": (["check", f"{MODELS}:NoInvariant"], 11, "no-invariant"),
    "a-default-bound-that-cuts": (
        ["check", f"{MODELS}:Wide", "--max-states", "100"],
        12,
        "stopped by --max-states 100",
    ),
    "a-value-out-of-its-domain": (["check", f"{MODELS}:Overflow"], 10, "values_stay_in_domain"),
    "a-guard-after-an-assignment": (["check", f"{WRONG}:GuardAfterAssignment"], 13, "definition-error M011"),
    "an-unbounded-int": (["check", f"{WRONG}:UnboundedInt"], 13, "definition-error M003"),
    "a-mutable-local": (["check", f"{WRONG}:MutableLocal"], 13, "definition-error M012"),
    "two-copies-of-one-class": (["check", f"{WRONG}:Twice"], 13, "definition-error M017"),
}


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr("falsework.naming.shipped", lambda *_: {"lease": "falsework.models.lease"})


@pytest.mark.parametrize("name", CASES)
def test_it_is_not_green_and_says_its_own_word(name: str, golden: Callable[[str, str], None]) -> None:
    asked, code, word = CASES[name]
    said = falsework(*asked)
    assert said.code == code
    assert word in said.out + said.err
    assert "Traceback" not in said.err
    golden(f"cli/nonzero/{name}", said.all)


def test_the_default_bound_on_states_is_what_cuts_where_none_is_given(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("falsework.cli_check.DEFAULT_MAX_STATES", 100)
    said = falsework("check", f"{MODELS}:Wide")
    assert (said.code, said.out.split()[0]) == (12, "INCOMPLETE")


def test_the_words_differ() -> None:
    words = [(code, word.partition(":")[0].partition(";")[0]) for _, code, word in CASES.values()]
    assert len(set(words)) == len(words)


@pytest.mark.parametrize("form", ["json", "junit", "markdown", "sarif"])
@pytest.mark.parametrize("name", [name for name, (_, code, _) in CASES.items() if code == 13])
def test_a_bad_model_is_an_error_in_every_format(name: str, form: str) -> None:
    asked, code, _ = CASES[name]
    assert falsework(*asked, "--format", form).code == code

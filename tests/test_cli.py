"""The command line: commands, options, exit codes, and that no mistake of a user ends in a traceback."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import models_for_reports as models
import models_for_walks as small
from command_line import MODELS, ROOT, Said, falsework
from falsework import check
from falsework.accounting import Tally
from falsework.cli import BUILT_IN, commands, main
from falsework.progress import Watch
from falsework.tracefile import decoded, encoded, parsed, replay

LEASE, TWIN = f"{MODELS}:Lease", f"{MODELS}:StoreWithoutFencing"
STEPS = "acquire(0) expire() acquire(1) write(1) write(0)"


@pytest.fixture(autouse=True)
def _at_the_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def child(*arguments: str, **options: str) -> subprocess.CompletedProcess[str]:
    """The command line in a process of its own."""
    command = [sys.executable, "-m", "falsework", *arguments]
    environment = os.environ | options
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)


# --- help and usage -------------------------------------------------------------------------------------


def test_help_lists_the_commands(golden: Callable[[str, str], None]) -> None:
    golden("cli/help", falsework("--help").all)


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_command_has_help_with_an_example(name: str) -> None:
    said = falsework(name, "--help")
    assert said.code == 0
    assert f"falsework {name} " in said.out.partition("example")[2] or name == "list"
    assert "exit codes: 0" in said.out


@pytest.mark.parametrize("arguments", [[], ["chek"], ["check"], ["check", LEASE, "--engine", "quick"]])
def test_a_slip_of_usage_is_2(arguments: list[str]) -> None:
    said = falsework(*arguments)
    assert (said.code, said.out) == (2, "")
    assert said.err


def test_a_misspelled_command_is_guessed() -> None:
    assert "did you mean check?" in falsework("chek").err


def test_a_command_of_another_package_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import EntryPoint

    points = [
        EntryPoint("weigh", "json", "falsework.commands"),
        EntryPoint("check", "json", "falsework.commands"),
    ]
    monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: points)
    found = commands()
    assert found["weigh"][0] == "json"
    assert found["check"][0] == "falsework.cli_check"  # a built-in name cannot be taken over


@pytest.fixture
def offering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A package named weighing, with its requirements, offers the command `weigh` of a module."""
    from importlib.metadata import Distribution

    def offer(module: str, *requires: str) -> None:
        folder = tmp_path / "weighing-1.dist-info"
        folder.mkdir()
        lines = ["Name: weighing", "Version: 1", *(f"Requires-Dist: {line}" for line in requires)]
        (folder / "METADATA").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "entry_points.txt").write_text(
            f"[falsework.commands]\nweigh = {module}\n", encoding="utf-8"
        )
        points = list(Distribution.at(folder).entry_points)
        monkeypatch.setattr("importlib.metadata.entry_points", lambda **_: points)

    return offer


def test_a_command_whose_library_is_missing_names_the_extra(offering: Callable[..., None]) -> None:
    requires = ("rich>=13", "pyscales>=2; extra == 'dev'", 'pyabsent_library>=1; extra == "heavy"')
    offering("absent_library", *requires)
    said = falsework("weigh")
    assert (said.code, said.out) == (13, "")
    assert "the command weigh cannot be loaded: No module named 'absent_library'" in said.err
    assert said.err.endswith("install: weighing[heavy]\n")


def test_a_command_whose_library_no_extra_brings_names_it(offering: Callable[..., None]) -> None:
    offering("absent_library.weigh", "rich>=13")
    assert falsework("weigh").err.endswith("install: absent_library\n")


def test_the_version() -> None:
    assert falsework("--version").out.startswith("falsework ")


# --- check ----------------------------------------------------------------------------------------------


def test_the_engines_say_the_same() -> None:
    told = {
        engine: falsework("check", TWIN, "--engine", engine).out for engine in ("auto", "explore", "fast")
    }
    assert len(set(told.values())) == 1


@pytest.mark.parametrize(
    "options, name",
    [
        (["--config", "three-workers"], "Lease [ThreeWorkers]  WORKERS=3 GRANTS=3"),
        (["-D", "WORKERS=1", "-D", "GRANTS=1"], "Lease  WORKERS=1 GRANTS=1"),
        (["--config", "ThreeWorkers", "-D", "GRANTS=1"], "Lease [ThreeWorkers]  WORKERS=3 GRANTS=1"),
    ],
)
def test_other_constants_are_said(options: list[str], name: str) -> None:
    assert name in falsework("check", LEASE, *options).out.partition("\n")[0]


def test_a_twin_is_checked_in_its_configuration_and_to_the_end() -> None:
    (item,) = json.loads(falsework("check", f"{MODELS}:TokenOfAnother", "--format", "json").out)["items"]
    assert item["result"]["configuration"] == "ThreeWorkers"
    assert item["result"]["bounds"]["every"] is True


def test_a_whole_file_is_checked(golden: Callable[[str, str], None]) -> None:
    said = falsework("check", MODELS, "--max-states", "500")
    assert said.code == 13
    golden("cli/check-file", said.all)


def test_slices_without_the_configuration_are_named() -> None:
    said = falsework("check", MODELS, "--config", "ThreeWorkers")
    assert (said.code, said.out.split()[0]) == (0, "HOLDS")
    assert f"{MODELS}:Stuck was not checked" in said.err


@pytest.mark.parametrize("option", ["--max-states", "--max-depth", "--memory"])
def test_each_bound_stops_either_engine_and_is_named(option: str) -> None:
    for engine in ("explore", "fast"):
        said = falsework("check", f"{MODELS}:Wide", "--engine", engine, option, "1")
        assert (said.code, said.out.split()[0]) == (12, "INCOMPLETE")
        assert f"Raise {option}" in said.out


@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_a_bound_that_is_no_bound_is_a_slip_of_usage(value: str) -> None:
    assert falsework("check", LEASE, "--max-states", value).code == 2


@pytest.mark.parametrize("constant", ["WORKERS", "WORKERS=", "=3"])
def test_a_constant_without_a_value_is_a_slip_of_usage(constant: str) -> None:
    said = falsework("check", LEASE, "-D", constant)
    assert said.code == 2
    assert f"{constant!r} is no constant with a value; write -D NAME=VALUE" in said.err


@pytest.mark.parametrize("constant", ["WORKERS=x", "WORKERS=0"])
def test_a_constant_that_cannot_be_used_is_an_error(constant: str) -> None:
    said = falsework("check", LEASE, "-D", constant)
    assert said.code == 13
    assert "WORKERS" in said.out + said.err or constant in said.err


# --- replay ---------------------------------------------------------------------------------------------


def saved(path: Path, *arguments: str) -> Path:
    said = falsework("check", *arguments, "--save", str(path))
    assert said.code == 10
    return path


@pytest.mark.parametrize(
    "arguments",
    [
        [TWIN],
        [TWIN, "--config", "ThreeWorkers"],
        [TWIN, "-D", "GRANTS=2"],
        [f"{MODELS}:TokenOfAnother"],
        [f"{MODELS}:TokenOfAnother", "--config", "default"],
        [f"{MODELS}:TokenOfAnother", "-D", "GRANTS=1"],
        [f"{MODELS}:Stuck"],
        [f"{MODELS}:Overflow"],
        [f"{MODELS}:Journal"],
    ],
)
def test_a_saved_counterexample_is_broken_again(arguments: list[str], tmp_path: Path) -> None:
    asked = falsework("check", *arguments).out.partition("\n")[0]
    said = falsework("replay", str(saved(tmp_path / "t.json", *arguments)))
    assert said.code == 10
    assert said.out.startswith(f"{asked}   replayed on the class\n")


def test_a_trace_of_a_changed_model_is_an_error(tmp_path: Path) -> None:
    path = saved(tmp_path / "t.json", TWIN)
    path.write_text(path.read_text(encoding="utf-8").replace('"digest": "', '"digest": "x'), encoding="utf-8")
    said = falsework("replay", str(path))
    assert said.code == 13
    assert "the same steps still break writes_never_go_back" in said.err


def edit(path: Path, change: Callable[[dict[str, list[dict[str, object]]]], None]) -> Said:
    whole = json.loads(path.read_text(encoding="utf-8"))
    change(whole)
    path.write_text(json.dumps(whole), encoding="utf-8")
    return falsework("replay", str(path))


@pytest.mark.parametrize(
    "change, told",
    [
        (lambda w: w["steps"][2].update(state="00000000"), "step 3: the state is"),
        (lambda w: w["steps"][2].update(answer=3), "step 3: the answer is 2 and was 3"),
        (lambda w: w["steps"][0].update(action="aquire"), "did you mean acquire?"),
        (lambda w: w["steps"][0].update(arguments={"worker": 9}), "argument worker: 9 is no value of 0..1"),
        (lambda w: w["steps"][0].update(arguments={}), "acquire takes (worker)"),
        (lambda w: w["steps"].pop(1), "step 2: acquire(1) is not enabled there"),
        (lambda w: w["steps"].pop(), "writes_never_go_back is not broken at the end of the steps"),
        (lambda w: w.update(format="falsework.trace/9"), "this version reads falsework.trace/1"),
        (lambda w: w.pop("steps"), "damaged trace file"),
        (lambda w: w.pop("format"), "is no trace file"),
    ],
)
def test_a_trace_that_does_not_agree_is_an_error_that_says_where(
    change: Callable[[dict[str, list[dict[str, object]]]], None], told: str, tmp_path: Path
) -> None:
    said = edit(saved(tmp_path / "t.json", TWIN), change)
    assert (said.code, said.out) == (13, "")
    assert told in said.err


def test_a_line_of_steps_is_executed(golden: Callable[[str, str], None]) -> None:
    golden("cli/replay-broken", falsework("replay", TWIN, STEPS).all)
    golden("cli/replay-sound", falsework("replay", LEASE, "acquire(0) expire acquire(1)").all)
    golden("cli/replay-disabled", falsework("replay", LEASE, STEPS).all)


@pytest.mark.parametrize(
    "steps, told",
    [
        ("", "no step in ''"),
        ("acquire(2)", "'2' is no value of 0..1; write one of: 0, 1"),
        ("acquire", "write acquire(worker)"),
        ("acquire(0", "the line ends where ')' belongs; write acquire(worker)"),
        ("acquire(0) expre()", "did you mean expire?"),
    ],
)
def test_a_line_of_steps_that_cannot_be_read_says_what_to_write(steps: str, told: str) -> None:
    said = falsework("replay", LEASE, steps)
    assert said.code == 13
    assert told in said.err


def test_every_value_of_a_parameter_survives_the_file_and_the_line() -> None:
    from falsework.definition import definition_of
    from falsework.trace import Label

    definition = definition_of(small.Arguments)
    (action,) = definition.actions
    parameters = [tuple(domain.values()) for _, domain in action.parameters]
    assert [len(values) for values in parameters] == [2, 4, 4, 12, 13]
    for number, (_, domain) in enumerate(action.parameters):
        for value in domain.values():
            assert decoded(domain, json.loads(json.dumps(encoded(value)))) == value
            arguments = tuple(value if i == number else p[-1] for i, p in enumerate(parameters))
            label = Label(action.name, arguments)
            assert parsed(definition, str(label)).steps == (label,)


def test_the_same_from_python() -> None:
    taken = replay(models.StoreWithoutFencing, STEPS)
    found = check(models.StoreWithoutFencing).counterexamples["writes_never_go_back"]
    assert tuple(taken) == found.taken


# --- the other commands ---------------------------------------------------------------------------------


def test_show(golden: Callable[[str, str], None]) -> None:
    golden("cli/show", falsework("show", LEASE).all)


def test_simulate(golden: Callable[[str, str], None]) -> None:
    said = falsework("simulate", LEASE, "--walks", "20", "--steps", "12", "--seed", "4")
    assert said.code == 0
    assert "not a proof" in said.out.partition("\n")[0]
    golden("cli/simulate", said.all)
    broken = falsework("simulate", TWIN, "--seed", "4")
    assert broken.code == 10
    golden("cli/simulate-broken", broken.all)


def test_walks_that_ask_nothing_or_lead_nowhere_are_vacuous() -> None:
    for cls in ("NoInvariant", "Still"):
        path = "tests/models_for_walks.py" if cls == "Still" else MODELS
        said = falsework("simulate", f"{path}:{cls}")
        assert (said.code, said.out.split()[0]) == (11, "VACUOUS")


@pytest.mark.parametrize("form", ["dot", "mermaid", "networkx-json"])
def test_graph(form: str, golden: Callable[[str, str], None]) -> None:
    golden(f"cli/graph-{form}", falsework("graph", f"{MODELS}:Stuck", "--to", form).all)


def test_a_graph_that_nobody_can_read_is_not_drawn() -> None:
    said = falsework("graph", LEASE, "--limit", "80")
    assert (said.code, said.out) == (13, "")
    assert "--force" in said.err
    assert falsework("graph", LEASE, "--limit", "80", "--force").code == 0


def test_profile(golden: Callable[[str, str], None]) -> None:
    golden("cli/profile", falsework("profile", LEASE).all)


def test_list_shows_every_shipped_model() -> None:
    said = falsework("list")
    assert said.code == 0
    assert "\nlease " in said.out


# --- whatever happens -----------------------------------------------------------------------------------


def test_a_failure_of_its_own_is_shown_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("falsework.cli_check.check", lambda *_, **__: 1 / 0)
    said = falsework("check", LEASE)
    assert said.code == 1
    assert "ZeroDivisionError" in said.err
    assert "falsework itself failed, and gives no verdict" in said.err


@pytest.mark.parametrize(
    "problem, code, told",
    [
        (MemoryError(), 12, "--memory MB"),
        (SystemExit(0), 1, "falsework itself failed"),
        (OSError("no"), 13, "no"),
    ],
)
def test_nothing_that_stops_a_check_is_green(
    problem: BaseException, code: int, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise problem

    monkeypatch.setattr("falsework.cli_check.check", stopped)
    said = falsework("check", LEASE)
    assert said.code == code
    assert told in said.err


def test_an_interrupt_says_what_was_done(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **options: Callable[[Tally, int], None]) -> None:
        options["progress"](check(models.Lease).tally, 3)
        raise KeyboardInterrupt

    monkeypatch.setattr("falsework.cli_check.check", interrupted)
    said = falsework("check", LEASE)
    assert said.code == 130
    assert "Lease: 81 states, depth 7 so far; no verdict" in said.err


def test_a_reader_that_goes_away_is_no_failure() -> None:
    command = [sys.executable, "-m", "falsework", "check", TWIN]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode in (10, 141)  # never green: the answer's own code, or that nobody read it


@pytest.mark.parametrize("encoding", ["ascii", "utf-8"])
def test_a_terminal_that_lacks_signs_is_written_to_all_the_same(encoding: str) -> None:
    done = child("check", LEASE, PYTHONIOENCODING=encoding)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_file_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    said = falsework("check", TWIN, "--save", str(tmp_path / "nowhere" / "t.json"))
    assert said.code == 13
    assert "nowhere" in said.err


def test_a_device_is_written_to_and_a_folder_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert falsework("check", TWIN, "--save", str(pipe)).code == 10
        assert b"falsework.trace/1" in os.read(reader, 100)
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    said = falsework("check", TWIN, "--save", str(tmp_path))
    assert (said.code, said.err) == (13, f"falsework: {tmp_path} cannot be written: Is a directory\n")
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_file_that_nests_without_end_is_no_trace(opening: str, tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text(opening * 100_000, encoding="utf-8")
    said = falsework("replay", str(path))
    assert said.code == 13
    assert "is no trace file" in said.err


@pytest.mark.parametrize("closed", [">&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_takes_no_verdict_away(closed: str) -> None:
    shell = f"exec {sys.executable} -m falsework check {TWIN} {closed}"
    done = subprocess.run(["sh", "-c", shell], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (10, "")


def test_a_constant_that_is_given_twice_is_an_error() -> None:
    said = falsework("check", LEASE, "-D", "WORKERS=2", "-D", "WORKERS=3")
    assert (said.code, said.err) == (13, "falsework: -D WORKERS is given twice: 2 and 3\n")


def test_nothing_to_save_is_an_error(tmp_path: Path) -> None:
    said = falsework("check", LEASE, "--save", str(tmp_path / "t.json"))
    assert said.code == 13
    assert said.out.startswith("HOLDS")
    assert "was not written: there is no counterexample to save" in said.err


def test_progress_is_silent_when_piped(capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["check", LEASE]) == 0
    assert capfd.readouterr().err == ""


def test_progress_on_a_terminal_is_a_line_of_states_rate_depth_and_queue(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seconds = iter([0.0, 2.0])
    lines: list[str] = []
    watch = Watch("Lease", live=False, clock=lambda: next(seconds))
    monkeypatch.setattr(watch, "_status", type("Status", (), {"update": staticmethod(lines.append)}))
    watch(check(models.Lease).tally, 18)
    assert lines == ["Lease: 81 states, depth 7, 40/s, 18 waiting"]


def test_the_package_is_light_and_check_is_a_function() -> None:
    program = (
        "import sys, falsework.check, falsework; "
        "from falsework import check, Model, action, invariant, require; "
        "print({'rich', 'networkx', 'hypothesis', 'z3', 'apsw'} & set(sys.modules)); "
        "print(callable(check), callable(falsework.check), callable(falsework.replay))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("set()\nTrue True True\n", "")


def test_a_check_needs_no_heavy_library() -> None:
    program = (
        "import sys; from falsework.cli import main; main(['check', 'tests/models_for_reports.py:Lease']); "
        "print({'rich', 'networkx', 'hypothesis', 'z3', 'apsw'} & set(sys.modules), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.stderr == "set()\n"

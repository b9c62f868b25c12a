"""The harness of the measurements: its arithmetic on made-up times, and that it refuses a wrong count."""

import json
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest

import jobs
import programs
import run as bench
from environments import DBOS, MINICHECK, PEERS, Peer, install
from falsework.accounting import Tally
from falsework.definition import definition_of
from falsework.fast import fast
from falsework.models.classics import two_phase_commit
from falsework.naming import with_constants
from measure import Contender, Sample, Unfit, answered, in_turns, run
from tables import Answer, Job, Target, answers, ratio, table

COUNTS = Path(__file__).parent / "counts.toml"
OURS = Contender("ours", ("ours",), "1, Python 3", 10)
THEIRS = Contender("theirs", ("theirs",), "2, Python 3", 10)
TWICE = Target("twice as fast", "ours", rival="theirs", least=2.0)
JOB = Job("Ten states", (OURS, THEIRS), 2_000_000, (TWICE, Target("in a second", "ours", most=1.0)))
SAMPLES = {
    "ours": [Sample(1.0, 20.0, 0.5, 0.1), Sample(3.0, 22.0, 2.5, 0.4), Sample(2.0, 21.0, 1.0, 0.2)],
    "theirs": [Sample(4.0, 90.0, 3.0), Sample(6.0, 80.0, 5.0), Sample(5.0, 85.0, 4.0)],
}


# --- arithmetic -----------------------------------------------------------------------------------------


def test_a_ratio_is_the_median_of_the_ratios_within_a_round() -> None:
    # 6, 2 and 4; the ratio of the medians would be 4 / 1 as well, so a second case tells the two apart:
    # 1, 10 and 2 have the median 2, while 3 / 3 is 1.
    assert ratio([0.5, 2.5, 1.0], [3.0, 5.0, 4.0]) == 4.0
    assert ratio([3.0, 1.0, 5.0], [3.0, 10.0, 10.0]) == 2.0
    assert ratio([3.0, 1.0, 5.0], [3.0, 10.0, 2.0]) == 1.0


def test_the_table_has_medians_and_rates() -> None:
    # Ours: search 1 of 0.5 … 2.5, two million a second; process 2 of 1 … 3, one million. Theirs: 4 and 5.
    # Process by process 4, 2 and 2.5 times ours.
    assert table(JOB, SAMPLES) == (
        "### Ten states\n"
        "\n"
        "|  | version | search, CPU s | million/s | process, CPU s | million/s | s | peak, MB | × CPU |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n"
        "| ours | 1, Python 3 | 1.00 (0.50–2.50) | 2.00 | 2.00 (1.00–3.00) | 1.00 | 0.20 | 21 | 1.00 |\n"
        "| theirs | 2, Python 3 | 4.00 (3.00–5.00) | 0.50 | 5.00 (4.00–6.00) | 0.40 | 0.00 | 85 | 2.50 |\n"
        "\n"
        "- twice as fast: 4.00×, met\n"
        "- in a second: 2.00 s, MISSED\n"
    )


def test_a_process_that_says_nothing_of_a_search_has_no_rate() -> None:
    job = Job("Nothing generated", (OURS,), 0)
    assert "| - | - | 2.00 (2.00–2.00) | - | 0.00 | 20 | 1.00 |" in table(job, {"ours": [Sample(2.0, 20.0)]})


@pytest.mark.parametrize("cpu, met", [(1.0, [True, True]), (1.01, [False, False])])
def test_a_target_is_met_at_its_figure(cpu: float, met: list[bool]) -> None:
    samples = {"ours": [Sample(cpu, 1.0)], "theirs": [Sample(2.0, 1.0)]}
    assert [answer.met for answer in answers(JOB, samples)] == met


def test_without_its_rival_a_target_is_not_measured() -> None:
    answer = answers(JOB, {"ours": SAMPLES["ours"]})[0]
    assert (answer.figure, answer.met) == (None, False)
    assert str(answer) == "twice as fast: not measured, for theirs is not here"
    assert str(Answer(TWICE, 1.5, met=False)) == "twice as fast: 1.50×, MISSED"


def test_a_ratio_may_be_of_the_processes_or_of_the_clock() -> None:
    # Processes: 4 / 1. By the clock 3 / 2 = 1.5: less than what is wanted, and noted all the same.
    ours, theirs = [Sample(1.0, 1.0, 0.1, 2.0)], [Sample(4.0, 1.0, 0.1, 3.0)]
    wanted = [replace(TWICE, of="process"), replace(TWICE, of="wall"), TWICE]
    found = answers(Job("", (OURS, THEIRS), 1, tuple(wanted)), {"ours": ours, "theirs": theirs})
    assert [(answer.figure, answer.met) for answer in found] == [(4.0, True), (1.5, True), (1.0, False)]
    assert str(found[1]) == "twice as fast: 1.50×, noted"


@pytest.mark.parametrize("held, met", [(16.0, True), (17.0, False)])
def test_memory_is_shared_out_to_the_states(held: float, met: bool) -> None:
    # Of 1,048,576 states each has as many bytes as the search's program has megabytes, whatever Python holds.
    each = Target("16 bytes a state", "ours", most=16.0, states=1 << 20)
    job = Job("", (OURS,), 1, (each,))
    (answer,) = answers(job, {"ours": [Sample(1.0, 99.0, 1.0, 1.0, held)]})
    assert (answer.figure, answer.met) == (held, met)
    assert str(answer) == f"16 bytes a state: {held:.2f} bytes, {'met' if met else 'MISSED'}"
    (whole,) = answers(job, {"ours": [Sample(1.0, 99.0)]})
    assert whole.figure == 99.0


# --- turns ----------------------------------------------------------------------------------------------


def test_contenders_take_turns() -> None:
    asked: list[str] = []

    def runner(contender: Contender) -> Sample:
        asked.append(contender.name)
        return Sample(float(len(asked)), 1.0)

    samples = in_turns((OURS, THEIRS), 3, runner)
    assert asked == ["ours", "theirs"] * 3
    assert [sample.cpu for sample in samples["theirs"]] == [2.0, 4.0, 6.0]


def test_what_is_needed_is_made_once_before_the_turns() -> None:
    order: list[str] = []
    needy = replace(OURS, ready=lambda: order.append("ready"))

    def runner(contender: Contender) -> Sample:
        order.append(f"a turn of {contender.name}")
        return Sample(1.0, 1.0)

    in_turns((needy,), 2, runner)
    assert order == ["ready", "a turn of ours", "a turn of ours"]


def test_a_turn_has_its_variables_and_an_empty_folder(tmp_path: Path) -> None:
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "left").touch()
    said = "import os, sys; print(os.environ['NAMED'], os.listdir(sys.argv[1]))"
    command = (sys.executable, "-c", said, str(fresh))
    run(Contender("child", command, "", "value []", variables={"NAMED": "value"}, fresh=fresh))


def test_a_process_is_measured_whole() -> None:
    said = 'import json; print(json.dumps({"states": 10, "search": 0.25, "peak": 3.5}))'
    sample = run(Contender("child", (sys.executable, "-c", said), "", 10))
    assert (sample.search, sample.search_peak) == (0.25, 3.5)
    assert 0 < sample.wall < 60
    assert 0 < sample.cpu < 60
    assert 1 < sample.peak < 1_000


@pytest.mark.parametrize("said, told", [
    ('{"states": 11, "search": 1.0}', "11 states, and there are 10"), ("", "None states, and there are 10"),
])  # fmt: skip
def test_a_wrong_count_has_no_time(said: str, told: str) -> None:
    with pytest.raises(Unfit, match=told):
        answered(OURS, said)


def test_a_text_that_is_not_printed_has_no_time() -> None:
    check = Contender("check", ("check",), "", "50,816 states")
    assert answered(check, "HOLDS  50,816 states, all of them") == {}
    with pytest.raises(Unfit, match="without '50,816 states'"):
        answered(check, "VIOLATED")


def test_a_process_that_fails_has_no_time() -> None:
    with pytest.raises(Unfit, match="exit code 3"):
        run(Contender("child", (sys.executable, "-c", "raise SystemExit(3)"), "", ""))


# --- what is run ----------------------------------------------------------------------------------------


@pytest.fixture
def fewer(monkeypatch: pytest.MonkeyPatch) -> list[Sample]:
    """The program with two jobs of made-up samples: the first sample of the list is ours."""
    given = [Sample(1.0, 20.0, 1.0), Sample(3.0, 30.0, 3.0)]
    job = Job("Ten states", (OURS, THEIRS), 1_000_000, (TWICE,))
    monkeypatch.setattr(bench, "jobs", lambda **_: [job])
    monkeypatch.setattr(bench, "missing", lambda: ["musil is not here"])
    names = [OURS.name, THEIRS.name]
    monkeypatch.setattr(
        bench, "in_turns", lambda _, rounds: {n: [s] * rounds for n, s in zip(names, given, strict=True)}
    )
    return given


def test_a_run_is_printed_and_kept(
    fewer: list[Sample], capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "RESULTS", tmp_path / "RESULTS.md")
    assert bench.main(["--rounds", "2"]) == 0
    printed = capsys.readouterr().out
    assert "twice as fast: 3.00×, met" in printed
    assert printed.endswith("musil is not here\n")
    assert not (tmp_path / "RESULTS.md").exists()
    assert bench.main(["--rounds", "2", "--write"]) == 0
    assert (tmp_path / "RESULTS.md").read_text(encoding="utf-8").endswith(capsys.readouterr().out)


def test_a_target_that_is_missed_is_no_pass(fewer: list[Sample]) -> None:
    fewer[1] = Sample(1.5, 30.0, 1.5)
    assert bench.main([]) == bench.MISSED == 10


def test_a_contender_that_counts_wrongly_ends_the_run(
    fewer: list[Sample], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unfit(*_: object) -> dict[str, list[Sample]]:
        raise Unfit("theirs: 9 states, and there are 10")

    monkeypatch.setattr(bench, "in_turns", unfit)
    assert bench.main([]) == 1
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "bench: theirs: 9 states, and there are 10\n")


def test_a_peer_that_no_python_here_can_run_is_left_out_by_a_sentence() -> None:
    told = install(Peer("minicheck", "0.0.0", (3, 99)))
    assert told == "minicheck is left out: it needs Python 3.99, and no such Python is on the path"


def test_each_peer_has_its_program() -> None:
    scripts = {path.name for path in (Path(bench.__file__).parent / "peers").glob("*.py")}
    searches = {f"{name}_two_phase_commit.py" for name in ("spin", *(peer.name for peer in PEERS))}
    assert scripts == {*searches, f"{DBOS.name}_workflow.py"}
    assert MINICHECK.version == "0.4.0"


# --- the models that are measured -----------------------------------------------------------------------


def searched(managers: int) -> Tally:
    return fast(definition_of(with_constants(two_phase_commit.TwoPhaseCommit, {"MANAGERS": managers})))


@pytest.mark.parametrize("managers", [5, 6])
def test_the_models_have_the_counts_that_are_pinned_in_the_harness(managers: int) -> None:
    tally = searched(managers)
    assert tally.complete
    assert not tally.violations
    assert (tally.states, tally.transitions) == jobs.COUNTS[managers]


@pytest.mark.parametrize("managers", sorted(jobs.COUNTS))
def test_the_counts_of_the_harness_are_those_that_others_confirm(managers: int) -> None:
    rows = tomllib.loads(COUNTS.read_text(encoding="utf-8"))["count"]
    (row,) = [
        r for r in rows if r["model"] == "two_phase_commit" and r["constants"] == {"MANAGERS": managers}
    ]
    assert (row["states"], row["transitions"]) == jobs.COUNTS[managers]


@pytest.mark.skipif(programs.compiler() is None, reason="no C compiler is here")
def test_the_program_by_hand_has_the_same_count() -> None:
    programs.make_by_hand()
    states, transitions = jobs.COUNTS[6]
    done = subprocess.run([programs.BY_HAND, "6", "17"], check=True, capture_output=True, text=True)
    said = json.loads(done.stdout)
    assert (said["states"], said["transitions"]) == (states, transitions)


def test_every_job_begins_with_ours_and_measures_ours_against_others() -> None:
    found = jobs.jobs(long=True)
    assert len({job.title for job in found}) == len(found)
    for job in found:
        names = [contender.name for contender in job.contenders]
        assert len(set(names)) == len(names)
        assert names[0].startswith("falsework")
        assert all(
            target.contender in names and target.contender.startswith("falsework") for target in job.targets
        )

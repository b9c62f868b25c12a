"""Two hundred logs of the lease under faults are explained; changed ones are rejected, with the line named.

A change need not show: an event that tells nothing may be left out, two that do not meet may change places.
Such a log remains possible, and is counted apart. That it is, and which line is the first that cannot be
explained, an independent search says of a part of them here, and of all with --deep.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from explain_oracle import Oracle
from falsework.conformance.observed import Known, Validation, validate
from falsework.conformance.observed_corpus import coverage
from falsework.definition import definition_of
from falsework.models.lease import Lease
from falsework.verdict import Verdict
from observed_world import Changed, changed, recorded

LEASE = definition_of(Lease)
SEEDS = 200

Logs = list[list[str]]


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Logs:
    folder = tmp_path_factory.mktemp("lease")
    return [recorded(seed, folder)[0] for seed in range(SEEDS)]


def validated(lines: Sequence[str], known: Known, name: str = "log") -> Validation:
    return validate(LEASE, name, lines, repair=False, known=known)


def mutants(logs: Logs, seeds: range) -> Iterator[Changed]:
    for seed in seeds:
        yield from (changed(logs[seed], 3 * seed + kind) for kind in range(3))


@pytest.mark.slow
def test_what_the_runtime_logs_is_explained_and_covers_the_model(logs: Logs) -> None:
    known: Known = {}
    found = [validated(lines, known, f"seed {seed}") for seed, lines in enumerate(logs)]
    assert [(v.name, v.problem, v.rejection) for v in found if v.verdict is not Verdict.HOLDS] == []
    covered = coverage(LEASE, found)
    assert (covered.logs, covered.missing) == (SEEDS, [])
    # The faults are there: lost replies, deaths in the middle of an event, events that overlap.
    every = [json.loads(line) for lines in logs for line in lines[1:-1]]
    assert sum(bool(line.get("unknown")) for line in every) > SEEDS / 2
    assert sum(len(v.log.pending) for v in found if v.log is not None) > SEEDS / 4
    assert sum(event.began < place for v in found if v.log is not None
               for place, event in enumerate(v.log.events)) > 10 * SEEDS  # fmt: skip


@pytest.mark.slow
def test_a_changed_log_is_rejected_or_remains_possible(logs: Logs) -> None:
    known: Known = {}
    counts: Counter[tuple[str, Verdict]] = Counter()
    for mutant in mutants(logs, range(SEEDS)):
        found = validated(mutant.lines, known)
        counts[mutant.how, found.verdict] += 1
        assert found.verdict is not Verdict.VIOLATED or _names_a_line(found, mutant)
    assert {verdict for _, verdict in counts} == {Verdict.HOLDS, Verdict.VIOLATED}, counts
    assert sum(times for (_, verdict), times in counts.items() if verdict is Verdict.VIOLATED) >= SEEDS
    assert all(counts[how, Verdict.VIOLATED] for how in ("dropped", "swapped", "altered")), counts


def _names_a_line(found: Validation, mutant: Changed) -> bool:
    assert found.rejection is not None
    line = json.loads(mutant.lines[found.rejection.event.line - 1])
    return bool(found.rejection.candidates) and not line.get("begun") and found.rejection.event.text != ""


def disagreements(logs: Logs, seeds: range) -> Iterator[tuple[int, str, int | None, int | None]]:
    known: Known = {}
    oracle = Oracle(LEASE)
    for seed in seeds:
        right = Changed("recorded", logs[seed])
        for log in (right, *mutants(logs, range(seed, seed + 1))):
            found = validated(log.lines, known).rejection
            line = None if found is None else found.event.line
            if line != (first := oracle.first_unexplained(log.lines)):
                yield seed, log.how, line, first


@pytest.mark.slow
def test_an_independent_search_names_the_same_lines(logs: Logs) -> None:
    assert list(disagreements(logs, range(60))) == []


@pytest.mark.deep
def test_an_independent_search_names_the_same_lines_of_all_logs(logs: Logs) -> None:
    assert list(disagreements(logs, range(SEEDS))) == []


def test_one_recorded_log_is_explained_and_one_altered_is_not(tmp_path: Path) -> None:
    lines, _ = recorded(0, tmp_path)
    assert validated(lines, {}).verdict is Verdict.HOLDS
    place = next(i for i, line in enumerate(lines) if '"GRANTED"' in line)  # the first grant is of a free key
    lines[place] = lines[place].replace("GRANTED", "REENTERED")
    found = validated(lines, {})
    assert found.verdict is Verdict.VIOLATED
    assert found.rejection is not None
    assert found.rejection.event.line == place + 1

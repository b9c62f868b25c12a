"""The race on the real runtime: what is driven, what is rejected, and what the driving threads promise.

How many states there are is what two engines say; the steps of a path are counted by hand, and
told where they stand, in twins/runtime.
"""

import re
import threading
from collections import Counter
from typing import Any

import pytest

import falsework.runtime.subjects.actors as stage
from command_line import ROOT
from falsework.accounting import Bounds
from falsework.conformance import drive
from falsework.conformance.finding import NamedSubject, driven_definition
from falsework.conformance.subject import subject_role_of
from falsework.conformance.twins import judge_runtime_twin
from falsework.definition import definition_of
from falsework.explore import explore
from falsework.fast import fast
from falsework.models.recoverable_invocation import race_driven as driven
from falsework.models.recoverable_invocation.race import Race
from falsework.naming import twins_of
from falsework.runtime.subjects import race as subjects
from falsework.runtime.subjects import race_postgres as on_postgres
from falsework.runtime.subjects.actors import Actor, Crew, Stuck
from falsework.twins.recoverable_invocation import race as model_twins
from falsework.twins.runtime import race, race_lost, race_operator, race_sweep, race_together
from falsework.verdict import Verdict
from race_paths import steps_of, walked

SMALL = ("RaceSubject", "InvocationSubject", "LostSubject")
LARGE = ("DeathsSubject", "OperatorSubject")


def made_in(module: Any) -> list[Any]:
    """The runtime twins that the module defines."""
    return [cls for cls in vars(module).values() if isinstance(cls, type) and subject_role_of(cls)]


def on_server(cls: type) -> type:
    """The subject or the twin on a PostgreSQL server."""
    return type(cls.__name__, (on_postgres.OnPostgres, cls), {"__doc__": cls.__doc__})


# --- the models that are driven -----------------------------------------------------------------------------

COUNTED = {  # states, transitions and depth
    "DrivenAlone": (184, 594, 17),
    "DrivenInvocation": (283, 1_075, 21),
    "DrivenLost": (388, 1_174, 24),
    "Driven": (782, 3_322, 26),
    "DrivenDeaths": (1_848, 9_183, 32),
    "DrivenOperator": (2_819, 12_789, 25),
    "AsBuilt": (3_691, 18_925, 36),
}
BY_REFERENCE = 300  # states up to which the reference search counts too


@pytest.mark.slow
@pytest.mark.parametrize("name", COUNTED)
def test_the_driven_configurations_are_as_large_as_is_said(name: str) -> None:
    definition = definition_of(getattr(driven, name))
    engines = [fast, explore] if COUNTED[name][0] <= BY_REFERENCE else [fast]
    for tally in (engine(definition, Bounds(every=True)) for engine in engines):
        assert (tally.states, tally.transitions, tally.depth) == COUNTED[name]
        assert tally.complete
        assert not tally.violations


# --- the runtime is right -----------------------------------------------------------------------------------


def conforms(cls: type) -> None:
    """Every step and every refusal was driven, and no invariant is hidden."""
    done = drive(cls(), driven_definition(NamedSubject(cls.__name__, cls)))
    assert done.verdict is Verdict.HOLDS, (done.problem, done.divergence, done.undriven)
    assert (done.covered, done.attempted) == (done.transitions, done.attempts)
    assert not done.hidden


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_the_runtime_conforms(name: str) -> None:
    conforms(getattr(subjects, name))


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("name", SMALL)
def test_the_runtime_conforms_on_a_server(name: str) -> None:
    conforms(on_server(getattr(subjects, name)))


@pytest.mark.deep
@pytest.mark.parametrize("name", LARGE)
def test_the_runtime_conforms_where_more_may_happen(name: str) -> None:
    conforms(getattr(subjects, name))


@pytest.mark.deep
@pytest.mark.postgres
@pytest.mark.parametrize("name", LARGE)
def test_the_runtime_conforms_where_more_may_happen_on_a_server(name: str) -> None:
    conforms(on_server(getattr(subjects, name)))


def whole(model: str) -> type:
    """A subject of that configuration."""
    where = f"{driven.__name__}:{model}"
    return type("Whole", (subjects.Driven,), {"model": where, "__doc__": "One configuration."})


@pytest.mark.deep
@pytest.mark.parametrize(
    "model",
    [
        *("AsBuilt", "DrivenUndecidable", "DrivenSweepAhead", "DrivenFencelessStore", "DrivenReportOnly"),
        *("DrivenOnce", "DrivenLostAhead", "DrivenLostTwice"),
    ],
)
def test_the_runtime_conforms_in_the_configurations_of_its_twins(model: str) -> None:
    conforms(whole(model))


def test_a_configuration_that_the_runtime_is_not_built_to_is_refused() -> None:
    world = subjects.RaceSubject()
    try:
        with pytest.raises(subjects.Unfit, match="JOURNAL_LAG is 1 in the model: the runtime is built to 0"):
            world.begin(dict(definition_of(Race).constants))
    finally:
        world.close()


# --- wrong ones are rejected --------------------------------------------------------------------------------

GATED = [*made_in(race), *made_in(race_sweep), *made_in(race_lost)]
DEEP = made_in(race_operator)
ON_A_PATH = made_in(race_together)


def is_rejected(cls: type) -> None:
    """For what it declares, in as many steps as it declares, and for nothing else."""
    contract = judge_runtime_twin(NamedSubject(cls.__name__, cls))
    assert contract.verdict is Verdict.HOLDS, contract.problems


@pytest.mark.slow
@pytest.mark.parametrize("cls", GATED)
def test_a_wrong_runtime_is_rejected(cls: type) -> None:
    is_rejected(cls)


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.parametrize("cls", GATED)
def test_a_wrong_runtime_is_rejected_on_a_server(cls: type) -> None:
    is_rejected(on_server_too(cls))


def on_server_too(cls: type) -> type:
    """The twin on a server, declared as it is."""
    made = on_server(cls)
    made.__falsework_subject_role__ = subject_role_of(cls)  # type: ignore[attr-defined]
    return made


@pytest.mark.deep
@pytest.mark.parametrize("cls", DEEP)
def test_a_wrong_resolve_is_rejected(cls: type) -> None:
    is_rejected(cls)


@pytest.mark.deep
@pytest.mark.postgres
@pytest.mark.parametrize("cls", DEEP)
def test_a_wrong_resolve_is_rejected_on_a_server(cls: type) -> None:
    is_rejected(on_server_too(cls))


def breaks_on_its_path(cls: Any, right: type) -> None:
    """Just what it declares, just there; and the right runtime goes the whole way as the model does."""
    role, steps = subject_role_of(cls), len(steps_of(cls.path))
    assert role is not None
    found, same = walked(cls, cls.path), walked(right, cls.path)
    broken = {name: step for step, names in enumerate(found.broken, 1) for name in names}
    if found.refused != same.refused:  # a step that the model disables, and the right runtime refuses
        assert same.refused == [steps]
        broken["answer"] = steps
    assert broken == role.breaks
    assert not any(same.broken)
    assert not same.departs


@pytest.mark.parametrize("cls", ON_A_PATH)
def test_a_wrong_runtime_is_rejected_on_its_path(cls: Any) -> None:
    breaks_on_its_path(cls, whole(cls.model.partition(":")[2]))


@pytest.mark.postgres
@pytest.mark.parametrize("cls", ON_A_PATH)
def test_a_wrong_runtime_is_rejected_on_its_path_on_a_server(cls: Any) -> None:
    breaks_on_its_path(on_server_too(cls), on_server(whole(cls.model.partition(":")[2])))


# --- every twin of the model is made, or cannot be ----------------------------------------------------------

PAGE = (ROOT / "docs" / "recoverable-invocation" / "conformance.md").read_text("utf-8")
ROW = re.compile(r"^\| `(\w+)` \| (?:`(\w+)`|([^|`]+)) \|", re.MULTILINE)


def test_every_twin_of_the_race_is_made_in_code_or_the_page_says_why_it_cannot_be() -> None:
    rows = ROW.findall(PAGE.partition("\n## The twins of the model\n")[2])
    assert rows
    assert all(count == 1 for count in Counter(name for name, _, _ in rows).values())
    assert {name for name, _, _ in rows} == {cls.__name__ for cls in twins_of(Race)}
    known = {cls.__name__ for cls in (*GATED, *DEEP, *ON_A_PATH)}
    assert {made for _, made, _ in rows if made} <= known
    assert all(made or len(why) > 20 for _, made, why in rows)
    assert model_twins.race_driven is driven


# --- the threads --------------------------------------------------------------------------------------------


def test_a_process_that_dies_does_nothing_any_more_not_even_on_its_way_out() -> None:
    crew, written = Crew(), []

    def program() -> None:
        try:
            actor.meets("first")
            written.append("behind the first")
        finally:
            actor.meets("second")
            written.append("on the way out")

    actor: Actor[None] = Actor(crew, "it", program)
    assert actor.go()
    assert actor.seam == "first"
    actor.die()
    assert written == []
    assert actor.ended


def test_a_process_stands_at_its_seams_and_passes_those_that_it_may() -> None:
    def program() -> str:
        for seam in ("a", "b", "c"):
            actor.meets(seam)
        return "done"

    actor: Actor[str] = Actor(Crew(), "it", program)
    assert actor.go({"a"})
    assert (actor.seam, actor.passed) == ("b", {"a"})
    assert not actor.go({"c"})
    assert (actor.result, actor.passed) == ("done", {"a", "b", "c"})


def test_a_process_that_never_comes_to_a_seam_is_told_with_where_all_stand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stage, "PATIENCE", 0.01)
    crew, end = Crew(), threading.Event()
    standing: Actor[None] = Actor(crew, "one", lambda: standing.meets("a seam"))
    standing.go()
    lost: Actor[bool] = Actor(crew, "two", lambda: end.wait(10))
    with pytest.raises(Stuck, match=r"two runs on behind its start.*one stands at a seam"):
        lost.go()
    end.set()


def test_what_a_program_raises_is_raised_where_it_is_driven() -> None:
    def program() -> None:
        raise ValueError("of the program")

    with pytest.raises(ValueError, match="of the program"):
        Actor(Crew(), "it", program).go()

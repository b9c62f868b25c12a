"""An instance that logs one of its acts: what it writes, and that the race explains it.

No time is in the log, so the instance's figures need not be the model's: the order of the steps and what they
answer is what the race has to explain.
"""

import itertools
import json
from typing import Any

import pytest

from falsework.conformance.observed import Known, Validation, validate
from falsework.conformance.observed_log import header_of
from falsework.definition import definition_of
from falsework.models.recoverable_invocation.race_driven import AsBuilt
from falsework.runtime.invocation.answers import Closed, RefusalRecorded, Tally
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.lease import LeaseHost
from falsework.runtime.observe import Recorder, header_from
from falsework.runtime.observe_instance import UNLOGGED, ObservedInstance
from falsework.runtime.observe_invocation import ActLog
from falsework.verdict import Verdict
from invocation_world import ACTORS, KEY, KIND, HandClock, World

RACE = definition_of(AsBuilt)
AUTHORS = dict.fromkeys(ACTORS, "INVOCATION") | {"olga": "OPERATOR", ACTORS[-1]: "SWEEP"}
HIDDEN = tuple(name for name in UNLOGGED if name in {action.name for action in RACE.actions})

KNOWN: Known = {}
"""What these tests have asked the model."""

pytestmark = pytest.mark.slow


class LoggedWorld(World):
    """A world whose instance logs the first act."""

    def node(self, offset: int = 0, deployment: Deployment | None = None, word: str = "inv") -> Instance:
        self.lines: list[str] = []
        chosen = deployment or self.deployment
        self.recorder = Recorder(self.lines.append, header_from(header_of(RACE), HIDDEN))
        return ObservedInstance(
            chosen,
            trail=self.trail,
            store=self.store,
            leases=LeaseHost(self.store, self.clock, self.waiter),
            seam=HandClock(follows=self.clock, offset=offset),
            ids=lambda: self.fresh(word),
            alerts=self.bell,
            probes={name: self.probe if kind.probe else None for name, kind in chosen.kinds.items()},
            credentials=dict.fromkeys(chosen.kinds, self.credentials[self.actors[-1]]),
            in_order=True,
            log=ActLog(self.recorder, chosen.kinds, KIND, KEY, AUTHORS),
        )

    def logged(self) -> list[dict[str, Any]]:
        """The lines that tell what was done, without the header and the beginnings."""
        self.recorder.close()
        return [
            line for line in map(json.loads, self.lines[1:-1]) if "action" in line and "begun" not in line
        ]

    def judged(self) -> Validation:
        return validate(RACE, "log", self.lines, repair=False, known=KNOWN)


@pytest.fixture
def world() -> Any:
    made = LoggedWorld()
    yield made
    made.end()


def told(line: dict[str, Any]) -> tuple[object, ...]:
    closings = [closing["kind"] for closing in line.get("observed", {}).get("journal", ())]
    return (line["action"], line.get("answer"), *closings)


def test_an_act_that_its_caller_closes(world: LoggedWorld) -> None:
    world.close(world.opened("erin", "another act"), "erin", key="another act")
    assert isinstance(world.close(world.opened()), Closed)
    assert [told(line) for line in world.logged()] == [
        ("open_takes", "PROCEED"),
        ("open_issues", None),
        ("land", None),
        ("open_returns", "OPENED"),
        ("close_issues", None),
        ("land", None, "OUTCOME"),
        ("close_returns", "LANDED_BY_INVOCATION"),
    ]
    assert world.judged().verdict is Verdict.HOLDS


def test_an_act_that_the_sweep_closes(world: LoggedWorld) -> None:
    world.opened()
    world.commits()
    world.passes(3_600)
    tally = world.instance.reconcile()
    assert isinstance(tally, Tally)
    assert (tally.examined, tally.closed) == (1, 1)
    lines = world.logged()
    assert [told(line) for line in lines][4:] == [
        ("run_takes", "PROCEED"),
        ("run_probes", None),
        ("run_issues", None),
        ("land", None, "OUTCOME"),
        ("run_returns", "CLOSED"),
    ]
    assert lines[5]["arguments"] == {"run": "FIRST_RUN", "probe": "COMMITTED"}
    assert world.judged().verdict is Verdict.HOLDS


def test_a_refusal_and_a_run_that_finds_nothing(world: LoggedWorld) -> None:
    assert isinstance(world.refuse(world.opened()), RefusalRecorded)
    world.passes(3_600)
    world.instance.reconcile()
    assert [told(line) for line in world.logged()][4:] == [
        ("close_issues", None),
        ("land", None, "REFUSED"),
        ("close_returns", "REFUSED"),
    ]
    assert world.judged().verdict is Verdict.HOLDS


def test_a_log_that_tells_what_was_not_is_rejected(world: LoggedWorld) -> None:
    """The refusal that landed is told as an outcome: then nobody could have answered that it was recorded."""
    world.refuse(world.opened())
    world.recorder.close()
    world.lines[:] = [line.replace('"kind": "REFUSED"', '"kind": "OUTCOME"') for line in world.lines]
    found = world.judged()
    assert found.verdict is Verdict.VIOLATED
    assert found.rejection is not None
    numbered = itertools.islice(enumerate(world.lines, 1), 1, None)
    wanted = next(number for number, line in numbered if '"answer": "REFUSED"' in line)
    assert found.rejection.event.line == wanted

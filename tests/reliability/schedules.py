"""Harder schedules of a whole deployment: what was given up lands late, and in calm all must close in time.

Run as a program with `--seed N` it tells one schedule: every fault, every record, and what is wrong.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import Outcome
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.subjects.lease import in_memory
from falsework.runtime.trail.journal import AuditTrail, Seams
from scheduler import SECOND, Actor, Crash, Scheduler
from simulated import Constituent, Journal, Plan, Simulation, template
from test_invocation_simulation import wrong

LATEST_ACT = 90 * SECOND
"""Three leases: how long after it was given up an act may still reach its store."""

LATEST_WRITE = 2 * SECOND
"""Less than a write's bound: how long after it was given up a record may still land."""


class Chronicle(Scheduler):
    """Keeps what went wrong, when and to whom."""

    def chance(self, probability: float, what: str) -> bool:
        if not super().chance(probability, what):
            return False
        self.note(what)
        return True

    def note(self, what: str) -> None:
        """The line is in the story."""
        self.story.append((self.time.now(), self.current.name if self.current else "the world", what))

    @property
    def story(self) -> list[tuple[int, str, str]]:
        """Instant, actor and event, in order."""
        return self.__dict__.setdefault("_story", [])  # type: ignore[no-any-return]


@dataclass
class Letter:
    """Something that was given up by whoever sent it, and is still on its way."""

    due: int
    lands: Callable[[], None]


class LateConstituent(Constituent):
    """A store that a request may reach long after its sender has heard that it timed out."""

    world: "HardWorld"

    def apply(self, datum: int, deadline: int | None) -> Outcome:
        if self.world.scheduler.chance(0.12, "act lands late"):
            self.world.posts(LATEST_ACT, lambda: self.lands(datum, deadline))
            raise TimeoutError("by the seed, and it is on its way")
        return super().apply(datum, deadline)

    def lands(self, datum: int, deadline: int | None) -> None:
        """The act happens now, unless the store can tell that it is past its deadline."""
        scheduler = self.world.scheduler
        if deadline is not None and self.clock.now() >= deadline:
            scheduler.fired["late act fenced out"] += 1
            return
        scheduler.fired["late act happened"] += 1
        self.applied.setdefault(datum, []).append(scheduler.time.now())


class LateJournal(Journal):
    """A journal in which a record may land after its writer was told that nobody knows."""

    world: "HardWorld"

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        scheduler = self.world.scheduler
        scheduler.hook()
        if self.world.journal_away or not scheduler.chance(0.04, "write lands late"):
            return super().record_action(action_ref, actor_ref, credential, data, fence=fence)
        event_id, issued = self.world.seams.event_id(), scheduler.time.now()
        journal = AuditTrail(self.world.store, None, Seams(lambda: event_id, self.world.seams.entropy))

        def lands() -> None:
            bound = self.world.deployment.figures.journal_write_bound
            if scheduler.time.now() - issued < bound and not self.world.journal_away:
                answer = journal.record_action(action_ref, actor_ref, credential, data, fence=fence)
                scheduler.fired[f"late write: {type(answer).__name__}"] += 1

        self.world.posts(LATEST_WRITE, lands)
        return trail.ReplyLost(event_id, "by the seed, and it is on its way")


class HardWorld(Simulation):
    """The deployment with a post that delivers late; the operator waits until nothing is on its way."""

    parts: ClassVar[tuple[type[Scheduler], type[Constituent], type[Journal]]] = (
        Chronicle,
        LateConstituent,
        LateJournal,
    )

    def __init__(self, seed: int, path: Path, founded: Path, plan: Plan | None = None) -> None:
        super().__init__(seed, path, founded, plan)
        self.letters: list[Letter] = []
        self.calm_since = 0

    def posts(self, latest: int, lands: Callable[[], None]) -> None:
        """The letter lands at some moment until then."""
        now = self.scheduler.time.now()
        letter = Letter(now + self.scheduler.rng.randrange(latest), lands)
        self.letters.append(letter)
        self.carrier.wakes_at = min(self.carrier.wakes_at, letter.due)

    @property
    def carrier(self) -> Actor:
        """Who delivers."""
        return next(actor for actor in self.scheduler.actors if actor.name == "post")

    def delivers(self) -> None:
        """Every letter has landed when it was due, and nothing befalls the post itself."""
        scheduler = self.scheduler
        while self.letters or not scheduler.calm:
            now = scheduler.time.now()
            for letter in [letter for letter in self.letters if letter.due <= now]:
                self.letters.remove(letter)
                letter.lands()
            next_due = min((letter.due for letter in self.letters), default=now + 30 * SECOND)
            scheduler.sleep(max(next_due - scheduler.time.now(), 0))

    def failpoint(self, boundary: str) -> None:
        if self.scheduler.current is None or self.scheduler.current.name != "post":
            super().failpoint(boundary)

    def judge(
        self, instance: Instance, act_key: str, invocation_id: str, event_id: str, payload: trail.Data
    ) -> None:
        if not self.letters:
            super().judge(instance, act_key, invocation_id, event_id, payload)

    def weather(self) -> None:
        super().weather()
        self.calm_since = self.scheduler.time.now()

    def run(self) -> None:
        self.scheduler.add("post", self.delivers)
        super().run()


class CalmWorld(HardWorld):
    """Faults for a while, and then none: both sweeps go on, and nobody else comes to their aid."""

    over = False

    def weather(self) -> None:
        """Some trouble, then so much calm as an act's window is long."""
        self.scheduler.sleep(self.scheduler.rng.randrange(200 * SECOND))
        self.scheduler.calm = True
        self.calm_since = self.scheduler.time.now()
        self.scheduler.sleep(self.deployment.figures.compensation_window)
        self.over = True
        self.late = list(self.unclosed())

    def sweeper(self, number: int) -> None:
        """A node that is started again as often as it dies."""
        while not self.over:
            try:
                self.sweep_until_calm(self.started(f"run{number}"))
            except Crash:
                assert self.scheduler.current is not None
                self.scheduler.current.dead = False
                self.scheduler.fired["node started again"] += 1

    def sweep_until_calm(self, instance: Instance) -> None:
        while not self.over:
            self.scheduler.sleep(self.deployment.figures.reconciliation_cadence)
            if not self.over:
                instance.reconcile()

    def unclosed(self) -> Iterator[str]:
        """The acts that had a whole window of calm, and are open all the same."""
        records = self.records()
        closed = {record.data["invocation_id"] for record in records if record.data and _closes(record)}
        for record in records:
            assert record.data is not None
            name = record.data["invocation_id"]
            due = record.action_ref.endswith(".intended") and record.recorded_at <= self.calm_since
            if due and name not in closed:
                yield f"{name} is open after a whole window of calm"


def _closes(record: trail.Record) -> bool:
    return not record.action_ref.endswith(("intended", "recovery_intended"))


def simulated(seed: int, folder: Path, world: type[HardWorld]) -> HardWorld:
    """The seed's run in such a world; the run before it is gone."""
    founded = folder / "template.db"
    if not founded.exists():
        template(folder)
    for old in folder.glob("run.db*"):
        old.unlink()
    made = world(seed, folder / "run.db", founded)
    made.run()
    return made


def problems(run: HardWorld) -> list[str]:
    """Every claim that does not hold, those of the calm included."""
    return [*wrong(run), *getattr(run, "late", ())]


def told(run: HardWorld) -> str:
    """The schedule as a person reads it: what was declared, what befell whom, what was recorded."""
    assert isinstance(run.scheduler, Chronicle)
    lines = [(at, f"{who:<10} {what}") for at, who, what in run.scheduler.story]
    for record in run.records():
        assert record.data is not None
        what = f"{record.action_ref} {record.data['invocation_id']} by {record.actor_ref}"
        lines.append((record.recorded_at, f"{'journal':<10} {what}"))
    lines += [
        (at, f"{'store':<10} act {datum} happened")
        for datum, instants in run.constituent.applied.items()
        for at in instants
    ]
    lines.append((run.calm_since, f"{'the world':<10} is calm"))
    begun = min((at for at, _ in lines), default=0)
    story = [f"{(at - begun) / SECOND:10.3f}  {line}" for at, line in sorted(lines)]
    answers = [f"act {datum}: its caller was told {code}" for datum, code in run.told.items()]
    return "\n".join([str(run.plan), *story, *answers])


WORLDS: dict[str, type[HardWorld]] = {"safety": HardWorld, "liveness": CalmWorld}


def main() -> int:
    """One seed's schedule is told; 1 where a claim does not hold."""
    parser = argparse.ArgumentParser(prog="python -m reliability.schedules", description=__doc__)
    parser.add_argument("--seed", type=int, required=True, metavar="N")
    parser.add_argument("--mode", choices=list(WORLDS), default="safety")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="falsework-schedule-", dir=in_memory()) as folder:
        run = simulated(args.seed, Path(folder), WORLDS[args.mode])
        found = problems(run)
        sys.stdout.write(told(run) + "\n" + "\n".join(f"WRONG: {problem}" for problem in found) + "\n")
        run.store.close()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

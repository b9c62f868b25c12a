"""The independent oracle: dumb reachability over a described model, sharing no line with the checker.

It answers, as plain data, everything that two engines must agree on; places are lines of the written model.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import evaluate
from evaluate import Cut, Description, Frame, Off, State, Wrong

Step = tuple[str, tuple[Any, ...]]
Path = tuple[Step | None, tuple[Step, ...]]


class TooLarge(Exception):
    """More work than the caller allows."""


@dataclass
class Found:
    """What a search counts and finds; `edges` are the steps that left no domain."""

    states: int = 0
    transitions: int = 0
    levels: list[int] = field(default_factory=list)
    coverage: dict[str, list[int]] = field(default_factory=dict)  # enabled, fired, self-loops, cut
    premises: dict[tuple[str, int], int] = field(default_factory=dict)  # property, site
    cuts: dict[int, int] = field(default_factory=dict)  # statement
    violations: dict[str, Path] = field(default_factory=dict)
    witnesses: dict[str, int | None] = field(default_factory=dict)
    fault: tuple[int, int] | None = None  # statement, steps
    stop: tuple[str, int, int] | None = None
    reached: dict[State, Path] = field(default_factory=dict)
    edges: list[tuple[State, dict[str, Any], tuple[Any, ...], Any, State]] = field(default_factory=list)


def label(step: Step) -> str:
    return f"{step[0]}({', '.join(map(evaluate.spelled, step[1]))})"


def sites(e: Any) -> Iterator[int]:
    """The numbers of the `implies` in a piece of a description."""
    if isinstance(e, tuple | list):
        if len(e) == 4 and e[0] == "implies":
            yield e[3]
        for part in e:
            yield from sites(part)


def calls(e: Any) -> Iterator[str]:
    if isinstance(e, tuple | list):
        if len(e) >= 3 and e[0] == "call":
            yield e[1] if isinstance(e[1], str) else e[2]
        for part in e:
            yield from calls(part)


def all_sites(about: Description, body: Any) -> set[int]:
    """The `implies` of a body and of the helpers that it may call."""
    found, waiting, seen = set(sites(body)), list(calls(body)), set()
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            helper = next(h for h in about["helpers"] if h["name"] == name.removesuffix("^"))
            inner = helper["above"] if name.endswith("^") else helper["body"]
            found |= set(sites(inner))
            waiting += calls(inner)
    return found


class Oracle:
    """One search."""

    def __init__(self, about: Description, *, every: bool, max_depth: int | None, limit: int) -> None:
        self.about = about
        self.every = every
        self.max_depth = max_depth
        self.work = limit
        self.found = Found()
        self.found.coverage = {action["name"]: [0, 0, 0, 0] for action in about["actions"]}
        self.found.witnesses = {witness["name"]: None for witness in about["witnesses"]}
        for prop in about["invariants"]:
            for site in all_sites(about, prop["body"]):
                self.found.premises[prop["name"], site] = 0
        self.labels = {a["name"]: self.arguments(a) for a in (*about["actions"], *about["initials"])}

    def arguments(self, action: dict[str, Any]) -> list[tuple[Any, ...]]:
        domains = [evaluate.members(self.about, domain) for _, domain in action["parameters"]]
        return list(itertools.product(*domains))

    # --- one step, one predicate ---

    def thawed(self, state: State) -> dict[str, Any]:
        pairs = zip(self.about["variables"], state, strict=True)
        return {name: evaluate.thawed(self.about, domain, cell) for (name, domain, _), cell in pairs}

    def take(
        self, action: dict[str, Any], before: State, arguments: tuple[Any, ...]
    ) -> tuple[State, Any, bool]:
        """The state after, the answer, and whether all of it lies inside its domain."""
        self.work -= 1
        if self.work < 0:
            raise TooLarge
        frame = Frame(self.about, self.thawed(before))
        frame.local = dict(zip([name for name, _ in action["parameters"]], arguments, strict=True))
        answered = evaluate.run(action["body"], frame)
        answer = None if answered is None else answered[0]
        cells = [evaluate.frozen(self.about, d, frame.own[name]) for name, d, _ in self.about["variables"]]
        good = all(inside for _, inside in cells)
        if action.get("answer") is not None:
            good = good and evaluate.inside(self.about, action["answer"], answer)
        return tuple(cell for cell, _ in cells), answer, good

    def holds(
        self,
        prop: dict[str, Any],
        state: State,
        path: Path,
        before: State | None = None,
        local: dict[str, Any] | None = None,
        *,
        count: bool = True,
    ) -> bool:
        frame = Frame(
            self.about, self.thawed(state), {} if before is None else self.thawed(before), dict(local or {})
        )
        try:
            answered = evaluate.run(prop["body"], frame)
        except Wrong as wrong:
            self.fault(wrong, path)
            return True
        for site, times in frame.premises.items():
            if count and (prop["name"], site) in self.found.premises:
                self.found.premises[prop["name"], site] += times
        return answered is not None and bool(answered[0])

    def fault(self, wrong: Wrong, path: Path) -> None:
        if self.found.fault is None:
            self.found.fault = (wrong.args[0], len(path[1]))

    # --- the search ---

    def initial(self) -> State:
        about, cells = self.about, []
        for _, domain, given in about["variables"]:
            match domain:
                case ("map", key, _):
                    cells.append((given,) * len(evaluate.members(about, key)))
                case ("set", key):
                    cells.append(tuple(k for k in evaluate.members(about, key) if k in given))
                case _:
                    cells.append(given)
        return tuple(cells)

    def start(self) -> list[State]:
        if not self.about["initials"]:
            return self.arrive((None, ()), self.initial(), True, [])
        begun = []
        for action in self.about["initials"]:
            for arguments in self.labels[action["name"]]:
                try:
                    after, _, good = self.take(action, self.initial(), arguments)
                    begun.append((((action["name"], arguments), ()), after, good))
                except Off:
                    continue
                except Wrong as wrong:
                    self.fault(wrong, (None, ()))
        return [s for path, after, good in begun for s in self.arrive(path, after, good, [])]

    def expand(self, before: State) -> list[State]:
        fresh: list[State] = []
        path = self.found.reached[before]
        stuck = True
        for action in self.about["actions"]:
            covered = self.found.coverage[action["name"]]
            for arguments in self.labels[action["name"]]:
                further: Path = (path[0], (*path[1], (action["name"], arguments)))
                try:
                    after, answer, good = self.take(action, before, arguments)
                except Off:
                    continue
                except Cut as cut:
                    covered[0] += 1
                    covered[3] += 1
                    self.found.cuts[cut.args[0]] = self.found.cuts.get(cut.args[0], 0) + 1
                    stuck = False
                    continue
                except Wrong as wrong:
                    self.fault(wrong, further)
                    stuck = False
                    continue
                stuck = False
                covered[0] += 1
                covered[1] += 1
                covered[2] += good and after == before
                self.found.transitions += 1
                broken = []
                if good:
                    self.found.edges.append((before, action, arguments, answer, after))
                    broken = self.broken_steps(action, arguments, answer, before, after, further)
                fresh += self.arrive(further, after, good, broken)
        if stuck and not any(self.holds(prop, before, path) for prop in self.about["terminals"]):
            self.found.violations.setdefault("deadlock", path)
        return fresh

    def broken_steps(
        self,
        action: dict[str, Any],
        arguments: tuple[Any, ...],
        answer: Any,
        before: State,
        after: State,
        path: Path,
    ) -> list[str]:
        local = dict(zip([name for name, _ in action["parameters"]], arguments, strict=True)) | {
            "answer": answer
        }
        return [
            prop["name"]
            for prop in self.about["invariants"]
            if prop["kind"] == "step"
            and prop["on"] in (None, action["name"])
            and not self.holds(prop, after, path, before, local)
        ]

    def arrive(self, path: Path, state: State, good: bool, broken: list[str]) -> list[State]:
        """The state, if it is new and nothing is broken at the end of the path."""
        if not good:
            self.found.violations.setdefault("values_stay_in_domain", path)
            return []
        clean = not broken
        if clean:
            if state in self.found.reached:
                return []
            self.found.reached[state] = path
            for witness in self.about["witnesses"]:
                level = self.found.witnesses[witness["name"]]
                if level is None or level == len(path[1]):
                    reached = self.holds(witness, state, path)
                    if reached and level is None:
                        self.found.witnesses[witness["name"]] = len(path[1])
        for prop in self.about["invariants"]:
            if prop["kind"] == "state" and not self.holds(prop, state, path, count=clean):
                broken = [*broken, prop["name"]]
        for name in broken:
            self.found.violations.setdefault(name, path)
        return [] if broken else [state]

    def run(self) -> Found:
        found = self.found
        frontier = self.start()
        while True:
            if len(found.reached) > found.states:
                found.levels.append(len(found.reached) - found.states)
                found.states = len(found.reached)
            if not frontier or found.fault or (found.violations and not self.every):
                return found
            if self.max_depth is not None and len(found.levels) - 1 >= self.max_depth:
                found.stop = ("max-depth", self.max_depth, len(frontier))
                return found
            frontier = [after for before in frontier for after in self.expand(before)]


def search(
    about: Description, *, every: bool = True, max_depth: int | None = None, limit: int = 10_000_000
) -> Found:
    """The whole search; raises TooLarge where it takes more than `limit` executions of an action."""
    return Oracle(about, every=every, max_depth=max_depth, limit=limit).run()


def counts(
    found: Found, line: Callable[[int], int], column: Callable[[int], tuple[int, int]]
) -> dict[str, Any]:
    """The found in the shape of an engine's counts, places as lines of the written model."""
    return {
        "states": found.states,
        "transitions": found.transitions,
        "levels": found.levels,
        "coverage": {name: tuple(numbers) for name, numbers in found.coverage.items()},
        "premises": {(name, *column(site)): n for (name, site), n in found.premises.items()},
        "cuts": {line(number): n for number, n in found.cuts.items()},
        "violations": {
            name: (len(steps), str([label(step) for step in steps]), None if start is None else label(start))
            for name, (start, steps) in sorted(found.violations.items())
        },
        "witnesses": found.witnesses,
        "fault": None if found.fault is None else (line(found.fault[0]), found.fault[1]),
        "stop": found.stop,
    }

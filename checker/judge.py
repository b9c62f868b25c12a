"""A predicate evaluated on the class: the one judge of states and steps outside the engines' own code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from falsework.definition import Action, Definition, Property
from falsework.language import PremiseSite, count_premises
from falsework.state import State, live
from falsework.trace import IMPURE, Faulted, Label, faulted


def applies(prop: Property, action: Action) -> bool:
    """Whether the step invariant speaks of that action's steps."""
    by_row = action.row is not None and prop.on == action.function.__name__
    return prop.kind == "step" and (prop.on is None or prop.on == action.name or by_row)


def step_arguments(action: Action, label: Label, answer: object, before: State) -> dict[str, object]:
    """What a step invariant may read by name; `before` is made live for each evaluation."""
    names = (name for name, _ in action.parameters)
    arguments = dict(zip(names, label.arguments, strict=True))
    return {"answer": answer, "row": action.row, "before": before, **arguments}


def judge(
    definition: Definition,
    prop: Property,
    state: State,
    known: Mapping[str, object] | None = None,
    *,
    times: int = 2,
) -> tuple[bool, Counter[PremiseSite]]:
    """The predicate's answer there, and its true premises by where they stand.

    Raises Faulted where it raises, where it answers anything but True or False, or where a second evaluation
    differs: then the model is impure.
    """
    seen: Counter[PremiseSite] = Counter()
    answer = _once(definition, prop, state, known or {}, seen)
    for _ in range(times - 1):
        if _once(definition, prop, state, known or {}, None) is not answer:
            raise Faulted(IMPURE.format(prop.name), prop.place)
    return answer, seen


def _once(
    definition: Definition,
    prop: Property,
    state: State,
    known: Mapping[str, Any],
    recorder: Counter[PremiseSite] | None,
) -> bool:
    arguments = [live(definition, known["before"]) if a == "before" else known[a] for a in prop.arguments]
    count_premises(recorder)
    try:
        answer: object = prop.function(live(definition, state), *arguments)
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # noqa: BLE001  whatever it raises is a fault of the model
        raise faulted(definition, problem, prop.place) from None
    finally:
        count_premises(None)
    if not isinstance(answer, bool):
        raise Faulted(f"{prop.name} answered {answer!r}, not a bool", prop.place)
    return answer


def broken_in(definition: Definition, state: State) -> Iterator[str]:
    """The names of the state invariants that are false there."""
    for prop in definition.invariants:
        if prop.kind == "state" and not judge(definition, prop, state)[0]:
            yield prop.name


def broken_by(
    definition: Definition, action: Action, label: Label, answer: object, before: State, after: State
) -> Iterator[str]:
    """The names of the step invariants that the step breaks."""
    known = step_arguments(action, label, answer, before)
    for prop in definition.invariants:
        if applies(prop, action) and not judge(definition, prop, after, known)[0]:
            yield prop.name

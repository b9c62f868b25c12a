"""What became of a model's mutants, as text: the scores, the table of outcomes, the survivors by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from falsework.definition import Definition
from falsework.mutate import BROKEN, CAUSES, Notice, Outcome
from falsework.report_text import aligned, constants_text, number_of, subject_text

_COLUMN = 60
_WORDS = {
    "invariant": "breaks {}",
    "deadlock": "deadlock",
    "domain": "breaks {}",
    "fault": "fault: {}",
    "witness": "no longer reaches {}",
    "silence": "{} never fires",
}
_UNNOTICED = ("survived", "unnoticed", "undecided")


def mutants_text(
    definition: Definition, configuration: str, outcomes: Sequence[Outcome], *, verbose: bool = False
) -> str:
    """The first line gives the scores; what nothing notices and what is undecided is told, one line each."""
    who = "  ".join(filter(None, (subject_text(definition, configuration), constants_text(definition))))
    blocks = [f"{word_of(outcomes)}  {who}   {_scores(outcomes)}"]
    if verbose and outcomes:
        head = ["in", "change", "at", "outcome", "steps", "also"]
        blocks.append("\n".join(aligned([head, *map(_row, outcomes)])))
    if outcomes:
        blocks.append("\n".join(_by_operator(outcomes)))
    left = [outcome for outcome in outcomes if outcome.cause in _UNNOTICED]
    if left:
        blocks.append("\n".join(map(_left, left)))
    return "\n\n".join(blocks)


def word_of(outcomes: Iterable[Outcome]) -> str:
    """KILLED where everything that adds a step is noticed, else the gravest of what was not."""
    causes = {outcome.cause for outcome in outcomes}
    if not causes:
        return "NO MUTANT"
    return "SURVIVED" if "survived" in causes else "UNDECIDED" if "undecided" in causes else "KILLED"


def _scores(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return "there is nothing to change"
    adding = [outcome for outcome in outcomes if outcome.kind == "additive"]
    removing = [outcome for outcome in outcomes if outcome.kind == "removing"]
    killed = sum(outcome.cause in BROKEN for outcome in adding)
    parts = [number_of(len(outcomes), "mutant")]
    if adding:
        parts += [f"{len(adding)} add steps: {killed} killed, score {100 * killed // len(adding)}%"]
    if removing:
        parts += [f"{len(removing)} only remove: {sum(o.killed for o in removing)} noticed"]
    same = sum(outcome.kind == "equivalent" for outcome in outcomes)
    parts += [f"{same} equivalent"] if same else []
    undecided = sum(outcome.kind == "undecided" for outcome in outcomes)
    return " · ".join([*parts, *([f"{undecided} undecided"] if undecided else [])])


def _row(outcome: Outcome) -> list[str]:
    mutant = outcome.mutant
    first = outcome.notices[0] if outcome.notices else None
    said = _said(first, outcome) if first else _unnoticed(outcome)
    steps = "-" if first is None or first.steps is None else str(first.steps)
    also = " ".join(map(_also, outcome.notices[1:]))
    if outcome.configuration:
        also = f"[{outcome.configuration}] {also}".rstrip()
    return [mutant.method, _short(mutant.said), str(mutant.place), said, steps, also]


def _also(notice: Notice) -> str:
    name = notice.name or notice.cause
    return name if notice.steps is None else f"{name}:{notice.steps}"


def _said(notice: Notice, outcome: Outcome) -> str:
    fault = outcome.text.rpartition(": ")[0]  # its place is in the model, and the change's is in the row
    return _short(_WORDS[notice.cause].format(notice.name or fault))


def _unnoticed(outcome: Outcome) -> str:
    """How far the mutant goes that nothing notices: to new states, by new steps, or nowhere."""
    if outcome.cause != "survived":
        return outcome.cause
    return f"survived: {'new states' if outcome.new_states else 'new steps only'}"


def _short(text: str) -> str:
    return text if len(text) <= _COLUMN else text[: _COLUMN - 1] + "…"


def _by_operator(outcomes: Sequence[Outcome]) -> list[str]:
    """How each operator's mutants ended."""
    operators = dict.fromkeys(outcome.mutant.operator for outcome in outcomes)
    counted = {name: Counter(o.cause for o in outcomes if o.mutant.operator == name) for name in operators}
    causes = [cause for cause in CAUSES if any(counted[name][cause] for name in operators)]
    rows = [[name, *(str(counted[name][cause]) for cause in causes)] for name in operators]
    return aligned([["operator", *causes], *rows])


def _left(outcome: Outcome) -> str:
    mutant = outcome.mutant
    where = f" [{outcome.configuration}]" if outcome.configuration else ""
    return f"{outcome.cause}  {mutant.place}  {mutant.said}: {outcome.text}{where}"

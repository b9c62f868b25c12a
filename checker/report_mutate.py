"""What became of a model's mutants, as text: the score, the table of outcomes, the survivors by place."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from falsework.definition import Definition
from falsework.mutate import CAUSES, Notice, Outcome
from falsework.report_text import aligned, constants_text, number_of, subject_text

_COLUMN = 60
_WORDS = {
    "invariant": "breaks {}",
    "deadlock": "deadlock",
    "domain": "breaks {}",
    "fault": "fault: {}",
}


def mutants_text(definition: Definition, configuration: str, outcomes: Sequence[Outcome]) -> str:
    """The first line says how many were killed; a survivor and an undecided mutant are named once more."""
    who = "  ".join(filter(None, (subject_text(definition, configuration), constants_text(definition))))
    blocks = [f"{_word(outcomes)}  {who}   {_score(outcomes)}"]
    if outcomes:
        blocks += [
            "\n".join(aligned([["in", "without", "at", "outcome", "steps", "also"], *map(_row, outcomes)]))
        ]
        blocks += [_by_cause(outcomes)]
    left = [outcome for outcome in outcomes if not outcome.killed]
    if left:
        blocks.append("\n".join(map(_left, left)))
    return "\n\n".join(blocks)


def _word(outcomes: Sequence[Outcome]) -> str:
    causes = {outcome.cause for outcome in outcomes}
    if not causes:
        return "NO GUARD"
    return "SURVIVED" if "survived" in causes else "UNDECIDED" if "undecided" in causes else "KILLED"


def _score(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return "no action has a guard, so there is nothing to leave out"
    killed = sum(outcome.killed for outcome in outcomes)
    parts = [f"{number_of(len(outcomes), 'guard conjunct')}, each left out by itself"]
    parts += [f"{killed} killed", f"score {100 * killed // len(outcomes)}%"]
    return " · ".join(parts)


def _row(outcome: Outcome) -> list[str]:
    mutant = outcome.mutant
    first = outcome.notices[0] if outcome.notices else None
    said = _said(first, outcome) if first else _unnoticed(outcome)
    steps = str(first.steps) if first else "-"
    also = " ".join(f"{each.name or each.cause}:{each.steps}" for each in outcome.notices[1:])
    return [mutant.method, _short(mutant.text), str(mutant.place), said, steps, also]


def _said(notice: Notice, outcome: Outcome) -> str:
    fault = outcome.text.rpartition(": ")[0]  # its place is in the model, and the conjunct's is in the row
    return _short(_WORDS[notice.cause].format(notice.name or fault))


def _unnoticed(outcome: Outcome) -> str:
    """How far the mutant goes that nothing notices: to new states, by new steps, or nowhere."""
    if outcome.cause != "survived":
        return outcome.cause
    gained = "new states" if outcome.new_states else "new steps only" if outcome.new_steps else "no change"
    return f"survived: {gained}"


def _short(text: str) -> str:
    return text if len(text) <= _COLUMN else text[: _COLUMN - 1] + "…"


def _by_cause(outcomes: Sequence[Outcome]) -> str:
    counted = Counter(outcome.cause for outcome in outcomes)
    return "by cause: " + " · ".join(f"{cause} {counted[cause]}" for cause in CAUSES)


def _left(outcome: Outcome) -> str:
    mutant = outcome.mutant
    return f"{outcome.cause} without {mutant.text} at {mutant.place}: {outcome.text}"

"""Check 6: what the sweep and operators wrote of an act, and what the adopter's store says of it now."""

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from falsework.runtime.audit.accounts import (
    ADDED,
    ESCALATED,
    OUTCOME,
    REFUSED,
    Accounts,
    Closing,
    Intent,
)
from falsework.runtime.audit.declared import Bound, Declared
from falsework.runtime.audit.found import Check
from falsework.runtime.audit.judged import abandonments

SAYS = {
    "6.1": "the store corroborates each outcome that another than its caller wrote",
    "6.2": "a store that cannot be read makes a check not applicable, and fails none",
    "6.3": "the store holds no act that was abandoned",
    "6.4": "the sweep abandons only where the store is fenced",
    "Invariant 9.3": "the store holds no act that was refused",
    "6.5": "each candidate of an escalation is a record of the store",
}


@dataclass(frozen=True, slots=True)
class Said:
    """What the store said of an intent; the word is one of the four answers."""

    word: str
    ref: str = ""
    data: Mapping[str, object] | None = None
    candidates: tuple[str, ...] = ()


UNAVAILABLE, UNDECIDABLE, NOT_COMMITTED, COMMITTED = (
    "unavailable",
    "undecidable",
    "not-committed",
    "committed",
)
Probe = Callable[[str, dict[str, object]], object]


class NoProbe(Exception):
    """The deployment's probe cannot be called at all."""


def probes_of(declared: Declared) -> dict[str, Probe | NoProbe | None]:
    """Each kind's probe by the binding of its deployment; None where it declares that no read can tell."""
    return {name: _probe(kind) for name, kind in declared.kinds.items()}


def _probe(kind: Bound) -> Probe | NoProbe | None:
    if kind.probe is None:
        return None
    module, _, path = kind.probe.partition(":")
    try:
        found: object = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except Exception as problem:  # noqa: BLE001  the adopter's module, which may fail as it likes
        return NoProbe(f"probe {kind.probe} of {kind.name} cannot be found ({problem})")
    if not callable(found):
        return NoProbe(f"probe {kind.probe} of {kind.name} is {found!r}, and no function")
    return cast(Probe, found)


def understood(answer: object) -> Said:
    """A probe's answer by the name of its form; what is none of the four says nothing of the store."""
    ref, data = getattr(answer, "outcome_action_ref", None), getattr(answer, "outcome_data", None)
    match type(answer).__name__:
        case "Committed" if isinstance(ref, str) and isinstance(data, Mapping):
            return Said(COMMITTED, ref, data)
        case "NotCommitted":
            return Said(NOT_COMMITTED)
        case "Undecidable":
            listed: object = getattr(answer, "candidates", ())
            if isinstance(listed, tuple | list):
                return Said(UNDECIDABLE, candidates=tuple(str(each) for each in listed))
    return Said(UNAVAILABLE)


class Corroboration:
    """The accounts, held against the store."""

    def __init__(self, accounts: Accounts, probes: Mapping[str, Probe | NoProbe | None]) -> None:
        self.accounts = accounts
        self.declared = accounts.declared
        self.probes = probes
        self.checks = {number: Check(number, says) for number, says in SAYS.items()}
        self._said: dict[str, Said] = {}

    def judge(self) -> dict[str, Check]:
        """Every check, done."""
        for invocation in self.accounts.invocations.values():
            for intent in invocation.intents[:1]:
                kind = self.declared.kinds.get(intent.kind)
                if kind is not None:
                    self._invocation(kind, intent, invocation.closings)
        return self.checks

    def _invocation(self, kind: Bound, intent: Intent, closings: list[Closing]) -> None:
        for closing in closings:
            if closing.sort == OUTCOME and closing.recovery is True:
                self._outcome(kind, intent, closing, closings)
            elif closing.sort == ESCALATED:
                self._candidates(kind, intent, closing)
            elif closing.sort == REFUSED:
                self._refusal(kind, intent, closing)
        for closing in abandonments(closings):
            self._abandonment(kind, intent, closing)
        for closing in closings:
            if closing.sort == "abandoned" and closing.resolved_by is None:
                check = self.checks["6.4"]
                check.looks_at(closing.name)
                if not kind.commit_fence:
                    found = f"{kind.name} declares no commit fence, and the sweep abandoned"
                    check.violated(found, SAYS["6.4"], (intent.name, closing.name))

    def _asked(self, check: Check, kind: Bound, intent: Intent) -> Said | None:
        """What the store says of the intent; None where it cannot be asked, which is noted."""
        probe = self.probes[kind.name]
        if isinstance(probe, NoProbe):
            if str(probe) not in check.not_checked:
                check.not_checked.append(str(probe))
            return None
        if intent.invocation_id not in self._said:
            self._said[intent.invocation_id] = self._answer(kind, probe, intent)
        said = self._said[intent.invocation_id]
        if said.word == UNAVAILABLE:
            check.not_applicable += 1
            self.checks["6.2"].looks_at(intent.name)
            self.checks["6.2"].not_applicable += 1
        return said

    def _answer(self, kind: Bound, probe: Probe | None, intent: Intent) -> Said:
        if probe is None:
            return Said(UNDECIDABLE)
        try:
            said = understood(probe(intent.act_key, intent.data))
        except Exception:  # noqa: BLE001  the adopter's code: every failure of it says nothing of the store
            return Said(UNAVAILABLE)
        # Without a datum to match, one record is a candidate and no proof.
        return Said(UNDECIDABLE) if said.word == COMMITTED and not kind.pairing_datum else said

    # Check 6.1.

    def _outcome(self, kind: Bound, intent: Intent, closing: Closing, closings: list[Closing]) -> None:
        check = self.checks["6.1"]
        check.looks_at(closing.name)
        said = self._asked(check, kind, intent)
        if said is None or said.word == UNAVAILABLE:
            return
        if (
            said.word == UNDECIDABLE
            and closing.resolved_by is not None
            and self._escalated(closing, closings)
        ):
            check.not_applicable += 1
            check.remarks.append(
                f"record {closing.name.seq} is {closing.resolved_by}'s word for what the store cannot tell"
            )
            return
        told = {name: value for name, value in closing.data.items() if name not in ADDED}
        if (said.word, said.ref) != (COMMITTED, closing.name.action_ref) or _plain(said.data) != told:
            held = f"{said.ref} {_plain(said.data)}" if said.word == COMMITTED else said.word
            found = f"the store says {held}, and the outcome {closing.name.action_ref} {told}"
            check.violated(found, SAYS["6.1"], (intent.name, closing.name))

    def _escalated(self, outcome: Closing, closings: list[Closing]) -> bool:
        """Whether the outcome supersedes an escalation, which says that the store could not tell."""
        return any(c.sort == ESCALATED and c.name.event_id in outcome.supersedes for c in closings)

    # Checks 6.3 and 6.5.

    def _abandonment(self, kind: Bound, intent: Intent, closing: Closing) -> None:
        check = self.checks["6.3"]
        check.looks_at(closing.name)
        said = self._asked(check, kind, intent)
        if said is None or said.word in (UNAVAILABLE, NOT_COMMITTED):
            return
        if said.word == UNDECIDABLE and not kind.pairing_datum and self._has_a_double(intent):
            return
        found = f"it was abandoned, and the store says {said.word}"
        check.violated(found, "not-committed", (intent.name, closing.name))

    def _refusal(self, kind: Bound, intent: Intent, closing: Closing) -> None:
        """A refusal says that the constituent did nothing, as its own contract has it."""
        check = self.checks["Invariant 9.3"]
        check.looks_at(closing.name)
        said = self._asked(check, kind, intent)
        if said is None or said.word in (UNAVAILABLE, NOT_COMMITTED) or not kind.pairing_datum:
            return
        found = f"it was refused, and the store says {said.word}"
        check.violated(found, "not-committed", (intent.name, closing.name))

    def _has_a_double(self, intent: Intent) -> bool:
        """Whether a later intent of the same act may be what the store holds."""
        acts = (each for found in self.accounts.invocations.values() for each in found.intents)
        return any(
            (each.kind, each.act_key) == (intent.kind, intent.act_key) and each.name.seq > intent.name.seq
            for each in acts
        )

    def _candidates(self, kind: Bound, intent: Intent, closing: Closing) -> None:
        listed = closing.data.get("store_candidates")
        if not isinstance(listed, list) or not listed:
            return
        check = self.checks["6.5"]
        check.looks_at(closing.name)
        said = self._asked(check, kind, intent)
        if said is None or said.word == UNAVAILABLE:
            return
        held = said.candidates if said.word == UNDECIDABLE else tuple(map(str, (said.data or {}).values()))
        strange = [each for each in map(str, listed) if not any(self._is_named(one, each) for one in held)]
        if strange:
            found = f"the store has no record {', '.join(strange)} of the intent"
            check.violated(found, SAYS["6.5"], (intent.name, closing.name))

    def _is_named(self, held: str, candidate: str) -> bool:
        """Whether the candidate is the store's reference, which an escalation cuts off at the cap."""
        return held == candidate or (
            len(candidate) >= self.declared.reference_length_cap and held.startswith(candidate)
        )


def _plain(data: Mapping[str, object] | None) -> dict[str, object]:
    """The data as JSON gives them back: a tuple is a list there."""
    return {name: _listed(value) for name, value in (data or {}).items()}


def _listed(value: object) -> object:
    if isinstance(value, tuple | list):
        return [_listed(each) for each in value]
    return _plain(value) if isinstance(value, Mapping) else value

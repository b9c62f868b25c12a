"""Checks 1, 2, 5 and 7: what the records say of each other."""

from falsework.runtime.audit.accounts import (
    ABANDONED,
    OUTCOME,
    PLAN,
    REFUSED,
    Accounts,
    Closing,
    Intent,
    unsuperseded,
)
from falsework.runtime.audit.declared import Bound
from falsework.runtime.audit.found import Check, Named
from falsework.runtime.audit.substrate import Substrate

SAYS = {
    "1.1": "each outcome follows an intent of its invocation, attested by the actor that it names",
    "1.2": "inside the horizon is what reads as retained, by the intent's event",
    "1.3": "no stamp of an outcome decides that, nor that something was answered",
    "1.4": "an intent that a purge destroyed is purged, and never absent",
    "2.1": "no two closings of an invocation stand beside each other",
    "2.2": "no invocation has two intents",
    "2.3": "no two intents of one act stand open together",
    "2.4": "a closing and all that it supersedes, by name and transitively, count as one",
    "2.5": "each outcome is read as one of the three shapes",
    "2.6": "an outcome of no shape is a failure",
    "5.1": "what a service identity attests names an intent of somebody else's",
    "5.2": "what a service identity attests names an intent that can be read",
    "5.3": "a purged intent that a service identity's record names is purged, and not missing",
    "7.1": "an intent that a purge destroyed is left out of every check",
    "7.2": "checks 1 to 3 are over intents whose payload can be read",
    "Invariant 2.2": "each closing that is no outcome has its intent, and is its writer's",
    "Invariant 2.3": "no two runs of the sweep close one act",
    "Invariant 5.6": "no abandonment of the sweep's had to be corrected by an outcome",
}


class Records:
    """The accounts, held against the rules that records alone decide."""

    def __init__(self, accounts: Accounts, substrate: Substrate, reading: int) -> None:
        self.accounts = accounts
        self.declared = accounts.declared
        self.substrate = substrate
        self.reading = reading
        self.checks = {number: Check(number, says) for number, says in SAYS.items()}

    def judge(self) -> dict[str, Check]:
        """Every check, done."""
        for closing in self.accounts.closings:
            (self._outcome if closing.sort == OUTCOME else self._writer)(closing)
        for name in self.accounts.nameless:
            self.checks["1.1"].looks_at(name)
            self.checks["1.1"].violated("the outcome names no invocation", SAYS["1.1"], (name,))
        for invocation_id, invocation in self.accounts.invocations.items():
            if invocation.intents:
                self._closings(invocation_id, invocation.intents, invocation.closings)
        self._open_together()
        for record in self.accounts.by_identity:
            self._by_identity(*record)
        self._left_out()
        return self.checks

    def is_aged(self, intent: Intent) -> bool:
        """Whether its invocation's lease has ended by any clock of the instance."""
        kind = self.declared.kinds.get(intent.kind)
        allowance = self.declared.instance.clock_offset_allowance
        return kind is None or intent.name.recorded_at + kind.completion_bound + allowance <= self.reading

    def is_purged(self, event_id: str | None) -> bool:
        """Whether the substrate reports the event as purged."""
        found = self.accounts.gone.get(event_id or "")
        return found is not None and self.substrate.is_purged(found[0])

    # Check 1, and the shapes of check 2.

    def _outcome(self, closing: Closing) -> None:
        check, event = self.checks["1.1"], closing.intent_event_id
        for number in ("1.2", "1.3"):
            self.checks[number].looks_at(closing.name)
        if self.is_purged(event):
            check.purged += 1
            self.checks["1.4"].looks_at(closing.name)
            self.checks["1.4"].purged += 1
            return
        if event in self.accounts.gone:
            check.not_checked.append(f"the intent of record {closing.name.seq} was destroyed without a purge")
            return
        check.looks_at(closing.name)
        read = self.accounts.by_event.get(event or "")
        recovered = closing.recovery is True
        names = closing.acting_actor_ref if recovered else closing.name.actor_ref
        earlier = [
            intent
            for intent in self.accounts.invocations[closing.invocation_id].intents
            if intent.name.seq < closing.name.seq and intent.kind == closing.kind
        ]
        if read is None:
            found = f"it names the intent {event}, and there is no such intent"
            check.violated(found, SAYS["1.1"], (closing.name,))
        elif read not in earlier:
            found = f"no intent of invocation {closing.invocation_id} under that event comes before it"
            check.violated(found, SAYS["1.1"], (closing.name, read.name))
        elif not any(intent.name.actor_ref == names for intent in earlier):
            found = f"it names {names}, and its intent is attested by {read.name.actor_ref}"
            check.violated(found, SAYS["1.1"], (closing.name, read.name))
        if read is not None:
            self._shape(closing, read)

    def _shape(self, closing: Closing, intent: Intent) -> None:
        self.checks["2.5"].looks_at(closing.name)
        check = self.checks["2.6"]
        check.looks_at(closing.name)
        why = self._has_no_shape(closing, intent, self.declared.kinds.get(closing.kind))
        if why is not None:
            check.violated(why, "one of the three shapes of an outcome", (closing.name, intent.name))

    def _has_no_shape(self, closing: Closing, intent: Intent, kind: Bound | None) -> str | None:
        writer = closing.name.actor_ref
        if closing.recovery is None and closing.resolved_by is None:
            if writer == intent.name.actor_ref:
                return None
            return f"{writer} wrote it without recovery, and the intent is {intent.name.actor_ref}'s"
        if closing.recovery is not True:
            return f"its recovery is {closing.recovery!r}, and it says that {closing.resolved_by} resolved it"
        if closing.resolved_by is not None:
            return None if writer == closing.resolved_by else f"{writer} wrote it as {closing.resolved_by}"
        if kind is not None and writer != kind.service_identity:
            return f"{writer} recovered it, and the kind's service identity is {kind.service_identity}"
        plans = self.accounts.invocations[closing.invocation_id].plans
        if not any(plan.name.seq < closing.name.seq for plan in plans):
            return f"no {closing.kind}.{PLAN} of its invocation comes before it"
        return None

    # Check 2.

    def _closings(self, invocation_id: str, intents: list[Intent], closings: list[Closing]) -> None:
        if not self.is_aged(intents[0]):
            return
        for number in ("2.1", "2.2", "2.4", "Invariant 2.3"):
            self.checks[number].looks_at(intents[0].name)
        if len(intents) > 1:
            found = f"{len(intents)} intents carry {invocation_id}"
            self.checks["2.2"].violated(found, SAYS["2.2"], [intent.name for intent in intents])
        rivals = self._rivals(closings)
        if len(closings) > 1:
            stand = len(unsuperseded(closings))
            self.checks["2.4"].remarks.append(
                f"{invocation_id}: {len(closings)} closings, {stand} of them stand"
            )
        if len(rivals) > 1:
            found = f"{len(rivals)} closings of {invocation_id} stand beside each other"
            records = [intents[0].name, *(closing.name for closing in rivals)]
            self.checks["2.1"].violated(found, SAYS["2.1"], records)
        kind = self.declared.kinds.get(intents[0].kind)
        swept = [c.name for c in closings if kind is not None and c.name.actor_ref == kind.service_identity]
        if len(swept) > 1:
            found = f"the sweep closed {invocation_id} {len(swept)} times"
            self.checks["Invariant 2.3"].violated(found, SAYS["Invariant 2.3"], swept)

        self._corrected(closings)

    def _writer(self, closing: Closing) -> None:
        """Checks 1.1 and 2.6 are of outcomes; a refusal is the caller's, and all else who may close."""
        check, event = self.checks["Invariant 2.2"], closing.intent_event_id
        kind = self.declared.kinds.get(closing.kind)
        if kind is None or self.is_purged(event):
            check.purged += kind is not None
            return
        if event in self.accounts.gone:
            check.not_checked.append(f"the intent of record {closing.name.seq} was destroyed without a purge")
            return
        check.looks_at(closing.name)
        intent = self.accounts.by_event.get(event or "")
        if intent is None or intent.invocation_id != closing.invocation_id:
            if closing.name.actor_ref not in self.declared.identities:  # check 5 is of those
                found = f"it names the intent {event}, and {closing.invocation_id} has none such"
                check.violated(found, SAYS["Invariant 2.2"], (closing.name,))
            return
        wanted = kind.service_identity if closing.resolved_by is None else closing.resolved_by
        if closing.sort == REFUSED:
            wanted = intent.name.actor_ref if closing.resolved_by is None else None
        if closing.name.actor_ref != wanted:
            found = f"{closing.name.actor_ref} wrote it, and it would be {wanted or 'nobody'}'s to write"
            check.violated(found, SAYS["Invariant 2.2"], (closing.name, intent.name))

    def _corrected(self, closings: list[Closing]) -> None:
        """Check 6.3 asks nothing of a corrected abandonment; that it was false is in the journal itself."""
        check = self.checks["Invariant 5.6"]
        for closing in closings:
            if closing.sort != ABANDONED or closing.resolved_by is not None:
                continue
            check.looks_at(closing.name)
            names = closing.name.event_id
            by = [c.name for c in closings if c.sort == OUTCOME and names in c.supersedes]
            if by:
                found = "the sweep abandoned it, and an outcome says that it happened"
                check.violated(found, SAYS["Invariant 5.6"], (closing.name, *by))

    def _rivals(self, closings: list[Closing]) -> list[Closing]:
        """The closings that stand now; under a journal fence, two that have stood together once."""
        if self.declared.instance.journal_fence:
            for length in range(2, len(closings)):
                standing = unsuperseded(closings[:length])
                if len(standing) > 1:
                    return standing
        return unsuperseded(closings)

    def _open_together(self) -> None:
        """Walks through the journal with the intents that stand open after each record of it."""
        check, standing = self.checks["2.3"], dict[tuple[str, str], dict[str, Intent]]()
        act_of: dict[str, tuple[str, str]] = {}
        for record in self.accounts.in_order:
            if isinstance(record, Closing):
                act = act_of.get(record.invocation_id)
                if record.sort != PLAN and act is not None:
                    standing[act].pop(record.invocation_id, None)
                continue
            kind = self.declared.kinds.get(record.kind)
            if kind is None or kind.service_identity is None:
                check.exempt += 1
                continue
            check.looks_at(record.name)
            act_of[record.invocation_id] = (record.kind, record.act_key)
            stand = standing.setdefault((record.kind, record.act_key), {})
            for other in [each for each in stand.values() if self._is_over(each, kind, record)]:
                del stand[other.invocation_id]
            others = [each.name for key, each in stand.items() if key != record.invocation_id]
            if others:
                found = (
                    f"{record.act_key} was opened by {record.invocation_id} beside an intent that stood open"
                )
                check.violated(found, SAYS["2.3"], (*others, record.name))
            stand[record.invocation_id] = record

    def _is_over(self, intent: Intent, kind: Bound, then: Intent) -> bool:
        return intent.name.recorded_at + kind.retention_period <= then.name.recorded_at

    # Check 5.

    def _by_identity(self, name: Named, invocation_id: str | None, event_id: str | None) -> None:
        if self.is_purged(event_id):
            self.checks["5.1"].purged += 1
            self.checks["5.3"].looks_at(name)
            self.checks["5.3"].purged += 1
            return
        if event_id in self.accounts.gone:
            why = f"the intent of record {name.seq} was destroyed without a purge"
            self.checks["5.2"].not_checked.append(why)
            return
        self.checks["5.2"].looks_at(name)
        intent = self.accounts.by_event.get(event_id or "")
        if intent is None:
            found = f"it names the intent {event_id}, and there is none: written outside the protocol"
            self.checks["5.2"].violated(found, SAYS["5.2"], (name,))
            return
        self.checks["5.1"].looks_at(name)
        if intent.invocation_id != invocation_id:
            found = f"it names invocation {invocation_id}, and its intent is of {intent.invocation_id}"
            self.checks["5.1"].violated(found, SAYS["5.1"], (name, intent.name))
        elif intent.name.actor_ref == name.actor_ref:
            found = f"the intent that it names is {name.actor_ref}'s own"
            self.checks["5.1"].violated(found, SAYS["5.1"], (name, intent.name))

    # Check 7.

    def _left_out(self) -> None:
        excluded = self.checks["7.1"]
        for seq, name in self.accounts.gone.values():
            if not name.action_ref.endswith(".intended"):
                continue
            excluded.looks_at(name)
            if self.substrate.is_purged(seq):
                excluded.purged += 1
            else:
                found = "its payload is gone, and no lawful purge destroyed it: it cannot be left out"
                excluded.violated(found, SAYS["7.1"], (name,))
        for intent in self.accounts.by_event.values():
            self.checks["7.2"].looks_at(intent.name)
        for name in self.accounts.strangers:
            self.checks["7.2"].remarks.append(f"record {name.seq}, {name.action_ref}, names no invocation")


def abandonments(closings: list[Closing]) -> list[Closing]:
    """The abandonments that no outcome supersedes."""
    corrected = frozenset[str]().union(*(c.supersedes for c in closings if c.sort == OUTCOME))
    return [c for c in closings if c.sort == ABANDONED and c.name.event_id not in corrected]

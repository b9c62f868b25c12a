"""Reconcile, the sweep: every aged intent is examined under its section, and closed by what the store says.

A run reads its clock once. It never runs an act again, never chooses among candidates, and writes no outcome
that it has not read from the store.
"""

from collections import Counter

from falsework.runtime.invocation.answers import Alert, JournalUnavailable, ReconcileAnswer, Tally
from falsework.runtime.invocation.closing import Part, Sweep
from falsework.runtime.invocation.findings import ActFinding, Condition, InstanceFinding, Sighting
from falsework.runtime.invocation.log import instant
from falsework.runtime.invocation.parties import Parties
from falsework.runtime.invocation.records import Intent
from falsework.runtime.invocation.section import Standing, section_key
from falsework.runtime.invocation.standing import duplicated, unsuperseded
from falsework.runtime.invocation.terms import at_risk_threshold, horizon_edge, in_flight
from falsework.runtime.trail import InvalidQuery, Unavailable

WARNED = 10
"""A person hears of an unresolved escalation in the last tenth, or so, of its retention."""


def reconcile(parties: Parties) -> ReconcileAnswer:
    """Every act that was owed an account has one, or is counted among those that the next run will see."""
    return _Run(parties).run()


class _Run:
    """One run: what it kept, what it counted, and what it saw."""

    def __init__(self, parties: Parties) -> None:
        self.parties = parties
        self.run_id = parties.ids()
        self.now = parties.seam.now()
        self.parts: Counter[Part] = Counter()
        self.unreached = 0
        self.owed: list[tuple[Intent, str]] = []
        self.sightings: list[Sighting] = []

    def run(self) -> ReconcileAnswer:
        """Enumerate, examine each, look for duplicates, surface."""
        unread = self.parties.indexes.for_a_run()
        if isinstance(unread, InvalidQuery):
            self.parties.alerts.alert(Alert("invalid-query", "", "", "", unread.detail))
        if unread is not None:
            outage = InstanceFinding(Condition.JOURNAL_UNAVAILABLE, None, unread.detail)
            self._surface([outage], whole=False)
            return JournalUnavailable(unread.detail)
        surfaced = self._surface_the_unbound()
        self._surface_rival_intents()
        for intent in self._kept():
            self._examine(intent)
        self._surface_what_is_at_risk()
        self._surface_rival_closings()
        self._tell_of_escalations()
        self._surface(self.sightings, whole=True)
        return self._tally(surfaced)

    def _surface(self, sightings: list[Sighting], *, whole: bool) -> None:
        """What was seen is on the register; where it is held instead, a person hears of that."""
        where = self.parties.register.surface(self.run_id, self.now, sightings, whole=whole)
        if where is not None:
            seen = ", ".join(sighting.finding.value for sighting in sightings) or "nothing"
            self.parties.alerts.alert(
                Alert("findings held", "", "", "", f"in {where}, seen by run {self.run_id}: {seen}")
            )

    def _tally(self, surfaced: int) -> Tally:
        count = self.parts
        tally = Tally(
            run_id=self.run_id,
            examined=count.total(),
            closed=count[Part.CLOSED],
            abandoned=count[Part.ABANDONED],
            escalated=count[Part.ESCALATED],
            reported=count[Part.REPORTED],
            skipped=count[Part.SKIPPED],
            closed_already=count[Part.CLOSED_ALREADY],
            surfaced=surfaced,
            unreached=self.unreached,
        )
        assert tally.accounted == tally.examined, f"{tally} does not add up"
        return tally

    # Step 1: what is kept.

    def _kept(self) -> list[Intent]:
        """The open intents between the two edges, the oldest first."""
        kept: list[Intent] = []
        for intent in self.parties.indexes.every_open_intent():
            kind = self.parties.deployment.kinds.get(intent.kind)
            if kind is None or in_flight(kind, self.parties.figures, intent.recorded_at, self.now):
                continue
            if self.now < horizon_edge(kind, self.parties.figures, intent.recorded_at):
                kept.append(intent)
        return kept

    def _surface_the_unbound(self) -> int:
        """An open intent of a kind that nothing here serves is told of, and never closed."""
        found = [
            intent
            for intent in self.parties.indexes.every_open_intent()
            if intent.kind not in self.parties.deployment.kinds
            and not self.parties.indexes.gone(intent, self.now)
        ]
        detail = "the deployment binds no such kind, so that nothing can close the intent"
        self._see(Condition.UNBOUND_KIND, found, detail)
        return len(found)

    # Steps 2 to 4: one act.

    def _examine(self, intent: Intent) -> None:
        """The act is in one part of the tally, or was not reached."""
        kind = self.parties.kind(intent.kind)
        identity = kind.service_identity
        if identity is not None and identity.actor in self.parties.refused_identities:
            self.unreached += 1
            self.owed.append((intent, f"the credential of {identity.actor} was refused"))
            return
        standing = Standing(section_key(intent.kind, intent.act_key), self.run_id)
        if not self.parties.section.take(standing, self.parties.figures.sweep_lease):
            self.parts[Part.REPORTED if kind.reports_only else Part.SKIPPED] += 1
            self.owed.append((intent, "the section was not to be had"))
            return
        sweep = Sweep(self.parties, kind, intent, standing, self.now)
        part = sweep.closed()
        if kind.reports_only:
            part = Part.REPORTED  # whatever became of it: a later run will not close it
        self.parties.section.release(standing)
        self.parts[part] += 1
        self.sightings += sweep.sightings
        if part is Part.SKIPPED:
            self.owed.append((intent, sweep.detail))

    # Step 5: what a person must see.

    def _surface_what_is_at_risk(self) -> None:
        """The window of an act that is still owed may not hold another cadence and two runs."""
        threshold = at_risk_threshold(self.parties.figures)
        for intent, why in self.owed:
            if threshold <= self.now - intent.recorded_at:
                self._see(Condition.CLOSURE_AT_RISK, [intent], why)

    def _surface_rival_intents(self) -> None:
        """Two intents open at once on one act, where a sweep of this instance would have closed the first."""
        for act in self.parties.indexes.take_rival_intents():
            kind = self.parties.deployment.kinds.get(act[0])
            rivals = self.parties.indexes.open_intents(act, self.now)
            if kind is not None and not kind.reports_only and len(rivals) > 1:
                names = ", ".join(rival.invocation_id for rival in rivals)
                self._see(Condition.BINDING_DUPLICATE, rivals[:1], f"open at once: {names}")

    def _surface_rival_closings(self) -> None:
        """Two closings on one invocation of which neither names the other; one of them is in the delta.

        The other may be older than the delta, so that all of the invocation's closings are counted.
        """
        found = self.parties.indexes.take_late_closings()
        if isinstance(found, Unavailable):
            self.sightings.append(InstanceFinding(Condition.JOURNAL_UNAVAILABLE, None, found.detail))
            return
        for invocation in found:
            if invocation.intents and duplicated(invocation.closings):
                names = ", ".join(closing.event_id for closing in unsuperseded(invocation.closings))
                self._see(Condition.BINDING_DUPLICATE, invocation.intents[:1], f"closings: {names}")

    def _tell_of_escalations(self) -> None:
        """A person hears of an escalation before its horizon, and when nobody can resolve it any more.

        It is a closing, so that no finding stands for it, and its records age as any others.
        """
        for intent in self.parties.indexes.every_escalated():
            kind = self.parties.deployment.kinds.get(intent.kind)
            if kind is None:
                continue
            edge = horizon_edge(kind, self.parties.figures, intent.recorded_at)
            names = (kind, intent.act_key, intent.invocation_id)
            if edge <= self.now:
                self.parties.indexes.drop_escalated(intent)
                self.parties.alert("escalation lapsed", *names, f"nobody resolved it by {instant(edge)}")
                continue
            near = edge - self.now <= kind.retention_period // WARNED
            if near and self.parties.indexes.warn_once(intent):
                self.parties.alert("escalation near its horizon", *names, f"resolve it by {instant(edge)}")

    def _see(self, condition: Condition, intents: list[Intent], detail: str) -> None:
        """A finding for each of the intents."""
        self.sightings += [
            ActFinding(condition, intent.kind, intent.act_key, intent.invocation_id, detail)
            for intent in intents
        ]

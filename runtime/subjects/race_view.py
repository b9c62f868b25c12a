"""What can be read off the race's world: the database, the writes on their way, each process's place.

What a process keeps in its memory is read there, in the locals of the functions in which it stands still.
"""

from collections.abc import Callable, Mapping, Sequence

from falsework.runtime import trail
from falsework.runtime.invocation import closing as closing_of_the_sweep
from falsework.runtime.invocation import reconcile, resolve
from falsework.runtime.invocation.figures import Figures, Kind
from falsework.runtime.invocation.journal import Write
from falsework.runtime.invocation.records import Closing, Intent, Noted, noted
from falsework.runtime.invocation.section import section_key
from falsework.runtime.subjects.race_parts import (
    CALLER,
    KIND,
    OPERATOR,
    OUTCOME,
    SWEEP,
    TICK,
    Message,
    Process,
)
from falsework.runtime.subjects.race_world import World

AUTHORS = {CALLER: "INVOCATION", SWEEP: "SWEEP", OPERATOR: "OPERATOR"}
KINDS = {
    "intended": "INTENT",
    OUTCOME: "OUTCOME",
    "recovery_intended": "OUTCOME",  # the plan, which says what is written behind it
    "refused": "REFUSED",
    "abandoned": "ABANDONED",
    "escalated": "ESCALATED",
}
ISSUED = {"reply": "ISSUED", "wait": "ISSUED"}
OPENING = {"read": "TAKEN", "remaining": "READ", "clock": "GATED", "record": "GATED"}
CLOSING = {"remaining": "DECIDED", "read": "GATED", "clock": "CONFIRMED", "record": "CONFIRMED"}
INVOCATION = {"its start": "IDLE", "take": "IDLE", "commit": "OPEN", "arm": "COMMITTING", **ISSUED}
OTHERS = {"take": "CALLED", "read": "TAKEN", "lookup": "TAKEN", "probe": "READ", "remaining": "DECIDED"}
WRITING = {"clock": "GATED", "record": "GATED", **ISSUED}


Rule = Callable[[Kind, Figures, int, int], bool]
Edge = Callable[[Kind, Figures, int], int]
ACCOUNTS = ("OUTCOME", "REFUSED")
OPENERS = ("INVOCATION", "ANOTHER")


def aged(kind: Kind, figures: Figures, recorded_at: int, now: int) -> bool:
    """Whether Resolve may abandon what is so old."""
    in_flight: Rule = vars(resolve)["in_flight"]  # as Resolve itself has it, bent or not
    return not in_flight(kind, figures, recorded_at, now)


def abandonable(kind: Kind, figures: Figures, recorded_at: int, now: int) -> bool:
    """Whether a run may abandon what is so old."""
    abandon_edge: Edge = vars(closing_of_the_sweep)["abandon_edge"]
    return now >= abandon_edge(kind, figures, recorded_at)


def place_of(process: Process) -> str:
    """How far the process is, as the model names it."""
    actor = process.actor
    if process.who == "INVOCATION":
        if actor is None:
            return "IDLE"
        if actor.ended or actor.dead:
            return "DONE"
        known = INVOCATION | (CLOSING if "arm" in actor.passed else OPENING)
        return known.get(actor.seam, actor.seam)
    if actor is None:
        return "IDLE"
    if actor.seam == "remaining" and process.who != "OPERATOR" and "probe" not in actor.passed:
        return "READ"
    return (OTHERS | WRITING).get(actor.seam, actor.seam)


def kind_of(action_ref: str) -> str:
    """The kind of record that an action ref is of."""
    return KINDS[action_ref.removeprefix(f"{KIND}.")]


class View:
    """The variables of the model, as far as they can be seen."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.found: list[Noted] = []

    def shown(self) -> Mapping[str, object]:
        """Each variable with its value as plain data."""
        world = self.world
        records = self.records()
        closings = [found for found in records if isinstance(found, Closing)]
        places = {closing.event_id: place for place, closing in enumerate(closings)}
        holder, left = self.held()
        processes = world.nodes
        let_in = "OPEN" if world.let_in else "IDLE"
        others = {"ANOTHER": let_in, "GHOST": "IDLE"}
        return {
            "at": {who: place_of(process) for who, process in processes.items()} | others,
            "holder": holder,
            "left": left,
            "lapsed": {who: self.lapsed(process) for who, process in processes.items()} | {"GHOST": 0},
            "commit": world.adopter.status(may_be_sent=place_of(processes["INVOCATION"]) != "DONE"),
            "commit_left": self.commit_left(),
            "in_flight": self.in_flight(places),
            "reply": {who: self.reply(process) for who, process in processes.items()} | {"GHOST": None},
            "unheard": {who: self.unheard(process) for who, process in processes.items()} | {"GHOST": 0},
            "decided": {who: self.decided(process) for who, process in processes.items()} | {"GHOST": None},
            "late": {who: self.late(process, records, closings) for who, process in processes.items()}
            | {"GHOST": False},
            "journal": [self.closing(closing, places) for closing in closings],
            "intent_age": self.intent_age(records, closings),
            "intent_hidden": 0,  # what the journal has returned is read by everybody, this view included
            "retries": self.retries(),
            "calls": 0 if world.number("OPERATOR_CALLS") < 0 else world.calls,
            "deaths": 0 if world.number("DEATHS") < 0 else world.deaths,
            "named": self.named(places),
        }

    # The database.

    def records(self) -> list[Noted]:
        """The records of this walk, in the journal's order: what is new is read, for none ever changes."""
        page = self.world.journal.read_range(self.world.last)
        assert isinstance(page, trail.Page), f"the journal of a walk can be read, and answered {page}"
        assert page.complete, "a walk writes no whole page"
        self.world.last = page.cursor
        kinds = self.world.deployment.kinds
        self.found += [found for record in page.records if (found := noted(record, kinds)) is not None]
        return self.found

    def held(self) -> tuple[str | None, int]:
        """Who holds the act's section, and for how long still."""
        world = self.world
        row = world.host.recorded(section_key(KIND, world.act_key))
        now = world.store.now()
        left = 0 if row is None else max(row.expires_at - now, 0) // TICK
        if row is None or not world.host.has_standing(row, row.holder, now):
            return None, left
        if row.holder in world.ghosts:
            return "GHOST", left
        return row.holder.split()[1], left  # a holder is named by walk, node and number

    def closing(self, closing: Closing, places: Mapping[str, int]) -> dict[str, object]:
        """A closing as the model has it; a journal that shows a record hides it no longer."""
        return {
            "author": AUTHORS[closing.actor_ref],
            "kind": closing.sort.name,
            "names": self.place(closing.supersedes, places),
            "hidden": 0,
        }

    def place(self, names: Sequence[str], places: Mapping[str, int]) -> object:
        """The place of the closing that is named; the names themselves where it is none of the act."""
        if not names:
            return None
        return places.get(names[0], names) if len(names) == 1 else names

    def intent_age(self, records: list[Noted], closings: list[Closing]) -> int | None:
        """How old the intent is, up to the age from which all clocks agree, which an account makes it."""
        number = self.world.number
        slowest = min(map(number, ("INVOCATION_SKEW", "SWEEP_SKEW", "OPERATOR_SKEW")))
        allowance = number("ALLOWANCE")
        oldest = number("COMPLETION_BOUND") + max(2 * allowance - number("JOURNAL_LAG") - slowest, allowance)
        for found in records:
            if isinstance(found, Intent):
                if any(closing.sort.name in ACCOUNTS for closing in closings):
                    return oldest
                return min((self.world.store.now() - found.recorded_at) // TICK, oldest)
        return None

    def is_accounted(self) -> bool:
        """Whether an outcome or a refusal is there."""
        return any(isinstance(found, Closing) and found.sort.name in ACCOUNTS for found in self.records())

    # The adopter's store, and what is on its way.

    def commit_left(self) -> int:
        """How long the store would still apply the act, if it is on its way."""
        adopter = self.world.adopter
        in_flight = adopter.status(may_be_sent=False) == "IN_FLIGHT"
        return adopter.left() // TICK if in_flight else 0

    def in_flight(self, places: Mapping[str, int]) -> dict[str, object]:
        """Each writer's write that the journal has neither landed nor refused."""
        found: dict[str, object] = {"GHOST": None}
        for who, process in self.world.nodes.items():
            message = process.message
            found[who] = None if message is None or message.answer else self.message(message, places)
        if self.world.orphan is not None:
            found["GHOST"] = self.message(self.world.orphan, places)
        return found

    def lapsed(self, process: Process) -> int:
        """How long a judge would still admit under a lease that has ended: the store, by its minted instant.

        The journal judges by the lease itself.
        """
        minted = process.terminus - self.world.deployment.figures.clock_offset_allowance
        over = process.terminus <= self.world.store.now()
        return max(minted - self.world.adopter.clock.now(), 0) // TICK if over else 0

    def message(self, message: Message, places: Mapping[str, int]) -> dict[str, object]:
        """A write on its way as the model has it."""
        world = self.world
        names = message.data.get("supersedes")
        return {
            "author": AUTHORS[message.actor_ref],
            "kind": kind_of(message.action_ref),
            "names": self.place((names,) if isinstance(names, str) else (), places),
            "until": world.left(message) // TICK,
            "due": self.due(message),
        }

    # The processes.

    def reply(self, process: Process) -> str | None:
        """What a writer that waits can find out."""
        message = process.message
        if message is None or message.answer is None or place_of(process) != "ISSUED":
            return None
        return "LANDED" if isinstance(message.answer, trail.Recorded) else "NOT_LANDED"

    def unheard(self, process: Process) -> int:
        """How long a writer whose reply is lost still waits before it reads back."""
        if process.message is None or process.replies or place_of(process) != "ISSUED":
            return 0
        return self.due(process.message)

    def due(self, message: Message) -> int:
        """What is left of the write's bound."""
        end = message.issued_at + self.world.deployment.figures.journal_write_bound
        return max(end - self.world.store.now(), 0) // TICK

    def decided(self, process: Process) -> str | None:
        """The closing that the process is to write, as it remembers it, or as it was called with."""
        if process.actor is None or process.who == "ANOTHER":
            return None
        if process.who == "OPERATOR":
            return process.disposition
        write = process.actor.remembers("write", Write)
        if write is None or kind_of(write.action_ref) == "INTENT":
            return None
        return kind_of(write.action_ref)

    def late(self, process: Process, records: list[Noted], closings: list[Closing]) -> bool:
        """What its reading of the clock says of the intent's age, by the runtime's rule, until it decides.

        Nobody asks for the age of an act that has an account, nor does a run that will read a closing.
        """
        place = place_of(process)
        if process.actor is None or place not in ("CALLED", "TAKEN", "READ") or process.who in OPENERS:
            return False
        if process.who == "OPERATOR":
            now = process.actor.remembers("now", int)
            return process.accounted or self.is_past(now, records, aged)
        if closings and place != "READ":
            return False
        run = process.actor.remembers("self", reconcile._Run)
        return self.is_past(None if run is None else run.now, records, abandonable)

    def is_past(self, now: int | None, records: list[Noted], rule: Rule) -> bool:
        """Whether the rule lets a writer with that reading go on."""
        deployment = self.world.deployment
        return now is not None and any(
            rule(deployment.kinds[KIND], deployment.figures, found.recorded_at, now)
            for found in records
            if isinstance(found, Intent)
        )

    def retries(self) -> int:
        """How often Close has tried in vain."""
        actor = self.world.nodes["INVOCATION"].actor
        attempts = actor.remembers("attempts", int) if actor is not None else None
        return min(attempts or 0, max(self.world.number("RETRIES"), 1))

    def named(self, places: Mapping[str, int]) -> object:
        """The closing that the operator is to supersede."""
        actor = self.world.nodes["OPERATOR"].actor
        write = actor.remembers("write", Write) if actor is not None else None
        names = None if write is None else write.data.get("supersedes")
        return self.place((names,) if isinstance(names, str) else (), places)

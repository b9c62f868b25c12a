"""Read Invocation on the real runtime: an act of several invocations, driven along `records_reading`.

What is read is the runtime's; the intents and closings are written as other nodes of the instance would.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from falsework.runtime import trail
from falsework.runtime.invocation.answers import Entry, NotKnown, Report
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.records import Names, closing_payload, identified, superseding
from falsework.runtime.subjects.recoverable_invocation.place import POSTGRES, SERVER, credential_of
from falsework.runtime.subjects.recoverable_invocation.world import (
    CALLER,
    FIGURES,
    KEY,
    KIND,
    LEDGER,
    SERVICE,
    World,
    deployment,
)

INTENDED, ESCALATED = LEDGER.ref("intended"), LEDGER.ref("escalated")


class ReadingSubject(World):
    """A node that reads what others have written."""

    model: ClassVar[str] = "falsework.models.recoverable_invocation.records_reading:Reading"

    def __init__(self) -> None:
        super().__init__()
        self.cap = self.most_invocations = self.most_closings = 0
        self.steps = {
            "open_act": self.open_act,
            "close": self.close_another,
            "read": self.read,
            "read_one": self.read_one,
        }

    # What a driver calls.

    def begin(self, constants: Mapping[str, object]) -> None:
        """The journal is empty, and a read returns as many as the cap."""
        figures = {name: value for name, value in constants.items() if isinstance(value, int)}
        self.cap = figures["CAP"]
        self.most_invocations, self.most_closings = figures["INVOCATIONS"], figures["CLOSINGS"]

        def declared() -> Deployment:
            return deployment(replace(FIGURES, read_cap=self.cap), LEDGER)

        self.begin_with(self.cap, declared)

    def observe(self) -> Mapping[str, object]:
        """What the journal holds."""
        numbers, places = range(self.most_invocations), range(self.most_closings)
        closings = [self.closings_of(number) for number in numbers]
        return {
            "opened": len(self.intents()),
            "closings": [len(found) for found in closings],
            "names": {
                (number, place): corrects(closings[number], place) for number in numbers for place in places
            },
        }

    def intents(self) -> list[trail.Record]:
        """The intents, in the journal's order."""
        return [record for record in self.records() if record.action_ref == INTENDED]

    def closings_of(self, number: int) -> list[trail.Record]:
        """The invocation's closings, in the journal's order."""
        return [
            record
            for record in self.records()
            if record.action_ref == ESCALATED
            and record.data
            and record.data["invocation_id"] == named(number)
        ]

    # The journal.

    def open_act(self) -> None:
        """Another node's intent lands."""
        number = len(self.intents())
        data = identified({"nonce": number + 1}, LEDGER, KEY, named(number))
        self.writes(INTENDED, CALLER, data)

    def close_another(self, invocation: int, corrects: bool) -> None:
        """Another node's closing lands, which names the one before it or nothing."""
        intent = self.intents()[invocation]
        before = self.closings_of(invocation)
        names = Names(KEY, named(invocation), intent.event_id)
        said = superseding((before[-1].event_id,)) if corrects else {}
        self.writes(ESCALATED, SERVICE, closing_payload({"cause": "undecidable", **said}, LEDGER, names))

    def writes(self, action_ref: str, actor: str, data: trail.Data) -> None:
        """The record has landed."""
        answer = self.audit.record_action(action_ref, actor, credential_of(actor), data)
        assert isinstance(answer, trail.Recorded), answer

    # The reader.

    def read(self) -> Mapping[str, object] | None:
        """The act's report."""
        answer = self.node.read_invocation(KIND, KEY)
        if isinstance(answer, NotKnown):
            return None
        assert isinstance(answer, Report), answer
        numbers = [numbered(entry.invocation_id) for entry in answer.invocations]
        return {"entries": len(numbers), "oldest": min(numbers, default=0), "more": answer.more}

    def read_one(self, invocation: int) -> Mapping[str, object]:
        """The report of one invocation, by its id."""
        answer = self.node.read_invocation(KIND, KEY, named(invocation))
        if isinstance(answer, NotKnown):
            return {"known": False, "intent": False, "listed": 0, "standing": False, "more": False}
        assert isinstance(answer, Report), answer
        (entry,) = answer.invocations
        return self.told(entry, self.closings_of(invocation))

    def told(self, entry: Entry, closings: Sequence[trail.Record]) -> Mapping[str, object]:
        """What the entry returns of the invocation, whose closings the journal has in that order."""
        returned = {record.event_id for record in entry.records}
        latest = closings[max(len(closings) - self.cap, 0) :]
        unnamed = [place for place in range(len(closings)) if not corrects(closings, place + 1)]
        return {
            "known": True,
            "intent": any(record.action_ref == INTENDED for record in entry.records),
            "listed": sum(record.event_id in returned for record in latest),
            "standing": bool(unnamed) and closings[unnamed[0]].event_id in returned,
            "more": entry.more,
        }


def named(number: int) -> str:
    """The invocation's id."""
    return f"invocation {number}"


def numbered(invocation_id: str) -> int:
    """The number of the invocation with that id."""
    return int(invocation_id.removeprefix("invocation "))


def corrects(closings: Sequence[trail.Record], place: int) -> bool:
    """Whether the closing at that place names another."""
    if place >= len(closings):
        return False
    data = closings[place].data
    return data is not None and "supersedes" in data


class ReadingOnPostgres(ReadingSubject):
    """The same on a PostgreSQL server."""

    surface: ClassVar[str] = POSTGRES
    needs: ClassVar[tuple[str, ...]] = (SERVER,)

"""What processes are killed at: each scenario leads up to one order, killed at any boundary it passes."""

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

import falsework.runtime
from falsework.runtime.trail.checkpoint import FileWitness
from falsework.runtime.trail.verify import verify
from reliability import deeds
from reliability.account import History, complaints
from reliability.nursery import Nursery, Order
from reliability.orders import GATED
from reliability.workplace import BARE, FENCED, Workplace

AGED = 45
"""Seconds after which an act of 30 s is past every edge, its allowances included."""


def named_boundaries() -> set[str]:
    """Every boundary that a module of the runtime says it passes, and those of an act."""
    found: set[str] = {*deeds.BOUNDARIES, GATED}
    for module in pkgutil.walk_packages(falsework.runtime.__path__, "falsework.runtime."):
        found |= set(getattr(importlib.import_module(module.name), "BOUNDARIES", ()))
    return found


class Shop:
    """One place at work: acts are numbered, and each process has a name of its own."""

    def __init__(self, place: Workplace, nursery: Nursery) -> None:
        self.place, self.nursery = place, nursery
        self.number = 0
        self.killed: dict[str, str] = {}  # by the process's name, which its ids begin with

    def cause(self, sentence: str) -> str:
        """Where the process was killed whose invocation the sentence begins with."""
        return self.killed.get(sentence.partition(".")[0], "its process was not killed")

    def named(self, verb: str, **more: Any) -> dict[str, Any]:
        """An order to a process with a fresh name."""
        self.number += 1
        return self.place.ordered(verb, name=f"p{self.number}", **more)

    def act(self, kind: str = FENCED, **more: Any) -> dict[str, Any]:
        """An order for a fresh act."""
        nonce = self.number + 1
        return self.named("act", kind=kind, key=f"k{nonce}", nonce=nonce, **more)

    def orphan(self, kind: str, *, executed: bool) -> Order:
        """An act whose process died before or after executing it, long enough ago; its order."""
        order = self.act(kind, happens=[["killed", deeds.APPLIED if executed else deeds.SENT, 1]])
        assert self.nursery.run(order).signal == 9
        self.place.passes(AGED)
        return order

    def escalated(self, *, executed: bool) -> Order:
        """The order to resolve an act that the sweep had to leave to a person."""
        act = self.orphan(BARE, executed=False)
        assert self.nursery.run(self.named("sweep")).said["code"]["tally"]["escalated"] == 1
        if executed:  # without a fence the act may land after all: that is why it was escalated
            self.place.deeds().execute(act["nonce"], None)
        (intent,) = (line for line in self.place.lines() if line.data.get("nonce") == act["nonce"])
        return self.resolves(act, intent.invocation, intent.event_id)

    def resolves(self, act: Order, invocation: str, intent: str) -> dict[str, Any]:
        """An operator's order for an act."""
        known = {name: act[name] for name in ("kind", "key", "nonce")}
        return self.named("resolve", invocation=invocation, intent=intent, **known)

    def recovers(self) -> list[str]:
        """Time passes, two runs of the sweep see to what is owed, and the account is made."""
        for _ in range(2):
            self.place.passes(AGED)
            ending = self.nursery.run(self.named("sweep"))
            assert isinstance(ending.said, dict), ending
        return self.complaints()

    def complaints(self) -> list[str]:
        """What the judge has against the place."""
        history = History(self.place.lines(), self.place.deeds().executed(), fenced=self.place.journal_fence)
        return complaints(history)


Leads = Callable[[Shop], Order]


def _after_a_dead_holder(shop: Shop) -> Order:
    """The section is held by one who died having it, and is waited for."""
    dead = shop.act(happens=[["killed", "lease.take.durable", 1]])
    assert shop.nursery.run(dead).signal == 9
    return shop.act() | {"key": dead["key"]}


def _with_a_lost_reply(shop: Shop) -> Order:
    """The outcome's reply is lost, and looked for behind the writers."""
    return shop.act(happens=[["reply lost", "trail.record.durable", 2]])


def _sweeping(kind: str, *, executed: bool) -> Leads:
    def lead(shop: Shop) -> Order:
        shop.orphan(kind, executed=executed)
        return shop.named("sweep")

    return lead


LEADS: dict[str, Leads] = {
    "an act": lambda shop: shop.act(),
    "an act without a fence": lambda shop: shop.act(BARE),
    "a refused act": lambda shop: shop.act(arm="refused"),
    "an act of which nobody knows": lambda shop: shop.act(arm="unknown"),
    "an act after a dead holder": _after_a_dead_holder,
    "an act whose reply is lost": _with_a_lost_reply,
    "a sweep that records an outcome": _sweeping(FENCED, executed=True),
    "a sweep that abandons": _sweeping(FENCED, executed=False),
    "a sweep that escalates": _sweeping(BARE, executed=False),
    "an operator who records an outcome": lambda shop: shop.escalated(executed=True),
    "an operator who abandons": lambda shop: shop.escalated(executed=False),
}
"""What leads up to an order of an instance; the place may be used again and again."""

STEWARDLY = ("found", "keep house")
"""Orders of a steward; a trail is founded once in its place."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where places are made, and on which kind of store."""

    folder: Path
    server: str

    @contextmanager
    def fresh(self, *, journal_fence: bool = True, founded: bool = True) -> Iterator[Workplace]:
        """A place of its own, gone with the block."""
        number = len(list(self.folder.iterdir()))
        folder = self.folder / f"place{number}"
        folder.mkdir()
        schema = f"reliability_{self.folder.name.replace('-', '_').lower()}_{number}" if self.server else ""
        place = Workplace(str(folder), self.server, schema, journal_fence)
        try:
            if founded:
                place.found()
            else:
                place.clock.move_to(1_000)
                place.deeds_path.touch()
            yield place
        finally:
            if self.server:
                with psycopg.connect(self.server, autocommit=True) as raw:
                    raw.execute(f"DROP SCHEMA IF EXISTS {schema} CASCADE".encode())


def passed(places: Places, nursery: Nursery, name: str) -> list[str]:
    """The boundaries that the scenario's order passes where nothing befalls it, in their order."""
    with places.fresh(founded=name != "found") as place:
        shop = Shop(place, nursery)
        ending = nursery.run(_order(shop, name))
        assert isinstance(ending.said, dict), ending
        if name not in STEWARDLY:
            found = shop.recovers()
            assert not found, (name, found)
        return list(ending.said["passed"])


def _order(shop: Shop, name: str) -> dict[str, Any]:
    """The order that the scenario leads up to."""
    return shop.named(name) if name in STEWARDLY else dict(LEADS[name](shop))


def account_of_kills(places: Places, nursery: Nursery, name: str, kills: list[tuple[str, int]]) -> list[str]:
    """What the accounts have to say after a kill at so many passings of each boundary."""
    each = 1 if name == "found" else 50  # a trail is founded once in its place
    found: list[str] = []
    for first in range(0, len(kills), each):
        with places.fresh(founded=name != "found") as place:
            shop = Shop(place, nursery)
            for boundary, number in kills[first : first + each]:
                found += _killed(shop, name, boundary, number)
            found += _rounded_off(shop, name)
    return found


def _killed(shop: Shop, name: str, boundary: str, number: int) -> list[str]:
    """What is wrong after one kill; an act's own, or a steward's, is looked for after the last one."""
    order = _order(shop, name)
    order["happens"] = [*order.get("happens", []), ["killed", boundary, number]]
    ending = shop.nursery.run(order)
    where = f"{name}, killed at {boundary} ({number})"
    if ending.signal != 9:
        return [f"{where}: was not passed so often: {ending}"]
    shop.killed[order["name"]] = where
    found = shop.recovers() if order["verb"] in ("sweep", "resolve") else []
    if order["verb"] == "resolve":
        again = shop.nursery.run(_without_faults(order, shop)).said["code"]
        if again.partition("(")[0] not in ("resolved", "accounted", "already-accounted"):
            found.append(f"the operator's next try says {again}")
        found += shop.complaints()
    return [f"{where}: {sentence}" for sentence in found]


def _rounded_off(shop: Shop, name: str) -> list[str]:
    """Whoever was killed, the next ones finish the work, and the account and the journal are whole."""
    found: list[str] = []
    if name in STEWARDLY:
        again = shop.nursery.run(shop.named(name))
        if not isinstance(again.said, dict):
            found.append(f"{name}: cannot be done again: {again}")
    else:
        found += (f"{sentence} [{shop.cause(sentence)}]" for sentence in shop.recovers())
    witness = FileWitness(Path(shop.place.folder) / "witness")
    with shop.place.store() as store:
        verdict = verify(store, witness.held())
    return found if verdict.is_clean else [*found, f"{name}: {verdict}"]


def _without_faults(order: Order, shop: Shop) -> Order:
    """The same order once more, to another process."""
    return {**order, "happens": [], "name": shop.named("")["name"]}

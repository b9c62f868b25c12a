"""What a process of a test does: one order, with what befalls it at a named boundary.

An order says at which passing of which boundary the process kills itself, stops itself, or loses a reply.
"""

import os
import signal
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from falsework.runtime import trail
from falsework.runtime.invocation.answers import (
    Abandon,
    Closed,
    Escalate,
    InvalidRequest,
    Outcome,
    Resolved,
    ResolveRefusal,
)
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.use import ActRefused, ConstituentRefused, NotOpened, Unrecorded
from falsework.runtime.lease import Judge
from falsework.runtime.store import StoreUnknown
from falsework.runtime.trail.checkpoint import FileWitness, Notary
from falsework.runtime.trail.identity import fingerprint, fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail, TrailError
from falsework.runtime.trail.steward import Steward, found
from reliability.account import CLOSED, RETRY
from reliability.deeds import outcome
from reliability.nursery import Order
from reliability.workplace import CREDENTIALS, REFUSED, SECOND, Workplace, node

GATED = "write.gated"
"""Passed before each write of the journal, after the writer's own gate."""


class Fuse:
    """Called at each boundary: counts its passings, and does what the order says at one of them."""

    def __init__(self, order: Order) -> None:
        self.passed: list[str] = []
        self._counts: Counter[str] = Counter()
        self._happens = {(place, number): what for what, place, number in order.get("happens", [])}

    def __call__(self, boundary: str) -> None:
        self._counts[boundary] += 1
        self.passed.append(boundary)
        match self._happens.get((boundary, self._counts[boundary])):
            case "killed":
                os.kill(os.getpid(), signal.SIGKILL)
            case "stopped":
                os.kill(os.getpid(), signal.SIGSTOP)
            case "reply lost":
                raise StoreUnknown(f"{boundary}: the line went dead")


class Gated:
    """The trail, with a place between a writer's gate and its write."""

    def __init__(self, inner: trail.Trail, fuse: Fuse) -> None:
        self._inner, self._fuse = inner, fuse
        self.caps, self.read_record, self.read_range = inner.caps, inner.read_record, inner.read_range
        self.measure, self.now = inner.measure, inner.now

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        self._fuse(GATED)
        return self._inner.record_action(action_ref, actor_ref, credential, data, fence=fence)


def work(order: Order) -> dict[str, Any]:
    """The order is done: what came of it, and every boundary that was passed."""
    place = Workplace(**order["place"])
    fuse = FUSES["seed" in order](order, place)
    if order["verb"] in STEWARDLY:
        return {"code": STEWARDLY[order["verb"]](order, place, fuse), "passed": fuse.passed}
    with place.store(fuse) as store:
        instance = node(place, store, order["name"], fuse, lambda inner: Gated(inner, fuse))
        code = ACTING[order["verb"]](order, place, instance, fuse)
    return {"code": code, "passed": fuse.passed}


# What an instance does.


def act(order: Order, place: Workplace, instance: Instance, fuse: Fuse) -> str:
    """One act of a caller, of which the order says what the constituent makes of it."""
    nonce, kind, actor = order["nonce"], order["kind"], order.get("actor", "dana")
    deeds = place.deeds(fuse)

    def does(deadline: int | None) -> Outcome:
        match order.get("arm", "executed"):
            case "refused":
                raise ConstituentRefused(REFUSED, "there is no money")
            case "unknown":
                raise ConnectionError("the line went dead before the request was out")
        deeds.execute(nonce, deadline, judged=order.get("judged", True))
        return outcome(kind, nonce)

    try:
        invocation = instance.invocation(kind, order["key"], actor, CREDENTIALS[actor], {"nonce": nonce})
        with invocation as opened:
            deadline = opened.deadline
            answer = opened.commit(lambda: does(deadline))
    except (NotOpened, ActRefused, Unrecorded) as problem:
        return RETRY if problem.may_retry else problem.code
    assert isinstance(answer, Closed)
    return CLOSED


def sweep(_: Order, __: Workplace, instance: Instance, ___: Fuse) -> dict[str, Any]:
    """One run: its tally, and what the register holds after it."""
    answer = instance.reconcile()
    findings = [[found.finding.value, found.invocation_id] for found in instance.findings()]
    tally = (
        {} if not hasattr(answer, "examined") else {name: getattr(answer, name) for name in answer.__slots__}
    )
    return {"tally": tally, "findings": findings}


def resolve(order: Order, place: Workplace, instance: Instance, _: Fuse) -> str:
    """An operator looks at the deeds, and closes what the sweep could not."""
    executed = any(deed.nonce == order["nonce"] for deed in place.deeds().executed())
    disposition: Outcome | Abandon | Escalate = Abandon("the store was quiet for long enough")
    if order.get("again"):
        disposition = Escalate(("r-1",))
    elif executed:
        disposition = outcome(order["kind"], order["nonce"])
    answer = instance.resolve(
        order["kind"],
        order["key"],
        order["invocation"],
        order["intent"],
        "olga",
        CREDENTIALS["olga"],
        disposition,
    )
    if isinstance(answer, InvalidRequest) and answer.cause is ResolveRefusal.ALREADY_ABANDONED:
        return "accounted"
    return "resolved" if isinstance(answer, Resolved) else answer.code


# What a steward does.


def founds(_: Order, place: Workplace, fuse: Fuse) -> str:
    """The trail is founded, if it had not been."""
    with place.store(fuse) as store, suppress(TrailError):
        found(store, "steward", CREDENTIALS["steward"])
    return "founded"


def keeps_house(order: Order, place: Workplace, fuse: Fuse) -> str:
    """Keys come and go, what was not placed is placed, what is due is destroyed, a witness holds the rest."""
    prefix = f"{order['name']}."
    with place.store(fuse) as store:
        journal = AuditTrail(store, failpoint=fuse)
        steward = Steward(journal, "steward", CREDENTIALS["steward"])
        key = public_key_of(fresh_credential())
        steward.register(f"{prefix}spare", key)
        steward.revoke(fingerprint(key))
        journal.record_action(f"{prefix}noted", "steward", CREDENTIALS["steward"], {"n": 1})
        steward.declare_retention(prefix, SECOND)
        steward.place_late()
        place.passes(2)
        steward.purge()
        witness = FileWitness(Path(place.folder) / "witness")
        Notary(journal, CREDENTIALS["steward"], witness, fuse).checkpoint()
        Judge(store, place.clock).admit("k", "a", place.clock.now() + 1)
    return "kept"


FUSES: dict[bool, Callable[[Order, Workplace], Fuse]] = {False: lambda order, _: Fuse(order)}
"""What befalls the process of an order; one that has a seed brings its own."""

ACTING: dict[str, Callable[[Order, Workplace, Instance, Fuse], object]] = {
    "act": act,
    "sweep": sweep,
    "resolve": resolve,
}
STEWARDLY: dict[str, Callable[[Order, Workplace, Fuse], object]] = {
    "found": founds,
    "keep house": keeps_house,
}

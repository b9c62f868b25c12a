"""Processes stopped past their lease, at each place where one may believe that it still has it.

Each pause leaves one act behind: whoever is stopped is passed by another, and then goes on.
"""

from collections.abc import Callable
from typing import Any

from reliability import deeds
from reliability.nursery import Order
from reliability.orders import GATED
from reliability.scenarios import AGED, Shop
from reliability.workplace import FENCED

SWEEP_AGED = 25
"""Seconds after which a run's or an operator's lease of 22 s is over."""

Pause = Callable[[Shop], Any]


def _passed_by(shop: Shop, order: Order, seconds: int, other: Order) -> Any:
    """What the stopped one says, after the other has had the section."""
    stopped = shop.nursery.run(order)
    assert stopped.stopped, stopped
    shop.place.passes(seconds)
    between = shop.nursery.run(other)
    assert isinstance(between.said, dict), between
    woken = shop.nursery.wake(stopped.pid)
    assert isinstance(woken.said, dict), woken
    return woken.said["code"]


def before_its_outcome(shop: Shop) -> Any:
    """The act has happened and the gate to its outcome is passed; the sweep closes it meanwhile."""
    return _passed_by(shop, shop.act(happens=[["stopped", GATED, 2]]), AGED, shop.named("sweep"))


def before_the_act(shop: Shop) -> Any:
    """The deadline is minted and nothing is sent; the sweep finds nothing and abandons it meanwhile."""
    return _passed_by(shop, shop.act(happens=[["stopped", deeds.SENT, 1]]), AGED, shop.named("sweep"))


def before_its_intent(shop: Shop) -> Any:
    """The gate to the intent is passed; another invocation of the same act has its whole life meanwhile."""
    order = shop.act(happens=[["stopped", GATED, 1]])
    return _passed_by(shop, order, AGED, shop.act() | {"key": order["key"]})


def in_a_sweep(shop: Shop) -> Any:
    """The run has probed and passed its last gate; another run closes the act meanwhile."""
    shop.orphan(FENCED, executed=True)
    order = shop.named("sweep", happens=[["stopped", GATED, 2]])
    return _passed_by(shop, order, SWEEP_AGED, shop.named("sweep"))


def at_the_operators(shop: Shop) -> Any:
    """The operator has passed the gate; another operator resolves the act meanwhile."""
    order = shop.escalated(executed=True)
    other = {**order, "name": shop.named("")["name"]}
    return _passed_by(shop, {**order, "happens": [["stopped", GATED, 1]]}, SWEEP_AGED, other)


PAUSES: dict[str, Pause] = {
    "before its outcome": before_its_outcome,
    "before the act": before_the_act,
    "before its intent": before_its_intent,
    "in a sweep": in_a_sweep,
    "at the operator's": at_the_operators,
}

DOUBLING = ("before its outcome", "in a sweep", "at the operator's")
"""Where a pause without the journal's fence ends in two closings."""

"""Many acts by many processes, with faults as a seed throws them: kills, stops, lost replies, refusals.

In each round some workers and two sweeping nodes are at work at once. Whoever is killed is replaced in the
next round, whoever is stopped is woken after its lease. What each tried and was told stands in a diary.
"""

import json
import os
import random
import signal
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from falsework.runtime.invocation.answers import Misuse, Outcome
from falsework.runtime.invocation.instance import Instance
from falsework.runtime.invocation.use import ActRefused, ConstituentRefused, InvocationFailed
from falsework.runtime.store import StoreUnknown
from reliability.account import CLOSED, RETRY, History, complaints
from reliability.deeds import outcome
from reliability.nursery import Nursery, Order
from reliability.orders import ACTING, Fuse
from reliability.scenarios import AGED, Shop
from reliability.workplace import BARE, CREDENTIALS, FENCED, REFUSED, Workplace

WORKERS, ACTS_OF_A_TURN = 3, 60
KILL, STOP, LOSE = 1 / 2_000, 1 / 6_000, 1 / 800
"""How often at each passing of a boundary; an act passes some thirty."""


class Diary:
    """What workers tried and were told, and what befell them: whole lines, appended."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def write(self, *entry: object) -> None:
        os.write(self._file, (json.dumps(entry) + "\n").encode())


class Dice(Fuse):
    """Throws at each boundary, and writes down what it does before it does it."""

    def __init__(self, order: Order, diary: Diary) -> None:
        super().__init__({})
        self.rng = random.Random(order["seed"])  # noqa: S311  chance that can be had again, and no secret
        self.rarer = order["rarer"]
        self._diary = diary

    def __call__(self, boundary: str) -> None:
        thrown = self.rng.random() * self.rarer
        if thrown < KILL:
            self._diary.write("fault", "killed")
            os.kill(os.getpid(), signal.SIGKILL)
        elif thrown < KILL + STOP and not boundary.endswith((".begun", ".written", ".looked", ".placed")):
            self._diary.write("fault", "stopped")  # never with the store's lock, which nobody could take then
            os.kill(os.getpid(), signal.SIGSTOP)
        elif thrown < KILL + STOP + LOSE and boundary.endswith((".written", ".durable")):
            self._diary.write("fault", "reply lost")
            raise StoreUnknown(f"{boundary}: the line went dead")


def diary_of(place: Workplace) -> Path:
    return Path(place.folder) / "diary"


def work(order: Order, place: Workplace, instance: Instance, fuse: Fuse) -> int:
    """As many acts as the order says, one after the other; every one is in the diary before it begins."""
    assert isinstance(fuse, Dice)
    diary, rng = Diary(diary_of(place)), fuse.rng
    deeds = place.deeds(fuse)

    def does(kind: str, nonce: int, deadline: int | None, arm: float) -> Outcome:
        if arm < 0.03:
            raise ConstituentRefused(REFUSED, "there is no money")
        deeds.execute(nonce, deadline)
        if arm < 0.08:
            raise TimeoutError("the reply of the act was lost")
        return outcome(kind, nonce)

    for number in range(order["acts"]):
        nonce, kind = order["first"] + number, rng.choice((FENCED, FENCED, BARE))
        key = f"hot{rng.randrange(3)}" if rng.random() < 0.05 else f"k{nonce}"
        diary.write("try", nonce)
        act = instance.invocation(kind, key, "dana", CREDENTIALS["dana"], {"nonce": nonce})
        try:
            with act:
                deadline, arm = act.deadline, rng.random()
                act.commit(lambda n=nonce, k=kind, d=deadline, a=arm: does(k, n, d, a))  # type: ignore[misc]
            told = CLOSED
        except ActRefused as refused:
            told = refused.code
        except InvocationFailed as problem:
            told = RETRY if problem.may_retry else problem.code
        except Misuse:
            told = "its section was over before the act"
        diary.write("told", nonce, told)
    return int(order["acts"])


ACTING["work"] = work


@dataclass(slots=True)
class Figures:
    """What a soak came to."""

    tried: int = 0
    opened: int = 0
    executed: int = 0
    rounds: int = 0
    faults: Counter[str] = field(default_factory=Counter)
    states: Counter[str] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)

    def add(self, other: "Figures") -> None:
        """The other's acts are counted here too."""
        self.tried += other.tried
        self.opened += other.opened
        self.executed += other.executed
        self.rounds += other.rounds
        self.faults += other.faults
        self.states += other.states
        self.complaints += other.complaints


def soaked(
    place: Workplace,
    nursery: Nursery,
    acts: int,
    seed: int,
    turn: int = ACTS_OF_A_TURN,
    rarer: int = 1,
) -> Figures:
    """At least so many acts were tried at the place, and the account is made of every one.

    Faults may be so many times rarer: then processes live as long as their turns are.
    """
    shop, rng = Shop(place, nursery), random.Random(seed)  # noqa: S311  as above
    tried = rounds = 0
    while tried < acts:
        rounds += 1
        orders = [_turn(shop, rng, worker, turn, rarer) for worker in range(WORKERS)]
        orders += [shop.named("sweep", seed=rng.random(), rarer=rarer) for _ in range(2)]
        _at_once(shop, orders)
        place.passes(AGED)
        tried = sum(entry[0] == "try" for entry in entries(place))
    found = shop.recovers()
    return figures(place, rounds, found)


def _turn(shop: Shop, rng: random.Random, worker: int, turn: int, rarer: int) -> Order:
    """A worker's order: its acts have numbers that nobody else's have."""
    order = shop.named("work", acts=turn, seed=rng.random(), rarer=rarer)
    return {**order, "first": (shop.number * WORKERS + worker) * turn}


def _at_once(shop: Shop, orders: list[Order]) -> None:
    """All are at work together; who was stopped is woken when its lease is over, and may be stopped again."""
    working = [shop.nursery.start(order) for order in orders]
    endings = [shop.nursery.wait(pid) for pid in working]
    while stopped := [ending.pid for ending in endings if ending.stopped]:
        shop.place.passes(AGED)
        endings = [shop.nursery.wake(pid) for pid in stopped]


def entries(place: Workplace) -> list[list[Any]]:
    """The diary, entry by entry."""
    path = diary_of(place)
    return [json.loads(line) for line in path.read_text("ascii").splitlines()] if path.exists() else []


def figures(place: Workplace, rounds: int, found: list[str]) -> Figures:
    """The account of the place: each act that was tried was never opened, or has one closing."""
    kept, lines, deeds = entries(place), place.lines(), place.deeds().executed()
    told = {nonce: code for what, nonce, *rest in kept for code in rest if what == "told"}
    history = History(lines, deeds, told)
    intents = {line.invocation: line.data["nonce"] for line in lines if line.word == "intended"}
    named = {name for line in lines for name in line.names}
    standing = [
        line
        for line in lines
        if line.word not in ("intended", "recovery_intended") and line.event_id not in named
    ]
    tried = {nonce for what, nonce, *_ in kept if what == "try"}
    states = Counter(f"{line.word}{_by(line.data)}" for line in standing)
    states["never opened"] = len(tried - set(intents.values()))
    sentences = [*found, *complaints(history)]
    if states.total() != len(tried):
        sentences.append(f"{len(tried)} acts were tried, and {states.total()} are accounted for: {states}")
    faults = Counter(str(entry[1]) for entry in kept if entry[0] == "fault")
    return Figures(len(tried), len(intents), len(deeds), rounds, faults, states, sentences)


def _by(data: Mapping[str, Any]) -> str:
    return " by the sweep" if data.get("recovery") is True else ""

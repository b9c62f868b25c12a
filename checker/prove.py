"""Questions to z3: an obligation's expressions as formulas, and the least values that make one true.

The one door of z3, which is imported when the first question is asked.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import Any

from falsework.errors import FalseworkError
from falsework.ir import Node
from falsework.prove_lower import OpenPool, Part
from falsework.source import deep

_NEAR = 16
"""A least total is looked for below this first, then ever further."""
_LATE = 0.01
"""Seconds within which a question that is given up was given up for its time."""


class NoProver(FalseworkError):
    """z3 cannot be imported here."""


class Unknown(Exception):
    """z3 gave no answer: in the time that it had, or at all."""


def load() -> Any:
    """The module of z3; raises NoProver where it is not installed."""
    try:
        import z3
    except ImportError:
        raise NoProver(
            "z3 is not installed, so nothing can be proved; write: pip install 'falsework[prove]'"
        ) from None
    return z3


class Questions:
    """What is asked of z3 over one pool, under conditions that are added as they become known."""

    def __init__(self, pool: OpenPool, seconds: float) -> None:
        self.z3 = load()
        self.pool = pool
        self.until = time.monotonic() + seconds
        self.solver = self.z3.Solver()
        self.slots = [self.z3.Int(f"{i}:{each.name}") for i, each in enumerate(pool.open)]
        self._numbers: dict[int, Any] = {}
        self._truths: dict[int, Any] = {}
        for number, slot in enumerate(self.slots):
            low, high = pool.ends(number)
            if low is not None:
                self.solver.add(slot >= low)
            if high is not None:
                self.solver.add(slot <= high)

    def add(self, condition: Node) -> None:
        """From here on the condition is true."""
        self.solver.add(self._truth(condition))

    @contextmanager
    def assuming(self, *conditions: Any) -> Iterator[None]:
        """Inside, these formulas are true as well."""
        self.solver.push()
        try:
            self.solver.add(*conditions)
            yield
        finally:
            self.solver.pop()

    def some(self, *conditions: Node) -> list[int] | None:
        """Values of all slots that make everything true, or None: there are none. Raises Unknown."""
        with deep(), self.assuming(*map(self._truth, conditions)):
            return self._some()

    def _some(self, *formulas: Any) -> list[int] | None:
        left = self.until - time.monotonic()
        if left <= 0:
            raise Unknown("the time was over")
        self.solver.set("timeout", max(int(left * 1000), 1))
        with self.assuming(*formulas):
            try:
                answer = self.solver.check()
            except self.z3.Z3Exception as problem:  # out of memory, or a theory that it does not know
                raise Unknown(str(problem)) from None
            if answer == self.z3.unsat:
                return None
            if answer != self.z3.sat:
                why = self.solver.reason_unknown()
                early = time.monotonic() < self.until - _LATE
                if early and ("cancel" in why or "interrupt" in why):  # z3 takes the signal for itself
                    raise KeyboardInterrupt
                raise Unknown("the time was over" if "cancel" in why or "timeout" in why else why)
            found = self.solver.model()
            return [found.eval(slot, model_completion=True).as_long() for slot in self.slots]

    def clashing(self, parts: Sequence[Part]) -> list[Part]:
        """A smallest part of these that cannot be true together, none of which can be left out."""
        needed = list(parts)
        for part in parts:
            rest = [each for each in needed if each is not part]
            try:
                if self.some(*(each.node for each in rest)) is None:
                    needed = rest
            except Unknown:
                continue
        return needed

    # --- the least values

    def least(self, condition: Node, found: list[int], shown: Sequence[int]) -> tuple[list[int], bool]:
        """Of the values that make all true those of least total, and of these the first in order.

        The total is of the slots shown, without signs; the flag says whether z3 proved that there are no
        smaller ones.
        """
        z3 = self.z3
        with deep(), self.assuming(self._truth(condition)):
            sizes = [z3.If(self.slots[n] < 0, -self.slots[n], self.slots[n]) for n in shown]
            best = found

            def total(values: list[int]) -> int:
                return sum(abs(values[n]) for n in shown)

            try:
                best = self._lowest(z3.Sum(sizes), total, best, 0)
                self.solver.add(z3.Sum(sizes) == total(best))
                for n in shown:
                    low, _ = self.pool.ends(n)
                    start = -total(best) if low is None else max(low, -total(best))
                    best = self._lowest(self.slots[n], itemgetter(n), best, start)
                    self.solver.add(self.slots[n] == best[n])
            except Unknown:
                return best, False
        return best, True

    def _lowest(self, term: Any, value: Callable[[list[int]], int], found: list[int], low: int) -> list[int]:
        """Values that make the term least: it is nowhere below `low`, and as `value` says there."""
        best = found
        while (high := value(best)) > low:
            middle = min((low + high) // 2, max(2 * low, low + _NEAR))
            better = self._some(term <= middle)
            if better is None:
                low = middle + 1
            else:
                best = better
        return best

    # --- formulas

    def _truth(self, node: Node) -> Any:
        """The node, which is 0 or 1, as a formula."""
        found = self._truths.get(node.index)
        if found is None:
            found = self._truths[node.index] = self._made_truth(node)
        return found

    def _made_truth(self, node: Node) -> Any:
        z3, args = self.z3, node.args
        match node.op:
            case "const":
                return z3.BoolVal(bool(node.value))
            case "lt":
                return self._number(args[0]) < self._number(args[1])
            case "eq":
                return self._number(args[0]) == self._number(args[1])
            case "not":
                return z3.Not(self._truth(args[0]))
            case "and":
                return z3.And([self._truth(arg) for arg in args])
            case "or":
                return z3.Or([self._truth(arg) for arg in args])
            case "ite":
                return z3.If(*map(self._truth, args))
        return self._number(node) != 0

    def _number(self, node: Node) -> Any:
        """The node as a term."""
        found = self._numbers.get(node.index)
        if found is None:
            found = self._numbers[node.index] = self._made_number(node)
        return found

    def _made_number(self, node: Node) -> Any:
        z3, args = self.z3, node.args
        match node.op:
            case "const":
                return z3.IntVal(node.value)
            case "slot":
                return self.slots[node.value]
            case "add":
                return z3.Sum([self._number(arg) for arg in args])
            case "mul":
                return self._number(args[0]) * self._number(args[1])
            case "floordiv":  # z3 rounds down for a positive divisor, as Python does
                return self._number(args[0]) / self._number(args[1])
            case "mod":
                return self._number(args[0]) % self._number(args[1])
            case "ite":
                return z3.If(self._truth(args[0]), self._number(args[1]), self._number(args[2]))
            case "pick":
                picked = self._number(args[1])
                for place in range(len(args) - 2, 0, -1):
                    here = self._number(args[0]) == place
                    picked = z3.If(here, self._number(args[1 + place]), picked)
                return picked
            case "clamp":
                index, size = self._number(args[0]), self._number(args[1])
                return z3.If(z3.And(index >= 0, index < size), index, z3.IntVal(0))
        return z3.If(self._truth(node), z3.IntVal(1), z3.IntVal(0))

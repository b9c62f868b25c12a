"""What is known while a method is lowered: the state, the path and its facts, guards and faults so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from falsework.definition import Definition
from falsework.errors import Place, Refused, display_path
from falsework.ir import Facts, Node, Pool
from falsework.language import PremiseSite
from falsework.lower_values import Inst, Items, Mismatch, Num, Option, SymbolicState, Value, choose, zero

Site = tuple[Place, int]
"""Where a conjunct of a guard stands: its place and its column."""
Edited = Mapping[Callable[..., Any], ast.FunctionDef]
"""Methods whose body is another than their source's: a mutant."""


@dataclass(frozen=True)
class Guard:
    """What decides whether a step exists: a `require` or a `bound` must be 1, a fault 0."""

    kind: str  # "require", "bound", "fault"
    node: Node
    place: Place
    text: str = ""
    column: int = -1

    @property
    def site(self) -> Site:
        """Where it stands, told apart from others on its line."""
        return self.place, self.column


class NeverEnabled(Exception):
    """The instance's guards are false whatever the state: these, up to the one that always is."""

    def __init__(self, guards: tuple[Guard, ...]) -> None:
        self.guards = guards
        super().__init__(guards)


class RuledOut(Exception):
    """A guard is never true where control is: nothing after it happens on this way."""


@dataclass(eq=False)
class Frame:
    """One call in progress: its locals, and what it has returned on which paths."""

    function: Callable[..., Any]
    locals: dict[str, Value]
    base: int
    returned: list[tuple[Node, Value]] = field(default_factory=list)


class Context:
    """The mutable heart of lowering one method."""

    def __init__(
        self,
        pool: Pool,
        definition: Definition,
        state: SymbolicState,
        facts: Facts | None = None,
        edited: Edited | None = None,
    ) -> None:
        self.pool = pool
        self.definition = definition
        self.state = state
        self.facts = facts or Facts(pool)
        self.conditions: list[Node] = []
        self.frames: list[Frame] = []
        self.guards: list[Guard] = []
        self.premises: list[tuple[PremiseSite, Node]] = []
        self.conditional = (
            0  # depth of expressions that are looked at only on some path: nothing may be changed there
        )
        self.dead = Node(
            -1, "const", (), 0, 0, 0, frozenset(), ()
        )  # what a way answers that no enabled step goes
        self.level = 0  # how conditional the statement is that is being lowered
        self.judging = False  # an invariant is being lowered: true premises are counted
        self.edited = edited or {}

    # --- places and refusals

    def place(self, node: ast.AST) -> Place:
        """Where the node stands in the method being lowered."""
        function = self.frames[-1].function
        return Place(
            display_path(function.__module__, function.__code__.co_filename), getattr(node, "lineno", 0)
        )

    def refuse(self, node: ast.AST, code: str, found: str, write: str) -> Refused:
        """The refusal to raise for a construct outside the subset."""
        return Refused(code, self.place(node), found, write)

    def mixed(self, node: ast.AST, problem: Mismatch) -> Refused:
        """The refusal of an expression that is one kind of thing here and another there."""
        return self.refuse(
            node, "P005", f"{ast.unparse(node)}: {problem}", "values of one kind in every case"
        )

    # --- paths

    def path(self, base: int = 0) -> Node:
        """The condition under which control is here, since the given depth."""
        return self.pool.and_(*self.conditions[base:])

    def simplify(self, node: Node) -> Node:
        """The node as it reads on this path."""
        return self.facts.simplify(node)

    @contextmanager
    def assuming(self, condition: Node) -> Iterator[None]:
        """Inside, the condition is part of the path."""
        outer = self.facts
        self.conditions.append(condition)
        self.facts = outer.given(condition)
        try:
            yield
        finally:
            self.conditions.pop()
            self.facts = outer

    def require(self, condition: Node, node: ast.AST, kind: str = "require", text: str = "") -> None:
        """From here on the condition is true, or the step does not exist."""
        condition = self.simplify(condition)
        whole = self.pool.implies(self.path(), condition)
        if whole is self.pool.true:
            return
        guard = Guard(kind, whole, self.place(node), text, getattr(node, "col_offset", -1))
        self.guards.append(guard)
        if whole is self.pool.false and all(each.kind == "require" for each in self.guards):
            raise NeverEnabled(tuple(self.guards))
        if condition is self.pool.false:
            self.facts = self.facts.given(whole)
            self.end_way()
            return
        self.facts = self.facts.given(whole).given(condition)

    def end_way(self) -> None:
        """Nothing after this happens on this way, unless only part of an expression is of it."""
        if self.conditional == self.level:
            raise RuledOut

    def fault(self, condition: Node, node: ast.AST, text: str) -> None:
        """Where the condition is 1 on this path the model is at fault there."""
        condition = self.simplify(condition)
        whole = self.pool.and_(self.path(), condition)
        if whole is self.pool.false:
            return
        self.guards.append(Guard("fault", whole, self.place(node), text))
        if condition is not self.pool.true:
            self.facts = self.facts.given(condition, holds=False)

    def branch(self, condition: Node, then: Callable[[], Node], other: Callable[[], Node]) -> Node:
        """Both ways from one state, joined again; each way answers whether control goes on, and so does this.

        A way that guards rule out leaves nothing behind; what guards say inside a way is known after it too.
        """
        condition = self.simplify(condition)
        if condition.constant:
            return then() if condition.value else other()
        cells, names, known = self.state.cells, self.frames[-1].locals, len(self.guards)
        ends = []
        for way, assumed in ((then, condition), (other, self.pool.not_(condition))):
            self.state.cells, self.frames[-1].locals = dict(cells), dict(names)
            with self.assuming(assumed):
                try:
                    alive = way()
                except RuledOut:
                    alive = self.dead
            ends.append((self.state.cells, self.frames[-1].locals, alive))
        for guard in self.guards[known:]:
            self.facts = self.facts.given(guard.node, holds=guard.kind != "fault")
        possible = [end for end in ends if end[2] is not self.dead]
        if len(possible) < 2:
            self.state.cells, self.frames[-1].locals, alive = (possible or ends)[0]
            return alive
        (cells_a, names_a, alive_a), (cells_b, names_b, alive_b) = ends
        self.state.cells = {name: self.join(condition, cells_a[name], cells_b[name], name) for name in cells}
        self.frames[-1].locals = self._join_locals(condition, names_a, names_b, alive_a, alive_b)
        return self.pool.ite(condition, alive_a, alive_b)

    def _join_locals(
        self, condition: Node, ours: dict[str, Value], theirs: dict[str, Value], alive: Node, alive_too: Node
    ) -> dict[str, Value]:
        """Where both ways go on, a local is what it is after either; one that only one way has is no more."""
        joined: dict[str, Value] = {}
        for name in {**ours, **theirs}:
            a, b = ours.get(name), theirs.get(name)
            if alive is self.pool.false or alive_too is self.pool.false:
                only = b if alive is self.pool.false else a
                if only is not None:
                    joined[name] = only
            elif a is not None and b is not None:
                try:
                    joined[name] = choose(self.pool, condition, a, b)
                except Mismatch:
                    continue  # two kinds under one name: a later use is refused, as that of a name
                    # which only one of two ways gives a value
        return joined

    def join(self, condition: Node, ours: Any, theirs: Any, name: str) -> Any:
        """One variable's content where the condition chooses between two."""
        if ours is theirs:
            return ours
        pool = self.pool
        if isinstance(ours, Items):
            length = pool.ite(condition, ours.length, theirs.length)
            filler = self.zero_of(name)
            size = max(len(ours.slots), len(theirs.slots))
            a, b = ([*items.slots, *[filler] * (size - len(items.slots))] for items in (ours, theirs))
            return Items(
                length,
                tuple(x if x is y else choose(pool, condition, x, y) for x, y in zip(a, b, strict=True)),
            )
        if isinstance(ours, tuple):
            return tuple(self.join(condition, a, b, name) for a, b in zip(ours, theirs, strict=True))
        if isinstance(ours, Node):
            return pool.ite(condition, ours, theirs)
        return choose(pool, condition, ours, theirs)

    def zero_of(self, name: str) -> Value:
        """What an unused place of the sequence holds."""
        domain = next(v.domain for v in self.definition.variables if v.name == name)
        return zero(self.pool, domain.item)  # type: ignore[union-attr]

    # --- values

    def truth(self, value: Value, node: ast.AST) -> Node:
        """Whether Python takes the value for true."""
        match value:
            case Num(number):
                return self.simplify(self.pool.truth(number))
            case Option(present, inner):
                if inner is None:
                    return self.pool.false
                return self.simplify(self.pool.and_(present, self.truth(inner, node)))
            case Inst():
                return self.pool.true
        from falsework.lower_values import Member, Py, Rec, Ref, Tup

        match value:
            case Member() | Rec():
                return self.pool.true
            case Tup(items):
                return self.pool.const(bool(items))
            case Py(thing):
                return self.pool.const(bool(thing))
            case Ref():
                return self.pool.not_(self.pool.eq(self.size_of(value), self.pool.false))
        raise self.refuse(node, "P002", f"the truth of {ast.unparse(node)}", "a comparison")

    def size_of(self, ref: Any) -> Node:
        """How many keys, members or items the collection has."""
        content = ref.state.cells[ref.name]
        if isinstance(content, Items):
            return content.length
        if content and isinstance(content[0], Node):
            return self.pool.add(*content)
        return self.pool.const(len(content))

    def number(self, value: Value, node: ast.AST) -> Num:
        """The value as an int; None there is a fault, anything else is refused."""
        if isinstance(value, Option) and value.inner is not None:
            self.fault(self.pool.not_(value.present), node, f"{ast.unparse(node)} is None here")
            return self.number(value.inner, node)
        if not isinstance(value, Num):
            from falsework.lower_values import kind

            raise self.refuse(node, "P005", f"{ast.unparse(node)} is {kind(value)}", "an int or a bool here")
        node_here = self.simplify(value.node)
        return value if node_here is value.node else Num(node_here, value.cap, value.flag)

    def plain(self, value: Value, node: ast.AST) -> Num:
        """The value as an int that is no bool."""
        number = self.number(value, node)
        return Num(number.node, number.cap)

"""The values that a state is made of: total maps, sets, bounded sequences and frozen records.

Each is bound to its domain when a model is instantiated; until then `Map(0)` in a class body is only an
initial value. A key outside the domain, or an index past the end, is a fault of the model at that line.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Generic, TypeVar, dataclass_transform

from falsework.errors import DefinitionError, ModelFault, place_of_caller

K = TypeVar("K")
V = TypeVar("V")
R = TypeVar("R", bound="Record")
_UNBOUND = "this collection is an initial value of a class; read it through an instance of the model"

_FROM_THE_FIELDS = (
    "__init__", "__new__", "__post_init__", "__eq__", "__bool__", "__len__", "__getattribute__",
)  # fmt: skip
"""What a record has of its fields alone, lest two engines differ in it."""


@dataclass_transform(frozen_default=True)
class Record:
    """A frozen record of scalars, options and records; change it with `replace`."""

    def __init_subclass__(cls) -> None:
        above = [k for k in cls.__mro__ if k is cls or (not issubclass(k, Record) and k is not object)]
        odd = [name for name in _FROM_THE_FIELDS for k in above if name in vars(k)]
        try:
            dataclasses.dataclass(frozen=True)(cls)
        except (TypeError, ValueError) as problem:
            mutable = isinstance(problem, ValueError)
            what = "a default that can change" if mutable else "a field without a default after one with"
            raise DefinitionError(
                "M031",
                place_of_caller(__file__),
                f"the record {cls.__name__} has {what}",
                "fields whose values cannot change, those with a default last",
            ) from None
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]
        odd += [f.name for f in fields if not (f.init and f.compare) or f.kw_only]
        if odd:
            raise DefinitionError(
                "M031",
                place_of_caller(__file__),
                f"the record {cls.__name__} says itself what {odd[0]} is",
                "plain fields alone: a record is made from them in order, and equal where they are",
            )
        # The base's own take their place, so that a decorator @dataclass(frozen=True) besides does no harm.
        del cls.__setattr__, cls.__delattr__

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")

        def __delattr__(self, name: str) -> None:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def replace(record: R, /, **changes: Any) -> R:
    """The same record with some fields changed; a misspelled field is a fault."""
    try:
        return dataclasses.replace(record, **changes)  # type: ignore[type-var]
    except TypeError as problem:
        raise ModelFault(f"replace({type(record).__name__}, …): {problem}") from None


class Map(Generic[K, V]):
    """A total map over a finite key domain, iterated in domain order."""

    __slots__ = ("_cells", "default")

    default: V
    _cells: dict[K, V] | None

    if TYPE_CHECKING:

        def __init__(self, default: V) -> None: ...

    else:

        def __init__(self, *given, **named) -> None:
            if (len(given), set(named)) not in ((1, set()), (0, {"default"})):
                found = "a Map without the value that every key starts with"
                write = "Map(<value>), such as Map(None), Map(0) or Map(State.IDLE)"
                raise DefinitionError("M026", place_of_caller(__file__), found, write)
            self.default = given[0] if given else named["default"]
            self._cells = None

    @classmethod
    def over(cls, keys: Iterable[K], default: V) -> Map[K, V]:
        """A map whose every key has the default."""
        made = cls(default)
        made._cells = dict.fromkeys(keys, default)
        return made

    @classmethod
    def of(cls, cells: dict[K, V]) -> Map[K, V]:
        """A map with just these cells, which are its own from now on."""
        made = cls.__new__(cls)
        made._cells = cells
        return made

    def _all(self) -> dict[K, V]:
        if self._cells is None:
            raise ModelFault(_UNBOUND)
        return self._cells

    def __getitem__(self, key: K) -> V:
        try:
            return self._all()[key]
        except KeyError:
            raise ModelFault(f"key {key!r} is outside the map's domain") from None

    def __setitem__(self, key: K, value: V) -> None:
        cells = self._all()
        if key not in cells:
            raise ModelFault(f"key {key!r} is outside the map's domain")
        cells[key] = value

    def keys(self) -> Iterator[K]:
        """The keys in domain order."""
        yield from self._all()

    def values(self) -> Iterator[V]:
        """The values, in the order of their keys."""
        cells = self._all()
        for key in cells:
            yield cells[key]

    def items(self) -> Iterator[tuple[K, V]]:
        """The pairs of key and value in domain order."""
        cells = self._all()
        for key in cells:
            yield key, cells[key]

    def __iter__(self) -> Iterator[K]:
        return self.keys()

    def __len__(self) -> int:
        return len(self._all())

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Map)
            and self._cells == other._cells
            and (self._cells is not None or self.default == other.default)
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Map({self.default!r})" if self._cells is None else f"Map({self._cells!r})"

    def domain(self) -> tuple[K, ...] | None:
        """Every key, or None where it is bound to no domain yet."""
        return None if self._cells is None else tuple(self._cells)

    def anew(self, initial: Map[K, V]) -> Map[K, V]:
        """What a class body's `Map(default)` is over these keys."""
        return Map.over(self._all(), initial.default)

    def copied(self) -> Map[K, V]:
        """A map of its own with the same cells."""
        return Map(self.default) if self._cells is None else Map.of(dict(self._cells))


class Set(Generic[K]):
    """A set over a finite domain, iterated in domain order."""

    __slots__ = ("_members", "_order", "initial")

    def __init__(self, members: Iterable[K] = ()) -> None:
        self.initial = tuple(members)
        self._order: dict[K, int] | None = None
        self._members: set[K] = set()

    @classmethod
    def over(cls, keys: Iterable[K], members: Iterable[K]) -> Set[K]:
        """A set that may hold any of the keys and holds the given members."""
        made = cls()
        made._order = {key: index for index, key in enumerate(keys)}
        for member in members:
            made.add(member)
        return made

    @classmethod
    def of(cls, order: dict[K, int], members: Iterable[K]) -> Set[K]:
        """A set of these members, over the keys of `order`, which nobody changes."""
        made = cls.__new__(cls)
        made.initial, made._order, made._members = (), order, set(members)
        return made

    def _known(self, key: K) -> K:
        if self._order is None:
            raise ModelFault(_UNBOUND)
        if key not in self._order:
            raise ModelFault(f"{key!r} is outside the set's domain")
        return key

    def add(self, key: K) -> None:
        """Afterwards the key is a member."""
        self._members.add(self._known(key))

    def discard(self, key: K) -> None:
        """Afterwards the key is no member."""
        self._members.discard(self._known(key))

    def __contains__(self, key: object) -> bool:
        return self._known(key) in self._members  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[K]:
        if self._order is None:
            raise ModelFault(_UNBOUND)
        return (key for key in self._order if key in self._members)

    def __len__(self) -> int:
        if self._order is None:
            raise ModelFault(_UNBOUND)
        return len(self._members)

    def __bool__(self) -> bool:
        return len(self) > 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Set) and self._members == other._members and self._order == other._order

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Set({list(self.initial if self._order is None else self)!r})"

    def domain(self) -> tuple[K, ...] | None:
        """Every key that may be a member, or None where it is bound to no domain yet."""
        return None if self._order is None else tuple(self._order)

    def anew(self, initial: Set[K]) -> Set[K]:
        """What a class body's `Set(members)` is over these keys."""
        return Set.over(self._order or (), initial.initial)

    def copied(self) -> Set[K]:
        """A set of its own with the same members."""
        made: Set[K] = Set(self.initial)
        made._order = self._order
        made._members = set(self._members)
        return made


class Seq(Generic[V]):
    """A sequence of bounded length: append, pop_first, index, index assignment, iteration, len."""

    __slots__ = ("_bound", "_items")

    def __init__(self, items: Iterable[V] = ()) -> None:
        self._items: list[V] = list(items)
        self._bound = False

    @classmethod
    def over(cls, items: Iterable[V]) -> Seq[V]:
        """A sequence that belongs to a model's instance."""
        made = cls(items)
        made._bound = True
        return made

    def _own(self) -> list[V]:
        if not self._bound:
            raise ModelFault(_UNBOUND)
        return self._items

    def append(self, item: V) -> None:
        """Afterwards the item is last; past its length the sequence leaves its domain."""
        self._own().append(item)

    def pop_first(self) -> V:
        """Takes the first item out and returns it."""
        if not self._own():
            raise ModelFault("pop_first of an empty sequence")
        return self._items.pop(0)

    def _index(self, index: int) -> int:
        if not 0 <= index < len(self._items):
            raise ModelFault(f"index {index} is outside a sequence of length {len(self._items)}")
        return index

    def __getitem__(self, index: int) -> V:
        return self._items[self._index(index)]

    def __setitem__(self, index: int, item: V) -> None:
        self._own()[self._index(index)] = item

    def __iter__(self) -> Iterator[V]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, item: object) -> bool:
        return item in self._items

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Seq) and self._items == other._items

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Seq({self._items!r})"


def assigned(name: str, old: Any, new: Any) -> Any:
    """What a variable holds once `new` is assigned to it: a collection of its own, over its own keys."""
    if not isinstance(old, (Map, Set, Seq)):
        return new
    if type(new) is not type(old):
        raise ModelFault(f"{name} is a {type(old).__name__} and cannot become {new!r}")
    if isinstance(old, Seq):
        return Seq.over(new)
    collection: Any = new
    if collection.domain() is None:
        return old.anew(collection)
    if collection.domain() != old.domain():
        raise ModelFault(f"{name} cannot become a {type(old).__name__} over other keys")
    return collection.copied()

"""The elements of models that carry rules by their `source`, and which twins break each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType, FunctionType

from falsework.class_checks import overridden
from falsework.definition import Action, Definition, Property, definition_of
from falsework.errors import Place
from falsework.language import Model, Role, role_of
from falsework.naming import configurations_of, find, twins_of
from falsework.source import class_place

KINDS = {"state": "invariant", "step": "invariant", "witness": "witness", "terminal": "terminal"}


@dataclass(frozen=True)
class Element:
    """One decorated thing of a model: its kind, its name, the rules it carries, the twins that break it."""

    kind: str
    name: str
    sources: tuple[str, ...]
    place: Place
    broken_by: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


def elements_of(models: tuple[str, ...], folder: Path) -> list[Element]:
    """Every element with a source of these models, of their configurations and of their twins."""
    found: dict[tuple[str, str, Place], Element] = {}
    for name in models:
        for named in find(str(folder / name) if name.endswith(".py") else name):
            for element in _elements(definition_of(named.cls)):
                key = (element.kind, element.name, element.place)
                known = found.setdefault(key, element)
                if known is not element:  # what slices inherit from one class is one element
                    broken = tuple(dict.fromkeys((*known.broken_by, *element.broken_by)))
                    found[key] = replace(known, broken_by=broken)
    return list(found.values())


def _elements(definition: Definition) -> Iterator[Element]:
    cls = definition.cls
    broken = _broken_by(cls)
    for action in (*definition.initials, *definition.actions):
        if action.source:
            by = tuple(dict.fromkeys((*_bent(definition, action), *_judged(definition, action, broken))))
            yield Element("action", f"{definition.name}.{action.name}", action.source, action.place, by)
    for prop in _properties(definition):
        if prop.source:
            name = f"{definition.name}.{prop.name}"
            yield Element(KINDS.get(prop.kind, prop.kind), name, prop.source, prop.place, broken(prop.name))
    for obligation in definition.obligations:
        if obligation.source:
            name = f"{definition.name}.{obligation.name}"
            by = (*broken(obligation.name), *_refuting(cls, obligation.name))
            yield Element("obligation", name, obligation.source, obligation.place, by)
    for obligation in definition.obligations:
        if obligation.source:
            name = f"{definition.name}.{obligation.name}"
            yield Element("obligation", name, obligation.source, obligation.place, broken(obligation.name))
    for kind, classes in (("configuration", configurations_of(cls)), ("twin", twins_of(cls))):
        for bent in classes:
            role = role_of(bent)
            if role is not None and role.source:
                name = f"{definition.name}.{bent.__name__}"
                yield Element(kind, name, role.source, class_place(bent), _breaks(cls, bent, role))


def _properties(definition: Definition) -> tuple[Property, ...]:
    return (*definition.invariants, *definition.witnesses, *definition.terminals)


def _refuting(cls: type[Model], name: str) -> Iterator[str]:
    """The configurations that declare a counterexample of the obligation."""
    for configuration in configurations_of(cls):
        if name in definition_of(configuration).refutes:
            yield configuration.__name__


class _broken_by:  # noqa: N801  read as a function
    """Which twins declare that they break a property of that name."""

    def __init__(self, cls: type[Model]) -> None:
        self.by: dict[str, list[str]] = {}
        for twin in twins_of(cls):
            role = role_of(twin)
            for key in role.breaks if role is not None else ():
                self.by.setdefault(str(getattr(key, "__name__", key)), []).append(twin.__name__)

    def __call__(self, name: str) -> tuple[str, ...]:
        return tuple(self.by.get(name, ()))


def _breaks(cls: type[Model], bent: type[Model], role: Role) -> tuple[str, ...]:
    """The class itself where it breaks something; a configuration that holds, by the twins within it."""
    if role.breaks:
        return (bent.__name__,)
    roles = ((twin, role_of(twin)) for twin in twins_of(cls))
    return tuple(t.__name__ for t, r in roles if r is not None and (r.within is bent or issubclass(t, bent)))


def _bent(definition: Definition, action: Action) -> Iterator[str]:
    """The twins that override the action, or a helper, a constant or a start of what it reads."""
    names = _read(definition.cls, action.function)
    for twin in twins_of(definition.cls):
        if names.intersection(overridden(twin)):
            yield twin.__name__


def _judged(definition: Definition, action: Action, broken: _broken_by) -> Iterator[str]:
    """The twins that break an invariant of the action's own steps."""
    for prop in definition.invariants:
        if prop.on == action.function.__name__:
            yield from broken(prop.name)


def _read(cls: type[Model], function: object) -> set[str]:
    """The names in the method's code and in the code of the methods it calls, its own included."""
    seen: set[FunctionType] = set()
    names: set[str] = set()
    waiting = [function]
    while waiting:
        method = waiting.pop()
        if not isinstance(method, FunctionType) or method in seen:
            continue
        seen.add(method)
        own = {name for code in _codes(method.__code__) for name in code.co_names}
        names |= {method.__name__} | own
        waiting += [getattr(cls, name, None) for name in own]
    return names


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)

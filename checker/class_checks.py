"""The mistakes that classes show: names written twice or amiss, what twins and configurations declare."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, cast

from falsework import language
from falsework.errors import DefinitionError, Place
from falsework.language import Model, role_of
from falsework.obligations import ALL_ZERO
from falsework.source import (
    annotations_of,
    class_nodes,
    class_place,
    function_place,
    name_line,
    names_bound,
)

if TYPE_CHECKING:
    from falsework.definition import Property
    from falsework.obligations import Obligation, Open

_TAKEN = (
    "__init__", "__new__", "__setattr__", "__getattr__", "__getattribute__", "__delattr__", "__eq__",
    "__hash__", "__slots__", "__init_subclass__",
)  # fmt: skip


def check_classes(cls: type[Model]) -> None:
    """Raises DefinitionError for a name written twice or amiss, a stray attribute, a misshapen twin."""
    from falsework.definition import model_classes

    for k in cls.__mro__:
        if not issubclass(k, Model) and k not in (object, Generic):
            write = f"class {k.__name__}(Model), so that what it declares is seen"
            raise DefinitionError(
                "M028", class_place(cls), f"{cls.__name__} inherits {k.__name__}, which is no model", write
            )
    variables: set[str] = set()
    constants: set[str] = set()
    methods: dict[str, FunctionType] = {}
    for k in model_classes(cls):
        _nothing_twice(k)
        _attributes(k, variables, constants, methods)
        annotated = annotations_of(k)
        variables |= {name for name in annotated if not name.isupper()}
        constants |= {name for name in annotated if name.isupper()}
        methods |= {name: value for name, value in vars(k).items() if isinstance(value, FunctionType)}
    if (role := role_of(cls)) is not None:
        if role.kind == "configuration":
            _configuration_shape(cls)
        else:
            _twin_shape(cls, role)


def _nothing_twice(cls: type) -> None:
    nodes = class_nodes(cls)
    if len(nodes) > 1:
        raise DefinitionError(
            "M017",
            Place(class_place(cls).file, nodes[-1].lineno),
            f"a second class {cls.__name__}; the first stands at line {nodes[0].lineno}",
            "one of them, or another name: the second hides the first",
        )
    seen: dict[str, int] = {}
    for statement in nodes[0].body if nodes else ():
        for name in names_bound(statement):
            if name in seen:
                raise DefinitionError(
                    "M017",
                    Place(class_place(cls).file, statement.lineno),
                    f"a second {name} in {cls.__name__}; the first stands at line {seen[name]}",
                    "one of them, or another name: the second hides the first",
                )
            seen[name] = statement.lineno


def _attributes(
    cls: type, variables: set[str], constants: set[str], methods: Mapping[str, FunctionType]
) -> None:
    annotated = annotations_of(cls)
    for name, value in vars(cls).items():
        if name in _TAKEN and not (name == "__hash__" and value is None):
            found, write = (
                f"{cls.__name__} defines {name}",
                "state variables, constants and plain methods only",
            )
            raise DefinitionError("M028", name_line(cls, name), found, write)
        if name.startswith("__") or isinstance(value, type):
            continue
        if isinstance(value, FunctionType):
            _plain_method(cls, name, value, variables | constants, methods)
        elif name in methods:
            found = f"{name} = {value!r} overrides a method"
            raise DefinitionError(
                "M029", name_line(cls, name), found, f"def {name}{inspect.signature(methods[name])}"
            )
        elif callable(value) or isinstance(value, (staticmethod, classmethod, property)):
            found = f"{name} is a {type(value).__name__}"
            raise DefinitionError("M028", name_line(cls, name), found, f"a plain method: def {name}(self, …)")
        elif name not in annotated and name not in (constants if name.isupper() else variables):
            raise _overrides_nothing(cls, name, value, constants if name.isupper() else variables)


def _overrides_nothing(cls: type, name: str, value: object, known: set[str]) -> DefinitionError:
    import difflib

    near = difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.6)
    spelled = str(value) if isinstance(value, enum.Enum) else repr(value)
    kind = f"ClassVar[{type(value).__name__}]" if name.isupper() else "<domain>"
    write = f"{name}: {kind} = {spelled}"
    if known:
        meant = f"{near[0]} = {spelled}" if near else f"one of: {', '.join(sorted(known))}"
        write = f"{meant}; or {write}, if it is new"
    found = f"{name} = {spelled} has no annotation and overrides nothing"
    return DefinitionError("M006", name_line(cls, name), found, write)


def _plain_method(
    cls: type, name: str, function: FunctionType, values: set[str], methods: Mapping[str, FunctionType]
) -> None:
    if function.__name__ != name or hasattr(function, "__wrapped__"):
        what = "wrapped by another decorator" if hasattr(function, "__wrapped__") else function.__name__
        found = f"{name} is {what}"
        raise DefinitionError("M028", name_line(cls, name), found, f"a plain method: def {name}(self, …)")
    place = function_place(function)
    if name in values:
        found = f"the method {name} overrides a variable or a constant"
        raise DefinitionError("M029", place, found, "another name for the method")
    if name in methods:
        above, own = (list(inspect.signature(f).parameters)[1:] for f in (methods[name], function))
        if above != own:
            found = f"{name}({', '.join(own)}) overrides {name}({', '.join(above)})"
            write = f"the same parameters: def {name}({', '.join(('self', *above))})"
            raise DefinitionError("M029", place, found, write)


# --- twins and configurations ----------------------------------------


def overridden(cls: type) -> list[str]:
    """The names of this class statement that a model above it defines."""
    above = [k for k in cls.__mro__[1:] if issubclass(k, Model) and k is not Model]
    known = {name for k in above for name in (*vars(k), *annotations_of(k)) if not name.startswith("__")}
    return [name for name in _own(cls) if name in known]


def _own(cls: type) -> list[str]:
    names = dict.fromkeys((*vars(cls), *annotations_of(cls)))
    return [name for name in names if not name.startswith("__") and not isinstance(vars(cls).get(name), type)]


def _configuration_shape(cls: type) -> None:
    odd = [name for name in _own(cls) if not name.isupper() or name not in overridden(cls)]
    if odd:
        found = f"the configuration {cls.__name__} defines {odd[0]}, which is no constant of the model"
        raise DefinitionError(
            "M027",
            name_line(cls, odd[0]),
            found,
            "constants of the model only; a twin overrides other things",
        )
    if not overridden(cls):
        found = f"the configuration {cls.__name__} overrides nothing"
        raise DefinitionError("M027", class_place(cls), found, "at least one constant: NAME = value")


def _twin_shape(cls: type, role: language.Role) -> None:
    names = overridden(cls)
    for name in names:
        asked = [m.kind for k in cls.__mro__ for m in getattr(vars(k).get(name), "__falsework_marks__", ())]
        if asked and asked[0] in ("invariant", "reachable", "terminal", "obligation"):
            found = f"the twin {cls.__name__} overrides {name}, which is asked of it"
            write = "an override of what the system does: a helper, an action, a constant or an initial value"
            raise DefinitionError("M023", name_line(cls, name), found, write)
    for name in _own(cls):
        value = vars(cls).get(name)
        plain = isinstance(value, FunctionType) and not hasattr(value, "__falsework_marks__")
        if name not in names and not plain:
            found = f"the twin {cls.__name__} adds {name}"
            write = "one override and nothing new, helper methods of its own apart"
            raise DefinitionError("M023", name_line(cls, name), found, write)
    if len(names) != 1:
        found = f"the twin {cls.__name__} overrides {' and '.join(names) or 'nothing'}"
        write = "one override: a method, a constant or an initial value"
        raise DefinitionError("M023", class_place(cls), found, write)
    within = role.within
    if within is not None and not _is_configuration_of(within, cls):
        found = f"the twin {cls.__name__} is within={getattr(within, '__name__', within)}"
        raise DefinitionError(
            "M024", class_place(cls), found, "within=, a class under @configuration of the same model"
        )


def _is_configuration_of(within: object, cls: type) -> bool:
    if not isinstance(within, type):
        return False
    role = role_of(within)
    above = [k for k in within.__mro__[1:] if issubclass(k, Model) and k is not Model and role_of(k) is None]
    return role is not None and role.kind == "configuration" and any(k in above for k in cls.__mro__)


def declared_breaks(
    cls: type[Model], properties: list[Property], obligations: tuple[Obligation, ...] = ()
) -> dict[str, int | None]:
    """What the class declares that it breaks, by name; raises M022 for an unknown name or odd steps."""
    role = role_of(cls)
    if role is None:
        return {}
    known = {p.name: p for p in properties if p.kind != "terminal"}
    asked = {obligation.name for obligation in obligations}
    found: dict[str, int | None] = {}
    for key, steps in role.breaks.items():
        name = _declared_name(cls, key, (*known, *sorted(asked)))
        if name in asked:
            continue
        witness = name in known and known[name].kind == "witness"
        odd = steps is not None if witness else type(steps) is not int or steps < 0
        if odd:
            write = (
                f"{name}: None, a witness no longer reached"
                if witness
                else f"{name}: its number of steps, from 0 on"
            )
            raise DefinitionError("M022", class_place(cls), f"{cls.__name__} breaks {name}: {steps!r}", write)
        found[name] = cast("int | None", steps)
    return found


def declared_refutations(
    cls: type[Model], obligations: tuple[Obligation, ...], figures: tuple[Open, ...]
) -> dict[str, dict[str, Any]]:
    """The least counterexamples that the class declares, by obligation; raises M022 for an odd one."""
    role = role_of(cls)
    found: dict[str, dict[str, Any]] = {}
    named = {obligation.name: obligation for obligation in obligations}
    for key, text in (role.breaks if role is not None else {}).items():
        obligation = named.get(getattr(key, "__name__", str(key)))
        if obligation is None:
            continue
        known = {each.name: each for each in (*figures, *obligation.parameters)}
        found[obligation.name] = _values_in(cls, obligation.name, text, known)
    return found


def _values_in(cls: type, name: str, text: object, known: Mapping[str, Open]) -> dict[str, Any]:
    """The values that a text such as `RUN_BOUND=2 dies=SECOND` names; `all 0` names none."""
    values: dict[str, Any] = {}
    for word in text.split() if isinstance(text, str) and text != ALL_ZERO else ():
        quantity, equals, value = word.partition("=")
        read = known[quantity].read(value) if quantity in known and equals else None
        if read is None or quantity in values:
            found = f"{cls.__name__} breaks {name} at {word}"
            write = f"NAME=VALUE, each once, as falsework prove prints it, of: {', '.join(known)}"
            raise DefinitionError("M022", class_place(cls), found, write)
        values[quantity] = read
    if not values and text != ALL_ZERO:
        found = f"{cls.__name__} breaks {name}: {text!r}"
        write = f'{name}: "{next(iter(known), "FIGURE")}=1", as falsework prove prints it'
        raise DefinitionError("M022", class_place(cls), found, write)
    return values


def _declared_name(cls: type[Model], key: object, known: tuple[str, ...]) -> str:
    if key in (language.deadlock, language.values_stay_in_domain):
        return str(key)
    name = getattr(key, "__name__", str(key))
    if name not in known:
        found = f"{cls.__name__} breaks {name}, which is no property of it"
        write = f"one of: {', '.join((*known, language.deadlock, language.values_stay_in_domain))}"
        raise DefinitionError("M022", class_place(cls), found, write)
    if callable(key) and not any(vars(k).get(name) is key for k in cls.__mro__):
        found = (
            f"{cls.__name__} breaks {name} of another class, from {getattr(key, '__module__', 'elsewhere')}"
        )
        write = "the property of this very model, imported under one name: two copies share nothing"
        raise DefinitionError("M022", class_place(cls), found, write)
    return name

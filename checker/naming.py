"""Names for models: shipped ones, `module:Class` and `path.py:Class`; a model's configurations and twins; other constants."""

from __future__ import annotations

import difflib
import enum
import importlib
import importlib.metadata
import importlib.util
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from falsework.definition import model_classes
from falsework.errors import InputError
from falsework.language import Model, classes_with_roles, role_of

MODELS = "falsework.models"
TWINS = "falsework.twins"


@dataclass(frozen=True)
class Named:
    """A model under the name by which it was found."""

    name: str
    cls: type[Model]


# --- finding models -----------------------------------------------------------------------------------------------------


def shipped() -> dict[str, str]:
    """The names that entry points give to model modules, those of every installed package, in order."""
    return {point.name: point.value for point in sorted(importlib.metadata.entry_points(group=MODELS), key=lambda p: p.name)}


def find(name: str) -> list[Named]:
    """The models of that name: one, or every slice of a system; their twins are loaded too. Raises InputError."""
    names = shipped()
    slices = [known for known in names if known == name or known.startswith(f"{name}.")]
    if slices:
        for point in importlib.metadata.entry_points(group=TWINS):
            if point.name in slices:
                point.load()
        return [found for known in slices for found in _in_module(known, _import(names[known]))]
    where, colon, cls_name = name.partition(":")
    if not colon and not where.endswith(".py") and "." not in where:
        raise InputError(f"no model {name!r}{_nearest(name, names)}")
    module = _from_path(Path(where)) if where.endswith(".py") else _import(where)
    if not colon:
        found = _in_module(where, module)
        if not found:
            raise InputError(f"{where} defines no model; write one: class Name(Model): …")
        return found
    cls = getattr(module, cls_name, None)
    if not (isinstance(cls, type) and issubclass(cls, Model) and cls is not Model):
        known = {k for k, v in vars(module).items() if isinstance(v, type) and issubclass(v, Model) and v is not Model}
        raise InputError(f"{where} has no model {cls_name!r}{_nearest(cls_name, known)}")
    return [Named(name, cls)]


def _nearest(name: str, known: Iterable[str]) -> str:
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    listed = ", ".join(known) or "none"
    return f"; did you mean {near[0]}? (known: {listed})" if near else f"; known: {listed}"


def _import(name: str) -> ModuleType:
    try:
        return importlib.import_module(name.partition(":")[0])
    except ModuleNotFoundError as problem:
        raise InputError(f"no module {problem.name}") from None


def _from_path(path: Path) -> ModuleType:
    """The module of that file: the importable one where there is one, never a second copy."""
    if not path.is_file():
        raise InputError(f"no file {path}")
    path = path.resolve()
    for module in list(sys.modules.values()):
        if getattr(module, "__file__", None) and Path(cast(str, module.__file__)) == path and module.__name__ != "__main__":
            return module
    for candidate in _dotted_names(path):
        spec = importlib.util.find_spec(candidate) if candidate not in sys.modules else sys.modules[candidate].__spec__
        if spec is not None and spec.origin is not None and Path(spec.origin).resolve() == path:
            return importlib.import_module(candidate)
    spec = importlib.util.spec_from_file_location(f"model_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module
    spec.loader.exec_module(module)
    return module


def _dotted_names(path: Path) -> list[str]:
    import falsework

    names = []
    for package in ("falsework.models", "falsework.twins", "falsework.runtime", "falsework"):
        try:
            roots = importlib.import_module(package).__path__
        except ModuleNotFoundError:
            continue
        for root in roots:
            if path.is_relative_to(Path(root).resolve()):
                parts = path.relative_to(Path(root).resolve()).with_suffix("").parts
                names.append(".".join((package, *(part for part in parts if part != "__init__"))))
    assert falsework.__name__ == "falsework"
    folder, dotted = path.parent, [path.stem]
    while (folder / "__init__.py").exists():
        dotted.insert(0, folder.name)
        folder = folder.parent
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return [*names, ".".join(dotted)]


def _in_module(name: str, module: ModuleType) -> list[Named]:
    classes = [
        value for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, Model) and value.__module__ == module.__name__ and role_of(value) is None
    ]  # fmt: skip
    if len(classes) == 1:
        return [Named(name, classes[0])]
    joint = ":" if name.endswith(".py") or name == module.__name__ else "."
    return [Named(f"{name}{joint}{cls.__name__}", cls) for cls in classes]


# --- configurations and twins ---------------------------------------------------------------------------------------------


def subject_of(cls: type[Model]) -> type[Model]:
    """The model itself that a twin or a configuration bends: the nearest undecorated class above it."""
    for k in cls.__mro__:
        if role_of(k) is None and not vars(k).get("__falsework_composed__", False):
            return cast("type[Model]", k)
    return cls


def _of(cls: type[Model], kind: str) -> list[type[Model]]:
    found: dict[tuple[str, str], type[Model]] = {}
    for candidate in classes_with_roles():
        role = role_of(candidate)
        if role is not None and role.kind == kind and issubclass(candidate, cls) and subject_of(candidate) is subject_of(cls):
            found[candidate.__module__, candidate.__qualname__] = candidate
    return list(found.values())


def configurations_of(cls: type[Model]) -> list[type[Model]]:
    """The configurations declared for the model, in order of definition."""
    return _of(cls, "configuration")


def twins_of(cls: type[Model]) -> list[type[Model]]:
    """The twins declared for the model, in order of definition."""
    return _of(cls, "twin")


def configured(cls: type[Model], name: str) -> type[Model]:
    """The model in the configuration of that name (case and dashes do not matter); raises InputError."""
    known = {_plain(c.__name__): c for c in configurations_of(subject_of(cls))}
    if _plain(name) in ("default", _plain(cls.__name__)):
        return cls
    if _plain(name) not in known:
        raise InputError(f"{cls.__name__} has no configuration {name!r}{_nearest(name, [c.__name__ for c in known.values()])}")
    return within(cls, known[_plain(name)])


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def within(cls: type[Model], config: type[Model]) -> type[Model]:
    """The class with the constants of the configuration, unless it sets them itself."""
    if issubclass(cls, config):
        return cls
    if issubclass(config, cls):
        return config
    composed = type(cls.__name__, (cls, config), {"__module__": cls.__module__, "__falsework_composed__": True})
    return cast("type[Model]", composed)


def setting(cls: type[Model]) -> tuple[type[Model], type[Model]]:
    """The class as its twin's or configuration's declaration runs it, and the clean model in the same configuration."""
    role = role_of(cls)
    config = role.within if role is not None else None
    if config is None:
        clean = next((k for k in cls.__mro__[1:] if issubclass(k, Model) and (role_of(k) is None or _configures(k))), cls)
        return cls, cast("type[Model]", clean)
    if not (isinstance(config, type) and issubclass(config, Model) and _configures(config)):
        raise InputError(f"{cls.__name__}: within={config!r} is no configuration of {subject_of(cls).__name__}")
    return within(cls, config), config


def _configures(cls: type) -> bool:
    role = role_of(cls)
    return role is not None and role.kind == "configuration"


# --- other constants --------------------------------------------------------------------------------------------------------


def with_constants(cls: type[Model], constants: Mapping[str, Any]) -> type[Model]:
    """The same model with these constants; a text is read as the constant's own type. Raises InputError."""
    from falsework.definition import definition_of

    known = definition_of(cls).constants
    values = {}
    for name, value in constants.items():
        if name not in known:
            raise InputError(f"{cls.__name__} has no constant {name!r}{_nearest(name, known)}")
        values[name] = _read(name, value, known[name]) if isinstance(value, str) else value
    body = {**values, "__module__": cls.__module__, "__qualname__": cls.__qualname__, "__falsework_composed__": True}
    return cast("type[Model]", type(cls.__name__, (cls,), body))


def _read(name: str, text: str, like: object) -> object:
    if isinstance(like, bool):
        words = {"true": True, "false": False, "1": True, "0": False, "yes": True, "no": False}
        if text.lower() in words:
            return words[text.lower()]
        raise InputError(f"{name}={text}: write true or false")
    if isinstance(like, enum.Enum):
        members = type(like).__members__
        if text in members:
            return members[text]
        raise InputError(f"{name}={text}{_nearest(text, members)}")
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name}={text}: write an int") from None


def constants_of(cls: type[Model]) -> dict[str, Any]:
    """The constants of the class, by name."""
    from falsework.definition import definition_of

    assert model_classes(cls)
    return dict(definition_of(cls).constants)

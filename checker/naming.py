"""Names for models: shipped ones, `module:Class`, `path.py:Class`; configurations, twins, other constants."""

from __future__ import annotations

import enum
import importlib
import importlib.util
import itertools
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from falsework.errors import FalseworkError, InputError, display_path
from falsework.language import Model, classes_with_roles, role_of

MODELS = "falsework.models"
TWINS = "falsework.twins"
EXTRAS = {"apsw": "runtime", "psycopg": "postgres"}
"""What a shipped module may miss, and the extra of the package that brings it."""


@dataclass(frozen=True)
class Named:
    """A model under the name by which it was found, and can be found again."""

    name: str
    cls: type[Model]


# --- finding models -----------------------------------------------------------------------------------------


def shipped(group: str = MODELS) -> dict[str, str]:
    """The names that entry points give to modules of models (or TWINS) in any installed package, in order."""
    import importlib.metadata

    points = sorted(importlib.metadata.entry_points(group=group), key=lambda point: point.name)
    return {point.name: point.value for point in points}


def find(name: str) -> list[Named]:
    """The models of that name: one, or every slice of a system, twins loaded too. Raises InputError."""
    where, _, cls_name = name.partition(":")
    names = {} if where.endswith(".py") else shipped()
    slices = _slices(where, names)
    if not slices and not cls_name and "." in where:
        prefix, _, last = where.rpartition(".")
        if prefix in names:
            slices, cls_name = [prefix], last
    if slices:
        return _shipped(slices, cls_name, names)
    module = _module(where, cls_name, names)
    if not cls_name:
        found = _in_module(where, module)
        if not found:
            raise _no_model_in(where, module)
        return found
    return [Named(name, _class_in(where, module, cls_name))]


def _slices(where: str, names: Mapping[str, str]) -> list[str]:
    return [known for known in names if known == where or known.startswith(f"{where}.")]


def _shipped(slices: list[str], cls_name: str, names: Mapping[str, str]) -> list[Named]:
    modules = {known: import_module(names[known]) for known in slices}
    twins = shipped(TWINS)
    bent = {known: import_module(twins[known]) for known in slices if known in twins}
    if not cls_name:
        return [found for known, module in modules.items() for found in _in_module(known, module)]
    named = {each.cls.__name__: each for each in reversed([*_bent(modules)])}
    for found in (bent, modules):
        for known, module in reversed(found.items()):
            named |= {name: Named(f"{known}:{name}", cls) for name, cls in _models_named_in(module).items()}
    if cls_name not in named:
        raise InputError(f"{', '.join(slices)} has no model {cls_name!r}{nearest(cls_name, named)}")
    return [named[cls_name]]


def _bent(modules: Mapping[str, ModuleType]) -> Iterator[Named]:
    """The configurations and twins of the models there, wherever they are written."""
    for known, module in modules.items():
        for model in _in_module(known, module):
            for cls in (*configurations_of(model.cls), *twins_of(model.cls)):
                yield Named(f"{known}:{cls.__name__}", cls)


def _module(where: str, cls_name: str, names: Mapping[str, str]) -> ModuleType:
    if where.endswith(".py") or "/" in where:
        return from_path(Path(where))
    system = where.partition(".")[0]
    of_ours = (
        any(known.partition(".")[0] == system for known in names) and importlib.util.find_spec(system) is None
    )
    if of_ours or ("." not in where and not cls_name):
        if Path(f"{where}.py").is_file():
            raise InputError(f"no model {where!r}; did you mean {where}.py?")
        raise InputError(
            f"no model {where!r}{nearest(where, names)}\nwrite a shipped name, module:Class, or path.py:Class"
        )
    return import_module(where)


def _class_in(where: str, module: ModuleType, cls_name: str) -> type[Model]:
    known = _models_named_in(module)
    if cls_name not in known:
        raise InputError(f"{where} has no model {cls_name!r}{nearest(cls_name, known)}")
    return known[cls_name]


def _models_named_in(module: ModuleType) -> dict[str, type[Model]]:
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, type) and issubclass(value, Model) and value is not Model
    }


def nearest(name: str, known: Iterable[str]) -> str:
    """`; did you mean …?` with what is known, for the end of an error."""
    import difflib

    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    listed = ", ".join(known) or "none"
    return f"; did you mean {near[0]}? (known: {listed})" if near else f"; known: {listed}"


def import_module(name: str) -> ModuleType:
    """The module; raises InputError, with the place, where it is missing or fails while it is imported."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name is not None and (name == problem.name or name.startswith(f"{problem.name}.")):
            raise InputError(f"no module {problem.name}") from None
        raise InputError(_while_importing(name, problem)) from None
    except FalseworkError:
        raise
    except (Exception, SystemExit) as problem:  # noqa: BLE001  a user's module raises anything
        raise InputError(_while_importing(name, problem)) from None


def _while_importing(name: str, problem: BaseException) -> str:
    import traceback

    if isinstance(problem, SyntaxError):
        return f"{display_path(name, problem.filename or name)}:{problem.lineno}: {problem.msg}"
    ours = (str(Path(__file__).parent), str(Path(importlib.__file__).parent), "<frozen")
    frames = [f for f in traceback.extract_tb(problem.__traceback__) if not f.filename.startswith(ours)]
    where = f"{display_path(name, frames[-1].filename)}:{frames[-1].lineno}: " if frames else ""
    extra = EXTRAS.get(problem.name or "") if isinstance(problem, ModuleNotFoundError) else None
    remedy = f"\nwrite: pip install 'falsework[{extra}]'" if extra and name.startswith("falsework.") else ""
    return f"{where}{name} cannot be imported: {type(problem).__name__}: {problem}{remedy}"


def from_path(path: Path) -> ModuleType:
    """The module of that file: the importable one where there is one, never a second copy."""
    if path.suffix != ".py":
        raise InputError(f"{path} is no Python file; write path.py:Class")
    if not path.is_file():
        raise InputError(f"no file {path}")
    path = path.resolve()
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if file and Path(file).resolve() == path and module.__name__ != "__main__":
            return module
    for candidate in _dotted_names(path):
        if _origin(candidate) == path:
            return import_module(candidate)
    return _loaded_alone(path)


def _origin(candidate: str) -> Path | None:
    try:
        spec = importlib.util.find_spec(candidate)
    except (ImportError, ValueError):
        return None
    return Path(spec.origin).resolve() if spec is not None and spec.origin is not None else None


def _loaded_alone(path: Path) -> ModuleType:
    name = next(name for name in _names_alone(path) if name not in sys.modules)
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise InputError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except FalseworkError:
        raise
    except (Exception, SystemExit) as problem:  # noqa: BLE001  likewise
        del sys.modules[name]
        raise InputError(_while_importing(name, problem)) from None
    return module


def _names_alone(path: Path) -> Iterator[str]:
    """Names for the file's module: annotations are read by its name, so each file has its own."""
    yield f"model_{path.stem}"
    yield from (f"model_{path.stem}_{number}" for number in itertools.count(2))


def _dotted_names(path: Path) -> list[str]:
    """The names under which the file may be importable: inside our own packages, and inside its own."""
    names = []
    for package in ("falsework.models", "falsework.twins", "falsework.runtime", "falsework"):
        try:
            roots = importlib.import_module(package).__path__
        except ModuleNotFoundError:
            continue
        for root in map(Path, roots):
            if path.is_relative_to(root.resolve()):
                parts = path.relative_to(root.resolve()).with_suffix("").parts
                names.append(".".join((package, *(part for part in parts if part != "__init__"))))
    folder, dotted = path.parent, [path.stem]
    while (folder / "__init__.py").exists():
        dotted.insert(0, folder.name)
        folder = folder.parent
    if not names and dotted[0] in sys.stdlib_module_names:
        # Its folder comes first among those that are imported from, so everyone else would import it too.
        raise InputError(f"{path} has the name of Python's own module {dotted[0]}; name it otherwise")
    if not names and str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    return [*names, ".".join(dotted)]


def _in_module(name: str, module: ModuleType) -> list[Named]:
    classes: dict[type[Model], str] = {}
    for known, cls in _models_named_in(module).items():
        if cls.__module__ == module.__name__ and role_of(cls) is None:
            classes.setdefault(cls, known)
    if len(classes) == 1 and not name.endswith(".py"):
        return [Named(name, next(iter(classes)))]
    return [Named(f"{name}:{known}", cls) for cls, known in classes.items()]


class OnlyBent(InputError):
    """A module of twins and configurations without their models."""

    def __init__(self, message: str, module: str) -> None:
        super().__init__(message)
        self.module = module


def _no_model_in(where: str, module: ModuleType) -> InputError:
    bent = [name for name, cls in _models_named_in(module).items() if role_of(cls) is not None]
    if bent:
        listed = ", ".join(bent)
        found = f"{where} holds twins and configurations only"
        return OnlyBent(f"{found}; name one, such as {where}:{bent[0]} ({listed})", module.__name__)
    return InputError(f"{where} defines no model; write one: class Name(Model): …")


# --- configurations and twins -------------------------------------------------------------------------------


def subject_of(cls: type[Model]) -> type[Model]:
    """The model itself that a twin or a configuration bends: the nearest undecorated class above it."""
    for k in cls.__mro__:
        if role_of(k) is None and not vars(k).get("__falsework_composed__", False):
            return cast("type[Model]", k)
    return cls


def _of(cls: type[Model], kind: str) -> list[type[Model]]:
    return [
        candidate
        for candidate in classes_with_roles()
        if (role := role_of(candidate)) is not None
        and role.kind == kind
        and issubclass(candidate, cls)
        and subject_of(candidate) is subject_of(cls)
    ]


def configurations_of(cls: type[Model]) -> list[type[Model]]:
    """The configurations declared for the model, in order of definition."""
    return _of(cls, "configuration")


def twins_of(cls: type[Model]) -> list[type[Model]]:
    """The twins declared for the model, in order of definition."""
    return _of(cls, "twin")


def configured(cls: type[Model], name: str) -> type[Model]:
    """The model in the configuration of that name (case and dashes do not matter); raises InputError."""
    configurations = configurations_of(subject_of(cls))
    # Spelled exactly, then whatever its case and dashes; the class itself has only the names that are left.
    found = [c for c in configurations if c.__name__ == name]
    found = found or [c for c in configurations if _plain(c.__name__) == _plain(name)]
    if len(found) > 1:
        listed = " or ".join(f"{c.__module__}:{c.__name__}" for c in found)
        raise InputError(f"{cls.__name__} has {len(found)} configurations {name!r}: {listed}")
    if found:
        return within(cls, found[0])
    if _plain(name) in ("default", _plain(cls.__name__)):
        return cls
    raise InputError(
        f"{cls.__name__} has no configuration {name!r}" + nearest(name, [c.__name__ for c in configurations])
    )


def _plain(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()


def within(cls: type[Model], config: type[Model]) -> type[Model]:
    """The class with the constants of the configuration, unless it sets them itself."""
    if issubclass(cls, config):
        return cls
    if issubclass(config, cls):
        return config
    composed = type(
        cls.__name__, (cls, config), {"__module__": cls.__module__, "__falsework_composed__": True}
    )
    return cast("type[Model]", composed)


def setting(cls: type[Model]) -> tuple[type[Model], type[Model]]:
    """The class as its declaration runs it, and the clean model in the same configuration."""
    role = role_of(cls)
    config = role.within if role is not None else None
    if config is None:
        above = [k for k in cls.__mro__[1:] if issubclass(k, Model) and k is not Model]
        clean = next((k for k in above if role_of(k) is None or _configures(k)), cls)
        return cls, clean
    if not (issubclass(config, Model) and _configures(config)):
        raise InputError(
            f"{cls.__name__}: within={config!r} is no configuration of {subject_of(cls).__name__}"
        )
    return within(cls, config), config


def _configures(cls: type) -> bool:
    role = role_of(cls)
    return role is not None and role.kind == "configuration"


# --- other constants ----------------------------------------------------------------------------------------


def with_constants(cls: type[Model], constants: Mapping[str, Any]) -> type[Model]:
    """The same model with these constants; a text is read as the constant's own type. Raises InputError."""
    from falsework.definition import definition_of

    known = definition_of(cls).constants
    values = {}
    for name, value in constants.items():
        if name not in known:
            raise InputError(f"{cls.__name__} has no constant {name!r}{nearest(name, known)}")
        values[name] = _read(name, value, known[name]) if isinstance(value, str) else value
    body = {
        **values,
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__falsework_composed__": True,
    }
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
        raise InputError(f"{name}={text}{nearest(text, members)}")
    if isinstance(like, tuple):
        raise InputError(f"{name} is a tuple, which the command line cannot write; declare a configuration")
    if text in ("-", "None"):
        return None
    try:
        return int(text)
    except ValueError:
        raise InputError(f"{name}={text}: write an int") from None

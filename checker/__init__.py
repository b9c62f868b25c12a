"""Formal models first, every model with its wrong twins, and the runtime under the same invariants."""

from typing import TYPE_CHECKING, Any

from falsework.check import check
from falsework.errors import DefinitionError, InputError, Refused
from falsework.language import (
    Below,
    Between,
    Countdown,
    Elapsed,
    Length,
    Map,
    Model,
    Record,
    Row,
    Seq,
    Set,
    Upto,
    action,
    bound,
    configuration,
    count,
    deadlock,
    disabled,
    elapse,
    fault,
    first,
    given,
    implies,
    initial,
    internal,
    invariant,
    obligation,
    reachable,
    replace,
    require,
    rows,
    terminal,
    tick,
    twin,
    values_stay_in_domain,
)
from falsework.verdict import Verdict

__version__ = "0.1.0"

# `check` is a module and a function. The function is imported here at once, so that it is what the name means
# from the first moment on; what else is offered is imported where it is first asked for.
_LATER = {"replay": "falsework.tracefile", "state_graph": "falsework.graph"}


if TYPE_CHECKING:
    # A type checker that saw `__getattr__` would take any misspelled name for one that is there.
    from falsework.graph import state_graph
    from falsework.tracefile import replay
else:

    def __getattr__(name: str) -> Any:
        if name not in _LATER:
            raise AttributeError(f"module 'falsework' has no attribute {name!r}")
        import importlib

        return getattr(importlib.import_module(_LATER[name]), name)


__all__ = [
    "Below", "Between", "Countdown", "DefinitionError", "Elapsed", "InputError", "Length", "Map", "Model",
    "Record", "Refused", "Row", "Seq", "Set", "Upto", "Verdict", "action", "bound", "check",
    "configuration", "count", "deadlock", "disabled", "elapse", "fault", "first", "given", "implies",
    "initial", "internal", "invariant", "obligation", "reachable", "replace", "replay", "require", "rows",
    "state_graph", "terminal", "tick", "twin", "values_stay_in_domain",
]  # fmt: skip

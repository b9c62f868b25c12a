"""The surfaces whose records are looked through: who judges the records of each."""

from __future__ import annotations

import importlib
from typing import cast

from falsework.conformance.finding import NamedSubject
from falsework.conformance.survey import Survey
from falsework.definition import Definition

JUDGES = {"observed": "falsework.conformance.logs", "audited": "falsework.conformance.audited"}
"""Of each such kind the module whose function of that name judges it: `(subject, definition, *, name)`."""


def surveyed(subject: NamedSubject, definition: Definition) -> Survey:
    """The subject's records judged. Raises InputError where the adapter cannot be made, or hangs."""
    judge = getattr(importlib.import_module(JUDGES[subject.kind]), subject.kind)
    return cast(Survey, subject.attended(lambda made: judge(made, definition, name=subject.name)))

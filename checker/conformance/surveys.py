"""The surfaces whose records are looked through: what an adapter of each offers, and who judges it."""

from __future__ import annotations

import importlib
from typing import cast

from falsework.conformance.finding import NamedSubject
from falsework.conformance.survey import Survey
from falsework.definition import Definition

JUDGES = {"observed": "falsework.conformance.observed", "audited": "falsework.conformance.audited"}
"""Of each such kind the module whose function of that name judges it: `(subject, definition, *, name)`."""


def surveyed(subject: NamedSubject, definition: Definition) -> Survey:
    """The subject's records judged. Raises InputError where the adapter cannot be made."""
    judge = getattr(importlib.import_module(JUDGES[subject.kind]), subject.kind)
    return cast(Survey, judge(subject.made(), definition, name=subject.name))

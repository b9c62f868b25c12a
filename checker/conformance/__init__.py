"""Conformance: an implementation driven along the graph of a model, under the model's own invariants."""

from falsework.conformance.divergence import Divergence
from falsework.conformance.driver import Drive, drive
from falsework.conformance.subject import (
    RefusedBySubject,
    Subject,
    UnknownOutcome,
    runtime_twin,
)

__all__ = [
    "Divergence",
    "Drive",
    "RefusedBySubject",
    "Subject",
    "UnknownOutcome",
    "drive",
    "runtime_twin",
]

"""What a command of the runtime ends with: an exit code, and a user's mistake as one message."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from falsework.runtime.invocation.answers import Misuse
from falsework.runtime.invocation.bindings import BindingError
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.host import Host, hosted
from falsework.runtime.invocation.instance import StartRefused
from falsework.runtime.invocation.located import DeploymentError
from falsework.runtime.store import StoreBusy, StoreError, StoreFailed, StoreUnknown, StoreUnreachable
from falsework.runtime.trail.journal import TrailError

OK = 0
NOT_MET = 10
BAD_INPUT = 13


class CommandError(Exception):
    """An argument of a command cannot be used as given."""


MISTAKES = (BindingError, CommandError, DeploymentError, Misuse, StartRefused, StoreError, TrailError)
"""What a user can mend: the rest is the runtime's own fault, and is shown whole."""


OUTAGES = (StoreBusy, StoreFailed, StoreUnknown, StoreUnreachable)
"""What of a store passes by itself, or when somebody has mended the server."""


def add_deployment(parser: argparse.ArgumentParser) -> None:
    """The file that every command of the runtime is about."""
    parser.add_argument("deployment", metavar="DEPLOYMENT.yaml", type=Path, help="the deployment file")


def with_deployment(path: Path, does: Callable[[Deployment], int]) -> int:
    """The exit code of what is done with the file; a mistake of the user's is told, and ends it."""
    try:
        return does(read_deployment(path))
    except MISTAKES as problem:
        during = isinstance(problem, StoreBusy | StoreFailed | StoreUnknown)  # these name no place
        sys.stderr.write(f"falsework: {f'{path}: its store: ' if during else ''}{problem}\n")
        return BAD_INPUT


def with_host(
    path: Path, does: Callable[[Host], int], lost: Callable[[Deployment, StoreError], None] | None = None
) -> int:
    """Likewise, with the deployment's journal open; who wants to hears of an outage that keeps it closed."""

    def hosting(deployment: Deployment) -> int:
        try:
            host = hosted(deployment)
        except OUTAGES as problem:
            if lost is not None:
                lost(deployment, problem)
            raise
        with host:
            return does(host)

    return with_deployment(path, hosting)

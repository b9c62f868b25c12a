"""What a command of the runtime ends with: an exit code, and a user's mistake as one message."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.located import DeploymentError

OK = 0
NOT_MET = 10
BAD_INPUT = 13


def add_deployment(parser: argparse.ArgumentParser) -> None:
    """The file that every command of the runtime is about."""
    parser.add_argument("deployment", metavar="DEPLOYMENT.yaml", type=Path, help="the deployment file")


def with_deployment(path: Path, does: Callable[[Deployment], int]) -> int:
    """The exit code of what is done with the file; a file that is no deployment ends it before."""
    try:
        deployment = read_deployment(path)
    except DeploymentError as problem:
        return refused(problem)
    return does(deployment)


def refused(problem: Exception) -> int:
    """The problem is told as a user's own, and the code says so."""
    sys.stderr.write(f"falsework: {problem}\n")
    return BAD_INPUT

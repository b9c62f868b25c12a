"""A deployment's journal is founded: its administrator, its actors, and how long its records are kept.

A credential's file that is not there is made, readable by its owner alone, and so is the one of each service
identity that the deployment names. What is there already is left as it is, so that the command may be run
again after a kind or an actor has been added.

example: falsework found ledger.yaml --administrator admin --credential-file admin.key --actor dana=dana.key
"""

import argparse
import os
import sys
from pathlib import Path

from falsework.runtime import trail
from falsework.runtime.commands.outcome import (
    OK,
    CommandError,
    add_deployment,
    with_deployment,
)
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.host import caps_of, credential_in, opened_store
from falsework.runtime.store.shared import SharedStore
from falsework.runtime.trail.identity import fresh_credential, public_key_of
from falsework.runtime.trail.journal import AuditTrail
from falsework.runtime.trail.steward import NothingToDo, Steward, found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Who administers the journal, and who else acts."""
    add_deployment(parser)
    parser.add_argument("--administrator", required=True, metavar="NAME", help="who administers the journal")
    parser.add_argument(
        "--credential-file", required=True, type=Path, metavar="FILE", help="the administrator's credential"
    )
    parser.add_argument(
        "--actor",
        action="append",
        default=[],
        metavar="NAME=FILE",
        help="an actor, with its credential's file",
    )


def run(args: argparse.Namespace) -> int:
    """Founds what is not founded, and says what it did."""

    def founding(deployment: Deployment) -> int:
        actors = _actors(deployment, args.actor)
        credential = _made(args.credential_file)
        store = opened_store(deployment, create=True)
        try:
            with store.snapshot() as snapshot:
                is_new = not snapshot.execute("SELECT 1 FROM trail")
            if is_new:
                _say("founded", found(store, args.administrator, credential))
            _declare(deployment, store, args.administrator, credential, actors)
        finally:
            store.close()
        return OK

    return with_deployment(args.deployment, founding)


def _actors(deployment: Deployment, given: list[str]) -> dict[str, Path]:
    """Every actor with the file of its credential: the service identities, and those that are given."""
    actors = {
        kind.service_identity.actor: kind.service_identity.credential_file
        for kind in deployment.kinds.values()
        if kind.service_identity is not None
    }
    for text in given:
        name, equals, file = text.partition("=")
        if not name or not equals or not file:
            raise CommandError(f"--actor {text}: write NAME=FILE, such as dana=dana.key")
        actors[name] = Path(file)
    return actors


def _made(path: Path) -> str:
    """The credential of the file, made with it where there is none."""
    if not path.exists():
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except OSError as problem:
            raise CommandError(f"{path}: the credential cannot be kept there ({problem})") from problem
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(fresh_credential() + "\n")
        _say("made a credential", str(path))
    return credential_in(path)


def _declare(
    deployment: Deployment,
    store: SharedStore,
    administrator: str,
    credential: str,
    actors: dict[str, Path],
) -> None:
    """Every actor is registered, and every kind has its policy."""
    steward = Steward(AuditTrail(store, caps_of(deployment)), administrator, credential)
    for name, path in actors.items():
        try:
            key = public_key_of(_made(path))
        except ValueError as problem:
            raise CommandError(f"{path}: {problem}") from problem
        answer = steward.register(name, key)
        _told(answer, trail.Source.IDENTITY, f"registered {name}", f"{name} was registered already")
    for kind in deployment.kinds.values():
        answer = steward.declare_retention(f"{kind.name}.", kind.retention_period)
        done = f"declared the retention of {kind.name}"
        _told(answer, trail.Source.RETENTION, done, f"the retention of {kind.name} was declared already")


def _told(answer: trail.RecordAnswer | NothingToDo, there: trail.Source, done: str, before: str) -> None:
    """What was done is said, or that it was done before; all else is a mistake."""
    match answer:
        case trail.Recorded():
            _say(done)
        case trail.InvalidRequest(source=source) if source is there:
            _say(before)
        case _:
            raise CommandError(f"{done}: the journal refused: {answer}")


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")

"""A deployment's journal is founded: its administrator, its actors, and how long its records are kept.

A credential's file that is not there is made, readable by its owner alone, and so is the one of each service
identity that the deployment names. What is there already is left as it is, so that the command may be run
again after a kind or an actor has been added.

example: falsework found ledger.yaml --administrator admin --credential-file admin.key --actor dana=dana.key
"""

import argparse
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from falsework.runtime import trail
from falsework.runtime.commands.outcome import (
    OK,
    CommandError,
    add_deployment,
    with_deployment,
)
from falsework.runtime.invocation.figures import Deployment, ServiceIdentity
from falsework.runtime.invocation.host import (
    credential_in,
    opened_store,
    opened_trail,
    refuse_another_journal,
)
from falsework.runtime.invocation.instance import refuse_failing_conditions
from falsework.runtime.invocation.units import spoken
from falsework.runtime.store import Row, Store, Value
from falsework.runtime.trail.identity import fingerprint, fresh_credential, public_key_of
from falsework.runtime.trail.journal import wrong_name
from falsework.runtime.trail.steward import Steward, found


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
        refuse_failing_conditions(deployment)  # a period is declared for good: none that is to be mended
        actors = _actors(deployment, args.actor)
        _refuse_wrong_names(deployment, args.administrator, *actors)
        files = dict.fromkeys((args.credential_file, *actors.values()))
        with _kept(files) as credentials:
            store = opened_store(deployment, create=True)
        try:
            administrator = ServiceIdentity(args.administrator, args.credential_file)
            _found(deployment, store, administrator, credentials, actors)
        finally:
            store.close()
        return OK

    return with_deployment(args.deployment, founding)


def _found(
    deployment: Deployment,
    store: Store,
    administrator: ServiceIdentity,
    credentials: dict[Path, str],
    actors: dict[str, Path],
) -> None:
    """The journal is this deployment's, with every actor and every kind's policy."""
    credential = credentials[administrator.credential_file]
    keys = {name: public_key_of(credentials[path]) for name, path in actors.items()}
    with store.snapshot() as snapshot:
        is_new = not snapshot.execute("SELECT 1 FROM trail")
        registered = _by_first(snapshot.execute("SELECT key_id, actor_ref FROM actor_key"))
        periods = _by_first(snapshot.execute("SELECT prefix, period FROM policy"))
    if not is_new:
        refuse_another_journal(deployment, opened_trail(deployment, store))
    _refuse_what_stands_otherwise(deployment, periods)
    registered.setdefault(fingerprint(public_key_of(credential)), administrator.actor)
    for name, key in keys.items():
        owner = registered.setdefault(fingerprint(key), name)
        if owner != name:
            raise CommandError(f"{actors[name]}: is the credential of {owner!s}: give {name} one of its own")
    if is_new:
        _say("founded", found(store, administrator.actor, credential))
    _declare(deployment, Steward(opened_trail(deployment, store), administrator.actor, credential), keys)


def _by_first(rows: list[Row]) -> dict[Value, Value]:
    """The second column of each row by its first."""
    return {row[0]: row[1] for row in rows}


def _refuse_what_stands_otherwise(deployment: Deployment, periods: Mapping[Value, Value]) -> None:
    """No kind is declared already with another period than the file's."""
    for kind in deployment.kinds.values():
        period = periods.get(f"{kind.name}.", kind.retention_period)
        if period != kind.retention_period:
            kept = spoken(period) if isinstance(period, int) else "for good"
            raise CommandError(
                f"{deployment.place(kind.name, 'retention_period')}: the journal keeps {kind.name} "
                f"{kept}, and a period is declared once: write that one, or name another kind"
            )


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


def _refuse_wrong_names(deployment: Deployment, *names: str) -> None:
    """Every name is one that a record can carry."""
    for name in names:
        wrong = wrong_name("the name of an actor", name, deployment.journal.reference_length_cap)
        if wrong is not None:
            raise CommandError(wrong)


@contextmanager
def _kept(files: Iterable[Path]) -> Iterator[dict[Path, str]]:
    """The credential of each file, made where there is none; if the block raises, none was made."""
    credentials = {path: credential_in(path) for path in files if path.exists()}
    made: list[Path] = []
    try:
        for path in files:
            if path not in credentials:
                credentials[path] = _made(path)
                made.append(path)
        yield credentials
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise
    for path in made:
        _say("made a credential", str(path))


def _made(path: Path) -> str:
    """A fresh credential in a file of its own, or no file."""
    credential = fresh_credential()
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                file.write(credential + "\n")
        except OSError:
            path.unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise CommandError(f"{path}: the credential cannot be kept there ({problem})") from problem
    return credential


def _declare(deployment: Deployment, steward: Steward, keys: dict[str, bytes]) -> None:
    """Every actor is registered, and every kind has its policy."""
    by = f"{deployment.path}: {steward.actor_ref}"
    for name, key in keys.items():
        answer = steward.register(name, key)
        _told(by, answer, trail.Source.IDENTITY, f"registered {name}", f"{name} was registered already")
    for kind in deployment.kinds.values():
        answer = steward.declare_retention(f"{kind.name}.", kind.retention_period)
        done = f"declared the retention of {kind.name}"
        _told(by, answer, trail.Source.RETENTION, done, f"the retention of {kind.name} was declared already")


def _told(by: str, answer: trail.RecordAnswer, there: trail.Source, done: str, before: str) -> None:
    """What was done is said, or that it was done before; all else is a mistake."""
    match answer:
        case trail.Recorded():
            _say(done)
        case trail.InvalidRequest(source=source) if source is there:
            _say(before)
        case trail.ReplyLost():
            raise CommandError(f"{by}: may have {done}: the reply was lost ({answer.detail}); run it again")
        case _:
            raise CommandError(f"{by}: could not have {done}: {answer.detail}")


def _say(*words: str) -> None:
    sys.stdout.write(" ".join(words) + "\n")

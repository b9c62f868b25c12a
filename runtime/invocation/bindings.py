"""What a deployment's words stand for: the probe, the credential in its file, and which kinds are bound.

A kind that is left out of the file while an intent of it stands open would leave that intent to nobody: the
bound kinds of each instance are kept in the journal's database, and such a start is refused.
"""

import importlib
from typing import cast

from falsework.runtime.invocation.figures import Deployment, Kind
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.parties import Probe
from falsework.runtime.store import Store, boundaries
from falsework.runtime.trail.identity import signing_key

BIND = "bindings.bind"
BOUNDARIES = boundaries(BIND)


class BindingError(Exception):
    """A word of the deployment file stands for nothing that can be used; the message names its place."""


def probe_of(deployment: Deployment, kind: Kind) -> Probe | None:
    """The function that the file names; None where the kind declares that no read can tell."""
    if kind.probe is None:
        return None
    place = deployment.place(kind.name, "probe")
    module, _, path = kind.probe.partition(":")
    try:
        found: object = importlib.import_module(module)
        for name in path.split("."):
            found = getattr(found, name)
    except (ImportError, AttributeError) as problem:
        raise BindingError(
            f"{place}: probe {kind.probe} cannot be found ({problem})\n"
            "  write: package.module:function, of what is installed here or on PYTHONPATH"
        ) from problem
    if not callable(found):
        raise BindingError(
            f"{place}: probe {kind.probe} is {found!r}\n  write: a function of act key and payload"
        )
    return cast(Probe, found)


def credential_of(deployment: Deployment, kind: Kind) -> str | None:
    """What stands in the file of the service identity's credential; None where the kind has no identity."""
    if kind.service_identity is None:
        return None
    path = kind.service_identity.credential_file
    place = deployment.place(kind.name, "service_identity")
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise BindingError(
            f"{place}: credential_file {path} cannot be read ({problem})\n  write: the path of its file"
        ) from problem
    if signing_key(text) is None:
        found = "holds no credential" if text else "is empty"
        raise BindingError(
            f"{place}: credential_file {path} {found}\n  write: ed25519: and the 43 characters of its seed"
        )
    return text


def unbound_with_open_intents(store: Store, deployment: Deployment, indexes: Indexes, now: int) -> list[str]:
    """The kinds that were bound, are no more, and have an open intent; the kept table is untouched."""
    rows = store.look("SELECT kind FROM binding WHERE instance = ?", (deployment.name,))
    left_out = {str(row[0]) for row in rows} - set(deployment.kinds)
    owed = {intent.kind for intent in indexes.every_open_intent() if not indexes.gone(intent, now)}
    return sorted(left_out & owed)


def bind(store: Store, deployment: Deployment) -> None:
    """The kinds of the file are the instance's bound ones."""
    with store.transaction(BIND) as transaction:
        transaction.execute("DELETE FROM binding WHERE instance = ?", (deployment.name,))
        for kind in deployment.kinds:
            transaction.execute("INSERT INTO binding (instance, kind) VALUES (?, ?)", (deployment.name, kind))

"""A deployment file made to run: its store, its trail, its clocks and its instance, or why not."""

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from falsework.runtime.clock import Clock, SystemClock, SystemWaiter
from falsework.runtime.invocation.bindings import BindingError, credential_of, probe_of
from falsework.runtime.invocation.figures import Deployment, ServiceIdentity
from falsework.runtime.invocation.findings import Condition, InstanceFinding, Register, Run, run_of
from falsework.runtime.invocation.held import Held
from falsework.runtime.invocation.indexes import Indexes
from falsework.runtime.invocation.instance import Instance, StartRefused
from falsework.runtime.invocation.keyed import Keyed
from falsework.runtime.invocation.parties import Alerts
from falsework.runtime.invocation.units import spoken
from falsework.runtime.lease import LeaseHost
from falsework.runtime.store import Store, StoreRefused
from falsework.runtime.store.sqlite import SqliteStore
from falsework.runtime.trail import Caps, RecordAnswer, Recorded
from falsework.runtime.trail.checkpoint import FileWitness, Notary, RolledBack, refuse_a_rollback
from falsework.runtime.trail.identity import signing_key
from falsework.runtime.trail.journal import AuditTrail, TrailError
from falsework.runtime.trail.retention import declared_policies
from falsework.runtime.trail.steward import NothingToDo, Steward


class JournalStore(Store, Protocol):
    """A store of which what was destroyed can be taken out of the database's own log too."""

    def sweep_destroyed(self) -> bool:
        """Nothing of what was overwritten is left; False while a reader still needs it."""
        ...


def opened_store(deployment: Deployment, clock: Clock | None = None, *, create: bool = False) -> JournalStore:
    """The store that the file names; what is not there yet is made only where that is asked for.

    A file's clock is this machine's; a server has its own.
    """
    url = deployment.journal.store
    bound_ms = max(deployment.figures.journal_write_bound // 1_000, 2)
    if url.startswith("sqlite:"):
        path = Path(url.removeprefix("sqlite:"))
        if not create and not path.exists():
            raise StartRefused(
                f"{deployment.path}: store {path} is not there: found it first, with falsework found"
            )
        return SqliteStore(path, busy_timeout_ms=bound_ms, clock=clock)
    try:
        from falsework.runtime.store.postgres import PostgresStore
    except ImportError as problem:
        raise StartRefused(
            f"{deployment.path}: a postgresql store needs psycopg ({problem}): install falsework[postgres]"
        ) from problem
    try:
        return PostgresStore(url, write_bound_ms=bound_ms, create=create)
    except StoreRefused as problem:
        raise type(problem)(f"{deployment.path}: {problem}") from problem


def held_beside(deployment: Deployment) -> Held:
    """What waits for the register on this machine, beside the deployment: a file for each journal."""
    place = deployment.journal.store.rpartition("@")[2]  # whoever connects to it, with whatever password
    journal = hashlib.sha256(place.encode()).hexdigest()[:8]
    return Held(deployment.path.with_name(f"{deployment.path.name}.{journal}.held"))


def refuse_unreadable(held: Held) -> None:
    """Every line that is held is a run's; else a person has to look at it before it is lost."""
    for number, line in enumerate(held.lines(), start=1):
        try:
            run_of(line)
        except ValueError as problem:
            raise StartRefused(
                f"{held.path}:{number}: is no finding that waits for its register ({problem}): put the line "
                "aside, and tell a person what it may have said"
            ) from problem


def hold_an_outage(deployment: Deployment, clock: Clock, detail: str) -> str | None:
    """A run that could not even begin has seen the journal's outage; where that is held.

    None where no run has ever begun here: then the server's name may be a mistake, and nobody's journal.
    """
    path = held_beside(deployment).path
    if path is None or not path.exists():
        return None
    seen = (InstanceFinding(Condition.JOURNAL_UNAVAILABLE, None, detail),)
    return held_beside(deployment).add(Run(secrets.token_hex(16), clock.now(), seen, whole=False).line())


def caps_of(deployment: Deployment) -> Caps:
    """How large a record, a reference and a page of this journal may be."""
    journal = deployment.journal
    return Caps(journal.payload_cap, journal.reference_length_cap, journal.page_size)


@dataclass(frozen=True, slots=True)
class Kept:
    """How many acts of an administrator it took, and how many records the witness's note covers.

    `swept` says whether what was destroyed is gone from the database's own log too, where there was any.
    """

    placed: int
    purged: int
    checkpoint: int | None
    swept: bool | None


@dataclass(slots=True)
class Host:
    """What runs on one machine for one deployment file."""

    deployment: Deployment
    store: JournalStore
    trail: AuditTrail
    clock: Clock

    def reading(self) -> Indexes:
        """The maps as the journal has them now; for commands that only look."""
        figures = self.deployment.figures
        kinds = self.deployment.kinds
        indexes = Indexes(self.trail, kinds, figures, self.clock, in_order=True, keyed=self.keyed())
        unread = indexes.start()
        if unread is not None:
            raise StartRefused(f"{self.deployment.path}: the journal cannot be read: {unread.detail}")
        return indexes

    def keyed(self) -> Keyed:
        """The journal by act."""
        return Keyed(self.store, self.deployment.kinds)

    def register(self) -> Register:
        """The findings."""
        return Register(self.store, self.deployment.name)

    def started(self, alerts: Alerts) -> Instance:
        """The instance, with every condition checked, and everything that a figure alone cannot say."""
        self.refuse_wrong_clocks()
        self._refuse_other_retention()
        kinds = self.deployment.kinds
        credentials = {name: credential_of(self.deployment, kind) for name, kind in kinds.items()}
        self._refuse_another_actors_credential(credentials)
        steward = self.deployment.journal.steward
        if steward is not None:
            credential_in(steward.credential_file)
        held = held_beside(self.deployment)
        refuse_unreadable(held)
        return Instance(
            self.deployment,
            trail=self.trail,
            store=self.store,
            leases=LeaseHost(self.store, self.store, SystemWaiter(self.store)),
            seam=self.clock,
            ids=lambda: secrets.token_hex(16),
            alerts=alerts,
            probes={name: probe_of(self.deployment, kind) for name, kind in kinds.items()},
            credentials={name: text for name, text in credentials.items() if text is not None},
            in_order=True,  # the trail numbers its records under the lock by which they become visible
            held=held,
        )

    def refuse_wrong_clocks(self) -> None:
        """This machine's clock and the database's agree within the allowance: else nothing here may write."""
        before = self.clock.now()
        stamp = self.store.now()
        after = self.clock.now()
        apart = max(before - stamp, stamp - after, 0)
        if apart > self.deployment.figures.clock_offset_allowance:
            raise StartRefused(
                f"{self.deployment.place('instance', 'clock_offset_allowance')}: this machine's clock and "
                f"the database's are {spoken(apart)} apart, more than clock_offset_allowance: set the clock"
            )

    def _refuse_other_retention(self) -> None:
        """Every record of a kind is kept for just the period that the file declares for it."""
        with self.store.snapshot() as snapshot:
            policies = declared_policies(snapshot)
        for kind in self.deployment.kinds.values():
            for ref in sorted({kind.ref("intended"), kind.ref("recovery_intended"), *kind.closing_refs}):
                placement = policies.place(ref, 0)
                until = None if placement is None else placement.retention_until
                if until != kind.retention_period:
                    kept = "for good" if until is None else spoken(until)
                    found, remedy = (
                        f"keeps it {kept}",
                        "a period is declared once: write that one",
                    )
                    if placement is None:
                        found, remedy = "has no policy", "declare it, with falsework found"
                    raise StartRefused(
                        f"{self.deployment.place(kind.name, 'retention_period')}: the journal {found} "
                        f"where {ref} is to be kept {spoken(kind.retention_period)}: {remedy}"
                    )

    def _refuse_another_actors_credential(self, credentials: Mapping[str, str | None]) -> None:
        """Each credential of the file is, or was, its actor's: what was revoked since is told by the runs."""
        with self.store.snapshot() as snapshot:
            actors = {row[0]: row[1] for row in snapshot.execute("SELECT key_id, actor_ref FROM actor_key")}
        for name, kind in self.deployment.kinds.items():
            identity, credential = kind.service_identity, credentials[name]
            key = None if credential is None else signing_key(credential)
            if identity is not None and (key is None or actors.get(key.key_id) != identity.actor):
                raise StartRefused(
                    f"{self.deployment.place(name, 'service_identity')}: {identity.credential_file} holds no "
                    f"credential of {identity.actor} in this journal: name the file of one, or register it "
                    "with falsework found"
                )

    def keep(self, indexes: Indexes, administrator: ServiceIdentity) -> Kept:
        """What an administrator owes the journal now and then: late placements, purges, and a checkpoint.

        Nothing is purged of an invocation that still stands open: its account could not be read any more.
        """
        credential = credential_in(administrator.credential_file)
        steward = Steward(self.trail, administrator.actor, credential)
        owed = {intent.event_id for intent in indexes.every_open_intent()}
        placed = _until_done(steward.place_late)
        purged = _until_done(lambda: steward.purge(spares=owed.__contains__))
        swept = self.store.sweep_destroyed() if purged else None
        witness = self.deployment.journal.witness
        if witness is None:
            return Kept(placed, purged, None, swept)
        notary = Notary(self.trail, credential, FileWitness(witness))
        return Kept(placed, purged, notary.checkpoint().size, swept)

    def close(self) -> None:
        """The store is no longer open."""
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def credential_in(path: Path) -> str:
    """The credential that a file holds."""
    try:
        text = path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as problem:
        raise BindingError(f"{path}: cannot be read as a credential ({problem})") from problem
    if not text:
        raise BindingError(f"{path}: is empty where a credential is expected")
    if signing_key(text) is None:
        raise BindingError(f"{path}: holds no credential: write ed25519: and the 43 characters of its seed")
    return text


def _until_done(act: Callable[[], RecordAnswer | NothingToDo]) -> int:
    """How many acts it took until nothing was left to do; one that the journal refuses is told."""
    acts = 0
    while True:
        answer = act()
        if isinstance(answer, NothingToDo):
            return acts
        if not isinstance(answer, Recorded):
            raise TrailError(f"the journal could not be kept: {answer}")
        acts += 1


def opened_trail(deployment: Deployment, store: Store) -> AuditTrail:
    """The trail that the store holds; a store without one is told by its place."""
    try:
        return AuditTrail(store, caps_of(deployment))
    except TrailError as problem:
        url = deployment.journal.store  # a server's may hold a password
        file = url.removeprefix("sqlite:") if url.startswith("sqlite:") else "its postgresql store"
        raise StartRefused(f"{deployment.path}: {file}: {problem}") from problem


def hosted(deployment: Deployment, clock: Clock | None = None) -> Host:
    """The deployment's journal, opened, and no older than what its witness has seen."""
    clock = clock or SystemClock()
    store = opened_store(deployment, clock)
    try:
        trail = opened_trail(deployment, store)
        refuse_another_journal(deployment, trail)
    except BaseException:
        store.close()
        raise
    return Host(deployment, store, trail, clock)


def refuse_another_journal(deployment: Deployment, trail: AuditTrail) -> None:
    """The journal is the one that the deployment's witness knows, and no older than what it has seen."""
    witness = deployment.journal.witness
    if witness is None:
        return
    try:
        refuse_a_rollback(trail, FileWitness(witness))
    except RolledBack as problem:
        raise StartRefused(f"{deployment.path}: {witness}: {problem}") from problem

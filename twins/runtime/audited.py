"""Runtimes that are wrong on purpose and leave a journal that shows it: one mistake of the field each.

Each bends one instance, or what an administrator does to its journal at last, and names the check of the
audit that has to reject what it leaves behind.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from falsework.runtime import trail
from falsework.runtime.invocation.answers import Committed, NotCommitted, StoreUnavailable, Undecidable
from falsework.runtime.invocation.keyed import Act, Invocation
from falsework.runtime.invocation.parties import Parties, Probe
from falsework.runtime.invocation.section import Standing
from falsework.runtime.trail.checkpoint import Checkpoint, FileWitness, Note
from falsework.runtime.trail.identity import SigningKey
from falsework.runtime.trail.steward import Steward
from falsework.runtime.trail.through import Through


@dataclass(frozen=True, slots=True)
class Stranger:
    """Somebody else's name and credential."""

    actor: str
    credential: str


class TrailWithoutFence(Through):
    """The fence is declared, and never reaches the journal."""

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        return self.inner.record_action(action_ref, actor_ref, credential, data)


class TrailThatRetriesBlind(Through):
    """A lost reply is taken for a failure, and the record is written again at once."""

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        answer = self.inner.record_action(action_ref, actor_ref, credential, data, fence=fence)
        if isinstance(answer, trail.ReplyLost):
            return self.inner.record_action(action_ref, actor_ref, credential, data, fence=fence)
        return answer


class TrailThatAdoptsByValue(Through):
    """After a lost reply whatever looks like the record is taken for it: the same act, by the same actor."""

    def record_action(
        self,
        action_ref: str,
        actor_ref: str,
        credential: str,
        data: trail.Data,
        *,
        fence: trail.Fence | None = None,
    ) -> trail.RecordAnswer:
        answer = self.inner.record_action(action_ref, actor_ref, credential, data, fence=fence)
        page = self.inner.read_range(0) if isinstance(answer, trail.ReplyLost) else None
        for record in page.records if isinstance(page, trail.Page) else ():
            same = (record.action_ref, record.actor_ref) == (action_ref, actor_ref)
            if same and record.data is not None and record.data.get("act_key") == data.get("act_key"):
                return trail.Recorded(record.event_id, record.sequence_number, record.recorded_at)
        return answer


def outage_is_an_answer(probe: Probe) -> Probe:
    """A store that cannot be read is taken for one that holds nothing."""

    def asked(act_key: str, payload: trail.Data) -> object:
        answer = probe(act_key, payload)
        return NotCommitted() if isinstance(answer, StoreUnavailable) else answer

    return asked  # type: ignore[return-value]


def picks(outcome: Callable[[str, trail.Data], Committed]) -> Callable[[Probe], Probe]:
    """Of several candidates the first is taken for the act's own record."""

    def bent(probe: Probe) -> Probe:
        def asked(act_key: str, payload: trail.Data) -> object:
            answer = probe(act_key, payload)
            return outcome(act_key, payload) if isinstance(answer, Undecidable) else answer

        return asked  # type: ignore[return-value]

    return bent


def trusts_a_stale_index(parties: Parties) -> None:
    """Under the section the maps are believed as they were: an act that was open then is open still."""
    section, read = parties.section, parties.indexes.in_the_journal
    take, release = section.take, section.release
    under: set[Standing] = set()

    def taken(standing: Standing, duration: int) -> bool:
        under.update({standing} if (had := take(standing, duration)) else ())
        return had

    def released(standing: Standing) -> None:
        under.discard(standing)
        release(standing)

    def believed(act: Act, invocation_id: str) -> Invocation | trail.Unavailable:
        holds = any(section.remaining(standing) is not None for standing in under)
        return Invocation() if holds else read(act, invocation_id)

    section.take, section.release = taken, released  # type: ignore[method-assign]
    parties.indexes.in_the_journal = believed  # type: ignore[method-assign]


def closes_under_another(stranger: Stranger) -> Callable[[Parties], None]:
    """The sweep closes under whatever credential is at hand."""

    def bend(parties: Parties) -> None:
        kinds = {
            name: replace(kind, service_identity=replace(kind.service_identity, actor=stranger.actor))
            for name, kind in parties.deployment.kinds.items()
            if kind.service_identity is not None
        }
        parties.deployment = replace(parties.deployment, kinds={**parties.deployment.kinds, **kinds})
        parties.credentials.update(dict.fromkeys(kinds, stranger.credential))

    return bend


def through(wrong: Callable[[trail.Trail], trail.Trail]) -> Callable[[Parties], None]:
    """The instance writes through that trail."""

    def bend(parties: Parties) -> None:
        parties.trail = wrong(parties.trail)

    return bend


def probing(wrong: Callable[[Probe], Probe]) -> Callable[[Parties], None]:
    """The instance asks the store so."""

    def bend(parties: Parties) -> None:
        parties.probes.update(
            {name: wrong(probe) for name, probe in parties.probes.items() if probe is not None}
        )

    return bend


class ImpatientSteward(Steward):
    """What is not due yet is purged all the same, so that nobody can ask for it any more."""

    def purge_at_once(self, seq: int, event_id: str) -> None:
        """The payload is destroyed now, by a purge that the administrator signs."""
        from falsework.runtime.trail.steward import PURGED, Act

        def change(transaction: object, by: int) -> None:
            run = transaction.execute  # type: ignore[attr-defined]
            run("UPDATE journal SET salt = NULL, payload = NULL WHERE seq = ?", (seq,))
            run("INSERT INTO destroyed (seq, purge_seq) VALUES (?, ?)", (seq, by))

        act = Act({"destroyed": [[seq, event_id]]}, change)
        self._act("trail.purge", PURGED, lambda *_: act)


def sign_unread(trail_id: str, size: int, key: SigningKey, witness: FileWitness, taken_at: int) -> None:
    """A notary signs a checkpoint of that many records without having looked at one."""
    said = Checkpoint(trail_id, size, bytes(32), size, bytes(32), taken_at)
    witness.hold(Note(said, key.key_id, key.sign(said.text().encode())).text(key.public_key))


Bend = Callable[[Parties], None]


def bends(
    outcome: Callable[[str, trail.Data], Committed], stranger: Stranger
) -> Mapping[str, tuple[Bend, str]]:
    """Every wrong instance by its mistake: how it is bent, and the check that rejects its journal."""
    return {
        "no fence": (through(TrailWithoutFence), "2.1"),
        "blind retry of a lost reply": (through(TrailThatRetriesBlind), "2.1"),
        "adoption by equal value": (through(TrailThatAdoptsByValue), "1.1"),
        "an outage read as not committed": (probing(outage_is_an_answer), "6.3"),
        "a sweep that picks a candidate": (probing(picks(outcome)), "6.1"),
        "a stale index trusted": (trusts_a_stale_index, "2.1"),
        "closing under another actor": (closes_under_another(stranger), "2.6"),
    }


FORGED_PURGE, UNREAD_NOTE = "8.1d", "8.1h"
"""The checks that reject a purge of what is kept, and a note by who did not read."""

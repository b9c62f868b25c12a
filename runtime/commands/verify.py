"""Whether a deployment's journal is what was recorded: its chain, attestations, payloads and checkpoints.

Everything is read once, and nothing is written. Exit code 0 means that all of it is as it was recorded, up to
the last checkpoint that the witness holds and beyond it as far as the chain tells; 10, that something was
tampered with, and where; 12, that there is no witness's checkpoint, so that records may be gone from the end
without a trace, or that the journal could not be read; 13, that the input cannot be used.

example: falsework verify ledger.yaml --witness /mnt/elsewhere/ledger.witness
"""

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from falsework.runtime.commands.outcome import NOT_MET, OK, CommandError, add_deployment, with_deployment
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.host import opened_store
from falsework.runtime.invocation.keyed import misplaced
from falsework.runtime.store import Store, StoreError
from falsework.runtime.trail.checkpoint import FileWitness
from falsework.runtime.trail.verify import Reason, Verdict, verify

NOT_CHECKED = 12


@dataclass(frozen=True, slots=True)
class Seen:
    """What was verified, against how many of the witness's checkpoints, and what the acts' index says."""

    verdict: Verdict
    witness: Path | None
    notes: int
    misplaced: str | None

    @property
    def tampered(self) -> bool:
        """Whether anything is not as it was recorded."""
        fault = self.verdict.fault
        return self.misplaced is not None or (fault is not None and fault.reason is not Reason.UNREADABLE)

    @property
    def unread(self) -> str | None:
        """Why the journal could not be verified to its end; None where it was."""
        fault = self.verdict.fault
        return fault.detail if fault is not None and fault.reason is Reason.UNREADABLE else None

    @property
    def code(self) -> int:
        """The exit code."""
        if self.tampered:
            return NOT_MET
        return OK if self.unread is None and self.notes else NOT_CHECKED


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which journal, against which witness."""
    add_deployment(parser)
    parser.add_argument(
        "--witness", type=Path, metavar="FILE", help="the witness's file, if not the one declared"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how it is told")


def run(args: argparse.Namespace) -> int:
    """Verifies, and prints what was checked and what was not."""

    def verifying(deployment: Deployment) -> int:
        witness: Path | None = args.witness or deployment.journal.witness
        if args.witness is not None and not args.witness.is_file():
            raise CommandError(f"--witness {args.witness}: is no file: give the one that a witness wrote")
        notes = [] if witness is None else FileWitness(witness).held()
        store = opened_store(deployment)
        try:
            seen = Seen(verify(store, notes), witness, len(notes), _misplaced(store))
        finally:
            store.close()
        sys.stdout.write(as_json(seen) if args.format == "json" else as_text(seen))
        return seen.code

    return with_deployment(args.deployment, verifying)


def _misplaced(store: Store) -> str | None:
    """What the index of the acts says otherwise than the payloads; what cannot be read is the verdict's."""
    try:
        return misplaced(store)
    except StoreError:
        return None


def as_text(seen: Seen) -> str:
    """The answer first, then what was checked, then what was not."""
    verdict, fault = seen.verdict, seen.verdict.fault
    if seen.tampered:
        lines = ["TAMPERED"]
        if fault is not None and seen.unread is None:
            where = "the journal" if fault.sequence_number is None else f"record {fault.sequence_number}"
            lines.append(f"  {where}: {fault.reason.value}: {fault.detail}")
        if seen.misplaced is not None:
            lines.append(f"  {seen.misplaced}")
    elif seen.unread is not None:
        lines = [f"NOT CHECKED: the journal cannot be read: {seen.unread}"]
    else:
        lines = ["AS RECORDED" if seen.notes else "AS RECORDED, and NOT CHECKED for records that are gone"]
    lines.append(
        f"checked: {verdict.records} records, each with its link, its attestation and its place; "
        f"{verdict.destroyed} payloads destroyed by purges; {verdict.checkpoints} checkpoints"
    )
    if not seen.notes:
        where = "no witness is declared" if seen.witness is None else f"{seen.witness} holds no checkpoint"
        lines.append(f"not checked: whether records are gone from the journal's end, for {where}")
    elif not seen.tampered and seen.unread is None:
        lines.append(f"not witnessed yet: the last {verdict.unwitnessed} records, if they are all")
    if verdict.unplaced:
        lines.append(f"not placed yet: {verdict.unplaced} records have no retention: falsework keep")
    return "\n".join(lines) + "\n"


def as_json(seen: Seen) -> str:
    """The same for machines."""
    fault = seen.verdict.fault
    document = {
        "version": 1,
        "tampered": seen.tampered,
        "unread": seen.unread,
        "fault": None if fault is None else {**asdict(fault), "reason": fault.reason.name.lower()},
        "misplaced": seen.misplaced,
        "records": seen.verdict.records,
        "destroyed": seen.verdict.destroyed,
        "unplaced": seen.verdict.unplaced,
        "checkpoints": seen.verdict.checkpoints,
        "witness": None if seen.witness is None else str(seen.witness),
        "witnessed_notes": seen.notes,
        "unwitnessed": seen.verdict.unwitnessed,
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

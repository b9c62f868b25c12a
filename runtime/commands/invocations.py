"""The invocations that the journal holds, with the state of each; of one act with all its records.

Exit code 0 means that the journal was read; 10, that the act that was asked for is not known.

example: falsework invocations ledger.yaml --state open
"""

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from falsework.runtime.commands.outcome import NOT_MET, OK, CommandError, add_deployment, with_host
from falsework.runtime.invocation.answers import State
from falsework.runtime.invocation.host import Host
from falsework.runtime.invocation.keyed import Invocation
from falsework.runtime.invocation.log import instant
from falsework.runtime.invocation.records import Closing, Intent, Noted
from falsework.runtime.invocation.standing import duplicated, state
from falsework.runtime.invocation.units import spoken


@dataclass(frozen=True, slots=True)
class Line:
    """One invocation as it is listed; its records are listed only where one act is asked for."""

    kind: str
    act_key: str
    invocation_id: str
    intent_event_id: str
    actor_ref: str
    state: str
    binding_duplicate: bool
    recorded_at: int
    age: int
    records: list[dict[str, object]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which invocations, and how."""
    add_deployment(parser)
    parser.add_argument("kind", nargs="?", metavar="KIND", help="one kind of act")
    parser.add_argument("act_key", nargs="?", metavar="ACT_KEY", help="one act, with all its records")
    parser.add_argument("--state", choices=[each.value for each in State], help="those in one state alone")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how they are written")


def run(args: argparse.Namespace) -> int:
    """Prints the invocations, the oldest first."""

    def listing(host: Host) -> int:
        if args.kind is not None and args.kind not in host.deployment.kinds:
            bound = ", ".join(host.deployment.kinds)
            raise CommandError(f"{host.deployment.path} binds no kind {args.kind!r}: write one of {bound}")
        lines = list(_lines(host, args.kind, args.act_key))
        shown = [line for line in lines if args.state in (None, line.state)]
        sys.stdout.write(as_json(shown) if args.format == "json" else as_text(shown))
        return NOT_MET if args.act_key is not None and not lines else OK

    return with_host(args.deployment, listing)


def _lines(host: Host, kind: str | None, act_key: str | None) -> Iterable[Line]:
    """Every invocation whose intent can be read, of the kind or the act if one is asked for."""
    now, keyed = host.clock.now(), host.keyed()
    one_act = kind is not None and act_key is not None
    every = keyed.act((kind, act_key)).items() if kind is not None and act_key is not None else keyed.every()
    for invocation_id, found in every:
        if found.intents and kind in (None, found.intents[0].kind):
            yield _line(found.intents[0], invocation_id, found, now, with_records=one_act)


def _line(intent: Intent, invocation_id: str, found: Invocation, now: int, *, with_records: bool) -> Line:
    ordered = sorted(found.records(), key=lambda record: record.sequence_number) if with_records else []
    return Line(
        intent.kind,
        intent.act_key,
        invocation_id,
        intent.event_id,
        intent.actor_ref,
        state(found.closings).value,
        duplicated(found.closings),
        intent.recorded_at,
        now - intent.recorded_at,
        [_record(record) for record in ordered],
    )


def _record(record: Noted) -> dict[str, object]:
    """What the maps know of a record: the payload stays in the journal."""
    fields: dict[str, object] = {
        "sequence_number": record.sequence_number,
        "event_id": record.event_id,
        "action_ref": record.action_ref,
        "actor_ref": record.actor_ref,
        "recorded_at": record.recorded_at,
    }
    if isinstance(record, Closing):
        fields |= {
            "recovery": record.recovery,
            "resolved_by": record.resolved_by,
            "supersedes": list(record.supersedes),
        }
    return fields


def as_text(lines: list[Line]) -> str:
    """An invocation in two lines, and a line for each of its records."""
    text: list[str] = []
    for line in lines:
        rivals = "  BINDING DUPLICATE" if line.binding_duplicate else ""
        text.append(f"{line.state:<9}  {line.kind} {line.act_key}{rivals}")
        since = f"{instant(line.recorded_at)} ({spoken(line.age // 1_000_000 * 1_000_000)} ago)"
        text.append(f"    {line.invocation_id} by {line.actor_ref}, {since}, intent {line.intent_event_id}")
        text += [
            f"      {record['sequence_number']}  {record['action_ref']} by {record['actor_ref']}"
            for record in line.records
        ]
    return "\n".join(text) + "\n" if text else "no invocations\n"


def as_json(lines: list[Line]) -> str:
    """The same for machines: every instant and age in microseconds."""
    return json.dumps({"version": 1, "invocations": [asdict(line) for line in lines]}, indent=2) + "\n"

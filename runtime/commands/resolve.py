"""An operator closes an act that the sweep cannot: with its outcome, as abandoned, or as escalated.

The invocation's id and its intent's event are told by `falsework invocations`. What is written stands under
the operator's own credential, and names whatever closing it supersedes. Exit code 0 means that it is written;
10, that the journal holds something against it.

example: falsework resolve ledger.yaml ledger ACT_KEY INVOCATION INTENT --actor olga \
  --credential-file olga.key --abandon "the store has been quiet for a day"
"""

import argparse
import json
import sys
from pathlib import Path
from typing import cast

from falsework.runtime.commands.outcome import (
    NOT_MET,
    OK,
    CommandError,
    add_deployment,
    with_host,
)
from falsework.runtime.invocation.answers import (
    Abandon,
    Disposition,
    Escalate,
    InvalidCredential,
    InvalidRequest,
    Outcome,
    ResolveAnswer,
    Resolved,
    ResolveRefusal,
)
from falsework.runtime.invocation.host import Host, credential_in
from falsework.runtime.invocation.log import JsonLines
from falsework.runtime.trail import Data

SHOWN = 100
"""So many characters of an argument are shown in a message at most."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which act, who closes it, and as what."""
    add_deployment(parser)
    parser.add_argument("kind", metavar="KIND")
    parser.add_argument("act_key", metavar="ACT_KEY")
    parser.add_argument("invocation_id", metavar="INVOCATION")
    parser.add_argument("intent_event_id", metavar="INTENT")
    parser.add_argument("--actor", required=True, metavar="NAME", help="the operator")
    parser.add_argument("--credential-file", required=True, type=Path, metavar="FILE")
    disposition = parser.add_mutually_exclusive_group(required=True)
    disposition.add_argument("--outcome", nargs=2, metavar=("REF", "JSON"), help="the act happened")
    disposition.add_argument("--abandon", metavar="CAUSE", help="the act did not happen")
    disposition.add_argument(
        "--escalate", nargs="*", metavar="CANDIDATE", help="these records may be the act's"
    )


def run(args: argparse.Namespace) -> int:
    """Resolves, and prints the answer's code, or the closing's event."""

    def resolving(host: Host) -> int:
        disposition = _disposition(args)
        instance = host.started(JsonLines(sys.stderr.write, host.clock))
        answer = instance.resolve(
            args.kind,
            args.act_key,
            args.invocation_id,
            args.intent_event_id,
            args.actor,
            credential_in(args.credential_file),
            disposition,
        )
        if isinstance(answer, Resolved):
            sys.stdout.write(f"resolved by {answer.closing_event_id}\n")
            return OK
        _refuse_bad_input(answer, args.credential_file)
        detail = getattr(answer, "detail", "")
        sys.stdout.write(f"refused: {answer.code}{f': {detail}' if detail else ''}\n")
        return NOT_MET

    return with_host(args.deployment, resolving)


def _refuse_bad_input(answer: ResolveAnswer, credential_file: Path) -> None:
    """The answer is not about what was given, but about what the journal holds."""
    match answer:
        case InvalidCredential():
            raise CommandError(f"{credential_file}: {answer.code}: {answer.detail}")
        case InvalidRequest(cause=ResolveRefusal.MALFORMED | ResolveRefusal.CANDIDATES_OVER_CAP):
            raise CommandError(f"{answer.code}: {answer.detail}")


def _disposition(args: argparse.Namespace) -> Disposition:
    """What the operator disposes, as the arguments say it."""
    if args.abandon is not None:
        return Abandon(args.abandon)
    if args.escalate is not None:
        return Escalate(tuple(args.escalate))
    ref, text = args.outcome
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as problem:
        shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}…"
        raise CommandError(f"--outcome {ref}: {shown!r} is no JSON ({problem}): write an object") from problem
    if not isinstance(data, dict):
        raise CommandError(
            f'--outcome {ref}: {text!r} is no object: write one, such as \'{{"id": "dsc-1"}}\''
        )
    return Outcome(ref, cast(Data, data))

"""A deployment's journal audited: checks 1 to 8 of the text, from its records and its store alone.

Nothing is written, and no line of the runtime's writers is used. Exit code 0 means cleared, 10 violated, 11
that there was nothing to audit, 12 that something could not be checked, 13 that the input cannot be used.

example: falsework audit ledger.yaml --journal copy.db --witness ledger.witness --format markdown
"""

import argparse
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from falsework.runtime.audit.auditor import Asked, audit
from falsework.runtime.audit.found import Verdict
from falsework.runtime.audit.opened import NotAudited
from falsework.runtime.audit.written import FORMATS

EXIT = {Verdict.CLEARED: 0, Verdict.VIOLATED: 10, Verdict.VACUOUS: 11, Verdict.NOT_CHECKED: 12}
BAD_INPUT = 13


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What is audited, as of when, and how it is told."""
    parser.add_argument("deployment", metavar="DEPLOYMENT.yaml", type=Path, help="the deployment file")
    parser.add_argument(
        "--journal", type=Path, metavar="COPY.db", help="a copy of the SQLite journal, offline"
    )
    parser.add_argument(
        "--witness", type=Path, metavar="FILE", help="the witness's file, if not the one declared"
    )
    parser.add_argument(
        "--at",
        metavar="INSTANT",
        help="as of when, such as 2026-11-30T12:00:00Z; else the store's own clock, "
        "or the newest instant that a copy shows",
    )
    parser.add_argument("--no-probe", action="store_true", help="do not ask the adopter's store: exit 12")
    parser.add_argument("--format", choices=tuple(FORMATS), default="text", help="how it is told")


def run(args: argparse.Namespace) -> int:
    """Prints the audit."""
    try:
        asked = Asked(args.deployment, args.journal, args.witness, _instant(args.at), not args.no_probe)
        found = audit(asked)
    except NotAudited as problem:
        sys.stderr.write(f"falsework: {problem}\n")
        return BAD_INPUT
    sys.stdout.write(FORMATS[args.format](found))
    return EXIT[found.verdict]


def _instant(text: str | None) -> int | None:
    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError as problem:
        raise NotAudited(f"--at {text}: is no instant ({problem}): write 2026-11-30T12:00:00Z") from problem
    since = found.replace(tzinfo=found.tzinfo or UTC) - datetime(1970, 1, 1, tzinfo=UTC)
    return since // timedelta(microseconds=1)

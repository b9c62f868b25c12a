"""The findings register: which acts could not be closed, which outages there were, and for how long.

A finding stands while its outage has not ended, or its act is still open or has two closings. Exit code 0
means that none stands.

example: falsework findings ledger.yaml --standing
"""

import argparse
import json
import sys

from falsework.runtime.commands.outcome import NOT_MET, OK, add_deployment, with_host
from falsework.runtime.invocation.attention import stands
from falsework.runtime.invocation.findings import Finding
from falsework.runtime.invocation.host import Host
from falsework.runtime.invocation.log import instant


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which findings, and how."""
    add_deployment(parser)
    parser.add_argument("--standing", action="store_true", help="leave out what is over")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="how they are written")


def run(args: argparse.Namespace) -> int:
    """Prints the findings, the oldest first."""

    def listing(host: Host) -> int:
        found = host.register().findings()
        indexes, now = host.reading(), host.clock.now()
        standing = [finding for finding in found if stands(finding, indexes, now)]
        shown = standing if args.standing else list(found)
        sys.stdout.write(as_json(shown) if args.format == "json" else as_text(shown))
        return NOT_MET if standing else OK

    return with_host(args.deployment, listing)


def as_text(found: list[Finding]) -> str:
    """A finding in two lines: what and where, then since when and why."""
    lines: list[str] = []
    for finding in found:
        about = " ".join(filter(None, (finding.kind, finding.act_key, finding.invocation_id)))
        lines.append(f"{finding.finding.value}  {about or 'the instance'}")
        span = f"since {instant(finding.first_seen)}"
        if finding.last_seen is not None:
            span += f", last seen {instant(finding.last_seen)}"
        if finding.closed_at is not None:
            span += f", ended {instant(finding.closed_at)}"
        lines.append(f"    {span}  (run {finding.run_id})")
        lines.append(f"    {finding.detail}")
    return "\n".join(lines) + "\n" if lines else "no findings\n"


def as_json(found: list[Finding]) -> str:
    """The same for machines: every instant in microseconds since 1970."""
    document = {
        "version": 1,
        "findings": [
            {
                "finding": finding.finding.value,
                "kind": finding.kind,
                "act_key": finding.act_key,
                "invocation_id": finding.invocation_id,
                "detail": finding.detail,
                "run_id": finding.run_id,
                "first_seen": finding.first_seen,
                "last_seen": finding.last_seen,
                "closed_at": finding.closed_at,
            }
            for finding in found
        ],
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

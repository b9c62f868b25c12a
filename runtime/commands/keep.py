"""What an administrator owes a journal, once: late places, purges of what is past retention, a checkpoint.

A sweep does the same after each of its runs where the deployment names a steward; this is for whoever keeps
the administrator's credential away from the nodes. Nothing is purged of an invocation that stands open. Exit
code 0 means that all of it is done.

example: falsework keep ledger.yaml --administrator admin --credential-file admin.key
"""

import argparse
import sys
from pathlib import Path

from falsework.runtime.commands.outcome import OK, CommandError, add_deployment, with_host
from falsework.runtime.invocation.figures import ServiceIdentity
from falsework.runtime.invocation.host import Host


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Which journal, and whose acts these are."""
    add_deployment(parser)
    parser.add_argument("--administrator", metavar="NAME", help="if not the journal's steward")
    parser.add_argument("--credential-file", type=Path, metavar="FILE", help="the administrator's credential")


def run(args: argparse.Namespace) -> int:
    """Keeps the journal, and says what was done."""

    def keeping(host: Host) -> int:
        kept = host.keep(host.reading(), _steward(args, host))
        witnessed = "no witness is declared" if kept.checkpoint is None else f"{kept.checkpoint} records"
        sys.stdout.write(
            f"placed late: {kept.placed} times\npurged: {kept.purged} times\nwitnessed: {witnessed}\n"
        )
        if kept.swept is False:
            sys.stdout.write(
                "destroyed payloads may stay in the database's log while a reader needs it: run it again\n"
            )
        return OK

    return with_host(args.deployment, keeping)


def _steward(args: argparse.Namespace, host: Host) -> ServiceIdentity:
    """Whose acts these are: who is named, else the deployment's own steward."""
    if (args.administrator is None) != (args.credential_file is None):
        raise CommandError("--administrator and --credential-file: give both, or neither")
    if args.administrator is not None:
        return ServiceIdentity(args.administrator, args.credential_file)
    steward = host.deployment.journal.steward
    if steward is None:
        raise CommandError(
            f"{host.deployment.path}: names no steward: give --administrator and --credential-file"
        )
    return steward

"""One run of the sweep, or one on every cadence: each act that is owed an account gets one, or a finding.

Every run is a line of JSON, and so is every alert. With --metrics the figures are written to a file after
each run, in the text that Prometheus reads. Where the deployment names a steward, each run also purges what
is past its retention, and takes a checkpoint for the witness. Exit code 0 means that the last run reached
every act that it kept.

example: falsework sweep ledger.yaml --every-cadence --metrics ledger.prom
"""

import argparse
import os
import sys
from dataclasses import asdict
from pathlib import Path

from falsework.runtime.clock import SystemClock, SystemWaiter, Waiter
from falsework.runtime.commands.outcome import NOT_MET, OK, CommandError, add_deployment, with_host
from falsework.runtime.invocation.answers import Tally
from falsework.runtime.invocation.bindings import BindingError
from falsework.runtime.invocation.figures import Deployment
from falsework.runtime.invocation.host import Host, held_beside, hold_an_outage
from falsework.runtime.invocation.instance import Instance, StartRefused
from falsework.runtime.invocation.log import JsonLines
from falsework.runtime.invocation.metrics import metrics
from falsework.runtime.store import StoreError
from falsework.runtime.trail.journal import TrailError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """How often, and where the figures go."""
    add_deployment(parser)
    parser.add_argument(
        "--every-cadence", action="store_true", help="run on the reconciliation cadence until interrupted"
    )
    parser.add_argument(
        "--runs", type=_runs, metavar="N", help="with --every-cadence: stop after so many runs"
    )
    parser.add_argument("--metrics", type=Path, metavar="FILE", help="where the figures are written")


def _runs(text: str) -> int:
    """The number of runs."""
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of runs: write 1 or more")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """Sweeps, and answers whether the last run reached everything."""

    def sweeping(host: Host) -> int:
        log = JsonLines(_line, host.clock)
        instance = host.started(log)
        held_beside(host.deployment).ready()
        runs = args.runs if args.every_cadence else 1
        return sweep(host, instance, log, SystemWaiter(host.clock), runs, args.metrics)

    return with_host(args.deployment, sweeping, _lost)


def _lost(deployment: Deployment, problem: StoreError) -> None:
    """A run that could not begin is one that saw the outage: its span is told once the journal is back."""
    clock = SystemClock()
    where = hold_an_outage(deployment, clock, str(problem))
    if where is not None:
        JsonLines(_line, clock).event("findings held", "alert", where=where, seen="journal-unavailable")


def _line(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def sweep(
    host: Host, instance: Instance, log: JsonLines, waiter: Waiter, runs: int | None, file: Path | None
) -> int:
    """So many runs, or runs without end, each a cadence after the end of the one before."""
    done = 0
    while True:
        code = _one_run(host, instance, log, file)
        done += 1
        if done == runs:
            return code
        next_run = host.clock.now() + host.deployment.figures.reconciliation_cadence
        while host.clock.now() < next_run:
            waiter.wait_until(next_run)


def _one_run(host: Host, instance: Instance, log: JsonLines, file: Path | None) -> int:
    """One run, its line, its figures and the journal's keeping; on wrong clocks nothing is written."""
    try:
        host.refuse_wrong_clocks()
    except StartRefused as problem:
        log.event("clock offset exceeded", "alert", detail=str(problem))
        return NOT_MET
    begun = host.clock.now()
    answer = instance.reconcile()
    took = (host.clock.now() - begun) / 1_000_000
    if not isinstance(answer, Tally):
        log.event("run", "error", code=answer.code, detail=answer.detail, seconds=took)
        return NOT_MET
    log.event("run", **asdict(answer), seconds=took)
    if file is not None:
        _publish(host, instance, file)
    return NOT_MET if not _kept(host, instance, log) or answer.unreached else OK


def _kept(host: Host, instance: Instance, log: JsonLines) -> bool:
    """The steward has done what is due; what keeps it from that is told, and stops no run."""
    steward = host.deployment.journal.steward
    if steward is None:
        return True
    try:
        kept = host.keep(instance.parties.indexes, steward)
    except (BindingError, StoreError, TrailError) as problem:
        log.event("journal not kept", "alert", detail=str(problem))
        return False
    log.event("kept", placed=kept.placed, purged=kept.purged, checkpoint=kept.checkpoint)
    return True


def _publish(host: Host, instance: Instance, file: Path) -> None:
    """The figures are in the file, whole: no reader ever sees half of them."""
    text = metrics(host.deployment, instance.parties.indexes, instance.findings(), host.clock.now())
    fresh = file.with_name(f"{file.name}.{os.getpid()}.new")
    try:
        try:
            fresh.write_text(text, encoding="utf-8")
            fresh.replace(file)
        except OSError:
            fresh.unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise CommandError(
            f"--metrics {file}: cannot be written ({problem}): give a file in a writable directory"
        ) from problem

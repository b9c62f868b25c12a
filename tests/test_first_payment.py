"""The page of a first payment is run: its files are written, and its commands give what it shows.

What the page leaves out as `…` may be anything within its line. Only the half minute after a death is not
waited for: who comes after it has a clock of its own.
"""

import importlib
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from command_line import falsework
from falsework.runtime.invocation import host as hosts
from falsework.runtime.invocation.deployment import read_deployment
from falsework.runtime.invocation.log import JsonLines
from falsework.runtime.invocation.use import NotOpened
from invocation_world import HandClock

pytestmark = pytest.mark.slow

PAGE = (Path(__file__).parent.parent / "docs" / "first-payment.md").read_text("utf-8")
COMMANDS = [
    text.removeprefix("$ ").partition("\n")[::2]
    for text in re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
]
AFTER_THE_SWEEP = "falsework invocations shop.yaml payment order-2"
DIED = 9


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    yaml, python = (
        re.search(rf"^```{kind}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL) for kind in ("yaml", "python")
    )
    assert yaml is not None
    assert python is not None
    (tmp_path / "shop.yaml").write_text(yaml[1], encoding="utf-8")
    (tmp_path / "shop.py").write_text(python[1], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "shop", raising=False)
    return tmp_path


@contextmanager
def later(folder: Path, seconds: int) -> Iterator[None]:
    """Whoever opens the journal here does so that long from now."""
    with hosts.hosted(read_deployment(folder / "shop.yaml")) as host:
        clock = HandClock(host.store.now() + seconds * 1_000_000)
    with pytest.MonkeyPatch.context() as clocks:
        clocks.setattr(hosts, "SystemClock", lambda: clock)
        yield


def swept(folder: Path, seconds: int) -> dict[str, int]:
    """What a run that long from now counts."""
    with later(folder, seconds):
        line = json.loads(falsework("sweep", "shop.yaml").out)
    return {name: count for name, count in line.items() if type(count) is int and count}


def asked_again(folder: Path) -> str:
    """What a second payment of the order is told once the lease of the first one is over."""
    with later(folder, 31), hosts.hosted(read_deployment(folder / "shop.yaml")) as host:
        instance = host.started(JsonLines(lambda _: None, host.clock))
        with pytest.raises(NotOpened) as told:
            importlib.import_module("shop").pay(instance, "order-2", dies=False)
    return str(told.value)


def as_shown(shown: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, shown.rstrip().split("…"))))


def test_the_page_of_a_first_payment(folder: Path) -> None:
    environment = dict(os.environ)
    codes = []
    for command, shown in COMMANDS:
        if command == AFTER_THE_SWEEP:
            assert swept(folder, 0) == {}
            assert as_shown("act-in-flight(…): nothing was committed").fullmatch(asked_again(folder))
            assert swept(folder, 33) == {"examined": 1, "closed": 1}
        program, *words = shlex.split(command)
        if program == "export":
            name, _, value = words[0].partition("=")
            environment[name] = value
            continue
        run = [sys.executable, *(["-m", "falsework"] if program == "falsework" else []), *words]
        done = subprocess.run(run, env=environment, capture_output=True, text=True, check=False)
        assert as_shown(shown).fullmatch((done.stdout + done.stderr).rstrip()), (command, done)
        codes.append(done.returncode)
    assert codes == [DIED if "dies" in command else 0 for command, _ in COMMANDS if "export" not in command]
    orders = [json.loads(line)["order"] for line in (folder / "charges.jsonl").read_text().splitlines()]
    assert orders == ["order-1", "order-2"]


def test_what_the_page_says_of_the_conditions(folder: Path) -> None:
    sound = falsework("start-check", "shop.yaml")
    assert (sound.code, sound.out.splitlines()[-1]) == (0, "starts")
    text = (folder / "shop.yaml").read_text("utf-8").replace("window: 15 min", "window: 10 min")
    (folder / "shop.yaml").write_text(text, encoding="utf-8")
    failing = falsework("start-check", "shop.yaml")
    assert failing.code == 10
    assert "compensation_window 600 s > 754 s" in failing.out
    assert "start refused: the text's conditions do not hold" in failing.out

"""The lock of locks.py behind JSON lines, in plain Python: it imports nothing of falsework.

With an argument it goes wrong on purpose, in one way: what a program may do but answer.
"""

import json
import os
import signal
import subprocess
import sys
from typing import Any

HELLO = {
    "protocol": 1,
    "model": "locks:Lock",
    "surface": "a lock behind a pipe",
    "refuses": ["free"],
    "internal": [],
}

ODD_HELLOS: dict[str, dict[str, Any]] = {
    "another protocol": {"protocol": 2},
    "no surface": {"surface": " "},
    "a red surface": {"surface": "\x1b[31mred"},
    "a long surface": {"surface": "x" * 61},
    "the surface of logs": {"surface": "observed"},
    "no model": {"model": ""},
}


class Lock:
    """The implementation, and what is wrong with it."""

    def __init__(self, wrong: str) -> None:
        self.owner: int | None = None
        self.wrong = wrong

    def perform(self, action: str, worker: int) -> dict[str, Any]:
        if action == "take":
            if self.owner is not None and self.wrong != "steals":
                return {"is": "ok", "answer": "BUSY"}
            self.owner = worker
            return {"is": "ok", "answer": "TAKEN"}
        if action == "free" and self.owner != worker:
            return {"is": "refused", "why": "it is another's"}
        self.owner = None
        return {"is": "ok"}


def answer(asked: dict[str, Any], lock: Lock) -> dict[str, Any]:
    match asked["do"]:
        case "hello":
            return {"is": "ok", **HELLO, **ODD_HELLOS.get(lock.wrong, {})}
        case "begin":
            if lock.wrong == "cannot begin":
                return {"is": "error", "why": "no room"}
            lock.owner = None
            return {"is": "ok"}
        case "perform":
            return lock.perform(asked["action"], asked["arguments"]["worker"])
        case "observe":
            return {"is": "ok", "variables": {"holder": lock.owner}}
    return {"is": "ok"}


def say(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def misbehave(wrong: str, asked: dict[str, Any]) -> str | None:
    """What is said instead of the answer to the first `take`; None where the answer is as it should be."""
    if asked["do"] != "perform" or asked["action"] != "take":
        return None
    match wrong:
        case "dies":
            sys.stderr.write("lock: out of luck\n")
            sys.exit(3)
        case "is killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "hangs":
            signal.pause()
        case "leaves a child":
            subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
            sys.exit(0)
        case "hangs in the line":
            say('{"id": ')
            signal.pause()
    number = asked["id"]
    said = {
        "garbage": "starting up …\n",
        "empty": "\n",
        "a list": "[1]\n",
        "another id": '{"id": 77, "is": "ok", "answer": "TAKEN"}\n',
        "an old id": '{"id": 1, "is": "ok", "answer": "TAKEN"}\n',
        "no id": '{"is": "ok"}\n',
        "no outcome": f'{{"id": {number}, "answer": "TAKEN"}}\n',
        "another outcome": f'{{"id": {number}, "is": "okay"}}\n',
        "another field": f'{{"id": {number}, "is": "ok", "anwser": "TAKEN"}}\n',
        "a field twice": f'{{"id": {number}, "is": "ok", "is": "ok"}}\n',
        "twice": f'{{"id": {number}, "is": "ok", "answer": "TAKEN"}}\n' * 2,
        "no number": f'{{"id": {number}, "is": "ok", "answer": NaN}}\n',
        "an error": f'{{"id": {number}, "is": "error", "why": "disk full"}}\n',
        "unknown": f'{{"id": {number}, "is": "unknown", "why": "no answer in time"}}\n',
        "a huge number": f'{{"id": {number}, "is": "ok", "answer": {"9" * 5000}}}\n',
        "a huge exponent": f'{{"id": {number}, "is": "ok", "answer": 1e400}}\n',
        "nested": f'{{"id": {number}, "is": "ok", "answer": {"[" * 100_000}\n',
        "a mark in front": f'\ufeff{{"id": {number}, "is": "ok"}}\n',
        "colours": f'\x1b[31m{{"id": {number}, "is": "ok"}}\n',
        "a true id": '{"id": true, "is": "ok"}\n',
        "without end": "x" * 1_100_000,
    }
    return said.get(wrong)


def main() -> None:
    wrong = " ".join(sys.argv[1:])
    lock = Lock(wrong)
    if wrong == "dies at once":
        sys.exit("lock: no such port")
    for line in sys.stdin:
        asked = json.loads(line)
        if wrong == "bytes" and asked["do"] == "observe":
            sys.stdout.buffer.write(b"\xff\xfe\n")
            sys.stdout.flush()
            continue
        instead = misbehave(wrong, asked)
        say(instead if instead is not None else json.dumps({"id": asked["id"], **answer(asked, lock)}) + "\n")
        if wrong == "talks after close" and asked["do"] == "close":
            say("bye\n")
        if wrong == "ends badly" and asked["do"] == "close":
            sys.exit(4)
    if wrong == "stays":
        signal.pause()


if __name__ == "__main__":
    main()

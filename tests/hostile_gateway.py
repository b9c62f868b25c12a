"""A payment gateway over real HTTP that misbehaves as it is told: it loses replies, stalls, and fails late.

It charges whenever it is asked: an order that is asked for twice is charged twice. With its fence on it
applies nothing at or past a charge's deadline, by a clock of its own.
"""

import json
import threading
from collections import deque
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from falsework.runtime.clock import Clock


class HostileGateway:
    """The server on a port of its own, its charges, and what it will do to the next requests."""

    def __init__(self, clock: Clock, *, fenced: bool = True) -> None:
        self.clock = clock
        self.fenced = fenced
        self.charges: list[dict[str, Any]] = []
        self.asked = 0
        self.moods: deque[str] = deque()  # "lose", "stall", "fail late", "decline", "down", "twice"
        self.stalled: list[dict[str, Any]] = []
        self.released = threading.Event()
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                size = int(self.headers["Content-Length"])
                gateway.post(self, json.loads(self.rfile.read(size)))

            def do_GET(self) -> None:
                gateway.get(self, parse_qs(urlsplit(self.path).query)["order"][0])

            def log_message(self, *_: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.005,))
        self.address = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.released.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def mood(self) -> str:
        return self.moods.popleft() if self.moods else "kind"

    def post(self, handler: BaseHTTPRequestHandler, body: dict[str, Any]) -> None:
        self.asked += 1
        mood = self.mood()
        if mood == "decline":
            answered(handler, 402, {"code": "card-declined", "reason": "no funds"})
        elif mood == "stall":
            self.stalled.append(body)
            self.released.wait(5)
        elif not self.apply(body):
            answered(handler, 409, {"code": "past-deadline", "reason": "too late"})
        elif mood == "lose":
            handler.close_connection = True
        elif mood == "fail late":
            answered(handler, 500, {})
        elif mood == "twice":
            self.apply(body)
            handler.close_connection = True
        else:
            answered(handler, 201, self.charges[-1])

    def get(self, handler: BaseHTTPRequestHandler, order: str) -> None:
        if self.mood() == "down":
            answered(handler, 503, {})
            return
        answered(handler, 200, {"charges": [charge for charge in self.charges if charge["order"] == order]})

    def apply(self, body: dict[str, Any]) -> bool:
        """The card is charged, once more whenever this is called; a fenced charge not past its deadline."""
        if self.fenced and body["deadline"] is not None and self.clock.now() >= body["deadline"]:
            return False
        self.charges.append({**body, "charge_id": f"ch-{len(self.charges) + 1}"})
        return True

    def apply_what_stalled(self) -> list[bool]:
        """What was held back comes through now, or is refused for being late."""
        return [self.apply(self.stalled.pop(0)) for _ in range(len(self.stalled))]


def answered(handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
    text = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Length", str(len(text)))
    handler.end_headers()
    handler.wfile.write(text)

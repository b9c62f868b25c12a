"""A wire between a store and its server, which is cut before a commit gets there, or before its reply.

It speaks no PostgreSQL: it forwards bytes, and looks for one word in what goes to the server.
"""

import select
import socket
import threading
from types import TracebackType
from typing import Self


class Wire:
    """Forwards connections to a server; cuts all of them when it is told to."""

    def __init__(self, host: str, port: int) -> None:
        self._server = (host, port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._cut_before: bytes | None = None
        self._cut_after: bytes | None = None
        self.cuts = 0
        self._open = True
        self._threads = [threading.Thread(target=self._accept)]
        self._threads[0].start()

    def cut_before(self, word: bytes) -> None:
        """The next message with the word does not reach the server, and its connection is gone."""
        self._cut_before = word

    def cut_after(self, word: bytes) -> None:
        """The next message with the word reaches the server, and its reply reaches nobody."""
        self._cut_after = word

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if not self._open:
                client.close()
                return
            thread = threading.Thread(target=self._forward, args=(client,))
            self._threads.append(thread)
            thread.start()

    def _forward(self, client: socket.socket) -> None:
        """Bytes go both ways until one side ends, or the wire is cut."""
        with client, socket.create_connection(self._server) as server:
            cut = False
            while self._open:
                ready, _, _ = select.select([client, server], [], [], 0.05)
                for side in ready:
                    data = side.recv(65_536)
                    if not data:
                        return
                    if side is server:
                        if cut:  # the server has answered, so it is done with what it was sent
                            self.cuts += 1
                            return
                        client.sendall(data)
                    elif self._cut_before is not None and self._cut_before in data:
                        self._cut_before = None
                        self.cuts += 1
                        return
                    else:
                        if self._cut_after is not None and self._cut_after in data:
                            self._cut_after, cut = None, True
                        server.sendall(data)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        with socket.create_connection(("127.0.0.1", self.port)):  # wakes the one that accepts
            pass
        for thread in self._threads:
            thread.join()
        self._listener.close()

"""A PostgreSQL server of a test's own, to be stopped, killed and started again."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def programs() -> Path:
    """Where the newest server's programs are; Debian keeps them off the PATH."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("initdb")
    assert on_path is not None, "the programs of a PostgreSQL server are needed: apt-get install postgresql"
    return Path(on_path).parent


class Cluster:
    """A server with durable settings, on a port of its own."""

    def __init__(self, folder: Path, primary: "Cluster | None" = None) -> None:
        self.data = folder / "data"
        self.port = _free_port()
        self._bin = programs()
        if primary is None:
            self._run("initdb", "-U", "falsework", "--auth=trust", "--encoding=UTF8", "--locale=C", "-N")
        else:
            self._run(
                "pg_basebackup",
                "-d",
                primary.dsn.replace("dbname=postgres", ""),
                "-R",
                "-X",
                "stream",
                "-c",
                "fast",
            )
        settings = f"listen_addresses = '127.0.0.1'\nport = {self.port}\nunix_socket_directories = ''\n"
        with (self.data / "postgresql.conf").open("a") as file:
            file.write(settings)
        self.start()

    @property
    def dsn(self) -> str:
        return f"host=127.0.0.1 port={self.port} user=falsework dbname=postgres"

    def start(self) -> None:
        """The server answers, once it has recovered whatever it has to."""
        self._run("pg_ctl", "-l", str(self.data / "log"), "-w", "start")

    def promote(self) -> None:
        """The standby is a primary of its own."""
        self._run("pg_ctl", "-w", "promote")

    def stop(self, mode: str) -> None:
        """The server has stopped: `fast` ends every session, `immediate` leaves all to recovery."""
        self._run("pg_ctl", "-m", mode, "-w", "stop")

    def kill(self) -> None:
        """The server's first process is killed, and with it all the others die."""
        first = int((self.data / "postmaster.pid").read_text().split()[0])
        os.kill(first, signal.SIGKILL)
        self._run("pg_ctl", "-m", "immediate", "-w", "stop", check=False)
        for child in _children_of_nobody(self.data):
            os.kill(child, signal.SIGKILL)

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        """The program has run on the cluster, not as root: the server refuses that."""
        command = [str(self._bin / program), "-D", str(self.data), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(
            command,
            cwd=self.data.parent,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.STDOUT,
            check=False,
        )
        assert done.returncode == 0 or not check, f"{program} ended with {done.returncode}"


def _children_of_nobody(data: Path) -> list[int]:
    """The server's processes that outlived their first one."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if (folder / "cwd").resolve() == data.resolve():
                found.append(int(folder.name))
        except OSError:
            continue
    return found


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


@contextmanager
def cluster(primary: Cluster | None = None) -> Iterator[Cluster]:
    """A server, for the length of a test; a standby of another one where that is given."""
    folder = Path(tempfile.mkdtemp(prefix="falsework-cluster-"))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres")
    opened = None
    try:
        opened = Cluster(folder, primary)
        yield opened
    finally:
        if opened is not None:
            opened._run("pg_ctl", "-m", "immediate", "-w", "stop", check=False)
        shutil.rmtree(folder, ignore_errors=True)

"""A process that writes to one SQLite file without pause until all together have written enough."""

import sys
from pathlib import Path

from falsework.runtime.store.sqlite import SqliteStore

COUNT = """UPDATE lease SET expires_at = expires_at + 1 WHERE lease_key IN (?, 'all')
    RETURNING lease_key, expires_at"""


def main() -> None:
    database, name, enough = sys.argv[1:]
    with SqliteStore(Path(database), busy_timeout_ms=60_000) as store:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        sys.stdin.readline()
        counts: dict[object, object] = {"all": 0}
        while int(str(counts["all"])) < int(enough):
            with store.transaction("count") as transaction:
                counts = dict(transaction.execute(COUNT, (name,)))  # type: ignore[arg-type]
        sys.stdout.write(f"{counts[name]}\n")


if __name__ == "__main__":
    main()

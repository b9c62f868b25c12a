"""Callers that run dbos's workflow of one step for some seconds; prints what each took, as act_loop.py does.

Usage: dbos_workflow.py FOLDER CALLERS SECONDS [URL]. A SQLite file is in WAL with synchronous=FULL, which
dbos does not set by itself; an URL names a PostgreSQL database.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import sqlalchemy  # type: ignore[import-not-found]
from dbos import DBOS, DBOSConfig  # type: ignore[import-not-found]

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from loops import measured


def in_wal(url: str) -> Any:
    """An engine each of whose connections has the settings that a durable commit needs."""
    engine = sqlalchemy.create_engine(url)

    def set_up(connection: Any, _: Any) -> None:
        connection.isolation_level = "IMMEDIATE"
        for pragma in ("busy_timeout=30000", "foreign_keys=on", "journal_mode=wal", "synchronous=full"):
            connection.execute(f"pragma {pragma}")

    sqlalchemy.event.listen(engine, "connect", set_up)
    return engine


def main() -> None:
    """The line is printed."""
    folder, callers, seconds, *url = sys.argv[1:]
    config = DBOSConfig(name="bench", log_level="ERROR", run_admin_server=False)
    if url:
        config["system_database_url"] = url[0]
        config["sys_db_pool_size"] = 20
    else:
        config["system_database_url"] = f"sqlite:///{folder}/sys.db"
        config["system_database_engine"] = in_wal(config["system_database_url"])
    DBOS(config=config)

    def act(number: int) -> int:
        return number + 1

    step = DBOS.step()(act)

    def in_one_step(number: int) -> Any:
        return step(number)

    workflow = DBOS.workflow()(in_one_step)
    DBOS.launch()

    def op(_: int, number: int) -> None:
        if workflow(number) != number + 1:
            raise AssertionError("the workflow answered something else")

    print(json.dumps(measured(op, int(callers), float(seconds))))
    DBOS.destroy()


if __name__ == "__main__":
    main()

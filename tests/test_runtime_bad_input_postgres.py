"""A server that lets nobody in, or holds what it should not: told at every command, and no password with it.

The server is the test's own, so that it may ask for passwords; each mistake has a database of its own.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from bad_input_site import AT_THE_JOURNAL, COMMANDS, STEWARD, Site
from command_line import falsework
from deployment_world import written
from pg_cluster import Cluster, cluster

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

Golden = Callable[[str, str], None]
PASSWORD = "hidden"  # noqa: S105  what no message may repeat
ASKS = "host all falsework all trust\nhost all all all scram-sha-256\n"


@pytest.fixture(scope="module")
def server() -> Iterator[Cluster]:
    """A server on which only the test's own role needs no password."""
    with cluster() as opened:
        (opened.data / "pg_hba.conf").write_text(ASKS, encoding="ascii")
        with psycopg.connect(opened.dsn, autocommit=True) as raw:
            raw.execute("SELECT pg_reload_conf()")
            raw.execute(f"CREATE ROLE clerk LOGIN PASSWORD '{PASSWORD}'")
            raw.execute("CREATE DATABASE empty")
            raw.execute("CREATE DATABASE ledger")
            raw.execute("CREATE DATABASE theirs")
        yield opened


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A folder with a deployment whose credentials are there, and whose journal is not."""
    monkeypatch.chdir(tmp_path)
    written(tmp_path, STEWARD)
    assert falsework(*COMMANDS["found"]).code == 0
    for name in ("ledger.db", "ledger.db-turn", "ledger.db-next"):
        (tmp_path / name).unlink()
    return Site(tmp_path)


def at(server: Cluster, site: Site, who: str, database: str) -> None:
    """The deployment's store is this database, under this name and password."""
    site.edited(("sqlite:ledger.db", f"postgresql://{who}@127.0.0.1:{server.port}/{database}"))


def holds(server: Cluster, database: str) -> list[tuple[object, ...]]:
    """Every table of the database with its rows, as texts."""
    with psycopg.connect(f"{server.dsn} dbname={database}", autocommit=True) as raw:
        return raw.execute(
            "SELECT schemaname, tablename, query_to_xml(format('TABLE %I.%I', schemaname, tablename), "
            "true, true, '')::text FROM pg_tables "
            "WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
        ).fetchall()


@pytest.mark.parametrize(
    "name, who, database",
    [
        ("wrong_password", "clerk:hidden-too", "ledger"),
        ("no_password", "clerk", "ledger"),
        ("no_such_database", f"clerk:{PASSWORD}", "nowhere"),
        ("role_that_may_not", f"clerk:{PASSWORD}", "ledger"),
    ],
)
def test_a_server_that_lets_nobody_in_is_told(
    name: str, who: str, database: str, server: Cluster, site: Site, golden: Golden
) -> None:
    at(server, site, who, database)
    told = site.refuses(AT_THE_JOURNAL)
    assert PASSWORD not in told
    assert holds(server, "ledger") == []
    golden(f"bad_input/postgres_{name}", told)


def test_a_schema_that_is_not_this_releases_is_told(server: Cluster, site: Site, golden: Golden) -> None:
    """Founded, swept, then of another application's or of a newer release: nothing in it is touched."""
    at(server, site, "falsework", "theirs")
    for command in ("found", "sweep"):
        said = falsework(*COMMANDS[command])
        assert said.code == 0, said.all
    told = ""
    for change in ("UPDATE falsework.store SET version = 99", "UPDATE falsework.store SET application = 1"):
        with psycopg.connect(f"{server.dsn} dbname=theirs", autocommit=True) as raw:
            raw.execute(change.encode())
        before = holds(server, "theirs")
        told += site.refuses(AT_THE_JOURNAL)
        assert holds(server, "theirs") == before
    golden("bad_input/postgres_schema", told)


def test_a_journal_that_nobody_founded_is_not_made(server: Cluster, site: Site, golden: Golden) -> None:
    at(server, site, "falsework", "empty")
    told = site.refuses(AT_THE_JOURNAL[1:])
    assert holds(server, "empty") == []
    golden("bad_input/postgres_not_founded", told)

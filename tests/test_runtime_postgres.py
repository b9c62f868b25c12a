"""The store on PostgreSQL: what it demands of a server, its timeouts, and a wire that is cut at a commit."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from falsework.runtime.store import StoreBusy, StoreFailed, StoreRefused, StoreUnknown, schema
from falsework.runtime.store import postgres as module
from falsework.runtime.store.postgres import PostgresStore, Server
from falsework.runtime.store.schema import LEASES, VERSION
from falsework.runtime.trail import Page, Recorded, ReplyLost
from falsework.runtime.trail.journal import AuditTrail
from pg_proxy import Wire
from stores import Place, placed
from trail_world import ALICE, TrailWorld

pytestmark = pytest.mark.postgres

INSERT = "INSERT INTO lease (lease_key, holder, expires_at) VALUES (?, ?, ?)"


@pytest.fixture
def place() -> Iterator[Place]:
    with placed("postgres") as opened:
        yield opened


def refused(dsn: str, schema_name: str, write_bound_ms: int = 3_000) -> str:
    """Why the store will not start."""
    with pytest.raises(StoreRefused) as caught:
        PostgresStore(dsn, schema=schema_name, write_bound_ms=write_bound_ms).close()
    return str(caught.value)


# What is demanded of a server.

SOUND = (150_018, "false", "off", "on", "on", "on", "UTF8")


@pytest.mark.parametrize(
    "column, value, said",
    [
        (0, 110_022, "is of version 110022: give a server of 120000 or newer"),
        (1, "true", "is a replica: give the primary: what a replica shows may be old"),
        (2, "on", "is read-only: give a database and a role that may write"),
        (3, "off", "runs with fsync off, so a power cut could undo a commit: set fsync = on"),
        (
            4,
            "off",
            "runs with full_page_writes off, so a power cut could tear pages: set full_page_writes = on",
        ),
        (
            5,
            "local",
            "does not commit synchronously after that was asked for: remove what holds it down",
        ),
        (6, "SQL_ASCII", "does not store texts in UTF-8: give a database whose encoding is UTF8"),
    ],
)
def test_a_server_that_could_lose_what_it_commits_is_refused(column: int, value: object, said: str) -> None:
    server = Server("host=there port=1 dbname=d user=u password=secret", "falsework", 1_000, None)
    module._refuse_what_loses_writes(server, SOUND)
    found = (*SOUND[:column], value, *SOUND[column + 1 :])
    with pytest.raises(StoreRefused) as caught:
        module._refuse_what_loses_writes(server, found)
    assert str(caught.value) == f"PostgreSQL there:1/d, schema falsework: {said}"


def test_the_settings_are_in_force_on_every_connection(place: Place) -> None:
    store = place.open(wait_ms=1_000)
    asked = (
        "SELECT current_setting('synchronous_commit'), current_setting('statement_timeout'), "
        "current_setting('idle_in_transaction_session_timeout'), current_setting('lock_timeout')"
    )
    with store.transaction("t") as transaction:
        assert transaction.execute(asked) == [("on", "2s", "2s", "1s")]
    with store.snapshot() as snapshot:  # which holds no lock, and may think a while
        assert snapshot.execute(asked) == [("on", "2s", "1min", "1s")]


def test_a_role_that_may_only_read_is_refused(place: Place) -> None:
    place.open()
    said = refused(f"{place.dsn} options='-c default_transaction_read_only=on'", place.schema)
    assert said.endswith("is read-only: give a database and a role that may write")


def test_a_server_that_is_not_there_is_refused_and_no_password_is_told(place: Place) -> None:
    with Wire("127.0.0.1", 1) as wire:
        port = wire.port
    said = refused(f"host=127.0.0.1 port={port} dbname=d user=u password=secret", "s")
    assert said.startswith(f"PostgreSQL 127.0.0.1:{port}/d, schema s: cannot be reached (")
    assert "secret" not in said


@pytest.mark.parametrize("name", ["", "a b", "A", "a-b", "1a", "ä"])
def test_a_schema_that_is_no_plain_name_is_refused(place: Place, name: str) -> None:
    assert refused(place.dsn, name) == f"the schema is {name!r}: write a plain name in small letters"


def test_a_schema_may_be_named_as_the_server_names_something(place: Place) -> None:
    place.schema = "user"
    with place.open().transaction("t") as transaction:
        transaction.execute(INSERT, ("k", "h", 1))
    assert place.open().now() > 0


def test_a_server_name_that_cannot_be_read_is_refused() -> None:
    assert refused("host=x nonsense", "s").startswith("the server's name cannot be read: ")
    assert refused("host=x", "s", write_bound_ms=1) == "the write bound is 1 ms: write 2 or more"


# What stands in the schema.


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE theirs (a INT)",
        "CREATE TABLE store (a INT)",
        "CREATE TABLE store (application BIGINT, version BIGINT)",
        "CREATE TABLE store AS SELECT 77::bigint AS application, 1::bigint AS version",
    ],
)
def test_another_applications_schema_is_refused_and_left_alone(place: Place, statement: str) -> None:
    with psycopg.connect(place.dsn, autocommit=True) as raw:
        raw.execute(f"CREATE SCHEMA {place.schema}".encode())
        raw.execute(f"SET search_path = {place.schema}".encode())
        raw.execute(statement.encode())
    said = refused(place.dsn, place.schema)
    assert "is another application's schema" in said or "cannot be made or read" in said
    with psycopg.connect(place.dsn) as raw:
        tables = raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = %s", (place.schema,))
        assert len(tables.fetchall()) == 1


@pytest.mark.parametrize("version", [0, -1, VERSION + 1])
def test_an_unknown_version_is_refused(place: Place, version: int) -> None:
    place.open()
    with place.bare() as run:
        run("UPDATE store SET version = ?", (version,))
    assert refused(place.dsn, place.schema).endswith(
        f"has schema version {version}, this release knows {VERSION}: use the release that wrote it"
    )


def test_an_older_schema_is_brought_forward_or_left_as_it_was(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(schema, "STEPS", (LEASES,))
        patch.setattr(module, "VERSION", 1)
        with place.open().transaction("t") as transaction:
            transaction.execute(INSERT, ("k", "h", 7))
        patch.setattr(
            schema, "STEPS", (LEASES, ("CREATE TABLE half (a {number})", "CREATE TABLE lease (a INT)"))
        )
        patch.setattr(module, "VERSION", 2)
        assert "its tables cannot be made or read" in refused(place.dsn, place.schema)
    with place.bare() as run:
        assert run("SELECT version FROM store", ()) == [(1,)]
        assert run("SELECT to_regclass('half')::text", ()) == [(None,)]
    with place.open().snapshot() as snapshot:
        assert snapshot.execute("SELECT * FROM lease") == [("k", "h", 7)]
        assert snapshot.execute("SELECT * FROM journal") == []


def test_many_may_create_one_schema_at_once(place: Place) -> None:
    start = threading.Barrier(4)

    def create(number: int) -> None:
        start.wait()
        with place.open().transaction("t") as transaction:
            transaction.execute(INSERT, (f"k{number}", "h", 1))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(create, range(4)))
    with place.open().snapshot() as snapshot:
        assert snapshot.execute("SELECT COUNT(*) FROM lease") == [(4,)]


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE journal SET action_ref = 'x'",
        "DELETE FROM journal",
        "TRUNCATE journal",
        "DELETE FROM admitted",
    ],
)
def test_the_tables_guard_themselves(place: Place, statement: str) -> None:
    world = TrailWorld(place)
    with world.store.transaction("t") as transaction:
        transaction.execute(
            "INSERT INTO admitted (lease_key, holder, instant, judged_at) VALUES ('k', 'a', 9, 8)"
        )
    with (
        pytest.raises(StoreFailed, match=r"is never changed or deleted"),
        world.store.transaction("t") as run,
    ):
        run.execute(statement)
    assert world.verify().is_clean


# Who waits, and who is ended.


def test_a_writer_that_does_nothing_is_ended_and_the_next_one_goes_on(place: Place) -> None:
    # The server's timeout frees the lock of a paused process: nobody else can.
    paused, other = place.open(wait_ms=100), place.open(wait_ms=5_000)

    def stop_in_the_middle() -> None:
        with paused.transaction("paused") as transaction:
            transaction.execute(INSERT, ("k", "paused", 1))
            with other.transaction("other") as second:  # waits until the server ends the first
                second.execute(INSERT, ("k", "other", 2))

    with pytest.raises(StoreFailed, match=r"^paused: .*idle-in-transaction timeout; nothing was written$"):
        stop_in_the_middle()
    with paused.snapshot() as snapshot:  # and the paused one is of use again
        assert snapshot.execute("SELECT holder FROM lease") == [("other",)]


def test_a_statement_without_end_is_ended(place: Place) -> None:
    store = place.open(wait_ms=100)
    with pytest.raises(StoreFailed, match=r"^t: .*statement timeout"), store.transaction("t") as transaction:
        transaction.execute("SELECT pg_sleep(60)")


def test_a_kept_lock_is_busy(place: Place) -> None:
    one, two = place.open(), place.open(wait_ms=10)
    with (
        one.transaction("one"),
        pytest.raises(StoreBusy, match=r"^two: another writer kept PostgreSQL .* for the whole wait$"),
        two.transaction("two"),
    ):
        pytest.fail("entered")


# A connection that is lost.


def ended(place: Place) -> None:
    """Every connection to the place's store is ended by the server."""
    with place.bare() as run:
        run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = ?",
            (f"falsework {place.schema}",),
        )


def test_a_store_goes_on_after_its_connections_are_lost_between_transactions(place: Place) -> None:
    world = TrailWorld(place)
    world.record()
    for _ in range(3):
        ended(place)
        world.record()
        ended(place)
        assert len(world.records()) > 1
        ended(place)
        assert place.open().now() > 0
    assert len(world.records()) == 4
    assert world.verify().is_clean


def test_a_transaction_whose_connection_is_lost_goes_on_nowhere_else(place: Place) -> None:
    # Else what follows would run on a fresh connection, outside the transaction and without its lock.
    store = place.open()

    def lose_it_and_go_on() -> None:
        with store.transaction("t") as transaction:
            transaction.execute(INSERT, ("a", "h", 1))
            store.now()  # the reading that came with the lock
            ended(place)
            for _ in range(2):
                with pytest.raises(StoreFailed, match=r"^now: "):
                    store.now()

    with pytest.raises(
        StoreFailed, match=r"^t: the connection was lost before the commit; nothing was written$"
    ):
        lose_it_and_go_on()
    with store.transaction("u") as transaction:
        assert transaction.execute("SELECT * FROM lease") == []

    def lose_it_and_write() -> None:
        with store.transaction("t") as transaction:
            ended(place)
            for key in "bc":
                with pytest.raises(StoreFailed):
                    transaction.execute(INSERT, (key, "h", 1))

    with pytest.raises(StoreFailed):
        lose_it_and_write()
    with store.snapshot() as snapshot:
        assert snapshot.execute("SELECT * FROM lease") == []


@pytest.fixture
def wire(place: Place) -> Iterator[Wire]:
    known = psycopg.conninfo.conninfo_to_dict(place.dsn)
    with Wire(str(known["host"]), int(str(known["port"]))) as opened:
        yield opened


def over(wire: Wire, place: Place, world: TrailWorld) -> AuditTrail:
    """The trail of the place, behind the wire."""
    dsn = psycopg.conninfo.make_conninfo(place.dsn, host="127.0.0.1", port=wire.port)
    store = PostgresStore(dsn, schema=place.schema, clock=world.clock)
    place._opened.append(store)
    return AuditTrail(store, None, world.seams)


@pytest.mark.parametrize("landed", [False, True])
def test_a_wire_cut_at_the_commit_is_a_lost_reply(place: Place, wire: Wire, landed: bool) -> None:
    world = TrailWorld(place)
    trail = over(wire, place, world)
    for number in range(3):
        if landed:
            wire.cut_after(b"COMMIT")
        else:
            wire.cut_before(b"COMMIT")
        answer = trail.record_action("pay.x", "alice", ALICE, {"n": number})
        assert isinstance(answer, ReplyLost)
        page = trail.read_range(4, behind_writers=True)  # behind the writers, and so final
        assert isinstance(page, Page)
        found = [record.event_id for record in page.records]
        assert (answer.event_id in found) is landed
    assert isinstance(trail.record_action("pay.x", "alice", ALICE, {}), Recorded)
    assert len(world.records()) == (4 if landed else 1)
    assert wire.cuts == 3
    assert world.verify().is_clean


@pytest.mark.parametrize("word", [b"pg_advisory_xact_lock", b"INSERT INTO journal"])
def test_a_wire_cut_before_the_commit_has_written_nothing(place: Place, wire: Wire, word: bytes) -> None:
    world = TrailWorld(place)
    trail = over(wire, place, world)
    wire.cut_before(word)
    trail.record_action("pay.x", "alice", ALICE, {"n": 1})
    assert len(world.records()) == (1 if word.startswith(b"pg") else 0)  # the first is sent again
    assert wire.cuts == 1
    assert isinstance(trail.record_action("pay.x", "alice", ALICE, {"n": 2}), Recorded)
    assert world.verify().is_clean


def test_all_who_share_a_commit_are_told_that_its_reply_is_lost(place: Place, wire: Wire) -> None:
    world = TrailWorld(place)
    store = over(wire, place, world).store
    assert isinstance(store, PostgresStore)
    inside, go = threading.Event(), threading.Event()

    def write(name: str) -> str:
        try:
            with store.transaction(name) as transaction:
                transaction.execute(INSERT, (name, "h", 1))
                inside.set()
                go.wait()
        except StoreUnknown:
            return "unknown"
        return "durable"

    with ThreadPoolExecutor(3) as pool:
        futures = [pool.submit(write, "a")]
        inside.wait()
        futures += [pool.submit(write, name) for name in "bc"]
        while len(store._queue) < 2:
            pass
        wire.cut_after(b"COMMIT")
        go.set()
        assert [future.result() for future in futures] == ["unknown"] * 3
    assert wire.cuts == 1
    with world.store.snapshot() as snapshot:
        assert snapshot.execute("SELECT lease_key FROM lease ORDER BY lease_key") == [("a",), ("b",), ("c",)]


def test_a_servers_clock_that_is_set_back_stands_still_here() -> None:
    # Hand-made readings: what has ended by this clock stays ended by it.
    server = Server("host=there", "falsework", 1_000, None)
    assert [server.never_back(reading) for reading in (100, 105, 90, 104, 106)] == [100, 105, 105, 105, 106]


def test_a_commit_that_the_server_turns_into_a_rollback_has_failed(place: Place) -> None:
    # The server says ROLLBACK, and no error, to the COMMIT of a transaction in which a statement failed.
    writer = place.open().writer
    writer.begin("t", 1.0, None, flush=True)
    with pytest.raises(StoreFailed):
        writer.execute("t", "SELECT nothing", ())
    with pytest.raises(
        StoreFailed, match=r"^t: the server answered ROLLBACK to COMMIT; nothing was written$"
    ):
        writer.commit("t")


def test_the_lock_is_waited_for_as_long_as_is_left(place: Place) -> None:
    writer = place.open(wait_ms=1_000).writer
    for seconds, said in ((0.05, "50ms"), (0.0, "1ms"), (0.75, "750ms")):  # nothing would be without end
        writer.begin("t", seconds, None, flush=True)
        assert writer.execute("t", "SELECT current_setting('lock_timeout')", ()) == [(said,)]
        writer.roll_back()

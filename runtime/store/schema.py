"""The tables of a store, as numbered steps from one version to the next, for either database."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

APPLICATION_ID = 0x46575354
"""What marks a file as ours in SQLite's header: the letters FWST."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A rule of the tables themselves: no statement may do this to a row, unless the condition is true."""

    table: str
    event: str
    sentence: str
    unless: str = ""


def append_only(table: str, sentence: str, unless: str = "") -> tuple[Guard, Guard]:
    """No row of the table is changed or deleted; `unless` is the one change that is allowed."""
    return Guard(table, "UPDATE", sentence, unless), Guard(table, "DELETE", sentence)


def unchanged(*columns: str) -> str:
    """Each of the columns is what it was."""
    return " AND ".join(f"NEW.{column} IS NOT DISTINCT FROM OLD.{column}" for column in columns)


@dataclass(frozen=True, slots=True)
class FieldOfAct:
    """A column that the database itself keeps, of what a payload says of an act: it can say nothing else."""

    column: str
    field: str


Statement = str | Guard | FieldOfAct

# In the statements {number} is a whole number of 64 bits, {octets} a row of bytes, {counted} a number that
# the database gives, and {strict} what makes a column hold nothing but its own type.
LEASES: tuple[Statement, ...] = (
    """CREATE TABLE lease (
        lease_key TEXT NOT NULL PRIMARY KEY,
        holder TEXT NOT NULL,
        expires_at {number} NOT NULL
    ) {strict}""",
    """CREATE TABLE admitted (
        seq {counted},
        lease_key TEXT NOT NULL,
        holder TEXT NOT NULL,
        instant {number} NOT NULL,
        judged_at {number} NOT NULL
    ) {strict}""",
    *append_only("admitted", "an admitted act is never changed or deleted"),
)

TRAIL: tuple[Statement, ...] = (
    """CREATE TABLE journal (
        seq {number} NOT NULL PRIMARY KEY,
        event_id TEXT NOT NULL UNIQUE,
        recorded_at {number} NOT NULL,
        action_ref TEXT NOT NULL,
        actor_ref TEXT NOT NULL,
        key_id TEXT NOT NULL,
        attestation {octets} NOT NULL,
        policy_ref TEXT,
        retention_until {number},
        commitment {octets} NOT NULL,
        link {octets} NOT NULL,
        salt {octets},
        payload {octets}
    ) {strict}""",
    "CREATE INDEX journal_by_retention ON journal (retention_until) WHERE payload IS NOT NULL",
    "CREATE INDEX journal_unplaced ON journal (seq) WHERE policy_ref IS NULL",
    *append_only(
        "journal",
        "a record is never changed or deleted, but for the destruction of its payload",
        "NEW.salt IS NULL AND NEW.payload IS NULL AND "
        + unchanged(
            *("seq", "event_id", "recorded_at", "action_ref", "actor_ref", "key_id", "attestation"),
            *("policy_ref", "retention_until", "commitment", "link"),
        ),
    ),
    # What follows is derived from the trail's own records, and compared with them by whoever verifies.
    """CREATE TABLE trail (
        sole {number} NOT NULL PRIMARY KEY CHECK (sole = 1),
        trail_id TEXT NOT NULL
    ) {strict}""",
    """CREATE TABLE actor_key (
        key_id TEXT NOT NULL PRIMARY KEY,
        actor_ref TEXT NOT NULL,
        public_key {octets} NOT NULL,
        administers {number} NOT NULL,
        valid_until {number},
        registered_seq {number} NOT NULL,
        revoked_seq {number}
    ) {strict}""",
    "CREATE INDEX actor_key_by_actor ON actor_key (actor_ref)",
    """CREATE TABLE policy (
        prefix TEXT NOT NULL PRIMARY KEY,
        period {number},
        declared_seq {number} NOT NULL
    ) {strict}""",
    """CREATE TABLE placed_late (
        seq {number} NOT NULL PRIMARY KEY,
        policy_ref TEXT NOT NULL,
        retention_until {number},
        placed_seq {number} NOT NULL
    ) {strict}""",
    """CREATE TABLE destroyed (
        seq {number} NOT NULL PRIMARY KEY,
        purge_seq {number} NOT NULL
    ) {strict}""",
    """CREATE TABLE checkpoint (
        size {number} NOT NULL PRIMARY KEY,
        seq {number} NOT NULL,
        frontier {octets} NOT NULL,
        note TEXT NOT NULL
    ) {strict}""",
)

INVOCATIONS: tuple[Statement, ...] = (
    # A record of an act is found by `kind:act key`, where its payload's kind is its action ref's; the
    # database makes both columns of the payload, and destroys them with it.
    FieldOfAct("act", "act_key"),
    FieldOfAct("invocation_id", "invocation_id"),
    "CREATE INDEX journal_by_act ON journal (act, invocation_id, action_ref) WHERE act IS NOT NULL",
    # What follows stood in some stores before it was a step, made at its first use.
    """CREATE TABLE IF NOT EXISTS binding (
        instance TEXT NOT NULL,
        kind TEXT NOT NULL,
        PRIMARY KEY (instance, kind)
    ) {strict}""",
    """CREATE TABLE IF NOT EXISTS finding (
        id TEXT NOT NULL PRIMARY KEY,
        finding TEXT NOT NULL,
        kind TEXT,
        act_key TEXT,
        invocation_id TEXT,
        detail TEXT NOT NULL,
        run_id TEXT NOT NULL,
        first_seen {number} NOT NULL,
        last_seen {number},
        closed_at {number}
    ) {strict}""",
    # When a run last had the register: an outage that no process lived through is told from it.
    """CREATE TABLE heartbeat (
        instance TEXT NOT NULL PRIMARY KEY,
        run_id TEXT NOT NULL,
        beaten_at {number} NOT NULL
    ) {strict}""",
)

STEPS: tuple[tuple[Statement, ...], ...] = (LEASES, TRAIL, INVOCATIONS)
"""Step n makes version n + 1 of version n; a step that was released is never edited, only followed."""

VERSION = len(STEPS)
"""The version of the tables that all steps make."""


COLUMN = re.compile(r"^        ([a-z_]+) ", re.MULTILINE)
CREATED = re.compile(r"CREATE (TABLE|INDEX) (?:IF NOT EXISTS )?([a-z_]+)")


def altered(columns: Iterable[tuple[str, str, bool]], indexes: Iterable[str]) -> str | None:
    """What of the newest tables is not there as it was made; None where all of it is.

    `columns` are a store's own, each with its table and whether the database reckons it, `indexes` its
    indexes. What somebody has added besides is theirs.
    """
    there, names = {(table, column): reckoned for table, column, reckoned in columns}, set(indexes)
    for statement in (statement for step in STEPS for statement in step):
        if isinstance(statement, FieldOfAct):
            if not there.get(("journal", statement.column)):
                return f"column {statement.column} of table journal is not the one that the database reckons"
        elif isinstance(statement, str) and (made := CREATED.match(statement)) is not None:
            sort, name = made.groups()
            if sort == "INDEX" and name not in names:
                return f"index {name} is gone"
            if sort == "TABLE" and not any(table == name for table, _ in there):
                return f"table {name} is gone"
            for column in COLUMN.findall(statement) if sort == "TABLE" else ():
                if (name, column) not in there:
                    return f"column {column} of table {name} is gone"
    return None


def sqlite_statements(version: int) -> list[str]:
    """What makes the newest tables out of an SQLite file of this version."""
    words = {"number": "INTEGER", "octets": "BLOB", "counted": "INTEGER PRIMARY KEY", "strict": "STRICT"}
    statements: list[str] = []
    for step in STEPS[version:]:
        for statement in step:
            match statement:
                case Guard():
                    statements.append(_sqlite_guard(statement))
                case FieldOfAct():
                    statements.append(_sqlite_field(statement))
                case str():
                    statements.append(statement.format_map(words))
    return statements


def postgres_statements(version: int) -> list[str]:
    """What makes the newest tables out of a PostgreSQL schema of this version."""
    words = {
        "number": "BIGINT",
        "octets": "BYTEA",
        "counted": "BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
        "strict": "",
    }
    statements: list[str] = []
    for step in STEPS[version:]:
        for statement in step:
            match statement:
                case Guard():
                    statements += _postgres_guard(statement)
                case FieldOfAct():
                    statements += _postgres_field(statement)
                case str():
                    statements.append(statement.format_map(words))
    return statements


def _sqlite_field(field: FieldOfAct) -> str:
    """The column as one that is reckoned when it is read, and kept in the index alone."""
    text = "CAST(payload AS TEXT)"
    kind = "substr(action_ref, 1, instr(action_ref, '.') - 1)"
    said = f"{text} ->> '$.{field.field}'"
    value = f"{kind} || ':' || ({said})" if field.field == "act_key" else said
    texts = " AND ".join(f"json_type({text}, '$.{name}') = 'text'" for name in ("act_key", "invocation_id"))
    ours = f"{texts} AND {text} ->> '$.kind' = {kind}"
    return (
        f"ALTER TABLE journal ADD COLUMN {field.column} TEXT GENERATED ALWAYS AS "
        f"(CASE WHEN json_valid({text}) THEN CASE WHEN {ours} THEN {value} END END) VIRTUAL"
    )


def _postgres_field(field: FieldOfAct) -> list[str]:
    """The column as one that is stored with its row, by a function of its own that no payload can stop.

    The server reads no text in which the character of code 0 is written out, wherever it stands: such a
    payload is read with another character in its place.
    """
    name = f"journal_{field.column}"
    value = "kind || ':' || (said ->> 'act_key')" if field.field == "act_key" else "said ->> 'invocation_id'"
    texts = " AND ".join(f"json_typeof(said -> '{each}') = 'string'" for each in ("act_key", "invocation_id"))
    zero = r"'(?<!\\)((?:\\\\)*)\\u0000', '\1\\u0001', 'g'"
    body = f"""
        DECLARE
            said json;
            kind text := split_part(action_ref, '.', 1);
        BEGIN
            IF payload IS NULL THEN RETURN NULL; END IF;
            BEGIN
                said := convert_from(payload, 'UTF8')::json;
                PERFORM said ->> 'act_key';
            EXCEPTION WHEN untranslatable_character THEN
                said := regexp_replace(convert_from(payload, 'UTF8'), {zero})::json;
            END;
            IF {texts} AND said ->> 'kind' = kind THEN RETURN {value}; END IF;
            RETURN NULL;
        EXCEPTION WHEN data_exception THEN RETURN NULL;
        END"""
    made = f"CREATE FUNCTION {name}(payload bytea, action_ref text) RETURNS text LANGUAGE plpgsql IMMUTABLE"
    kept = f"GENERATED ALWAYS AS ({name}(payload, action_ref)) STORED"
    return [
        f"{made} AS $field${body} $field$",
        f"ALTER TABLE journal ADD COLUMN {field.column} TEXT {kept}",
    ]


def _sqlite_guard(guard: Guard) -> str:
    """The guard as a trigger that aborts the statement."""
    when = f"WHEN NOT ({guard.unless}) " if guard.unless else ""
    return (
        f"CREATE TRIGGER {guard.table}_{guard.event.lower()} BEFORE {guard.event} ON {guard.table} {when}"
        f"BEGIN SELECT RAISE(ABORT, '{guard.sentence}'); END"
    )


def _postgres_guard(guard: Guard) -> list[str]:
    """The guard as a trigger and its function; emptying a whole table counts as deleting."""
    name = f"{guard.table}_{guard.event.lower()}"
    raising = f"RAISE EXCEPTION '{guard.sentence}';"
    body = f"IF NOT ({guard.unless}) THEN {raising} END IF; RETURN NEW;" if guard.unless else raising
    statements = [
        f"CREATE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql AS $guard$ BEGIN {body} END $guard$",
        f"CREATE TRIGGER {name} BEFORE {guard.event} ON {guard.table} FOR EACH ROW EXECUTE FUNCTION {name}()",
    ]
    if guard.event == "DELETE":
        statements.append(
            f"CREATE TRIGGER {guard.table}_truncate BEFORE TRUNCATE ON {guard.table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {name}()"
        )
    return statements

"""The tables of an SQLite store, and the numbers by which its file is known."""

APPLICATION_ID = 0x46575354
"""What marks a file as ours in SQLite's header: the letters FWST."""

VERSION = 1
"""The version of the tables below: raised whenever they change."""

TABLES = (
    """CREATE TABLE lease (
        lease_key TEXT NOT NULL PRIMARY KEY,
        holder TEXT NOT NULL,
        expires_at INTEGER NOT NULL
    ) STRICT""",
    """CREATE TABLE admitted (
        seq INTEGER PRIMARY KEY,
        lease_key TEXT NOT NULL,
        holder TEXT NOT NULL,
        instant INTEGER NOT NULL,
        judged_at INTEGER NOT NULL
    ) STRICT""",
    """CREATE TRIGGER admitted_is_never_changed BEFORE UPDATE ON admitted
        BEGIN SELECT RAISE(ABORT, 'an admitted act is never changed'); END""",
    """CREATE TRIGGER admitted_is_never_deleted BEFORE DELETE ON admitted
        BEGIN SELECT RAISE(ABORT, 'an admitted act is never deleted'); END""",
)

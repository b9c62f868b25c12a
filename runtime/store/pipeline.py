"""Turns to a PostgreSQL server: statements that are sent together, each prepared once, and answered together.

A statement costs the server and this process far less than the turn it is sent in; so what needs no answer in
between goes in one turn. Values and columns are whole numbers, texts and bytes, in their binary forms.
"""

import select
from collections.abc import Callable, Sequence
from functools import lru_cache

import psycopg
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, DiagnosticField, ExecStatus
from psycopg.pq.abc import PGresult

from falsework.runtime.store.contract import Question, Row, Value

INT8, TEXT, BYTEA, UNKNOWN = 20, 25, 17, 0
BINARY = 1

FAILURES = (psycopg.Error, UnicodeError, OverflowError)
"""What a turn raises; the latter two before anything is sent, for a value that no server could read."""

MOST_PREPARED = 256
"""How many statements a session keeps prepared: more than there are here, and still a bound."""


def _whole(octets: bytes) -> int:
    """The whole number of its bytes, however many they are."""
    return int.from_bytes(octets, "big", signed=True)


READ: dict[int, Callable[[bytes], Value]] = {
    INT8: _whole,
    23: _whole,  # int4
    21: _whole,  # int2
    TEXT: bytes.decode,
    19: bytes.decode,  # name
    1043: bytes.decode,  # varchar
    BYTEA: bytes,
}


class Pipeline:
    """The turns of one connection, for one thread at a time."""

    def __init__(self, raw: "psycopg.Connection[tuple[object, ...]]") -> None:
        self._raw = raw
        self._line = raw.pgconn
        self._prepared: dict[tuple[str, tuple[int, ...]], bytes] = {}
        self._counted = 0
        self._waits = select.poll()
        self._waits.register(raw.pgconn.socket, select.POLLIN)
        self.refused: int | None = None

    def turn(self, questions: Sequence[Question]) -> list[PGresult]:
        """All have run, in this order; where one fails, it is raised, and what follows it has not run.

        `refused` is then the place of the one that the server refused, or None where it answered nothing.
        """
        self.refused = None
        written = [_written(values) for _, values in questions]
        if self._line.status == ConnStatus.BAD:
            raise psycopg.OperationalError("the connection is lost")
        try:
            self._line.enter_pipeline_mode()
            places = self._sent(questions, written)
            results = self._received()
            self._line.exit_pipeline_mode()
        except BaseException:
            self._raw.close()  # nobody knows what the server would answer next
            raise
        return self._judged(places, results)

    def _sent(
        self, questions: Sequence[Question], written: list[tuple[tuple[int, ...], list[bytes | None]]]
    ) -> list[tuple[str, tuple[int, ...], bytes] | None]:
        """The statements are on their way; for each answer to come, None, or what it will have prepared."""
        line, prepared = self._line, self._prepared
        places: list[tuple[str, tuple[int, ...], bytes] | None] = []
        for (statement, _), (kinds, values) in zip(questions, written, strict=True):
            name = prepared.get((statement, kinds))
            if name is None:
                name = b""
                if len(prepared) < MOST_PREPARED:
                    self._counted += 1
                    name = f"{statement.split(maxsplit=1)[0]} {self._counted}".encode()
                line.send_prepare(name, in_its_words(statement).encode(), kinds)
                places.append((statement, kinds, name))
            line.send_query_prepared(name, values, [BINARY] * len(values), BINARY)
            places.append(None)
        line.pipeline_sync()
        while line.flush():
            select.select([line.socket], [line.socket], [])
            line.consume_input()
        return places

    def _received(self) -> list[PGresult]:
        """Every answer, up to the one that ends the turn."""
        line, results = self._line, list[PGresult]()
        while True:
            try:
                while line.is_busy():
                    self._waits.poll()
                    line.consume_input()
            except psycopg.OperationalError as lost:
                raise _last_word(results) or lost from lost
            result = line.get_result()
            if result is None:
                if line.status == ConnStatus.BAD:
                    raise _last_word(results) or psycopg.OperationalError(line.get_error_message())
            elif result.status == ExecStatus.PIPELINE_SYNC:
                return results
            else:
                results.append(result)

    def _judged(
        self, places: list[tuple[str, tuple[int, ...], bytes] | None], results: list[PGresult]
    ) -> list[PGresult]:
        """The answers of the statements; the first failure is raised."""
        answers: list[PGresult] = []
        for place, result in zip(places, results, strict=True):
            if result.status not in (ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK):
                if result.error_field(DiagnosticField.SQLSTATE) is None:
                    raise psycopg.OperationalError(result.get_error_message())
                self.refused = len(answers)
                raise error_from_result(result)
            if place is None:
                answers.append(result)
            elif place[2]:
                self._prepared[place[0], place[1]] = place[2]
        return answers


def _last_word(results: list[PGresult]) -> psycopg.Error | None:
    """Why the server ended a connection, where it has said so before it did."""
    for result in results:
        if result.error_field(DiagnosticField.SQLSTATE) is not None:
            return error_from_result(result)
    return None


def rows(result: PGresult) -> list[Row]:
    """The rows of an answer."""
    columns = range(result.nfields)
    try:
        read = [READ[result.ftype(column)] for column in columns]
    except KeyError as error:
        raise psycopg.DataError(f"a column is of the type {error}, and no number, text or bytes") from None
    return [
        tuple(
            None if (octets := result.get_value(row, column)) is None else read[column](octets)
            for column in columns
        )
        for row in range(result.ntuples)
    ]


def _written(values: Sequence[Value]) -> tuple[tuple[int, ...], list[bytes | None]]:
    """The types of the values, and the values as the server reads them."""
    kinds: list[int] = []
    octets: list[bytes | None] = []
    for value in values:
        if value is None:
            kinds.append(UNKNOWN)
            octets.append(None)
        elif isinstance(value, str):
            kinds.append(TEXT)
            octets.append(value.encode())
        elif isinstance(value, int):
            kinds.append(INT8)
            octets.append(int(value).to_bytes(8, "big", signed=True))
        else:
            kinds.append(BYTEA)
            octets.append(value)
    return tuple(kinds), octets


@lru_cache(maxsize=512)
def in_its_words(statement: str) -> str:
    """The statement with PostgreSQL's marks for values; the statements are this package's own."""
    first, *others = statement.split("?")
    return first + "".join(f"${number}{other}" for number, other in enumerate(others, 1))

"""The canonical form of a payload, against an independent implementation of RFC 8785."""

import enum
import json
from collections import OrderedDict

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from falsework.runtime.trail import Data, Json
from falsework.runtime.trail.canonical import DEEPEST, LARGEST, canonical, measured, parsed

KEYS = st.text(st.characters(max_codepoint=0xD7FF), max_size=8)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-LARGEST, LARGEST)
    | st.text(st.characters(exclude_categories=["Cs"]))
)
VALUES: st.SearchStrategy[Json] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=60)
@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_the_form_is_that_of_rfc_8785_and_comes_back_as_it_was(data: Data) -> None:
    form = canonical(data)
    assert form == rfc8785.dumps(json.loads(json.dumps(data)))
    assert parsed(form) == data


@settings(max_examples=30)
@given(st.dictionaries(KEYS, VALUES, max_size=3), st.text('aé"\\/\U0001f600', min_size=1, max_size=9))
def test_an_envelope_is_as_long_as_it_is_written(data: Data, name: str) -> None:
    envelope = {"action_ref": name, "actor_ref": name, "attestation_id": "a" * 32, "data": data}
    assert measured(name, name, canonical(data)) == len(rfc8785.dumps(json.loads(json.dumps(envelope))))


def test_a_mapping_and_a_tuple_are_written_as_json_has_them() -> None:
    assert canonical(OrderedDict(b=(1, 2), a=OrderedDict())) == b'{"a":{},"b":[1,2]}'


class Colour(enum.IntEnum):
    """A whole number with a name."""

    RED = 1


def test_a_named_number_is_its_number() -> None:
    assert canonical({"c": Colour.RED}) == b'{"c":1}'


def nested(depth: int) -> Json:
    value: Json = 1
    for _ in range(depth):
        value = [value]
    return value


def test_nesting_has_an_end() -> None:
    assert canonical({"a": nested(DEEPEST - 1)})
    with pytest.raises(ValueError, match=r"is nested more than 32 deep: write a flatter value$"):
        canonical({"a": nested(DEEPEST)})


@pytest.mark.parametrize(
    "text, said",
    [
        (
            "{'a': 1.0}",
            r"^data\.a is 1\.0: write a text, a whole number, true, false, null, a list or a mapping$",
        ),
        ("{'a': {'b': [1, {2}]}}", r"^data\.a\.b\[1\] is \{2\}: write a text, "),
        ("{'a': b'x'}", r"^data\.a is b'x': write a text, "),
        ("{'a': 2**53}", r"^data\.a is 9007199254740992: write a whole number within ±9007199254740991, or"),
        ("{'a': -2**53}", r"^data\.a is -9007199254740992: write"),
        ("{'a': '\\ud800'}", r"^data\.a is '\\ud800': write a text without lone surrogates$"),
        ("{'\\ud800': 1}", r"^data has the key '\\ud800': write a text of characters below U\+D800$"),
        ("{'\\U0001f600': 1}", r"^data has the key .*: write a text of characters below U\+D800$"),
        ("{1: 1}", r"^data has the key 1: write a text"),
        ("[]", r"^data is list: write a mapping of names to values$"),
        ("None", r"^data is NoneType: write a mapping"),
    ],
)
def test_what_has_no_form_is_refused_at_its_place(text: str, said: str) -> None:
    wrong = eval(text)  # noqa: S307  written above: values that no type allows
    with pytest.raises(ValueError, match=said):
        canonical(wrong)


@pytest.mark.parametrize("text", [b"", b"[]", b"1", b"{", b"\xff"])
def test_bytes_that_are_no_mapping_are_refused(text: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  whatever a JSON reader says
        parsed(text)

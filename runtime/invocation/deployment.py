"""The deployment file: YAML in, a Deployment out, or every mistake with its line."""

import re
from pathlib import Path

from falsework.runtime.invocation.figures import (
    DERIVED,
    RESERVED_KINDS,
    Deployment,
    Fence,
    Figures,
    Journal,
    Kind,
    Pairing,
    Partition,
    ServiceIdentity,
)
from falsework.runtime.invocation.located import Section, opened

DURATIONS = (
    "reconciliation_cadence",
    "clock_offset_allowance",
    "closure_latency",
    "run_bound",
    "journal_write_bound",
    "read_bound",
    "compensation_window",
)
SEAM_INSTANT, NONCE, CONSTITUENT_ID = "seam instant", "nonce", "constituent id"
CONVEYANCES = {
    "deadline parameter": "the instant travels as a parameter of the call",
    "store-applied deadline": "the store applies a deadline of the request to every write of the instance",
}
JOURNAL_CONVEYANCES = {
    "deadline parameter": CONVEYANCES["deadline parameter"],
    "host-applied deadline": "the host applies a deadline of the request to every record of the instance",
}
UNDECIDABLE = "undecidable"
SCHEME = re.compile(r"[a-z][a-z0-9+]{0,19}")
LARGEST_PORT = 65_535
NAME = re.compile(r"[a-z][a-z0-9_-]*")


def read_deployment(path: Path) -> Deployment:
    """The deployment that the file declares; a DeploymentError names every mistake in it."""
    reading, file = opened(path)
    lines: dict[str, int] = {}
    name = file.text("name", "a word for this instance, the same on every node") if file.has("name") else ""
    journal = _journal(file, path.parent)
    instance = file.section("instance", "the instance's figures, one a line")
    figures = None if instance is None else _figures(instance, lines)
    kinds = file.section("kinds", "each kind of act with its bindings")
    bound = {} if kinds is None else _kinds(kinds, path.parent, lines)
    file.close()
    reading.finish()
    assert figures is not None  # its lack is a mistake
    return Deployment(path, name, journal, figures, bound, lines)


def _journal(file: Section, folder: Path) -> Journal:
    """Where the trail is, with relative paths taken from the file's own folder."""
    store = _store(file, folder)
    witness = _file(file, "witness", folder, "the path of a file") if file.has("witness") else None
    steward = None
    if file.has("steward"):
        section = file.section("steward", "a section with actor and credential_file")
        steward = (
            None if section is None else _identity(section, folder, "the administrator who keeps the journal")
        )
    payload = file.size("payload_cap") if file.has("payload_cap") else 65_536
    reference = file.size("reference_length_cap") if file.has("reference_length_cap") else 256
    page = file.count("page_size", "a whole number such as 500") if file.has("page_size") else 500
    return Journal(store, witness, steward, payload, reference, page)


def _store(file: Section, folder: Path) -> str:
    """Which database; whatever is wrong with a server's name, nothing of it is repeated."""
    write = "sqlite:ledger.db, or postgresql://user@host:5432/database"
    store = file.text("store", write)
    if not store:
        return store
    scheme, colon, place = store.partition(":")
    if scheme == "sqlite" and colon:
        _refuse_what_is_no_file(file, "store", folder / place)
        return f"sqlite:{folder / place}"
    wrong = "store is no postgresql:// and no sqlite:"
    if colon and SCHEME.fullmatch(scheme) and scheme != "postgresql":
        wrong = f"store begins with {scheme!r}"
    elif scheme == "postgresql" and colon:
        wrong = _wrong_server(place)
    if wrong:
        file.reading.wrong(file.line_at("store"), wrong, write)
    return store


def _wrong_server(place: str) -> str:
    """What is wrong with where a server is said to be; nothing, where a driver can make sense of it.

    An @ or a / of the password would be taken for the end of it, and what follows for the host, which
    messages repeat.
    """
    servers, _, rest = place.removeprefix("//").partition("/")
    if not place.startswith("//"):
        return "store names no server: two slashes are missing after postgresql:"
    if servers.count("@") > 1 or "@" in rest:
        return "store holds an @ that ends no user: write %40 for an @ of the password, and %2F for a /"
    for server in servers.rpartition("@")[2].split(","):
        port = server.rpartition("]")[2].partition(":")[2]
        if port and not (port.isascii() and port.isdigit() and 0 < int(port) <= LARGEST_PORT):
            return f"the port of store is no number from 1 to {LARGEST_PORT}"
    return ""


def _file(section: Section, key: str, folder: Path, write: str) -> Path:
    """The path of a file, which may not be there yet."""
    word = section.text(key, write)
    if word:
        _refuse_what_is_no_file(section, key, folder / word)
    return folder / word


def _refuse_what_is_no_file(section: Section, key: str, path: Path) -> None:
    """What is at the path is a file, or nothing: a pipe would be waited for, and a device has no end."""
    if path.exists() and not path.is_file():
        section.reading.wrong(
            section.line_at(key), f"{key} of {section.name} is {path}, which is no file", "the path of a file"
        )


def _figures(section: Section, lines: dict[str, int]) -> Figures:
    """The instance's figures, none of them left to a default."""
    amounts = {key: section.duration(key) for key in DURATIONS}
    candidates = section.count("intent_candidates_cap", "a whole number such as 20")
    read_cap = section.count("read_cap", "a whole number such as 50")
    fence = _fence(section, "journal_fence", JOURNAL_CONVEYANCES)
    bound = None
    if fence is not None:
        bound = section.duration("record_action_bound")
    elif section.has("record_action_bound"):
        section.reading.wrong(
            section.line_at("record_action_bound"),
            "record_action_bound is given where journal_fence is none",
            "nothing here: it is read for a declared journal fence only",
        )
    section.close()
    lines |= {f"instance.{key}": line for key, line in section.lines.items()}
    return Figures(
        **amounts,
        intent_candidates_cap=candidates,
        read_cap=read_cap,
        journal_fence=fence,
        record_action_bound=bound,
    )


def _fence(section: Section, key: str, conveyances: dict[str, str]) -> Fence | None:
    """A declared fence with its conveyance; a relative timeout is none, for it names no instant."""
    options = ", ".join(("none", *conveyances))
    word = section.word(key, f"one of: {options}")
    if word is None or word == "none":
        return None
    if word not in conveyances:
        timeout = "timeout" in word
        section.reading.wrong(
            section.line_at(key),
            f"{key} of {section.name} is {word!r}"
            + (
                ", and a relative timeout names no instant that a paused caller could miss" if timeout else ""
            ),
            f"one of: {options}",
        )
        return None
    return Fence(word)


def _kinds(section: Section, folder: Path, lines: dict[str, int]) -> dict[str, Kind]:
    """Every kind by its name."""
    found = section.sections("kind", "the kind's bindings, one a line")
    if not found:
        section.reading.wrong(section.line, "kinds is empty", "at least one kind of act with its bindings")
    for name in found:
        if not NAME.fullmatch(name) or name in RESERVED_KINDS:
            section.reading.wrong(
                section.line_at(name),
                f"a kind is named {name!r}"
                + (", which the trail keeps for its own records" if name in RESERVED_KINDS else ""),
                "small letters, digits, - and _, such as ledger",
            )
    return {name: _kind(name, bindings, folder, lines) for name, bindings in found.items()}


def _kind(name: str, section: Section, folder: Path, lines: dict[str, int]) -> Kind:
    """One kind with every binding."""
    act_key = section.text("act_key", "the fields under which two invocations are the same act")
    partition = _partition(section)
    fence = _fence(section, "commit_fence", CONVEYANCES)
    pairing = _pairing(section)
    repeatable = section.choice("repeatable", ("yes", "no")) == "yes"
    retries, minted = _deviations(section)
    kind = Kind(
        name=name,
        act_key=act_key,
        partition=partition,
        commit_fence=fence,
        pairing=pairing,
        repeatable=repeatable,
        probe=_probe(section, minted),
        completion_bound=section.duration("completion_bound"),
        commit_round_trip=section.duration("commit_round_trip", zero=True),
        probe_round_trip=section.duration("probe_round_trip", zero=True),
        outcomes=_outcomes(section),
        outcome_envelope=section.size("outcome_envelope"),
        retention_period=section.duration("retention_period"),
        service_identity=_service_identity(section, folder),
        retry_attempts=retries,
        minted_key=minted,
    )
    section.close()
    lines |= {f"{name}.{key}": line for key, line in section.lines.items()}
    return kind


def _partition(section: Section) -> Partition:
    """The constituent's arms; an arm of two parts would decide nothing."""
    parts = section.section("commit_partition", "pre_commit: [invalid-request] and committed: []")
    if parts is None:
        return Partition(frozenset(), frozenset())
    write = "a list of the constituent's own codes, [] for none"
    pre_commit = parts.words("pre_commit", write, empty=True)
    committed = parts.words("committed", write, empty=True)
    for code in pre_commit:
        if code in committed:
            parts.reading.wrong(
                parts.line_at("committed"), f"{code} is both pre_commit and committed", "it in one of the two"
            )
    parts.close()
    return Partition(frozenset(pre_commit), frozenset(committed))


def _pairing(section: Section) -> Pairing | None:
    """The pairing datum; an instant of a seam obliges: no two invocations may read the same one."""
    write = "none, or a section with field and source"
    if not section.is_section("pairing_datum"):
        word = section.word("pairing_datum", write)
        if word not in (None, "none"):
            section.reading.wrong(
                section.line_at("pairing_datum"), f"pairing_datum of {section.name} is {word!r}", write
            )
        return None
    datum = section.section("pairing_datum", write)
    assert datum is not None  # it was seen to be a section
    name = datum.text("field", "the field of the intent's data, such as disclosed_at")
    source = datum.choice("source", (NONCE, SEAM_INSTANT, CONSTITUENT_ID))
    obligation = None
    if source == SEAM_INSTANT:
        obligation = datum.text("obligation", "how no two invocations of one act carry the same reading")
    datum.close()
    return Pairing(name, source, obligation)


def _deviations(section: Section) -> tuple[int | None, str | None]:
    """Attempts of a counted retry terminus, and how a minted key is found: the two that run here."""
    word = section.word("retry_terminus", "lease, or counted(3)")
    counted = re.fullmatch(r"counted\(([1-9][0-9]*)\)", word or "")
    if word not in (None, "lease") and counted is None:
        section.reading.wrong(
            section.line_at("retry_terminus"),
            f"retry_terminus of {section.name} is {word!r}",
            "lease, or counted(3) for at most three attempts",
        )
    minted = None
    if section.has("deviations"):
        declared = section.section("deviations", "minted_key: the key that is known before the commit")
        if declared is not None:
            if declared.has("minted_key"):
                minted = declared.text(
                    "minted_key", "how the minted record is found from the key known before"
                )
            if declared.has("journal_without_attribution"):
                declared.reading.wrong(
                    declared.line_at("journal_without_attribution"),
                    "journal_without_attribution: an adopter that journals without attribution is none of "
                    "this protocol's, and this journal attributes every record",
                    "no such kind in this file",
                )
            declared.close()
    return (int(counted[1]) if counted else None), minted


def _probe(section: Section, minted: str | None) -> str | None:
    """Where the probe is found; undecidable only for a minted key that no read of the constituent finds."""
    write = "package.module:function"
    word = section.word("probe", write)
    if word is None:
        return None
    if word == UNDECIDABLE:
        if minted is None:
            section.reading.wrong(
                section.line_at("probe"),
                f"probe of {section.name} is undecidable without the deviation that allows it",
                f"{write}, or the deviation minted_key beside it",
            )
        return None
    if not re.fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", word):
        section.reading.wrong(section.line_at("probe"), f"probe of {section.name} is {word!r}", write)
    return word


def _outcomes(section: Section) -> tuple[str, ...]:
    """The words of the kind's outcomes; what is derived for every kind is none of them."""
    outcomes = section.words("outcomes", "a list of words such as [disclosed]")
    for word in outcomes:
        if not NAME.fullmatch(word) or word in DERIVED:
            section.reading.wrong(
                section.line_at("outcomes"),
                f"outcomes of {section.name} holds {word!r}"
                + (", which every kind has" if word in DERIVED else ""),
                "words of small letters, digits, - and _, such as disclosed",
            )
    return outcomes


def _service_identity(section: Section, folder: Path) -> ServiceIdentity | None:
    """The sweep's actor with the file of its credential, or none: then the sweep only reports."""
    write = "none, or a section with actor and credential_file"
    if not section.is_section("service_identity"):
        word = section.word("service_identity", write)
        if word not in (None, "none"):
            section.reading.wrong(
                section.line_at("service_identity"), f"service_identity of {section.name} is {word!r}", write
            )
        return None
    identity = section.section("service_identity", write)
    assert identity is not None  # it was seen to be a section
    return _identity(identity, folder, "the registered actor under which the sweep writes")


def _identity(section: Section, folder: Path, actor: str) -> ServiceIdentity:
    """An actor with the file of its credential."""
    name = section.text("actor", actor)
    file = _file(section, "credential_file", folder, "the file that holds its credential")
    section.close()
    return ServiceIdentity(name, file)

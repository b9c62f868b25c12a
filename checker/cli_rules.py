"""What becomes of each rule of a system's specification: where it is carried, and what is still owed.

A system says so in a file rules.toml beside its models. A rule is carried by an element of a model whose
source= names it (an action, an invariant, a witness, an obligation, a configuration, a twin) and that a twin
breaks, or by a test that the file names; else it is the runtime's to carry, or external: beyond any machine.
Exit code 10 says that a rule is missing, unknown, listed twice, or carried by nothing that anything breaks;
12 that the only test of a rule is not installed here. Without SYSTEM every system with such a file is asked.

example: falsework rules recoverable_invocation --state external
"""

from __future__ import annotations

import argparse

from falsework.cli_model import working_folder_is_importable
from falsework.report_document import FORMATS
from falsework.report_output import emit, say
from falsework.report_rules import ALL_STATES, rules_document, rules_text
from falsework.rules import books
from falsework.rules_account import account
from falsework.verdict import combine


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The system, the state whose rules are listed, and the format."""
    parser.add_argument(
        "system",
        metavar="SYSTEM",
        nargs="?",
        help="a shipped name, a folder with a rules.toml, or such a file; none is every system with one",
    )
    parser.add_argument("--state", choices=ALL_STATES, help="list each rule in that state, with where it is")
    parser.add_argument(
        "--format", choices=FORMATS, default="text", help="how the answer is written; text is the default"
    )


def run(args: argparse.Namespace) -> int:
    """Prints the account of each system; 0 only where every rule is accounted for."""
    working_folder_is_importable()
    accounts = [account(book) for book in books(args.system)]
    if args.format == "text":
        say("\n\n".join(rules_text(each, args.state) for each in accounts))
        return combine(each.verdict for each in accounts).exit_code
    asked = args.system or "every system with a rules.toml"
    return emit(rules_document(accounts, asked, args.state), args.format)

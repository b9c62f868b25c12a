"""`python -m falsework` is the command line."""

import sys

from falsework.cli import main

if __name__ == "__main__":
    sys.exit(main())

"""The ``preorder`` command, as a script or ``python -m preorder``."""

import sys

from preorder.processes import run_command


def main() -> int:
    """Run the command; return its exit status."""
    return run_command("preorder.cli")


if __name__ == "__main__":
    sys.exit(main())

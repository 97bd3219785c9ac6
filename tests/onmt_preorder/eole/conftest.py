"""Tests of eole as a host run where it is installed."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("eole") else ["test_eole.py"]

"""A system's whole configuration, printed."""

import yaml

from recipes import configuration
from recipes.systems import read_system


def test_all_options_are_printed(capsys):
    assert configuration.main(["preorder_relative", "--size", "paper", "--subwords", "bpe"]) == 0
    printed = yaml.safe_load(capsys.readouterr().out)
    assert printed == read_system("preorder_relative", "paper", "bpe").options
    assert (printed["hidden_size"], printed["src_subword_type"]) == (512, "bpe")
    assert printed["preorder_encoding"] == ["relative"]
    assert not printed.keys() & {"base", "size", "sizes", "reads", "supervision"}


def test_an_unknown_system_is_one_line_and_status_2(capsys):
    assert configuration.main(["nonsense"]) == 2
    assert capsys.readouterr().err.startswith("no configuration of a system nonsense; there are: baseline_")

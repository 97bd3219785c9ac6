"""The models that come with the package: each has a card that is true, is small, and is there to use."""

import json
import re

import pytest

import preorder
from preorder.cli import main
from preorder.methods import shipped
from preorder.methods.shipped import read_card, shipped_models

LARGEST = 4_000_000  # bytes in the wheel


def test_every_folder_of_a_model_has_a_card():
    assert shipped_models() == tuple(sorted(path.name for path in shipped.FOLDER.iterdir() if path.is_dir()))


@pytest.mark.parametrize("name", shipped_models())
def test_a_card_tells_what_there_is_to_know(name):
    card = read_card(name)
    assert card["size"] == sum(path.stat().st_size for path in (shipped.FOLDER / name).iterdir()) <= LARGEST
    assert card["name"] == name
    assert card["source"]
    assert card["target"]
    assert card["licence"]
    assert card["trained_on"]
    assert card["measured"]
    assert all(text["name"] and text["pairs"] > 0 and text["licence"] for text in card["trained_on"])
    assert all(one["text"] and -1 < one["unreordered"] < one["tau"] < 1 for one in card["measured"])
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", card["date"])


@pytest.mark.parametrize(
    ("model", "sentence", "ordered"),
    [
        ("en-verb-final", "you read books", "you books read"),
        ("en-verb-final", "I eat sushi", "I sushi eat"),
        ("en-verb-final", "She gave him a present", "She him a present gave"),
        ("ja-en", "私 は 本 を 読む", "私 は を 読む 本"),
    ],
)
def test_textbook_sentences(model, sentence, ordered, capsys):
    stop = "。" if model == "ja-en" else "."
    orders = preorder.load(model).text([sentence, f"{sentence} {stop}"])
    assert orders == [ordered, f"{ordered} {stop}"]


def test_models_are_listed(capsys):
    assert main(["models"]) == 0
    table = capsys.readouterr().out
    assert main(["models", "--json"]) == 0
    cards = json.loads(capsys.readouterr().out)
    assert tuple(card["name"] for card in cards) == shipped_models()
    for card in cards:
        assert all(str(card[key]) in table for key in ("name", "source", "target", "date", "licence"))
        assert all(f"{text['pairs']:,}" in table for text in card["trained_on"])
        assert all(f"{one['tau']:.3f}" in table for one in card["measured"])

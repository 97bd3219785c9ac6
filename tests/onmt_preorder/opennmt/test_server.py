"""What the translation server does before and after it translates."""

from types import SimpleNamespace

import pytest
from onmt.translate import translation_server
from onmt.translate.translation_server import ServerModel

from preorder.errors import DataError, UsageError

OURS = SimpleNamespace(encoder_type="preorder_transformer", report_align=False)
OTHER = SimpleNamespace()


def model(opt=OURS, **attributes):
    """Return a server's model that has not been loaded."""
    return SimpleNamespace(**{"opt": opt, "preprocess_opt": None, "features_opt": None, **attributes})


def test_features_stay_on_their_tokens():
    asked = {"src": " a￨1 b ", "id": 3, "ref": "x"}
    expected = {"id": 3, "seg": ["a￨1 b"], "ref": ["x"], "src_feats": [None], "n_seg": 1}
    assert ServerModel.maybe_preprocess(model(), asked) == expected
    inferring = model(features_opt={}, feats_transform="inferfeats")
    assert ServerModel.maybe_transform_feats(inferring, "a", "a", None) is None
    assert ServerModel.maybe_preprocess(model(OTHER), {"src": "a b"})["src_feats"] == [None]


@pytest.mark.parametrize(
    ("source", "segment"),
    [
        ("a", "a"),
        (" \ta \t\r\n", "a"),
        ("\u3000 a\u00a0", "\u3000 a\u00a0"),
        ("\u00a0", "\u00a0"),
        ("   ", ""),
    ],
)
def test_white_space_around_a_source(source, segment):
    """Spaces and tabs alone separate tokens, as in files."""
    assert ServerModel.maybe_preprocess(model(), {"src": source})["seg"] == [segment]


def test_preprocessing_of_the_users_own_comes_after():
    calls = []
    ServerModel.maybe_preprocess(model(preprocess_opt=["f"], preprocess=calls.append), {"src": "a"})
    assert [call["seg"] for call in calls] == [["a"]]


def halves(text, side):
    return " ".join(f"{word[:1]}￭ {word[1:]}" for word in text.split())


@pytest.mark.parametrize(
    ("opt", "line", "expected"),
    [
        (OURS, "ab cd", "a￭ b c￭ d"),
        (OURS, "ab￨1 cd￨0", "a￭￨1 b￨1 c￭￨0 d￨0"),
        (OURS, "ab￨0 cd", "a￭￨0 b￨0 c￭￨1 d￨1"),
        (OTHER, "ab￨1", "a￭ b￨1"),
        (OURS, "ab￨x cd", "a￭ b￨x c￭ d"),
    ],
)
def test_a_tokenizer_gives_positions_to_pieces(opt, line, expected):
    assert ServerModel.maybe_tokenize(model(opt, tokenizers_opt={}, tokenize=halves), line) == expected
    assert ServerModel.maybe_tokenize(model(opt, tokenizers_opt=None), line) == line


def test_a_reference_has_no_positions():
    own = model(tokenizers_opt={}, tokenize=halves)
    assert ServerModel.maybe_tokenize(own, "ab￨1 cd", side="tgt") == "a￭ b￨1 c￭ d"


def test_a_piece_that_a_tokenizer_puts_in_has_the_next_position():
    own = model(tokenizers_opt={}, tokenize=lambda text, side: f"de {text}")
    line = "the￨2 modern￨0 house￨1"
    assert ServerModel.maybe_tokenize(own, line) == f"de￨2 {line}"


def test_a_tokenizer_is_not_given_other_numbers():
    with pytest.raises(DataError, match="not a token with its position: 'ab￨0.50'"):
        ServerModel.maybe_tokenize(model(tokenizers_opt={}, tokenize=halves), "ab￨0.50 cd￨0.50")


def test_alignments_are_refused(monkeypatch):
    monkeypatch.setattr(translation_server, "build_translator", lambda *args, **kwargs: None)
    waiting = SimpleNamespace(clear=lambda: None, set=lambda: None)
    logger = SimpleNamespace(info=lambda message: None)
    opt = SimpleNamespace(encoder_type="preorder_transformer", report_align=True)
    loading = model(opt, loading_lock=waiting, logger=logger, model_id=1, ct2_model=None)
    loading.reset_unload_timer = lambda: None
    with pytest.raises(UsageError, match="report_align does not work in OpenNMT-py's server"):
        ServerModel.load(loading)

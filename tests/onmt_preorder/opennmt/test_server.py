"""What the translation server does before and after it translates."""

from types import SimpleNamespace

import pytest
from onmt.translate import translation_server
from onmt.translate.translation_server import ServerModel

from preorder.errors import UsageError

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


@pytest.mark.parametrize(
    ("report_align", "tokenizer", "message"),
    [
        (True, None, "report_align does not work in OpenNMT-py's server"),
        (False, {}, "tokenizer: leave it out"),
    ],
)
def test_what_the_server_cannot_do_is_refused(monkeypatch, report_align, tokenizer, message):
    monkeypatch.setattr(translation_server, "build_translator", lambda *args, **kwargs: None)
    waiting = SimpleNamespace(clear=lambda: None, set=lambda: None)
    logger = SimpleNamespace(info=lambda message: None)
    opt = SimpleNamespace(encoder_type="preorder_transformer", report_align=report_align)
    loading = model(opt, loading_lock=waiting, logger=logger, model_id=1, ct2_model=None)
    loading.tokenizers_opt = tokenizer
    loading.reset_unload_timer = lambda: None
    with pytest.raises(UsageError, match=message):
        ServerModel.load(loading)

"""OpenNMT-py's translation server: what strangers may send, what it tells them, what our models read."""

import json
import logging
from types import SimpleNamespace

import onmt.bin.server
import pytest
from onmt.translate import translation_server
from onmt.translate.translation_server import ServerModel, ServerModelError, TranslationServer
from waitress.adjustments import Adjustments
from werkzeug.exceptions import HTTPException

from onmt_preorder.opennmt import server
from preorder.errors import DataError, UsageError
from tests.support.opennmt import call, server_app


@pytest.fixture
def app(monkeypatch):
    """Return the application of a server with one model, number 0, that is not loaded."""
    model = object.__new__(ServerModel)
    model.model_id, model.user_opt, model.timeout, model.tokenizers_opt = 0, {"models": []}, -1, None
    model.opt = SimpleNamespace(cuda=False)
    monkeypatch.setattr(TranslationServer, "start", lambda self, _: self.models.update({0: model}))
    return server_app("none")


@pytest.fixture
def client(app):
    server.prepare(app)
    return app.test_client()


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        (b"", 400, "could not understand"),
        (b"{", 400, "could not understand"),
        (b"[]", 400, "not a list of sentences"),
        (b'[{"src": 3}]', 400, "sentence 1: not a string: 3"),
        (b'[{"src": "a"}, {"id": 0}]', 400, "sentence 2: not a string: None"),
        (b'[{"src": "a", "ref": 1}]', 400, "sentence 1: not a string: 1"),
        (b'[{"src": "a", "id": [1]}]', 400, "there is no such model"),
        (b'[{"src": "a", "id": 9}]', 400, "there is no such model"),
        (b'[{"src": "a", "id": 0}, {"src": "b", "id": 9}]', 400, "sentence 2: another id than sentence 1"),
        (b'[{"src": "a"}, {"src": "see \\ud83d"}]', 400, "sentence 2: has half of a character"),
        (b'[{"src": "a", "ref": "\\ud83d"}]', 400, "sentence 1: has half of a character"),
        (b'[{"src": "a\\r\\n"}, {"src": "a\\nb"}]', 400, "sentence 2: src has a line break in it"),
        (b'[{"src": "a\\u2028"}]', 400, "sentence 1: src has a line break in it"),
        (b"[" * 100_000, 500, server.FAULT),
        (b'[{"src": "a", "id": ' + b"9" * 5000 + b"}]", 400, "could not understand"),
        (b'[{"src": "' + b"a" * server.MAX_BYTES + b'"}]', 413, "exceeds"),
        (b"\xff", 400, ""),
    ],
)
def test_a_bad_request_is_told_in_json(client, body, status, message):
    answer = client.post("/t/translate", data=body)
    assert (answer.status_code, answer.json["status"]) == (status, "error")
    assert message in answer.json["error"]


def test_other_routes_answer_in_json_too(client, tmp_path):
    for route, status in {"nothing": 404, "translate": 405, "to_cpu/5": 500}.items():
        answer = client.get(f"/t/{route}")
        assert (answer.status_code, answer.json["status"]) == (status, "error")
    request = {"opt": {"log_file": str(tmp_path / "log"), "preorder_model": "/"}}
    for model in (0, 5):
        answer = client.post(f"/t/clone_model/{model}", json=request)
        assert (answer.status_code, answer.json["status"]) == (403, "error")
        assert answer.json["error"].startswith("the models are those of the server's configuration")
    assert not (tmp_path / "log").exists()


@pytest.mark.parametrize(
    ("error", "status", "shown"),
    [
        (DataError("not a token", "<source>", 1), 400, "sentence 2: not a token"),
        (DataError("not a token", "<source>", 2), 400, "sentence 4: not a token"),
        (DataError("too long"), 400, "too long"),
        (DataError("cannot be read", "/secret/model"), 500, server.FAULT),
        (RuntimeError("at 0x7f"), 500, server.FAULT),
        (UsageError("/secret"), 500, server.FAULT),
    ],
)
def test_what_goes_wrong_in_a_model_shows_no_internals(error, status, shown):
    def fail(_):
        try:
            raise error
        except Exception as cause:
            raise ServerModelError(f"Error: {cause}")  # noqa: B904

    server = TranslationServer()
    server.models[0] = SimpleNamespace(run=fail)
    with pytest.raises(HTTPException) as raised:
        server.run([{"src": src} for src in (" \t", "a", "", "b")])  # no model gets the empty ones
    assert (raised.value.code, raised.value.description) == (status, shown)


def test_what_is_wrong_with_a_request_is_not_logged_with_its_text(app, caplog):
    """OpenNMT-py logs what a translator raises, with all sentences and options, whoever is to blame."""
    server._serve(lambda _, **options: Adjustments(**options), app, host="127.0.0.1", port=5000)
    logger = logging.getLogger("onmt")
    for error in (DataError("not a token", "<source>", 1), DataError("damaged", "weights"), OSError("full")):
        try:
            raise error
        except Exception as raised:
            logger.error("all sentences: %s", raised)
    logger.error("of nothing that is handled")
    logger.filters.clear()
    assert [line.split(": ")[-1] for line in caplog.messages] == [
        "damaged",
        "full",
        "of nothing that is handled",
    ]


def test_the_server_is_of_this_machine_unless_told_otherwise(monkeypatch):
    calls = []
    monkeypatch.setattr(onmt.bin.server, "start", lambda *_, **settings: calls.append(settings["host"]))
    for given in ([], ["--ip", "0.0.0.0"]):
        call(".", "onmt_server", *given)
    assert calls == ["127.0.0.1", "0.0.0.0"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ([], "no attribute 'get'"),
        ({}, "'models'"),
        ({"models": [3]}, "not iterable"),
        ({"models": [{"opt": {}}]}, "missing 'models' parameter"),
    ],
)
def test_a_bad_configuration_of_the_server(tmp_path, settings, message):
    (tmp_path / "server.json").write_text(json.dumps(settings))
    with pytest.raises(DataError, match=f"server.json: not a server's configuration, .*{message}"):
        TranslationServer().start(str(tmp_path / "server.json"))


def test_an_option_that_is_false_is_off():
    opt = {"models": ["m"], "ban_unk_token": False, "replace_unk": True, "beam_size": 3}
    parsed = ServerModel.parse_opt(SimpleNamespace(model_root=""), opt)
    assert (parsed.ban_unk_token, parsed.replace_unk, parsed.beam_size) == (False, True, 3)


def model(**attributes):
    """Return a server's model that has not been loaded."""
    refused = {"report_align": False, "tgt_file_prefix": False}
    opt = SimpleNamespace(encoder_type="preorder_transformer", **refused)
    fixed = {"opt": opt, "preprocess_opt": None, "features_opt": None, "tokenizers_opt": None}
    return SimpleNamespace(**{**fixed, **attributes})


def test_features_stay_on_their_tokens_and_preprocessing_of_ones_own_comes_after():
    asked = {"src": " \ta￨1 b \t\r\n", "id": 3, "ref": "x"}
    expected = {"id": 3, "seg": ["a￨1 b"], "ref": ["x"], "src_feats": [None], "n_seg": 1}
    assert ServerModel.maybe_preprocess(model(), asked) == expected
    inferring = model(features_opt={}, feats_transform="inferfeats")
    assert ServerModel.maybe_transform_feats(inferring, "a", "a", None) is None
    assert ServerModel.maybe_preprocess(model(opt=SimpleNamespace()), {"src": "a b"})["src_feats"] == [None]
    spaces = "\u3000 a\u00a0"  # spaces and tabs alone separate tokens, as in files
    assert ServerModel.maybe_preprocess(model(), {"src": spaces})["seg"] == [spaces]
    calls = []
    ServerModel.maybe_preprocess(model(preprocess_opt=["f"], preprocess=calls.append), {"src": "a"})
    assert [call["seg"] for call in calls] == [["a"]]


@pytest.mark.parametrize(
    ("source", "translation"), [(" \ta \t\r\n", "<a>"), ("\u3000 a\u00a0", "<\u3000 a\u00a0>"), ("   ", "")]
)
def test_white_space_around_a_source_is_not_put_around_its_translation(source, translation):
    class Translator(translation_server.CTranslate2Translator):
        def __init__(self):
            pass

        def translate(self, examples):
            return [[0.0, 0.0] for _ in examples], [[f"<{each['src']['src']}>"] * 2 for each in examples]

    served = ServerModel(model_id=0, opt={"models": ["m"], "n_best": 2})
    served.opt.encoder_type, served.translator = "preorder_transformer", Translator()
    served.loading_lock.set()
    assert served.run([{"src": source}])[0] == [translation] * 2


@pytest.mark.parametrize(
    ("option", "tokenizer", "preorderer", "error", "message"),
    [
        ("report_align", None, "", UsageError, "report_align does not work in OpenNMT-py's server"),
        ("tgt_file_prefix", None, "", UsageError, "tgt_file_prefix does not work in OpenNMT-py's server"),
        (None, {}, "", UsageError, "tokenizer: leave it out"),
        (None, None, "nowhere", DataError, "nowhere/model.json: cannot be read"),
    ],
)
def test_what_the_server_cannot_do_is_refused(monkeypatch, option, tokenizer, preorderer, error, message):
    monkeypatch.setattr(translation_server, "build_translator", lambda *args, **kwargs: None)
    nothing = SimpleNamespace(clear=lambda: None, set=lambda: None, info=lambda message: None)
    loading = model(loading_lock=nothing, logger=nothing, model_id=1, ct2_model=None)
    vars(loading.opt).update({option: True} if option else {})
    loading.tokenizers_opt = tokenizer
    loading.reset_unload_timer = lambda: None
    loading.user_opt = {"preorder_model": preorderer}
    loading.opt.preorder_model, loading.opt.preorder_stanza_dir = preorderer, ""
    with pytest.raises(error, match=message):
        ServerModel.load(loading)
    assert not hasattr(loading, "translator")  # else the next request would be translated without transforms

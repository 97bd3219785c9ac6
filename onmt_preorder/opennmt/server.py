"""OpenNMT-py's translation server: with our models, and safe from what strangers send.

Why: it does not use the transforms of a model, and fails where some token has no feature. Here a request is
treated as a line in ``onmt_translate`` is: plain text or ``token￨position``, preordered on the fly, split and
joined as the checkpoint says.

It listens to the whole network, reads requests of any size, makes models of what a request asks for
(``clone_model``: options could name any file), unloads a model after a bad request, logs its text, and
answers with the text of an exception. Here it listens to its own machine unless ``--ip`` is given; what is
wrong with a request is JSON with a status from 400 on; what is wrong with the server is in its log alone.

Can go when the server does so itself.
"""

from __future__ import annotations

import logging
import sys
from typing import Any, TypeGuard

from onmt_preorder.input import on_the_fly
from onmt_preorder.input.pipeline import SOURCE_NAME
from onmt_preorder.opennmt.options import is_ours
from onmt_preorder.opennmt.translation import LineTranslator
from onmt_preorder.wrapping import adapts
from preorder.api_values import text_of
from preorder.errors import DataError, PreorderError, UsageError
from preorder.io.files import read_json, without_line_end

ADDRESS = "127.0.0.1"
MAX_BYTES = 2**20
"""The longest request: some 10,000 lines."""

FAULT = "the server cannot do this now: its log says why"


@adapts("onmt.bin.server", "_get_parser")
def _get_parser(original: Any) -> Any:
    parser = original()
    parser.set_defaults(ip=ADDRESS)
    return parser


@adapts("onmt.bin.server", "serve")
def _serve(original: Any, app: Any, **options: Any) -> Any:
    prepare(app)
    logging.getLogger("onmt").addFilter(lambda _: not _is_of_request(sys.exc_info()[1]))
    return original(app, max_request_body_size=64 * MAX_BYTES, **options)


def prepare(app: Any) -> None:
    """Let a Flask application refuse long requests and new models, and answer with JSON whatever happens."""
    from werkzeug.exceptions import Forbidden

    def clone_model(**_: Any) -> Any:
        raise Forbidden("the models are those of the server's configuration: none is made by a request")

    app.config["MAX_CONTENT_LENGTH"] = MAX_BYTES
    app.view_functions["clone_model"] = clone_model
    app.register_error_handler(Exception, _answer)


def _answer(error: Exception) -> tuple[dict[str, str], int]:
    from onmt.utils.logging import logger
    from werkzeug.exceptions import HTTPException

    if isinstance(error, HTTPException):
        return {"status": "error", "error": error.description or error.name}, error.code or 500
    logger.error(FAULT, exc_info=error)
    return {"status": "error", "error": FAULT}, 500


@adapts("onmt.translate.translation_server:TranslationServer", "run")
def _run(original: Any, self: Any, inputs: Any) -> Any:
    """Translate a request; what is wrong with it is no error of the model, which would be unloaded."""
    from onmt.translate.translation_server import ServerModelError
    from onmt.utils.logging import logger
    from werkzeug.exceptions import BadRequest, InternalServerError

    if problem := _problem(inputs, self.models):
        raise BadRequest(problem)
    try:
        return original(self, inputs)
    except (ServerModelError, PreorderError) as error:
        cause = error.__context__ if isinstance(error, ServerModelError) else error
        if _is_of_request(cause):
            filled = [number for number, each in enumerate(inputs, 1) if each["src"].strip(" \t\r\n")]
            where = f"sentence {filled[cause.line - 1]}: " if cause.line else ""
            raise BadRequest(where + cause.reason) from None
        logger.error(str(error))
        raise InternalServerError(FAULT) from None


def _is_of_request(error: BaseException | None) -> TypeGuard[DataError]:
    """Return whether an error is one of what a request asks for: the log need not hold its text."""
    return isinstance(error, DataError) and error.file in (None, SOURCE_NAME)


def _problem(inputs: Any, models: dict[Any, Any]) -> str | None:
    """Return what is wrong with a request to translate, or None."""
    if not isinstance(inputs, list) or not inputs or not all(isinstance(each, dict) for each in inputs):
        return 'not a list of sentences: [{"src": "…"}]'
    model_id = inputs[0].get("id", 0)
    if not isinstance(model_id, int | str) or model_id not in models:
        return "there is no such model"
    takes_lines = getattr(models[model_id], "preprocess_opt", None) is None  # else it may take line breaks
    for number, sentence in enumerate(inputs, 1):
        try:
            line = without_line_end(text_of(sentence.get("src")))
            text_of(sentence.get("ref") or "")
        except DataError as error:
            return f"sentence {number}: {error}"
        if sentence.get("id", 0) != model_id:
            return f"sentence {number}: another id than sentence 1: a request is for one model"
        if takes_lines and line.splitlines() not in ([], [line]):
            return f"sentence {number}: src has a line break in it: give a sentence for each line"
    return None


@adapts("onmt.translate.translation_server:TranslationServer", "start")
def _start(original: Any, self: Any, config_file: str) -> Any:
    read_json(config_file)  # says what is wrong with the file
    try:
        return original(self, config_file)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        reason = " ".join(f"{type(error).__name__}: {error}".split())
        what = 'not a server\'s configuration, {"models": [{"model": …, "opt": {…}}]}'
        raise DataError(f"{what}: {reason}", config_file) from error


@adapts("onmt.translate.translation_server:ServerModel", "parse_opt")
def _parse_options(original: Any, self: Any, opt: dict[str, Any]) -> Any:
    """Parse a model's options; those that are false are left out, or they would be turned on."""
    return original(self, {name: value for name, value in opt.items() if value is not False})


# --- our models ---


@adapts("onmt.translate.translation_server:ServerModel", "load")
def _load(original: Any, self: Any, *args: Any, **kwargs: Any) -> None:
    try:
        original(self, *args, **kwargs)
        if is_ours(self.opt):
            self.translator = _checked_translator(self)
    except BaseException:  # else later requests would be translated by what is half loaded
        vars(self).pop("translator", None)
        raise
    finally:  # else all later requests would wait for it
        self.loading_lock.set()


def _checked_translator(model: Any) -> Any:
    for name in ("report_align", "tgt_file_prefix"):
        if getattr(model.opt, name):
            raise UsageError(f"{name} does not work in OpenNMT-py's server: onmt_translate has it")
    if model.tokenizers_opt is not None:
        raise UsageError("tokenizer: leave it out: the model splits words as its checkpoint says")
    if model.user_opt.get("preorder_model"):  # an error now, not with the first request
        on_the_fly.load(model.opt.preorder_model, model.opt.preorder_stanza_dir)
    return _make_translator(model.translator, model.opt)


def _make_translator(translator: Any, opt: Any) -> Any:
    """Make a translator of the class to which the server gives whole lines."""
    from onmt.translate.translation_server import CTranslate2Translator

    class ServerTranslator(CTranslate2Translator):
        def __init__(self) -> None:
            self.model = translator.model
            self._lines = LineTranslator(translator, opt)

        def translate(self, examples: list[dict[str, Any]], *_: Any, **__: Any) -> tuple[list, list]:
            translated = self._lines.translate([example["src"]["src"] for example in examples])
            self._lines.check.finish()
            return translated

    return ServerTranslator()


@adapts("onmt.translate.translation_server:ServerModel", "run")
def _run_model(original: Any, self: Any, inputs: list[dict[str, Any]]) -> Any:
    """Take off a translation the white space of its source, which the server puts around it."""
    translations, scores, n_best, *others = original(self, inputs)  # loads the model, if need be
    if is_ours(self.opt):
        sources = [sentence["src"] for sentence in inputs for _ in range(n_best)]
        translations = list(map(_without_surroundings, translations, sources))
    return translations, scores, n_best, *others


def _without_surroundings(translation: str, source: str) -> str:
    before, after = source[: len(source) - len(source.lstrip())], source[len(source.rstrip()) :]
    return translation.removeprefix(before).removesuffix(after)


@adapts("onmt.translate.translation_server:ServerModel", "maybe_preprocess")
def _preprocess(original: Any, self: Any, sequence: dict[str, Any]) -> dict[str, Any]:
    """Leave features on their tokens: they are read later, as those of a file are."""
    if not is_ours(self.opt) or sequence.get("src") is None:
        return original(self, sequence)
    rest = {name: value for name, value in sequence.items() if name != "src"}
    line = without_line_end(sequence["src"]).strip(" \t")  # other white space is part of a token, as in files
    rest |= {"seg": [line], "ref": [sequence.get("ref")], "src_feats": [None], "n_seg": 1}
    return original(self, rest)


@adapts("onmt.translate.translation_server:ServerModel", "maybe_transform_feats")
def _transform_features(original: Any, self: Any, raw: str, tokens: str, features: Any) -> Any:
    return features if is_ours(self.opt) else original(self, raw, tokens, features)

"""What the translation server accepts, and what it answers where it does not.

Why: OpenNMT-py's server listens to the whole network, reads requests of any size, unloads a model after a bad
request, so that the next one waits for it, and answers with status 200 and the text of an exception, or 500
and a page of HTML. It translates all sentences by the first one's model, and logs each line twice. Here it
listens to its own machine unless ``--ip`` is given; what is wrong with a request is JSON with a status from
400 on; what is wrong with the server is in its log alone.

Can go when the server does so itself.
"""

from __future__ import annotations

import functools
import logging
from typing import Any

from onmt_preorder.input.pipeline import SOURCE_NAME
from onmt_preorder.opennmt.wrapping import adapts
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
def _serve(original: Any, app: Any, host: str, port: int, **options: Any) -> Any:
    if not 0 < port < 2**16:
        raise UsageError(f"--port: not a number from 1 to {2**16 - 1}: {port}")
    prepare(app)
    logging.getLogger("onmt").propagate = False  # waitress logs what comes to the root, too
    return original(app, host=host, port=port, max_request_body_size=64 * MAX_BYTES, **options)


def prepare(app: Any) -> None:
    """Let a Flask application refuse long requests, and answer with JSON whatever happens."""
    app.config["MAX_CONTENT_LENGTH"] = MAX_BYTES
    app.register_error_handler(Exception, _answer)
    list_models = app.view_functions["get_models"]

    def health() -> dict[str, Any]:
        models = [{"id": model["model_id"], "loaded": model["loaded"]} for model in list_models().json]
        return {"status": "ok", "models": models}

    app.add_url_rule("/health", "health")  # beside that of --url_root
    for name, view in (app.view_functions | {"health": health}).items():
        app.view_functions[name] = _guarded(view)


class Refusal(BaseException):
    """An answer (an ``HTTPException``) that no view of OpenNMT-py catches, to answer it with status 200."""


def _guarded(view: Any) -> Any:
    """Turn refusals, unknown models, options that end the program and deep JSON into answers."""

    @functools.wraps(view)
    def guarded(**arguments: Any) -> Any:
        from werkzeug.exceptions import BadRequest, NotFound

        try:
            return view(**arguments)
        except KeyError as error:
            if error.args == (arguments.get("model_id"),):
                raise NotFound("there is no such model") from None
            raise
        except Refusal as refusal:
            raise refusal.args[0] from None
        except RecursionError:
            raise BadRequest("the JSON is nested too deeply") from None
        except SystemExit:
            raise BadRequest("no options for a model") from None

    return guarded


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
    from werkzeug.exceptions import BadRequest, InternalServerError, NotFound

    problem = find_problem(inputs)
    if problem:
        raise BadRequest(problem)
    model_id = inputs[0].get("id", 0)
    if model_id not in self.models:
        raise NotFound("there is no such model")
    problem = find_line_break(inputs, self.models[model_id])
    if problem:
        raise BadRequest(problem)
    try:
        return original(self, inputs)
    except (ServerModelError, PreorderError) as error:
        cause = error.__context__ if isinstance(error, ServerModelError) else error
        if isinstance(cause, DataError) and cause.file in (None, SOURCE_NAME):
            raise BadRequest(str(cause)) from None
        logger.error(str(error))
        raise InternalServerError(FAULT) from None


@adapts("onmt.translate.translation_server:TranslationServer", "unload_model")
def _unload_model(original: Any, self: Any, model_id: int) -> None:
    from werkzeug.exceptions import NotFound

    if model_id not in self.models:
        raise Refusal(NotFound("there is no such model"))
    original(self, model_id)


@adapts("onmt.translate.translation_server:ServerModel", "unload")
@adapts("onmt.translate.translation_server:ServerModel", "to_cpu")
@adapts("onmt.translate.translation_server:ServerModel", "to_gpu")
def _move(original: Any, self: Any) -> None:
    from werkzeug.exceptions import Conflict

    if not self.loaded:
        raise Refusal(Conflict("the model is not loaded"))
    original(self)


@adapts("onmt.translate.translation_server:ServerModel", "to_gpu")
def _to_gpu(original: Any, self: Any) -> None:
    from werkzeug.exceptions import Conflict

    if not self.opt.cuda:
        raise Refusal(Conflict("the configuration gives the model no GPU"))
    original(self)


@adapts("onmt.translate.translation_server:TranslationServer", "clone_model")
def _clone_model(*_: Any) -> Any:
    """Refuse: options of a request could name any file to be read, and one to be written, ``log_file``."""
    from werkzeug.exceptions import Forbidden

    raise Forbidden("the models are those of the server's configuration: none is made by a request")


def find_problem(inputs: Any) -> str | None:
    """Return what is wrong with the form of a request to translate, or None."""
    if not isinstance(inputs, list) or not inputs or not all(isinstance(each, dict) for each in inputs):
        return 'not a list of sentences: [{"src": "…"}]'
    for number, sentence in enumerate(inputs, 1):
        for name in ("src", "ref"):
            if name == "src" or sentence.get(name) is not None:
                try:
                    text_of(sentence.get(name))
                except DataError as error:
                    return f"sentence {number}: {name}: {error}"
        model_id = sentence.get("id", 0)
        if not isinstance(model_id, int | str) or isinstance(model_id, bool):
            return f"sentence {number}: id is no number"
        if model_id != inputs[0].get("id", 0):
            return f"sentence {number}: another id than sentence 1: a request is for one model"
    return None


def find_line_break(inputs: list[dict[str, Any]], model: Any) -> str | None:
    """Return which sentence has a line break, or None; preprocessing of the user's own may take them."""
    if getattr(model, "preprocess_opt", None) is None:
        for number, sentence in enumerate(inputs, 1):
            line = without_line_end(sentence["src"])
            if line.splitlines() not in ([], [line]):
                return f"sentence {number}: src has a line break in it: give a sentence for each line"
    return None


@adapts("onmt.translate.translation_server:TranslationServer", "start")
def _start(original: Any, self: Any, config_file: str) -> Any:
    settings = read_json(config_file)
    models = settings.get("models") if isinstance(settings, dict) else None
    if not isinstance(models, list) or not models or not all(isinstance(each, dict) for each in models):
        raise DataError('not a server\'s configuration: {"models": [{"model": …, "opt": {…}}]}', config_file)
    for number, model in enumerate(models, 1):
        if not isinstance(model.get("opt"), dict):
            raise DataError(f"model {number}: there is no opt: {{…}}", config_file)
    try:
        return original(self, config_file)
    except (ValueError, TypeError, KeyError) as error:
        raise DataError(" ".join(str(error).split()), config_file) from error

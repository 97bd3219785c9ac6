"""What the translation server accepts, and what it answers where it does not.

Why: OpenNMT-py's server listens to the whole network, reads requests of any size, unloads a model after a bad
request, so that the next one waits for it, and answers with status 200 and the text of an exception, or 500
and a page of HTML. Here it listens to its own machine unless ``--ip`` is given; what is wrong with a request
is JSON with a status from 400 on; what is wrong with the server is in its log alone.

Can go when the server does so itself.
"""

from __future__ import annotations

import functools
from typing import Any

from onmt_preorder.input.pipeline import SOURCE_NAME
from onmt_preorder.opennmt.wrapping import adapts
from preorder.data.errors import DataError, PreorderError, UsageError
from preorder.data.files import read_json

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
    return original(app, host=host, port=port, max_request_body_size=64 * MAX_BYTES, **options)


def prepare(app: Any) -> None:
    """Let a Flask application refuse long requests, and answer with JSON whatever happens."""
    app.config["MAX_CONTENT_LENGTH"] = MAX_BYTES
    app.register_error_handler(Exception, _answer)
    for name, view in app.view_functions.items():
        app.view_functions[name] = _guarded(view)


def _guarded(view: Any) -> Any:
    """Turn what is no ``Exception``, as options ending the program, and unknown models, into answers."""

    @functools.wraps(view)
    def guarded(**arguments: Any) -> Any:
        from werkzeug.exceptions import BadRequest, NotFound

        try:
            return view(**arguments)
        except KeyError as error:
            if error.args == (arguments.get("model_id"),):
                raise NotFound("there is no such model") from None
            raise
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
    if inputs[0].get("id", 0) not in self.models:
        raise NotFound("there is no such model")
    try:
        return original(self, inputs)
    except (ServerModelError, PreorderError) as error:
        cause = error.__context__ if isinstance(error, ServerModelError) else error
        if isinstance(cause, DataError) and cause.file in (None, SOURCE_NAME):
            raise BadRequest(str(cause)) from None
        logger.error(str(error))
        raise InternalServerError(FAULT) from None


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
        if not isinstance(sentence.get("src"), str):
            return f"sentence {number}: src is no text"
        if not isinstance(sentence.get("ref"), str | None):
            return f"sentence {number}: ref is no text"
        if not isinstance(sentence.get("id", 0), int | str):
            return f"sentence {number}: id is no number"
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

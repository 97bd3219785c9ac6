"""``preorder serve``: order sentences over HTTP, and draw them on a page."""

from __future__ import annotations

import argparse
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.resources import files as resources
from typing import TYPE_CHECKING, Any

from preorder import __version__
from preorder.annotate.options import AnnotatorOptions
from preorder.annotate.tokenizers import log_tokenizers, make_tokenizer
from preorder.api_values import line_of
from preorder.command_line import options, source
from preorder.command_line.source import Source
from preorder.data import Sentence
from preorder.data.formats import FORMATTERS, parse_alignment, parse_source, parse_tokens, warn_of_escapes
from preorder.errors import DataError, MissingExtraError, PreorderError, UsageError, require
from preorder.io.files import parse_json, parse_lines
from preorder.learning.options import check_choice
from preorder.methods.model_directory import Model, load_model
from preorder.methods.ordering import confident, ordered_lines, orders
from preorder.progress import LOGGER

if TYPE_CHECKING:
    from flask import Flask

    from preorder.analysis.sentence_view import SentenceView

ADDRESS, PORT = "127.0.0.1", 8017
MAX_BYTES = 2**20  # of a request: some 10,000 lines
MAX_LENGTH = 500  # tokens of a sentence: time grows by the cube of them
THREADS = 4  # of requests and answers; one at a time orders
POLICY = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'"

EXAMPLES = """\
  preorder serve --model en-verb-final
  preorder serve --model model --port 8080 --tokenize en
      curl localhost:8080/order --data-binary @test.raw
      curl localhost:8080/order --json '{"lines": ["I like the pen."], "format": "positions"}'
      curl localhost:8080/health

Lines are answered by lines, JSON by {"lines": […]}. ?format=positions or "format" chooses (default: text).
http://localhost:8017 has a text box. A wrong request is answered by {"error": …} and a status from 400 on.
Ctrl-C ends the server.
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``preorder serve``."""
    text = "model directory of preorder train, or a name of preorder models, that needs no tags of a file"
    parser.add_argument("--model", metavar="DIR", required=True, help=text)
    text = "address to listen to; 0.0.0.0 is all networks, where everyone may ask (default: %(default)s)"
    parser.add_argument("--host", metavar="IP", default=ADDRESS, help=text)
    options.add_number(parser, "--port", options.port, PORT, "port to listen to; 0: any that is free")
    text = "most tokens of a sentence: others are refused"
    options.add_number(parser, "--max-length", options.positive, MAX_LENGTH, text)
    source.add_tokenize(parser, "requests hold")
    text = "folder of Stanza's models, for a model that was trained with its tags or trees"
    options.add_files(parser, "DIR", stanza_dir=text)


def run(arguments: argparse.Namespace) -> None:
    """Listen until the process is stopped."""
    waitress = require("waitress", "serve")
    app = make_app(load_service(arguments))
    try:
        server = waitress.create_server(
            app,
            host=arguments.host,
            port=arguments.port,
            threads=THREADS,
            max_request_body_size=2 * MAX_BYTES,  # those between are refused as JSON
            ident=None,
        )
    except OSError as error:
        raise UsageError(f"cannot listen to {arguments.host}:{arguments.port}: {error.strerror}") from None
    LOGGER.info(f"listening on http://{arguments.host}:{server.effective_port}; Ctrl-C ends")
    server.run()


def load_service(arguments: argparse.Namespace) -> Service:
    """Load the model, and check that it needs no files beside the text."""
    model = load_model(arguments.model)
    _, stanza = source.for_model(Source(stanza_dir=arguments.stanza_dir), model)
    if stanza is None:
        model.annotate(Sentence(()))  # raises where the model needs tags
    log_tokenizers(arguments.tokenize)
    tokenize = arguments.tokenize and make_tokenizer(arguments.tokenize)
    return Service(arguments.model, model, stanza, tokenize, arguments.max_length)


@dataclass
class Service:
    """A model that answers one request at a time."""

    name: str
    model: Model
    stanza: AnnotatorOptions | None
    tokenize: Any  # None: requests hold tokens
    max_length: int
    lock: threading.Lock = field(default_factory=threading.Lock)

    def sentences(self, lines: Sequence[str]) -> list[Sentence]:
        """Parse the lines of a request; a DataError names the line, from 1."""

        def parse(line: str) -> Sentence:
            words = line_of(line) if self.tokenize is None else " ".join(self.tokenize(line_of(line)))
            sentence = parse_source(words)
            if len(sentence) > self.max_length:
                raise DataError(f"{len(sentence)} tokens: at most {self.max_length} are taken")
            return sentence

        return list(parse_lines("request", lines, parse))

    def order(self, lines: Sequence[str], form: str) -> list[str]:
        """Return each line in the order of the model, in a format of ``preorder apply``."""
        check_choice("format", form, FORMATTERS)
        with self.lock:
            return list(ordered_lines(self.model, self.sentences(lines), form, warn_of_escapes, self.stanza))

    def picture(self, line: str, target: str, links: str) -> tuple[SentenceView, Any]:
        """Return a sentence with its translation and links, if given, and the picture of ``show``."""
        from preorder.analysis.sentence_view import SentenceView

        words = parse_tokens(target) or None
        alignment = parse_alignment(links) if links.strip() else None
        with self.lock:
            (sentence,) = self.sentences([line])
            find = partial(confident, self.model.preorderer, self.model.preorderer.trees)
            ((tree, confidence),) = orders(self.model, [sentence], find, self.stanza)
            view = SentenceView(sentence.words, tree.permutation, tree, words, alignment, confidence)
            return view, _drawing(view)


def make_app(service: Service) -> Flask:
    """Return the application: ``/order``, ``/health`` and the page."""
    flask = require("flask", "serve")
    from jinja2 import Environment, StrictUndefined
    from werkzeug.exceptions import BadRequest, HTTPException

    app = flask.Flask("preorder", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BYTES
    app.json.ensure_ascii = False
    text = resources("preorder.cli").joinpath("serve.html").read_text(encoding="utf-8")
    template = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True).from_string(text)

    def refuse(error: Exception) -> Any:
        if isinstance(error, HTTPException):
            return {"error": error.description or error.name}, error.code or 500
        if isinstance(error, PreorderError):
            return {"error": str(error)}, 400
        LOGGER.error("a request failed", exc_info=error)
        return {"error": "the server cannot do this: its log says why"}, 500

    @app.after_request
    def protect(answer: Any) -> Any:
        answer.headers["Content-Security-Policy"] = POLICY
        answer.headers["X-Content-Type-Options"] = "nosniff"
        return answer

    @app.get("/health")
    def health() -> Any:
        method = service.model.preorderer.method
        return {"status": "ok", "model": service.name, "method": method, "version": __version__}

    @app.post("/order")
    def order() -> Any:
        request = flask.request
        form = request.args.get("format", "text")
        try:
            text = request.get_data().decode("utf-8")
        except UnicodeDecodeError as error:
            raise BadRequest(f"not valid UTF-8 (byte {error.start + 1})") from None
        if request.is_json:
            given = parse_json(text)
            if isinstance(given, dict):
                form, given = given.get("format", form), given.get("lines")
            if not isinstance(given, list) or not isinstance(form, str):
                raise BadRequest('not {"lines": ["…"], "format": "text"}')
            return {"lines": service.order(given, form)}
        ordered = service.order(text.removesuffix("\n").split("\n"), form)
        return flask.Response("".join(f"{line}\n" for line in ordered), mimetype="text/plain")

    @app.get("/")
    def page() -> Any:
        given = {name: flask.request.args.get(name, "") for name in ("source", "target", "links")}
        drawing, shown, wrong = "", "", ""
        if given["source"].strip():
            try:
                words = " ".join(given["source"].split())
                view, drawing = service.picture(words, given["target"], given["links"])
                shown = " ".join(view.permutation.apply(view.words))
            except PreorderError as error:
                wrong = str(error)
        page = template.render(given, drawing=drawing, shown=shown, wrong=wrong, name=service.name)
        return flask.Response(page, 400 if wrong else 200, mimetype="text/html")

    app.register_error_handler(Exception, refuse)
    return app


def _drawing(view: SentenceView) -> Any:
    """Return the picture of ``preorder show``, or without matplotlib its text."""
    from markupsafe import Markup, escape

    from preorder.analysis.plots import svg_element
    from preorder.analysis.sentence_picture import draw_sentence, sentence_title
    from preorder.analysis.sentence_view import text_lines

    try:
        return Markup(svg_element(partial(draw_sentence, view), sentence_title(view)))
    except MissingExtraError:
        return Markup("<pre>{}</pre>").format(escape("\n".join(text_lines(view))))

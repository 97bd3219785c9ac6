"""The ``onmt_preorder`` command: translates sentences as they come, without files of positions, and more."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from importlib import import_module
from itertools import islice
from typing import Any

from onmt_preorder._hook import COMMANDS
from onmt_preorder.input import on_the_fly
from onmt_preorder.input.pipeline import SOURCE_NAME
from onmt_preorder.input.raw_text import MODES, make_detokenizer, make_tokenizer
from onmt_preorder.opennmt.registration import require
from preorder import __version__
from preorder.command_line import Parser, execute, options, visible
from preorder.data.texts import text_lines
from preorder.errors import DataError, UsageError
from preorder.io import files
from preorder.progress import is_quiet, progress

CHUNK_LINES = 2048  # read at a time, to be sorted by length into batches

EXAMPLES = """\
  onmt_preorder translate --model run/model.pt --preorder-model model --src test.en --out test.hyp
  echo 'I like this pen .' | onmt_preorder translate --model run/model.pt
      with the preordering model that the checkpoint was trained with
  onmt_preorder translate --model run/model.pt --tokenize en --detokenize ja
      type a sentence, read its translation
  preorder apply --model model --src test.en --pos test.en.pos | onmt_preorder translate --model run/model.pt
      with a preordering model that reads POS tags of a file
  onmt_preorder translate --model a.pt b.pt --src test.en --onmt -length_penalty avg -replace_unk
"""
EXAMPLES_OF_BEST = """\
  onmt_preorder best run/model
      run/model_step_3250.pt
  onmt_translate -model "$(onmt_preorder best run/model)" -src test.features -output test.hyp
"""
EXAMPLES_OF_RUN = """\
  PYTHONPATH=packages python -m onmt_preorder run onmt_train -config run.yaml
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; return its exit status: 0 done, 2 bad input or usage, 130 interrupted."""
    what = "Translate by models that read source words' positions; find the best checkpoint of a training."
    parser = Parser(prog="onmt_preorder", description=what)
    parser.add_argument("--version", action="version", version=f"onmt_preorder {__version__}")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True)
    _add_translate(subparsers)
    summary = "print the path of the checkpoint with the best validation perplexity"
    best = options.add_command(subparsers, "best", print_best, summary, EXAMPLES_OF_BEST)
    what = "save_model of the training: its checkpoints are MODEL_step_N.pt"
    best.add_argument("trained", metavar="MODEL", help=what)
    summary = "run a command of OpenNMT-py with our models, where Python reads no .pth files"
    run = options.add_command(subparsers, "run", run_command, summary, EXAMPLES_OF_RUN)
    run.add_argument("name", metavar="COMMAND", choices=[f"onmt_{name}" for name in sorted(COMMANDS)])
    run.add_argument("options", metavar="OPTION", nargs=argparse.REMAINDER, help="the options of the command")
    return execute(parser, argv)


def _add_translate(subparsers: argparse._SubParsersAction) -> None:
    summary = "translate sentences, plain or with positions (token￨position)"
    parser = options.add_command(subparsers, "translate", translate, summary, EXAMPLES)
    add = parser.add_argument
    add("--model", metavar="F", nargs="+", required=True, help="checkpoint; several make an ensemble")
    what = "model directory of preorder train, which preorders lines without positions "
    what += "(default: the one that the checkpoint was trained with, if any)"
    add("--preorder-model", metavar="DIR", help=what)
    options.add_source(parser)
    options.add_output(parser)
    what = "the source is raw text of language xx: split it as preorder apply --tokenize does, or by the "
    what += f"OpenNMT tokenizer in a mode of {', '.join(MODES)} (default: it is tokenised already)"
    add("--tokenize", metavar="xx|MODE", help=what)
    what = "write raw text: join the tokens by the rules of language xx in sacremoses; Japanese, Chinese and "
    what += "the like without spaces (default: tokens with spaces between them)"
    add("--detokenize", metavar="xx", help=what)
    add("--beam", metavar="N", type=options.beam, default=5, help="beam width (default: %(default)s)")
    add("--n-best", metavar="K", type=options.beam, default=1, help="translations a line (default: 1)")
    add("--gpu", metavar="N", type=options.natural, help="GPU to use, from 0 (default: none)")
    what = "translate each line before the next is read; so it is always on a terminal"
    add("--line-by-line", action="store_true", help=what)
    what = "pass all that follows to onmt_translate; must be the last option"
    add("--onmt", metavar="OPTION", nargs=argparse.REMAINDER, default=[], help=what)


def print_best(arguments: argparse.Namespace) -> None:
    """Run ``best``."""
    require()
    from onmt_preorder.opennmt.checkpoints import best

    print(visible(str(best(arguments.trained)[0])))


def run_command(arguments: argparse.Namespace) -> None:
    """Run ``run``."""
    require()
    sys.argv = [arguments.name, *arguments.options]
    import_module(f"onmt.bin.{arguments.name.removeprefix('onmt_')}").main()


def translate(arguments: argparse.Namespace) -> None:
    """Run ``translate``; the memory needed does not grow with the input."""
    # An error before models are loaded.
    if arguments.tokenize is not None:
        make_tokenizer(arguments.tokenize)
    if arguments.detokenize is not None:
        make_detokenizer(arguments.detokenize)
    typed = arguments.src == files.STANDARD and sys.stdin is not None and sys.stdin.isatty()
    size = 1 if typed or arguments.line_by_line else CHUNK_LINES
    with files.writer(arguments.out) as stream:
        lines = files.read_lines(arguments.src)
        if not typed and arguments.tokenize is None:
            lines = text_lines(arguments.src, lines)
        translator = _load_translator(arguments, stream)
        asks = typed and arguments.log_format == "text"
        source = iter(_prompted(lines) if asks else progress(lines, "lines", done="read"))
        first = 1  # line number of the chunk's first line
        while chunk := list(islice(source, size)):
            try:
                translator.translate(chunk)
            except DataError as error:
                if error.file != SOURCE_NAME:
                    raise
                line = first + error.line - 1 if error.line else None
                raise DataError(error.reason, files.display_name(arguments.src), line) from None
            first += len(chunk)
        translator.check.finish()


def _prompted(lines: Iterator[str]) -> Iterator[str]:
    """Yield lines that are typed, and ask for each."""
    if is_quiet():
        yield from lines
        return
    print("ready: type a sentence; Ctrl-D ends\n> ", end="", file=sys.stderr, flush=True)
    for line in lines:
        yield line
        print("> ", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)


def _load_translator(arguments: argparse.Namespace, stream: Any) -> Any:
    """Load the models as ``onmt_translate`` does."""
    require()
    from onmt.translate.translator import build_translator
    from onmt.utils.misc import set_random_seed, use_gpu

    from onmt_preorder.opennmt.checkpoints import read_options
    from onmt_preorder.opennmt.options import is_ours
    from onmt_preorder.opennmt.translation import LineTranslator, translation_options

    for path in arguments.model:
        if not is_ours(read_options(path)):
            raise UsageError(f"{path}: not a model of onmt-preorder: use onmt_translate")
    given = {"beam_size": arguments.beam, "n_best": arguments.n_best, "gpu": arguments.gpu}
    given |= {name: getattr(arguments, name) for name in ("preorder_model", "tokenize", "detokenize")}
    named = [part for name, value in given.items() if value is not None for part in (f"-{name}", str(value))]
    named += ["-model", *arguments.model, "-src", arguments.src]
    opt = translation_options([*named, *arguments.onmt], prog="--onmt")
    fixed = {"models": arguments.model, "src": arguments.src, "output": "pred.txt"}
    fixed |= {"tgt": None, "tgt_file_prefix": False, "align_output": ""}
    if any(getattr(opt, name) != value for name, value in fixed.items()):
        what = "models and files are those of --model, --src and --out"
        raise UsageError(f"--onmt: {what}; onmt_translate has -tgt, -tgt_file_prefix and -align_output")
    set_random_seed(opt.seed, use_gpu(opt))
    if arguments.preorder_model is not None:  # an error now, not with the first line
        on_the_fly.load(opt.preorder_model, opt.preorder_stanza_dir)
    translator = build_translator(opt, opt.gpu, report_score=False, out_file=stream)
    return LineTranslator(translator, opt, files.display_name(arguments.src))

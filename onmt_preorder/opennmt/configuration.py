"""The options of OpenNMT-py's commands: added, read strictly, checked.

Why: a plug-in cannot add options to OpenNMT-py. It drops unknown keys and accepts prefixes of known ones, so
that ``hiden_size: 512`` trains another model than the one asked for. It demands ``inferfeats`` for source
features, which :mod:`.transforms` replaces. Its configuration files cannot build on each other:
:mod:`onmt_preorder.base_configuration`.

Can go when its commands refuse unknown keys, encoders can add options and say which transforms they need, and
files can name others.
"""

from __future__ import annotations

import difflib
import os
import re
import sys
from argparse import Namespace
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import yaml

from onmt_preorder.base_configuration import (
    FOR_RECIPES,
    ConfigurationFile,
    line_of,
    merge,
    parse_yaml,
    read_files,
)
from onmt_preorder.input import on_the_fly
from onmt_preorder.input.pipeline import NEEDS_POSITIONS, PREORDER_TRANSFORM, arrange
from onmt_preorder.input.raw_text import MODES
from onmt_preorder.opennmt import options
from onmt_preorder.opennmt.checkpoints import check_resumed
from onmt_preorder.opennmt.options import npmt as phrases
from onmt_preorder.opennmt.options.distortion import DECODER as RECURRENT
from onmt_preorder.opennmt.options.helpers import Option, add_group
from onmt_preorder.opennmt.options.transformer import DECODER as TRANSFORMER
from onmt_preorder.opennmt.options.transformer import READERS
from onmt_preorder.opennmt.translation import read_phrase_table
from onmt_preorder.uncaught import EXIT_STATUS
from onmt_preorder.wrapping import adapts
from preorder.errors import DataError, UsageError

_CORPUS_KEYS = {"path_src", "path_tgt", "path_txt", "path_align", "transforms", "weight"}
_NUMBER = re.compile(r"-[0-9.]")

# --- adding ---


@adapts("onmt.opts", "model_opts")
def _add_options(original: Any, parser: Any) -> None:
    original(parser)
    options.add_options(parser)


@adapts("onmt.opts", "_add_dataset_opts")
def _add_types(original: Any, parser: Any, build_vocab_only: bool = False) -> None:
    """``onmt_build_vocab`` too must know whose corpora it reads; both know sizes of models."""
    original(parser, build_vocab_only=build_vocab_only)
    parser.add("--size", "-size", help="One of the sizes of the model that the configuration names.")
    for side in ("encoder", "decoder") if build_vocab_only else ():
        parser.add(f"--{side}_type", f"-{side}_type", help=f"Type of the {side} that the vocabulary is for.")


@adapts("onmt.opts", "translate_opts")
def _add_translation_options(original: Any, parser: Any) -> None:
    original(parser)
    what = "Write the links of each translation to this file as i-j from 0, with -gold_align those of -tgt."
    parser.add("--align_output", "-align_output", default="", help=what)
    add_group(parser, f"Translation with decoder_type {phrases.DECODER}", phrases.SEARCH)
    what = f"Split the source by the rules of a language; or {', '.join(MODES)}."
    join = "Join translations by the rules of a language."
    raw = {"tokenize": Option("", what, metavar="xx"), "detokenize": Option("", join, metavar="xx")}
    add_group(parser, "Raw text", raw)


# --- reading ---


@adapts("onmt.utils.parse:ArgumentParser", "convert_item_to_command_line_arg")
def _convert(original: Any, self: Any, action: Any, key: str, value: Any) -> Any:
    if action is not None and action.nargs == 0 and not isinstance(value, str):
        self.error(f"{key} is true or false, not {value!r}")
    return original(self, action, key, value)


@adapts("onmt.utils.parse:ArgumentParser", "parse_known_args")
def _parse_strictly(original: Any, self: Any, args: Any = None, *more: Any, **named: Any) -> Any:
    given = args.split() if isinstance(args, str) else list(sys.argv[1:] if args is None else args)
    path, size = _value_of("config", given), _value_of("size", given)
    files = read_files(os.path.expanduser(path)) if path else []
    if size or files:
        merged = {key: value for key, value in merge(files, size).items() if key not in FOR_RECIPES}
        named["config_file_contents"] = yaml.safe_dump(merged, sort_keys=False)
    result = opt, unknown = original(self, args, *more, **named)
    ours = options.ENCODERS.keys() | options.DECODERS.keys()
    if options.is_ours(opt) or any(argument.rpartition("=")[2] in ours for argument in unknown):
        complaint = _complaint(self, given, files)
        if complaint:
            self.exit(EXIT_STATUS, f"{complaint}\n")
    return result


def _value_of(option: str, args: Sequence[str]) -> str | None:
    found = None
    for argument, following in zip(args, [*args[1:], None], strict=False):
        name, equals, value = argument.partition("=")
        if name in (f"-{option}", f"--{option}"):
            found = value if equals else following
    return found


def _complaint(parser: Any, args: Sequence[str], files: Sequence[ConfigurationFile]) -> str | None:
    """Return what is wrong with the keys of configuration files or the options of a command, or None."""
    known = all_keys()
    for file in files:
        for key in file.options():
            if key not in known:
                return f"{file.path}:{line_of(key, file.path)}: {unknown_key(key, known)}"
    for argument in args:
        name = argument.partition("=")[0]
        is_option = name.startswith("-") and name != "-" and " " not in name and not _NUMBER.match(name)
        if is_option and name not in parser._option_string_actions:
            return unknown_key(name, parser._option_string_actions)
    return None


@cache
def all_keys() -> frozenset[str]:
    """Return all keys that a file for ``onmt_train`` and ``onmt_build_vocab`` may hold."""
    from onmt import opts
    from onmt.utils.parse import ArgumentParser

    training, vocabulary = ArgumentParser(), ArgumentParser()
    opts.train_opts(training)
    opts.data_prepare_opts(vocabulary, build_vocab_only=True)
    return frozenset(keys_of(training) | keys_of(vocabulary))


def keys_of(parser: Any) -> set[str]:
    """Return all keys that a parser of OpenNMT-py finds in a configuration."""
    return {key for action in parser._actions for key in parser.get_possible_config_keys(action)}


# --- checking ---


@adapts("onmt.utils.parse:ArgumentParser", "validate_model_opts")
def _check_model(original: Any, cls: type, opt: Namespace) -> None:
    """Check a model to train or to load; OpenNMT-py allows ``lambda_align`` for its own Transformer alone."""
    weight = opt.lambda_align
    opt.lambda_align = 0.0 if opt.decoder_type in (RECURRENT, TRANSFORMER) else weight
    try:
        original(cls, opt)
    finally:
        opt.lambda_align = weight
    _imply_positions(opt)
    options.check(opt)
    layer, layers = opt.alignment_layer, opt.dec_layers
    if weight and opt.decoder_type == TRANSFORMER and not -layers <= layer < layers:
        raise UsageError(f"alignment_layer {layer}: the decoder has {layers} layers, the last is -1")


@adapts("onmt.utils.parse:ArgumentParser", "validate_train_opts")
def _check_training(original: Any, cls: type, opt: Namespace) -> None:
    from onmt.scorers import AVAILABLE_SCORERS
    from onmt.utils.earlystopping import SCORER_BUILDER

    original(cls, opt)
    _imply_positions(opt)  # which the model of train_from may have read from files
    check_resumed(opt)
    options.check_training(opt)
    for name in opt.early_stopping_criteria or ():
        if name not in SCORER_BUILDER:
            raise UsageError(f"early_stopping_criteria: {unknown_key(name, SCORER_BUILDER, 'criterion')}")
    for name in opt.valid_metrics:
        if name not in AVAILABLE_SCORERS:
            raise UsageError(f"valid_metrics: {unknown_key(name, AVAILABLE_SCORERS, 'metric')}")
    if opt.world_size > 1 and not opt.gpu_ranks:  # OpenNMT-py would start no process, and end
        raise UsageError(f"world_size {opt.world_size} needs gpu_ranks, the number of each GPU: [0, 1, …]")
    if opt.early_stopping > 0 and opt.world_size > 1:
        raise UsageError("early_stopping: one process would end, and the others wait for it: world_size: 1")
    _check_gpus(len(opt.gpu_ranks))


@adapts("onmt.utils.parse:ArgumentParser", "validate_translate_opts")
def _check_translation(original: Any, cls: type, opt: Namespace) -> None:
    opt.report_align |= bool(opt.align_output)
    original(cls, opt)
    if opt.n_best > opt.beam_size:
        raise UsageError(f"n_best {opt.n_best} is more than beam_size {opt.beam_size}")
    if opt.phrase_table:
        if not opt.replace_unk:
            raise UsageError("phrase_table needs replace_unk")
        read_phrase_table(opt.phrase_table)  # an error now, not after the first batch
    _check_gpus(max(opt.gpu + 1, len(opt.gpu_ranks)))


def _check_gpus(needed: int) -> None:
    import torch

    found = torch.cuda.device_count()
    if needed > found:
        raise UsageError(f"gpu, gpu_ranks: {needed} GPUs are needed, but torch finds {found}")


def _imply_positions(opt: Namespace) -> None:
    """Expect a position of each word where lines are preordered on the fly, whatever the files hold."""
    if getattr(opt, "preorder_model", ""):
        if opt.encoder_type not in READERS:
            raise UsageError(NEEDS_POSITIONS)
        opt.n_src_feats = 1


@adapts("onmt.utils.parse:ArgumentParser", "_get_all_transform")
def _allow_transforms(original: Any, cls: type, opt: Namespace) -> None:
    """Allow transforms that split, put in and leave out tokens: the links of ``lambda_align`` follow them."""
    weight = getattr(opt, "lambda_align", 0.0)  # onmt_build_vocab has none
    if weight and options.is_ours(opt):
        opt.lambda_align = 0.0
    original(cls, opt)
    if weight:
        opt.lambda_align = weight


@adapts("onmt.utils.parse:DataOptsCheckerMixin", "_validate_data")
def _check_data(original: Any, cls: type, opt: Namespace) -> None:
    if not options.is_ours(opt):
        original(cls, opt)
        return
    _check_corpora(opt.data)
    _check_transforms("transforms", opt.transforms)
    _imply_positions(opt)
    features, opt.n_src_feats = opt.n_src_feats, 0
    original(cls, opt)
    opt.n_src_feats = features
    if getattr(opt, "early_stopping", 0) > 0 and "valid" not in opt.data:
        raise UsageError("early_stopping needs the corpus valid in data; early_stopping: 0 does without")
    if opt.preorder_model:
        on_the_fly.load(opt.preorder_model, opt.preorder_stanza_dir)  # refuses one that cannot be used
    only_counts = not getattr(opt, "dump_samples", True)  # onmt_build_vocab, which needs no positions
    for settings in (vars(opt), *opt.data.values()):
        _check_order(settings["transforms"], opt)
        names = arrange(settings["transforms"], opt.preorder_model)
        settings["transforms"] = [name for name in names if not (only_counts and name == PREORDER_TRANSFORM)]


def _check_order(transforms: Sequence[str], opt: Namespace) -> None:
    """Refuse transforms that move words: their positions and links would be those of other words."""
    if not (opt.n_src_feats or getattr(opt, "lambda_align", 0.0)):
        return
    if "docify" in transforms:
        raise UsageError("transforms: docify joins lines, but not their positions and links")
    if "bart" in transforms and (opt.permute_sent_ratio or opt.rotate_ratio):
        raise UsageError("transforms: bart moves words: rotate_ratio and permute_sent_ratio have to be 0")


def read_corpora(text: str) -> dict[str, dict[str, Any]]:
    """Return what ``data`` says: the settings of each corpus."""
    try:
        corpora = parse_yaml(text)
    except DataError:
        corpora = None
    if not isinstance(corpora, dict) or not all(isinstance(corpus, dict) for corpus in corpora.values()):
        raise UsageError("data: not corpora with their names: {NAME: {path_src: F, path_tgt: F}, …}")
    return corpora


def _check_corpora(text: str) -> None:
    corpora = read_corpora(text)
    if not corpora.keys() - {"valid"}:
        raise UsageError("data: there is no corpus to learn from")
    known = _CORPUS_KEYS | all_keys()
    for name, corpus in corpora.items():
        for key, value in corpus.items():
            if key not in known:
                raise UsageError(f"data: {name}: {unknown_key(key, known)}")
            if key.startswith("path_") and not isinstance(value, str):
                raise UsageError(f"data: {name}: {key} is no file name: {value!r}")
        for key in ("path_src", "path_tgt"):
            if key not in corpus:
                raise UsageError(f"data: {name}: there is no {key}")
        weight = corpus.get("weight", 1)
        if type(weight) is not int or weight < 1:
            raise UsageError(f"data: {name}: weight is no whole number from 1: {weight!r}")
        _check_transforms(f"data: {name}: transforms", corpus.get("transforms", []))


def _check_transforms(where: str, names: Any) -> None:
    from onmt.transforms import AVAILABLE_TRANSFORMS

    if not isinstance(names, list):
        raise UsageError(f"{where}: not a list of names: {names!r}")
    for name in names:
        if name not in AVAILABLE_TRANSFORMS:
            raise UsageError(f"{where}: {unknown_key(name, AVAILABLE_TRANSFORMS, 'transform')}")


def unknown_key(key: Any, known: Iterable[str], what: str = "key") -> str:
    """Return that a key, or what else it is, is not known, and which one is near."""
    near = difflib.get_close_matches(str(key), known, n=1)
    return f"unknown {what} {key!r}" + (f": did you mean {near[0]!r}?" if near else "")

"""Models that translate: each reads the source as it did in its training.

Why: ``onmt_translate`` ignores ``n_src_feats`` and ``transforms`` of the model that it loads, and all members
of an ensemble read what the first one reads. ``-report_align`` reads the third last layer even of a decoder
of two, and ``-precision int8`` is silently ignored.

Can go when translation reads its data options from each checkpoint.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import Any, NamedTuple

from onmt_preorder.input import pipeline
from onmt_preorder.input.raw_text import MODES, is_escaped, make_detokenizer, make_tokenizer
from onmt_preorder.opennmt.checkpoints import READ_WITH, digest
from onmt_preorder.opennmt.options import is_ours, uses_positions
from onmt_preorder.wrapping import adapts
from preorder.annotate.tokenizers import log_tokenizers
from preorder.errors import UsageError, shown


class Member(NamedTuple):
    """A model that translates, by itself or in an ensemble."""

    path: str
    vocabs: dict[str, Any]
    model: Any
    trained: Namespace  # the options of its training

    @property
    def has_feature(self) -> bool:
        """Whether it reads a feature of each source word."""
        return self.trained.n_src_feats > 0


@adapts("onmt.model_builder", "load_test_model")
def _load(original: Any, opt: Namespace, *args: Any, **kwargs: Any) -> Any:
    loaded = vocabs, model, trained = original(opt, *args, **kwargs)
    layers = len(getattr(model.decoder, "transformer_layers", ()))
    if getattr(model.decoder, "alignment_layer", 0) < -layers:  # that ``-report_align`` reads
        model.decoder.alignment_layer = -layers
    if is_ours(trained) and opt.precision == "int8":
        raise UsageError("precision: int8 does nothing in OpenNMT-py 3.5: take fp32 or fp16")
    if len(opt.models) == 1:
        _read_as_trained(opt, [Member(opt.models[0], vocabs, model, trained)])
    return loaded


@adapts("onmt.decoders.ensemble", "load_test_model")
def _load_ensemble(_: Any, opt: Namespace, device_id: int = 0) -> Any:
    """Refuse members that do not read the same words and write the same words."""
    from onmt.decoders.ensemble import EnsembleModel
    from onmt.model_builder import load_test_model

    members = [Member(path, *load_test_model(opt, device_id, path)) for path in opt.models]
    first, *others = members
    known = _reading(opt, first) if any(is_ours(member.trained) for member in members) else {}
    for other in others if known else ():
        for name, (value, text) in _reading(opt, other).items():
            if known[name][0] != value:
                reason = f"their {name} differ" + (f": {known[name][1]} and {text}" if text else "")
                raise UsageError(f"{first.path} and {other.path} cannot translate together: {reason}")
    _read_as_trained(opt, members)
    ensemble = EnsembleModel([member.model for member in members], opt.avg_raw_probs)
    return first.vocabs, ensemble, first.trained


def _reading(opt: Namespace, member: Member) -> dict[str, tuple[Any, str]]:
    """Return all that decides what a model reads of a source, and which words it writes.

    Each is a value to compare, and how a message shows it; words are too many to be shown.
    """
    words = {f"vocabularies of {side}": member.vocabs[side].ids_to_tokens for side in ("src", "tgt")}
    trained = {name: getattr(member.trained, name, False) for name in ("n_src_feats", "copy_attn")}
    has_positions = member.has_feature and is_ours(member.trained)
    features = "positions" if has_positions else "others"
    given = {**vars(_settings(opt, member)), **trained, "features": features}
    files = {name: digest(given[name] or "") or given[name] for name in READ_WITH}  # by what they hold
    compared = {**given, **files, **words}
    return {name: (value, shown(given[name]) if name in given else "") for name, value in compared.items()}


def _read_as_trained(opt: Namespace, members: Sequence[Member]) -> None:
    """Take from the checkpoints how the source is read, where the command line does not say it."""
    ours = [member for member in members if is_ours(member.trained)]
    if not ours:
        if opt.tokenize or opt.detokenize:
            raise UsageError("tokenize and detokenize are for models of onmt-preorder")
        if opt.preorder_model or opt.preorder_stanza_dir or pipeline.PREORDER_TRANSFORM in opt.transforms:
            raise UsageError(pipeline.NEEDS_POSITIONS)
        return
    trained = ours[0].trained
    if opt.preorder_model and not ours[0].has_feature:
        raise UsageError("preorder_model: the translation model was trained without positions (n_src_feats)")
    vars(opt).update(vars(_settings(opt, members[0])))
    opt._all_transform = opt.transforms
    opt.encoder_type, opt.decoder_type = trained.encoder_type, trained.decoder_type
    opt.n_src_feats, opt.src_feats_defaults = trained.n_src_feats, trained.src_feats_defaults
    opt.lacks_positions = not opt.preorder_model and any(uses_positions(member.trained) for member in ours)
    if opt.tokenize:  # what is wrong is said now, not with the first line
        opt.escapes = is_escaped(members[0].vocabs["src"].ids_to_tokens)
        make_tokenizer(opt.tokenize, opt.escapes)
        log_tokenizers(None if opt.tokenize in MODES else opt.tokenize)
    if opt.detokenize:
        make_detokenizer(opt.detokenize)
        if opt.report_align:
            raise UsageError("report_align counts tokens: it does not go with detokenize")


def _settings(opt: Namespace, member: Member) -> Namespace:
    """Return the options with those of a training's transforms, except where others are given."""
    from onmt.transforms import AVAILABLE_TRANSFORMS
    from onmt.utils.parse import ArgumentParser

    opt, trained = Namespace(**vars(opt)), member.trained
    not_ours = (pipeline.POSITIONS_TRANSFORM, pipeline.DETOKENIZE_TRANSFORM)
    given = [name for name in opt.transforms if name not in not_ours]
    others = bool(set(given) - {pipeline.PREORDER_TRANSFORM})
    names = _transforms(trained, others)
    opt.share_vocab = not others and trained.share_vocab  # then one subword model is for both sides
    for name in names:
        for option, default in vars(ArgumentParser.defaults(AVAILABLE_TRANSFORMS[name].add_options)).items():
            if getattr(opt, option) == default and option not in pipeline.RANDOM_OPTIONS:
                path = getattr(trained, option, default)
                setattr(opt, option, path)
                known = getattr(trained, "digests", {}).get(option)
                if known and digest(path) not in (known, None):
                    reason = f"{member.path} was trained with another {option} than {path} is now"
                    raise UsageError(f"{reason}: -{option} {path} takes it all the same")
    if not member.has_feature:
        opt.preorder_model = ""
        given = [name for name in given if name != pipeline.PREORDER_TRANSFORM]
    arranged = pipeline.arrange([*given, *names], opt.preorder_model)
    opt.transforms = [*arranged, *[pipeline.DETOKENIZE_TRANSFORM] * bool(opt.detokenize)]
    return opt


def _transforms(trained: Namespace, others: bool) -> list[str]:
    """Return the transforms that preordered and split every source of a training; with others, the former."""
    kept = (pipeline.PREORDER_TRANSFORM, *(() if others else pipeline.SPLITTING_TRANSFORMS))
    data = getattr(trained, "data", None) or {"train": {}}
    corpora = [data["valid"]] if "valid" in data else list(data.values())
    found = [
        [name for name in corpus.get("transforms", trained.transforms) if name in kept] for corpus in corpora
    ]
    if found.count(found[0]) < len(found):
        raise UsageError("transforms: those of the training's corpora differ: give -transforms")
    return found[0]

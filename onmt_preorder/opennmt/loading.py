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
from preorder.errors import UsageError

# What all members of an ensemble have in common: of their vocabularies, and of their options.
_VOCABULARIES = {"src": "source vocabularies", "tgt": "target vocabularies", "data_task": "tasks"}
_OPTIONS = {"n_src_feats": 0, "copy_attn": False, "distortion_source_end": False}


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
    from onmt.decoders.ensemble import EnsembleModel
    from onmt.model_builder import load_test_model

    members = [Member(path, *load_test_model(opt, device_id, path)) for path in opt.models]
    for member in members[1:]:
        _compare_models(members[0], member)
    _read_as_trained(opt, members)
    ensemble = EnsembleModel([member.model for member in members], opt.avg_raw_probs)
    return members[0].vocabs, ensemble, members[0].trained


@adapts("onmt.decoders.ensemble:EnsembleEncoder", "forward")
def _encode(_: Any, self: Any, src: Any, src_len: Any = None) -> Any:
    """Return the lengths that encoders give: they count the end symbols that all of ours put, or none."""
    states, final, lengths = zip(*(encode(src, src_len) for encode in self.model_encoders), strict=True)
    return states, final, lengths[0]


@adapts("onmt.decoders.ensemble:EnsembleDecoder", "forward")
def _decode(_: Any, self: Any, tgt: Any, enc_out: Any, **kwargs: Any) -> Any:
    """Average each kind of attention that all members have, whichever is the first; for others it is None."""
    import torch
    from onmt.decoders.ensemble import EnsembleDecoderOutput

    decoders = zip(self.model_decoders, enc_out, strict=True)
    states, attention = zip(*(decode(tgt, memory, **kwargs) for decode, memory in decoders), strict=True)
    kinds = [kind for kind in attention[0] if all(each.get(kind) is not None for each in attention)]
    means = {kind: torch.stack([each[kind] for each in attention]).mean(0) for kind in kinds}
    return EnsembleDecoderOutput(states), {"std": None, **means}


def _compare_models(one: Member, other: Member) -> None:
    for name, what in _VOCABULARIES.items():
        mine, theirs = (
            getattr(each.vocabs[name], "ids_to_tokens", each.vocabs[name]) for each in (one, other)
        )
        if mine != theirs:
            _refuse(one, other, f"their {what} differ")
    for name, default in _OPTIONS.items():
        if getattr(one.trained, name, default) != getattr(other.trained, name, default):
            _refuse(one, other, f"only one of them has {name}")
    if one.has_feature and is_ours(one.trained) != is_ours(other.trained):
        theirs = other if is_ours(one.trained) else one
        _refuse(one, other, f"{theirs.path} reads features that are no positions")


def _refuse(one: Member, other: Member, why: str) -> None:
    raise UsageError(f"{one.path} and {other.path} cannot translate together: {why}")


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
    settings = [_settings(opt, member) for member in members]
    for member, each in zip(members, settings, strict=True):
        _compare_settings(members[0], settings[0], member, each)
    vars(opt).update(vars(settings[0]))
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


def _compare_settings(one: Member, of_one: Namespace, other: Member, of_other: Namespace) -> None:
    """Refuse an ensemble whose members read the same source as different words."""
    for name, value in vars(of_one).items():
        theirs = getattr(of_other, name)
        if value != theirs and not (name in READ_WITH and digest(value) == digest(theirs) is not None):
            _refuse(one, other, f"{name} is {value!r} and {theirs!r}")


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

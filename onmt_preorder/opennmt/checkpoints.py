"""Checkpoints: read, resumed (``train_from``), and which of them the validation liked best.

Why:

- ``torch.load`` of torch >= 2.6 unpickles only allowed classes, and checkpoints hold their options as an
  ``argparse.Namespace``. We allow this class and no other.
- ``save_format: safetensors`` saves ``x.safetensors``; loading looks for ``x.*.safetensors``.
- A file that is no checkpoint ends in a traceback; weights that are not finite translate;
  ``onmt_average_models`` takes the vocabulary of the first, whatever the others have.
- With ``train_from`` the model's options are the checkpoint's, without a word where the configuration
  differs; the new checkpoints hold the transforms and paths of the first run; and the vocabularies may be
  read again from files whose words have moved.
- A checkpoint names its subword model by a path, where another one may lie by now; and says nothing of how
  the validation liked it.

Can go when OpenNMT-py does so.
"""

from __future__ import annotations

import json
import logging
import math
import os
import pickle
from argparse import Namespace
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import torch

from onmt_preorder.checkpoint_choice import by_perplexity, paths
from onmt_preorder.opennmt import options
from onmt_preorder.wrapping import adapts
from preorder.errors import DataError, UsageError, message_of
from preorder.io.files import read_json
from preorder.methods.model_directory import DESCRIPTION
from preorder.processes import interruptible

NO_CHECKPOINT = "not a checkpoint of OpenNMT-py"
# What reading a file that is no pickle ends in; by its first byte, text is an opcode.
_DAMAGE = RuntimeError, ValueError, EOFError, LookupError, TypeError, AttributeError, pickle.UnpicklingError
READ_WITH = ("preorder_model", "src_subword_model", "tgt_subword_model")
"""Options whose files decide how a text is read."""

_GENERATOR = "generator."
_AVERAGE = "onmt.bin.average_models"
_NOTE = "validation_perplexity"  # in the options that a checkpoint holds
_FOUND = "validation_perplexities"  # in a model saver: of each step, since the training began

# --- reading ---


def allow_options() -> None:
    """Let translation, ``train_from`` and ``onmt_average_models`` load checkpoints."""
    torch.serialization.add_safe_globals([Namespace])


def read_options(path: str) -> Namespace:
    """Return the options that a checkpoint was trained with; its weights are not read."""
    allow_options()
    checkpoint = _read(torch.load, path, map_location="cpu", mmap=True, weights_only=True)
    return _part(checkpoint, "opt", Namespace, path)


@adapts("onmt.models.model:BaseModel", "load_safe_state_dict")
def _load_safetensors(original: Any, self: Any, model_path: str, *args: Any, **kwargs: Any) -> Any:
    path = Path(f"{model_path}.safetensors")
    if not path.is_file() and list(path.parent.glob(f"{path.stem}.*.safetensors")):
        return original(self, model_path, *args, **kwargs)
    weights = _read_safetensors(path)
    return self.load_state_dict({"model": weights, "generator": {}}, *args, **kwargs)


def _read_safetensors(path: Path) -> dict[str, Any]:
    """Return the weights of a checkpoint that holds none itself."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not path.is_file():
        reason = "no weights: they are neither in it nor in a file .safetensors"
        raise DataError(reason, str(path.with_suffix(".pt")))
    try:
        weights = load_file(path)
    except SafetensorError as error:
        raise DataError(f"not safetensors: {error}", str(path)) from None
    _check_weights(weights, str(path))
    return weights


@adapts("onmt.models.model_saver", "torch.load")
@adapts("onmt.bin.release_model", "torch.load")
def _load(original: Any, file: Any, *args: Any, **kwargs: Any) -> Any:
    return _checked(_read(original, str(file), *args, **kwargs), str(file))


@adapts(_AVERAGE, "torch.load")
def _load_whole(original: Any, file: Any, *args: Any, **kwargs: Any) -> Any:
    """Put the weights of a file of safetensors to those that torch reads."""
    checkpoint = _checked(_read(original, str(file), *args, **kwargs), str(file))
    if "model" not in checkpoint:
        weights = _read_safetensors(Path(file).with_suffix(".safetensors"))
        of_generator = {name for name in weights if name.startswith(_GENERATOR)}
        checkpoint["model"] = {name: weights[name] for name in weights.keys() - of_generator}
        checkpoint["generator"] = {name.removeprefix(_GENERATOR): weights[name] for name in of_generator}
    return checkpoint


def _checked(checkpoint: Any, path: str) -> Any:
    _part(checkpoint, "opt", Namespace, path)
    vocabularies = _part(checkpoint, "vocab", dict, path)
    for name, kind in (("src", list), ("tgt", list), ("data_task", str)):
        if not _part(vocabularies, name, kind, path):
            raise DataError(f"{NO_CHECKPOINT}: {name!r} is empty", path)
    for name in ("model", "generator"):
        if checkpoint.get(name) is not None:
            _check_weights(_part(checkpoint, name, dict, path), path)
    return checkpoint


def _read(load: Any, path: str, *args: Any, **kwargs: Any) -> Any:
    try:
        return load(path, *args, **kwargs)
    except OSError as error:
        reason = error.strerror if error.filename else None  # else torch could not map half a file
        raise DataError(reason or NO_CHECKPOINT, path) from None
    except _DAMAGE:
        raise DataError(NO_CHECKPOINT, path) from None


def _part(checkpoint: Any, name: str, kind: type, path: str) -> Any:
    part = checkpoint.get(name) if isinstance(checkpoint, dict) else None
    if not isinstance(part, kind):
        raise DataError(f"{NO_CHECKPOINT}: no {name!r} in it", path)
    return part


def _check_weights(weights: dict[str, Any], path: str) -> None:
    for name, tensor in weights.items():
        if not isinstance(tensor, torch.Tensor):
            raise DataError(f"{NO_CHECKPOINT}: no tensor: {name}", path)
        if not tensor.isfinite().all():
            raise DataError(f"the weights are not finite: {name}: take an earlier checkpoint", path)


@adapts(_AVERAGE, "average_models")
def _average(original: Any, model_files: Sequence[str], *args: Any, **kwargs: Any) -> Any:
    first, *others = model_files
    average = original([first], *args, **kwargs)
    for number, path in enumerate(others, 2):
        other = original([path], *args, **kwargs)
        if _form(other) != _form(average):
            raise UsageError(f"{first} and {path} are of different models: their words or weights differ")
        for part in ("model", "generator"):
            for name, tensor in average[part].items():  # not in place, as its own: tied weights share memory
                average[part][name] = tensor.lerp(other[part][name], 1 / number)
    return average


def _form(checkpoint: dict[str, Any]) -> list[Any]:
    """Return the vocabularies of a checkpoint, and the sizes of its weights."""
    parts = checkpoint["model"], checkpoint["generator"]
    return [checkpoint["vocab"], *({name: tensor.shape for name, tensor in part.items()} for part in parts)]


# --- resuming ---


def check_resumed(opt: Namespace) -> None:
    """Refuse a training that begins from a checkpoint of other options of ours."""
    if not opt.train_from or opt.override_opts:
        return
    trained = read_options(opt.train_from)
    if not (options.is_ours(opt) or options.is_ours(trained)):
        return
    for name in ("encoder_type", "decoder_type", "n_src_feats", *_names(options.add_options)):
        now, then = getattr(opt, name), getattr(trained, name, getattr(opt, name))
        if now != then:
            raise UsageError(f"{name} is {now!r}, but in the model of train_from, {opt.train_from}, {then!r}")


@adapts("onmt.models.model:BaseModel", "load_state_dict")
def _load_weights(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    """Say in one line where the checkpoint is one of another model, as ``override_opts`` allows."""
    generator = {name: tensor.shape for name, tensor in self.named_parameters() if "generator" in name}
    try:
        original(self, *args, **kwargs)
        for name, tensor in self.named_parameters():
            if generator.get(name, tensor.shape) != tensor.shape:
                raise ValueError(f"{name} is {list(tensor.shape)}, not {list(generator[name])}")
    except (AssertionError, ValueError, IndexError) as error:
        raise UsageError(f"the weights of the checkpoint do not fit the model: {message_of(error)}") from None


@adapts("onmt.utils.optimizers:Optimizer", "load_state_dict")
def _go_on(original: Any, self: Any, state: Any) -> None:
    try:
        original(self, state)
    except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        reason = message_of(error)
        raise UsageError(f"reset_optim: {reason}: train_from has the state of another optimizer") from None


@adapts("onmt.train_single", "_init_train")
def _begin(original: Any, opt: Namespace) -> Any:
    """Refuse to resume with other vocabularies, or without the state of the optimizer."""
    begun = checkpoint, vocabs, _ = original(opt)
    if checkpoint is None:
        return begun
    for side in () if opt.update_vocab else ("src", "tgt"):
        if vocabs[side].ids_to_tokens != checkpoint["vocab"][side]:
            raise UsageError(f"{side}_vocab: not the words of the model of train_from, {opt.train_from}")
    state = checkpoint.get("optim")
    has_state = isinstance(state, dict) and {"training_step", "optimizer"} <= state.keys()
    if has_state and opt.reset_optim != "all" and 0 < opt.train_steps < state["training_step"]:
        done = f"{opt.train_from} has been trained for {state['training_step'] - 1} steps"
        raise UsageError(f"train_steps: {opt.train_steps}: {done}: nothing is left to train")
    if not has_state and opt.reset_optim != "all":
        what = "holds no state of the optimizer"
        if state is not None or opt.reset_optim == "states":
            raise DataError(f"{what}: take reset_optim: all", opt.train_from)
        logging.getLogger("onmt").warning(f"{opt.train_from} {what}: it begins anew, with step 1")
    return begun


def digest(path: str) -> str | None:
    """Return a digest of a file, or of a preorderer but for how it was trained; None: neither is there."""
    if os.path.isdir(path):
        description = read_json(os.path.join(path, DESCRIPTION)) | {"training": None}
        content = json.dumps(description, sort_keys=True).encode()
    elif os.path.isfile(path):
        content = Path(path).read_bytes()
    else:
        return None
    return blake2b(content, digest_size=8).hexdigest()


_OF_RATE = (
    *("optim", "learning_rate", "learning_rate_decay", "decay_method", "start_decay_steps", "decay_steps"),
    *("warmup_steps", "max_grad_norm", "adam_beta1", "adam_beta2", "adagrad_accumulator_init"),
)


@adapts("onmt.train_single", "_get_model_opts")
def _get_model_opts(original: Any, opt: Namespace, checkpoint: Any = None) -> Namespace:
    """Save how the text is read now and, where the optimizer begins anew, what it and its rate are."""
    model_opt = original(opt, checkpoint)
    if not options.is_ours(model_opt):
        return model_opt
    model_opt.digests = {name: digest(getattr(opt, name) or "") for name in READ_WITH}
    if checkpoint is not None:
        from onmt.transforms import AVAILABLE_TRANSFORMS

        transforms = AVAILABLE_TRANSFORMS.values()
        of_transforms = (name for transform in transforms for name in _names(transform.add_options))
        of_rate = _OF_RATE if opt.reset_optim in ("all", "keep_states") else ()
        for name in ("data", "transforms", "_all_transform", "n_src_feats", *of_transforms, *of_rate):
            setattr(model_opt, name, getattr(opt, name))
    return model_opt


def _names(add_options: Any) -> list[str]:
    from onmt.utils.parse import ArgumentParser

    return list(vars(ArgumentParser.defaults(add_options)))


# --- the best ---


def best(model: str) -> tuple[Path, int, float]:
    """Return path, step and validation perplexity of the best checkpoint that is there, by ``save_model``."""
    checkpoints = paths(Path(model))
    if not checkpoints:
        raise DataError("there is no such checkpoint, for any step N", f"{model}_step_N.pt")
    noted = {step: getattr(read_options(str(path)), _NOTE, None) for step, path in checkpoints.items()}
    found = {step: perplexity for step, perplexity in noted.items() if perplexity is not None}
    if not found:
        reason = "no checkpoint of ours was saved right after a validation that gave a number: "
        raise DataError(f"{reason}save_checkpoint_steps has to be a multiple of valid_steps", model)
    step, perplexity = by_perplexity(found)[0]
    return checkpoints[step], step, perplexity


@adapts("onmt.trainer:Trainer", "_report_step")
def _report_step(original: Any, self: Any, learning_rate: float, step: int, **statistics: Any) -> None:
    validation = statistics.get("valid_stats")
    if validation is not None and not validation.n_words:
        raise DataError("validation: no sentence pair is left by the transforms, or can be made by the model")
    original(self, learning_rate, step, **statistics)
    if validation is not None and self.model_saver is not None:
        vars(self.model_saver).setdefault(_FOUND, {})[step] = validation.ppl()


@adapts("onmt.models.model_saver:ModelSaverBase", "save")
def _save(original: Any, self: Any, step: int, *args: Any, **kwargs: Any) -> None:
    if options.is_ours(self.model_opt):
        perplexity = getattr(self, _FOUND, {}).get(step, math.nan)
        # None instead of the value of the checkpoint that the training has begun from.
        setattr(self.model_opt, _NOTE, perplexity if math.isfinite(perplexity) else None)
    original(self, step, *args, **kwargs)


@adapts("onmt.trainer:Trainer", "train")
def _train(original: Any, self: Any, *args: Any, **kwargs: Any) -> Any:
    from onmt.utils.logging import logger

    saver = self.model_saver
    if saver is None or not options.is_ours(saver.model_opt):
        return original(self, *args, **kwargs)
    for start, *rates in zip(self.dropout_steps, self.dropout, self.attention_dropout, strict=False):
        if 0 < start < self.optim.training_step:  # else OpenNMT-py changes them when it comes by
            self.model.update_dropout(*rates)
    with interruptible():
        result = original(self, *args, **kwargs)
    if getattr(saver, _FOUND, None):
        try:
            path, step, perplexity = best(saver.base_path)
        except DataError as error:
            logger.info(f"Best checkpoint: {error.reason}")
        else:
            logger.info(f"Best checkpoint: step {step}, validation perplexity {perplexity:.6g}: {path}")
    return result

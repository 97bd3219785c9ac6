"""Every option of ours with every family of models: it changes something, or it is an error in one line."""

import functools

import pytest
from onmt.model_builder import build_model
from onmt.opts import translate_opts
from onmt.translate import GNMTGlobalScorer, Translator
from onmt.utils.optimizers import build_torch_optimizer
from onmt.utils.parse import ArgumentParser

from onmt_preorder.opennmt import options
from onmt_preorder.opennmt.repairs.numbers import BOUNDS
from preorder.errors import UsageError
from tests.support.distortion_models import CONTEXTS, DISTORTION
from tests.support.opennmt import make_opt
from tests.support.transformers import (
    PLAIN,
    SWAN,
    WITHOUT_FEATURES,
    learn_from_a_batch,
    make_vocabs,
    without_gradient,
)

POSITIONS = {**DISTORTION, "n_src_feats": 1, "src_feats_defaults": "0"}
EXPLICIT = {"decoder_type": "preorder_transformer", "norm_placement": "post", "preorder_encoding": []}

FAMILIES = {
    "relative": {},
    "absolute": {"preorder_encoding": ["absolute"], "source_max_relative": 0},
    "rotary": {"preorder_encoding": ["rotary"], "source_max_relative": 0},
    "plain": PLAIN,
    "post-norm": {**PLAIN, "norm_placement": "post", "optim": "adadelta"},
    "reordering": {**PLAIN, "reordering_embedding": ["encoder", "decoder"], "target_max_relative": 2},
    "exgre": {**EXPLICIT, "explicit_reordering": "exgre"},
    "refsr": {**EXPLICIT, "explicit_reordering": "refsr"},
    "exgre without its loss": {**EXPLICIT, "explicit_reordering": "exgre", "reordering_loss_weight": 0},
    "OpenNMT-py's Transformer": {**WITHOUT_FEATURES, "encoder_type": "transformer"},
    "OpenNMT-py's encoder": {**PLAIN, "encoder_type": "transformer"},
    "attention": {**SWAN, "decoder_type": "rnn"},
    "local reordering": {**SWAN, "decoder_type": "rnn", "local_reordering_window": 3},
    "SWAN": SWAN,
    "SWAN after a Transformer": {"decoder_type": "swan"},
    "rnnsearch": DISTORTION,
    "rnnsearch with positions": {**POSITIONS, "preorder_encoding": ["recurrent"]},
    "distortion": {**DISTORTION, "distortion": "hidden", "optim": "adadelta"},
}

VALUES = {
    "preorder_encoding": ["absolute", "relative"],
    "preorder_max_relative": 1,
    "source_max_relative": 2,
    "source_rotary": True,
    "target_max_relative": 2,
    "norm_placement": "post",
    "scale_embeddings": True,
    "reordering_embedding": ["encoder"],
    "additional_position_encoding": ["decoder"],
    "explicit_reordering": "exgre",
    "reordering_loss_weight": 0.2,
    "reordering_distance": 1.5,
    "reordering_window": 1,
    "reordering_rank": 3,
    "distortion": "source",
    "distortion_window": 1,
    "distortion_lambda": 0.3,
    "distortion_rate_factor": 10.0,
    "distortion_source_end": True,
    "adadelta_rho": 0.5,
    "adadelta_eps": 1e-3,
    "local_reordering_window": 3,
    "local_reordering_bias": 2.0,
    "local_reordering_rate_factor": 0.1,
    "embedding_init": 1.0,
    "swan_segment_length": 2,
    "swan_negligible": 0.3,
    "swan_unpromising": 0.1,
    "swan_logits": 7,
    "bfloat16": True,
}
ROUNDING = 1e-5


def test_the_table_has_every_option():
    parser = ArgumentParser()
    before = set(vars(parser.parse_known_args([])[0]))
    options.add_options(parser)
    assert set(vars(parser.parse_known_args([])[0])) - before == VALUES.keys()


@functools.cache
def weights_of(family):
    """Return the initial weights without further options: an option that changes only these has no effect."""
    return learn_from_a_batch(make_opt(**FAMILIES[family]))[0].state_dict()


def effects(opt, weights):
    """Return the loss, the norms of all gradients and the optimiser's settings of a model on one batch."""
    model, loss, gradients = learn_from_a_batch(opt, weights=weights)
    groups = build_torch_optimizer(model, opt).param_groups
    settings = [{key: value for key, value in group.items() if key != "params"} for group in groups]
    limits = getattr(getattr(model.decoder, "limits", None), "logits", None)
    norms = {name: grad.norm().item() for name, grad in gradients.items() if grad is not None}
    numbers = {"loss": loss.item(), **{name: norm for name, norm in norms.items() if norm > ROUNDING}}
    return numbers, settings, limits


@pytest.fixture(scope="module")
def plain_effects():
    """Return a function from a family to its effects without further options, but for rounding."""

    @functools.cache
    def effects_of(family):
        numbers, *settings = effects(make_opt(**FAMILIES[family]), weights_of(family))
        return pytest.approx(numbers, rel=ROUNDING, abs=ROUNDING), *settings

    return effects_of


def with_option(name, value):
    """Yield each family, its options with another one, and why they are refused: None where they are not."""
    for family, changes in FAMILIES.items():
        opt = reason = None
        try:
            opt = make_opt(**{**changes, name: value})
            ArgumentParser.validate_train_opts(opt)
        except UsageError as error:
            reason = str(error)
        yield family, opt, reason


@pytest.mark.parametrize("most", [1, pytest.param(len(FAMILIES), marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", VALUES)
def test_an_option_has_an_effect_or_is_refused(plain_effects, name, most):
    """Of each kind so many families are computed: those that have the option, and those that ignore it."""
    accepted, ignored, refused = [], [], []
    for family, opt, reason in with_option(name, VALUES[name]):
        has_it = FAMILIES[family].get(name) == VALUES[name]
        if has_it or (name, family) == ("reordering_embedding", "reordering"):
            continue
        if reason is None:
            accepted.append((family, opt))
            continue
        refused.append(reason)
        if opt is not None:  # only because it would be ignored: so it is
            ignored.append((family, opt))
    assert accepted, name
    for family, opt in accepted[-most:]:
        weights = {} if name == "embedding_init" else weights_of(family)
        assert effects(opt, weights) != plain_effects(family), (name, family)
    for family, opt in ignored[:most]:
        assert effects(opt, weights_of(family)) == plain_effects(family), (name, family)
    for message in refused:
        assert message.startswith((name, "reordering_embedding and add", "the reordering loss")), message
        assert "\n" not in message
    assert refused or name in ("local_reordering_window", "embedding_init", "bfloat16")


@pytest.mark.parametrize(
    ("name", "bound"),
    [
        (name, bound)
        for name, bounds in BOUNDS.items()
        if name in VALUES or name.startswith("adam_")
        for bound in bounds
        if bound <= 1
    ],
)
def test_a_model_learns_at_the_bounds_of_a_number(name, bound):
    opt = next(opt for _, opt, reason in with_option(name, bound) if reason is None)
    model, loss, _ = learn_from_a_batch(opt)
    build_torch_optimizer(model, opt).step()
    assert all(number.isfinite().all() for number in (loss, *model.parameters()))


@pytest.mark.parametrize(
    "changes", [*FAMILIES.values(), *({**DISTORTION, "distortion": x} for x in CONTEXTS)]
)
def test_every_parameter_learns(changes):
    model, _, _ = learn_from_a_batch(make_opt(**changes))
    assert not without_gradient(model)


@pytest.mark.parametrize("family", FAMILIES)
def test_targets_are_not_cut(family):
    opt = make_opt(**{**FAMILIES[family], "truncated_decoder": 3})  # a checkpoint may have been trained so
    if family in ("OpenNMT-py's Transformer", "attention"):
        ArgumentParser.validate_train_opts(opt)
        return
    what = "(encoder_type: .*|decoder_type: .*|local_reordering_window)"
    with pytest.raises(UsageError, match=f"^truncated_decoder does not work with {what}$"):
        ArgumentParser.validate_train_opts(opt)


# --- translation ---

OF_SEGMENTS = {"swan_choices": 3, "swan_word_reward": 1.0}
OF_WORDS = {"length_penalty": "wu", "random_sampling_temp": 0.5, "min_length": 2, "block_ngram_repeat": 2}


def translation(**changes):
    parser = ArgumentParser()
    translate_opts(parser)
    opt = parser.parse_args(["-model", "model.pt", "-src", "text"])
    for name, value in changes.items():
        assert getattr(opt, name) != value
        setattr(opt, name, value)
    return opt


@pytest.fixture(scope="module")
def search():
    """Return a function from a family and options of translation to its search."""

    @functools.cache
    def built(family):
        opt = make_opt(**FAMILIES[family])
        vocabs = (make_vocabs() if opt.n_src_feats else make_vocabs(None)) | {"decoder_start_token": "<s>"}
        return build_model(opt, opt, vocabs, None, -1), vocabs, opt

    def make(family, **changes):
        model, vocabs, model_opt = built(family)
        opt = translation(**changes)
        scorer = GNMTGlobalScorer.from_opt(opt)
        return Translator.from_opt(model, vocabs, opt, model_opt, global_scorer=scorer)

    return make


@pytest.mark.parametrize("family", FAMILIES)
def test_a_search_refuses_the_options_of_the_other(search, family):
    search(family)
    search(family, beam_size=1)
    if family.startswith("SWAN"):
        refused, message = OF_WORDS, "{} does not work with decoder_type: swan"
    else:
        refused, message = OF_SEGMENTS, "{} needs a model with decoder_type: swan"
    for name, value in (OF_SEGMENTS | OF_WORDS).items():
        if name in refused:
            with pytest.raises(UsageError, match=f"^{message.format(name)}$"):
                search(family, **{name: value})
        else:
            search(family, **{name: value})


def test_greedy_search_refuses_the_options_of_the_beam(search):
    for name in OF_SEGMENTS:
        with pytest.raises(UsageError, match=f"^{name} has no effect with beam_size 1, which is greedy"):
            search("SWAN", beam_size=1, **{name: OF_SEGMENTS[name]})

"""Systems of the distortion models."""

import pytest

from onmt_preorder.papers.distortion.options import DistortionOptions
from recipes.systems import read_system
from tests.support.opennmt import checked_opt

SIZES = ["tiny", "small", "small_long", "paper"]
SYSTEMS = {
    "rnnsearch": "none",
    "rnnsearch_longer": "none",
    "distortion_source": "source",
    "distortion_target": "target",
    "distortion_hidden": "hidden",
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("system", SYSTEMS)
def test_opennmt_reads_it(size, system):
    opt = checked_opt(size, system)
    assert DistortionOptions.from_opt(opt) == DistortionOptions(SYSTEMS[system], 3, 0.5, False)
    jumps_alone = opt.distortion != "none" and size != "paper"
    assert (opt.distortion_rate_factor, opt.distortion_source_end) == (10 if jumps_alone else 1, True)
    begins_from = None if system == "rnnsearch" else "rnnsearch"
    assert read_system(system, size).begins_from == begins_from


def test_the_papers_settings():
    settings = read_system("distortion_hidden", "paper").options
    expected = {
        "hidden_size": 1000,
        "word_vec_size": 620,
        "dropout": [0.5],
        "param_init": 0.01,
        "optim": "adadelta",
        "adadelta_rho": 0.95,
        "adadelta_eps": 1e-6,
        "batch_size": 80,
        "max_grad_norm": 1,
        "src_vocab_size": 30000,
        "src_seq_length": 50,
    }
    assert {key: settings[key] for key in expected} == expected

"""Trainings of the papers' models by OpenNMT-py's own commands, in this process."""

import contextlib
import io

import yaml

from tests.support.opennmt import call
from tests.support.texts import write

DATA = {
    "data": {
        "train": {"path_src": "train.src", "path_tgt": "train.tgt", "weight": 1},
        "valid": {"path_src": "valid.src", "path_tgt": "valid.tgt"},
    },
    "src_vocab": "vocab.src",
    "tgt_vocab": "vocab.tgt",
}
RECURRENT = {
    **DATA,
    "layers": 1,
    "dropout": [0.0],
    "optim": "adam",
    "batch_type": "sents",
    "batch_size": 64,
    "valid_batch_size": 64,
    "bucket_size": 2000,
    "num_workers": 0,
    "seed": 1,
    "train_steps": 120,
    "valid_steps": 120,
}
DISTORTION = {
    **RECURRENT,
    "encoder_type": "bidirectional_gru",
    "decoder_type": "distortion_rnn",
    "distortion_source_end": True,
    "hidden_size": 48,
    "word_vec_size": 32,
    "learning_rate": 0.005,
    "normalization": "sents",
    "save_checkpoint_steps": 60,
}
PHRASES = {
    **RECURRENT,
    "encoder_type": "brnn",
    "decoder_type": "swan",
    "rnn_type": "GRU",
    "local_reordering_window": 3,
    "swan_segment_length": 2,
    "swan_unpromising": 0.001,
    "hidden_size": 32,
    "word_vec_size": 32,
    "param_init": 0.1,
    "learning_rate": 0.01,
}


def printed(folder, program, *arguments):
    """Run a command; return what it printed."""
    with contextlib.redirect_stdout(io.StringIO()) as output, contextlib.redirect_stderr(output):
        call(folder, program, *arguments)
    return output.getvalue()


def train(folder, settings, name, **changes):
    """Train the model of this name; return what that printed."""
    path = folder / f"{name}.yaml"
    path.write_text(yaml.safe_dump({**settings, "save_model": name, **changes}), encoding="utf-8")
    return printed(folder, "onmt_train", "-config", path.name)


def translate(folder, lines, models, *options):
    """Translate lines; return the lines of output, and what was printed."""
    write(folder / "test.src", *lines)
    files = ("-src", "test.src", "-output", "test.out", "-batch_size", 16)
    log = printed(folder, "onmt_translate", "-model", *models.split(), *files, *options)
    return (folder / "test.out").read_text(encoding="utf-8").split("\n")[:-1], log

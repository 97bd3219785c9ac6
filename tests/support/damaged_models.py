"""Loads and uses damaged copies of models, one after the other, in a process that may crash or hang.

    python -m tests.support.damaged_models MODELS SEED COUNT

MODELS is a folder of model directories. A line of JSON on standard output tells before each case what is
damaged, and one after it what came of it: the orders, or the error.
"""

import faulthandler
import json
import logging
import random
import resource
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from safetensors.numpy import load, save

from preorder.errors import PreorderError
from preorder.methods import model_directory
from preorder.progress import LOGGER
from tests.support.verb_last import LINES

SECONDS = 60  # the first case of a kind compiles
MEMORY = 6 << 30

VALUES = (
    *(None, True, False, 0, -1, 2, 2.5, 30_000, 10**8, 2**63, 10**30, float("nan"), float("inf"), 1e308),
    *("", "x", "words", "\0", "\ud800", "9" * 5000),
    *([], {}, [None], [["words"]], ["words", "words"], {"a": {}}),
)
TYPES = (np.float16, np.float32, np.float64, np.uint8, np.uint16, np.uint32, np.int64, np.bool_)
NUMBERS = (float("nan"), float("inf"), -float("inf"), 3e38, -3e38, 65504.0, 1e-45, 0.0)


def damage_bytes(folder, generator):
    """Change some bytes of a file; no checksum is made to fit."""
    path = generator.choice(sorted(folder.iterdir()))
    content = bytearray(path.read_bytes())
    for _ in range(generator.choice((1, 1, 1, 2, 20))):
        place = generator.randrange(len(content) if generator.random() < 0.5 else min(4000, len(content)))
        match generator.randrange(4):
            case 0:
                content[place] ^= 1 << generator.randrange(8)
            case 1:
                content[place : place + generator.randrange(1, 40)] = b""
            case 2:
                content[place:place] = generator.randbytes(generator.randrange(1, 40))
            case 3:
                content[place : place + 4] = content[: generator.randrange(8)]
        content = content or bytearray(b"\n")
    path.write_bytes(content)
    return path.name


def damage_description(folder, generator):
    """Replace or remove a value anywhere in the description."""
    path = folder / model_directory.DESCRIPTION
    whole = {"": json.loads(path.read_text())}
    parent, key = whole, ""
    while (children := parent[key]) and isinstance(children, dict | list) and generator.random() < 0.85:
        keys = list(children if isinstance(children, dict) else range(len(children)))
        parent, key = children, generator.choice(keys)
    if generator.random() < 0.2:
        del parent[key]
    elif generator.random() < 0.1:
        parent[key] = json.loads("[" * 900 + "]" * 900)
    else:
        parent[key] = generator.choice(VALUES)
    path.write_text(json.dumps(whole.get("")))
    return f"{path.name}: {key}"


def damage_array(folder, generator):
    """Change the numbers, the type or the shape of an array, or leave it out."""
    path = folder / model_directory.WEIGHTS
    arrays = load(path.read_bytes())
    name = generator.choice(sorted(arrays))
    array = arrays[name].copy()
    match generator.randrange(8):
        case 0:
            del arrays[name]
        case 1:
            arrays[name] = array[: generator.randrange(len(array) + 1)]
        case 2:
            arrays[name] = np.concatenate((array, array)) if len(array) < 4096 else array[:, None]
        case 3:
            arrays[name] = np.zeros(array.shape, generator.choice(TYPES))
        case 4:
            arrays[name] = array.reshape(1, *array.shape) if generator.random() < 0.5 else array.ravel()
        case 5:
            arrays[name] = np.full_like(array, np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 3e4)
        case _ if array.size:
            numbers = NUMBERS if array.dtype.kind == "f" else (0, 255)
            with np.errstate(over="ignore"):
                number = array.dtype.type(generator.choice(numbers))
            array.reshape(-1)[generator.randrange(array.size)] = number
            arrays[name] = array
    path.write_bytes(save({name: np.ascontiguousarray(array) for name, array in arrays.items()}))
    return f"{path.name}: {name}"


def damage_classes(folder, generator):
    """Change a line of the classes."""
    path = folder / model_directory.CLASSES
    lines = path.read_bytes().split(b"\n")
    damaged = (b"", b"I", b"I\t", b"\xff\t1", b"I\ta b", b"\t\t1")
    lines[generator.randrange(len(lines))] = generator.choice(damaged)
    path.write_bytes(b"\n".join(lines))
    return path.name


DAMAGE = (damage_bytes, damage_description, damage_array, damage_array, damage_classes)


def seal(folder):
    """Make the checksums fit again, as whoever means harm would."""
    path = folder / model_directory.DESCRIPTION
    try:
        description = json.loads(path.read_text())
        checksums = description[model_directory.CHECKSUMS]
        for name in (model_directory.WEIGHTS, model_directory.CLASSES):
            checksums[name] = model_directory._checksum((folder / name).read_bytes())
        checksums[model_directory.DESCRIPTION] = model_directory._own_checksum(description)
        path.write_text(json.dumps(description))
    except (KeyError, TypeError, AttributeError, PreorderError):
        pass  # there is nothing left to seal


def used(folder):
    """Return all that a model says of some sentences."""
    model = model_directory.load_model(str(folder))
    lines = list(map(model.annotate, LINES))
    preorderer = model.preorderer
    orders = [permutation.positions for permutation in preorderer.order(lines)]
    assert [tree.permutation.positions for tree in preorderer.trees(lines)] == orders
    assert [best[0][1].positions for best in preorderer.best_orders(lines, 3)] == orders
    return orders


def main(models, seed, count):
    LOGGER.setLevel(logging.WARNING + 1)  # errors of Python alone are to be seen on standard error
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    model_directory.MAX_TRIES = 1
    kinds = sorted(Path(models).iterdir())
    for kind in kinds:
        print(json.dumps({"kind": kind.name, "orders": used(kind)}), flush=True)
    for number in range(int(count)):
        generator = random.Random(f"{seed} {number}")
        kind = kinds[number % len(kinds)]
        damage = DAMAGE[number // len(kinds) % len(DAMAGE)]
        with tempfile.TemporaryDirectory() as folder:
            copy = Path(folder) / kind.name
            shutil.copytree(kind, copy)
            case = {"number": number, "kind": kind.name, "damage": damage.__name__}
            case["what"] = damage(copy, generator)
            if damage is not damage_bytes:
                seal(copy)
            print(json.dumps(case), flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            try:
                result = {"orders": used(copy)}
            except PreorderError as error:
                result = {"error": str(error)}
            faulthandler.cancel_dump_traceback_later()
            print(json.dumps(case | result), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])

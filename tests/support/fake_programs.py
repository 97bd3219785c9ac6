"""Stand-ins for the programs of a run: fast, and the same input gives the same output.

As a script it is any of them: ``fake_programs.py NAME ARGUMENTS…``. Where ``KILL_AT`` is the number of such
calls so far, it kills the process ``RUNNER`` half-way through its work, and sleeps.
"""

import hashlib
import json
import os
import re
import signal
import sys
import time
import zipfile
from pathlib import Path

NAMES = ("preorder", "onmt_build_vocab", "onmt_train", "onmt_translate")
STEPS = 4


def install(folder):
    """Write a script for each program."""
    folder.mkdir()
    for name in NAMES:
        script = f'#!/bin/sh\nexec {sys.executable} -I -S {__file__} {name} "$@"\n'
        (folder / name).write_text(script)
        (folder / name).chmod(0o755)


def program_in(folder):
    others = {"python": sys.executable, "cp": "cp"}
    return lambda name: others.get(name) or str(Path(folder) / name)


def digest(*texts):
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()


def after(option, arguments):
    return arguments[arguments.index(option) + 1] if option in arguments else None


def is_killed_now():
    """Count this call; say whether the runner is to be killed in it."""
    with open("calls", "a") as calls:
        calls.write("x")
    return str(os.path.getsize("calls")) == os.environ.get("KILL_AT")


def kill():
    os.kill(int(os.environ["RUNNER"]), signal.SIGKILL)
    time.sleep(60)


def wait_for_log(line):
    """Wait until the runner has written a line of ours; killed at once, it may not have read any."""
    end = time.monotonic() + 60
    while not any(line in log.read_text() for log in Path("logs").rglob("*.log")):
        assert time.monotonic() < end
        time.sleep(0.02)


def option_of(config, name):
    return re.search(rf"^{name}: (.*)$", config, re.MULTILINE)[1]


def train(arguments, killed):
    config = Path(after("-config", arguments)).read_text()
    start, state = 0, digest(config)
    print("* number of parameters: 1234", file=sys.stderr)
    if checkpoint := after("-train_from", arguments):
        assert after("-reset_optim", arguments) == "none"
        with zipfile.ZipFile(checkpoint) as archive:
            start, state = json.loads(archive.read("state"))
    for step in range(start + 1, STEPS + 1):
        state = digest(state, str(step))
        with open("trained", "a") as trained:
            trained.write(f"{step} ")
        path = Path(f"{option_of(config, 'save_model')}_step_{step}.pt")
        print(f"Validation perplexity: {abs(step - 3) + 1.5}", file=sys.stderr)
        print(f"Saving checkpoint {path}", file=sys.stderr, flush=True)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr(zipfile.ZipInfo("state"), json.dumps([step, state]))
        if killed and step == 3:
            path.write_bytes(path.read_bytes()[:60])
            wait_for_log(f"Saving checkpoint {path}")
            kill()


def write(path, text, killed):
    if killed:
        Path(path).write_text(text[: len(text) // 2])
        kill()
    Path(path).write_text(text)


def build_vocabulary(arguments, killed):
    config = Path(after("-config", arguments)).read_text()
    for side in ("src_vocab", "tgt_vocab"):
        write(option_of(config, side), f"{side}\n", killed)


def translate(arguments, killed):
    with zipfile.ZipFile(after("-model", arguments)) as archive:
        text = digest(archive.read("state").decode(), Path(after("-src", arguments)).read_text())
    assert "-report_time" in arguments
    print("Total translation time (s): 0.0", file=sys.stderr)
    write(after("-output", arguments), text + "\n", killed)


def numbered(path, features):
    tokens = map(str.split, path.read_text().splitlines())
    lines = ([f"{token}￨{n}" if features else str(n) for n, token in enumerate(line)] for line in tokens)
    return "".join(" ".join(line) + "\n" for line in lines)


def preorder(command, arguments, killed):
    if command == "score":
        fields = arguments[arguments.index("--hyp") + 1 :]
        runs = {}
        for name, _, path in (field.partition("=") for field in fields):
            runs.setdefault(name, []).append(Path(path).read_text())
        metrics = ("bleu", "bleu_precision", "bleu_brevity_penalty", "chrf", "ter", "ribes")
        one = {metric: {"mean": 1.0, "deviation": None} for metric in metrics}
        found = {name: {key: value | {"values": runs[name]} for key, value in one.items()} for name in runs}
        best = {metric: {"system": min(runs), "not_worse": sorted(runs)} for metric in one}
        text = json.dumps({"runs": found, "signature": {}, "significance": {}, "best": best})
    elif command == "evaluate":
        text = json.dumps({"tau": 0.5, "monotone": {"tau": 0.25}})
    elif command == "report":
        text = digest(
            *(path.read_text() for path in sorted(Path(arguments[0]).glob("systems/*/seed*/test.*")))
        )
    elif command == "train":
        Path(after("--model", arguments)).mkdir(exist_ok=True)
        write(f"{after('--model', arguments)}/model.json", "{}", killed)
        if orders := after("--cross-fit-out", arguments):
            write(orders, numbered(Path(after("--src", arguments)), features=True), killed)
        return
    else:  # apply, gold
        features = after("--format", arguments) in (None, "features")
        text = numbered(Path(after("--src", arguments)), features)
    if out := after("--out", arguments):
        write(out, text, killed)
    else:
        sys.stdout.write(text[: len(text) // 2])
        sys.stdout.flush()
        if killed:
            kill()
        sys.stdout.write(text[len(text) // 2 :])


def main(name, *arguments):
    killed = is_killed_now()
    if name == "preorder":
        preorder(arguments[0], arguments, killed)
    else:
        {"onmt_build_vocab": build_vocabulary, "onmt_train": train, "onmt_translate": translate}[name](
            arguments, killed
        )


if __name__ == "__main__":
    main(*sys.argv[1:])

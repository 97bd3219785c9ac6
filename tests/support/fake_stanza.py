"""What stands for Stanza where its models are absent: tags are words in capitals, trees are flat.

It lies in a file of its own so that worker processes can import it.
"""

from pathlib import Path

from preorder.annotate import stanza
from preorder.annotate.stanza import EMPTY, Annotation


def install(monkeypatch, models=()):
    """Let the stand-in run in place of Stanza, whose version and models are these."""
    monkeypatch.setattr(stanza, "_work", work)
    monkeypatch.setattr(stanza, "prepare", lambda options: models)


def work(options, chunk):
    """Annotate a chunk, leaving a file in the folder of the models; the word ``interrupt`` does so, once."""
    sentences, _, key = chunk
    for sentence in sentences:
        if "interrupt" in sentence.words and not (Path(options.folder) / "interrupted").exists():
            (Path(options.folder) / "interrupted").touch()
            raise KeyboardInterrupt
    (Path(options.folder) / f"done-{key}").touch()
    return [annotation(options, sentence.words, sentence.tags) for sentence in sentences]


def annotation(options, words, tags=None):
    if not words:
        return EMPTY
    own = [options.tagset[0] + word.upper() for word in words]
    if options.trees == "constituency":
        own, leaves, labels = (
            tuple(token.replace("(", "-LRB-").replace(")", "-RRB-") for token in layer)
            for layer in (own, words, tags or own)
        )
        leaves = " ".join(f"({tag} {word})" for tag, word in zip(labels, leaves, strict=True))
        return Annotation(tags or own, f"(ROOT {leaves})")
    tags = tags or tuple(own)
    if options.trees == "dependency":
        both = {name: [name[0] + word.upper() for word in words] for name in ("upos", "xpos")}
        columns = (both | {options.tagset: tags}).values()
        rows = (
            f"{i}\t{word}\t_\t{upos}\t{xpos}\t_\t{i - 1}\tnext\t_\t_"
            for i, (word, upos, xpos) in enumerate(zip(words, *columns, strict=True), 1)
        )
        return Annotation(tags, "\n".join(rows))
    return Annotation(tags, None)

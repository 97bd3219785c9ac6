"""POS tags and syntax trees by Stanza (Qi et al. 2020), for texts of any length, in one or more processes.

The folder of models is that of ``stanza.download``, or one with a folder for each language (``en/``) of
``pos.pt``, ``constituency.pt``, ``depparse.pt``, and their word vectors, ``pretrain.pt``.
"""

from __future__ import annotations

import importlib.util
import json
import shlex
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

from preorder.annotate.options import AnnotatorOptions
from preorder.data.sentence import Sentence
from preorder.data.trees import SyntaxTree
from preorder.errors import MissingExtraError, UsageError, message_of, require
from preorder.io import files
from preorder.learning.checkpoint import NO_CHECKPOINTS, Checkpoint, Checkpoints, digest
from preorder.processes import in_processes
from preorder.syntax.read import NO_VALUE, parse_bracketing, parse_conllu

MAX_PARSED = 200  # tokens that are parsed at once: the memory of the dependency parser is quadratic
CHUNK = 5_000  # tokens + sentences that a worker gets at once, as Stanza's tagger does

_MODELS = ("pos", "constituency", "depparse")
_TAGGING = "tokenize,pos"


def prepare(options: AnnotatorOptions) -> list[Any]:
    """Find or download the models; return the versions of tool and models, as JSON."""
    from importlib import metadata  # slow to import

    if importlib.util.find_spec("stanza") is None:  # importing it takes seconds
        raise MissingExtraError("stanza", "stanza")
    flat = _flat_models(options)
    if flat is None:  # models that processors share have folders of their own
        every = Path(options.folder) if options.folder else _download(options)
        top = _language_folder(every, options.language)
        names = {*options.processors, "mwt", "pretrain", "forward_charlm", "backward_charlm"}
        paths = {path for path in top.rglob("*.pt") if path.parent.name in names}
    else:
        paths = {Path(path) for name, path in flat.items() if name.endswith("_path")}
        top = min(paths).parent
    files_of = ((path, path.stat()) for path in sorted(paths))
    models = [(str(path.relative_to(top)), file.st_size, file.st_mtime_ns) for path, file in files_of]
    return [metadata.version("stanza"), models]


def load_pipeline(options: AnnotatorOptions) -> Any:
    """Return a ``stanza.Pipeline`` that runs on one thread."""
    stanza = require("stanza", "stanza")
    torch = require("torch", "stanza")
    torch.set_num_threads(1)
    gpu = options.device == "gpu"
    if gpu and not torch.cuda.is_available():
        raise UsageError("there is no GPU that torch can use")
    settings = {"lang": options.language, "download_method": None, "verbose": False, "use_gpu": gpu}
    settings |= {"tokenize_pretokenized": True, "processors": ",".join(options.processors)}
    settings["constituency_pretagged"] = options.tagged
    if options.folder is not None:
        settings["dir"] = options.folder
    flat = _flat_models(options)
    with tempfile.TemporaryFile("w+") as resources:  # without a name: a killed process leaves nothing
        if flat is not None:
            json.dump({options.language: {}}, resources)
            resources.seek(0)
            settings |= {"package": None, "resources_filepath": f"/dev/fd/{resources.fileno()}", **flat}
        try:
            return stanza.Pipeline(**settings)
        except Exception as error:  # damaged models raise all kinds
            reason = f"Stanza cannot load its models for {options.language}: {message_of(error)}"
            raise UsageError(reason) from None


def load_tokenizer(options: AnnotatorOptions) -> Any:
    """Return a ``stanza.Pipeline`` that only splits plain text; missing models are downloaded."""
    prepare(options)
    top = options.top or _download(options)
    settings = {"lang": options.language, "dir": str(top), "processors": "tokenize", "use_gpu": False}
    try:
        return require("stanza", "stanza").Pipeline(**settings, download_method=None, verbose=False)
    except Exception as error:  # damaged or missing models raise all kinds
        reason = f"Stanza cannot load its tokenizer for {options.language}: {message_of(error)}"
        raise UsageError(reason) from None


@lru_cache
def _download(options: AnnotatorOptions) -> Path:
    stanza = require("stanza", "stanza")
    common = stanza.resources.common
    download = partial(stanza.download, options.language, verbose=False, download_json=False)
    try:
        download(processors=",".join(name for name in options.processors if name != "lemma"))
        # The models of a language without a lemmatizer do not need one, but stanza.download would fail.
        language = common.get_language_resources(common.load_resources_json(), options.language)
        if "lemma" in options.processors and "lemma" in language:
            download(processors="lemma")
    except Exception as error:  # any library's error of the network; or there are no such models
        if type(error).__name__ == "UnknownLanguageError":
            listed = "https://stanfordnlp.github.io/stanza/available_models.html lists its languages"
            raise UsageError(f"Stanza has no models for {options.language!r}: {listed}") from None
        command = _command(options.language, "DIR")
        raise UsageError(
            f"Stanza's models for {options.language} cannot be downloaded ({message_of(error)}); get them "
            f"where there is a network: {command}; `stanza_dir` names the folder"
        ) from None
    return Path(common.DEFAULT_MODEL_DIR)


def _flat_models(options: AnnotatorOptions) -> dict[str, Any] | None:
    """Return Stanza's options that name ``pos.pt`` and the like; None if the models are not kept so."""
    folder = options.top and options.top / options.language
    if folder is None or not any((folder / f"{name}.pt").is_file() for name in _MODELS):
        return None
    named: dict[str, Any] = {"lemma_use_identity": True} if options.trees == "dependency" else {}
    for name in filter(options.processors.__contains__, _MODELS):
        for kind, path in (("model", folder / f"{name}.pt"), ("pretrain", folder / "pretrain.pt")):
            if not path.is_file():
                raise UsageError(f"{path}: no such model of Stanza's")
            named[f"{name}_{kind}_path"] = str(path)
    return named


def _language_folder(top: Path, language: str) -> Path:
    path = top / "resources.json"
    known = files.read_json(str(path)) if path.is_file() else None
    entry = known.get(language) if isinstance(known, dict) else None
    if isinstance(entry, dict) and (folder := top / str(entry.get("alias", language))).is_dir():
        return folder
    there = sorted({model.relative_to(top).parts[0] for model in top.glob("*/**/*.pt")})
    raise UsageError(
        f"{top}: no models of Stanza's for {language!r}, only for: {', '.join(there) or 'no language'}; get "
        f"them: {_command(language, str(top))}"
    )


def _command(language: str, folder: str) -> str:
    call = f'import stanza; stanza.download("{language}", {json.dumps(folder, ensure_ascii=False)})'
    return f"python -c {shlex.quote(call)}"


class Annotation(NamedTuple):
    """Stanza's tags and tree of a sentence; the tree is a bracketing or lines of CoNLL-U, or None."""

    tags: tuple[str, ...]
    tree: str | None


EMPTY = Annotation((), "")  # of an empty sentence


# A parsed piece of a sentence: tags, and bracketings below its root or Stanza's words with heads.
_Piece = tuple[tuple[str, ...], Sequence[Any]]


class Annotator(NamedTuple):
    """A loaded ``stanza.Pipeline`` and its options."""

    pipeline: Any
    options: AnnotatorOptions

    def annotate(self, sentences: Sequence[Sentence]) -> list[Annotation]:
        """Annotate sentences; long ones are parsed in pieces."""
        pieces = [_pieces(sentence) for sentence in sentences]
        parsed = iter(self._parsed(list(chain.from_iterable(pieces))) if any(pieces) else ())
        return [self._joined(list(islice(parsed, len(of_sentence)))) for of_sentence in pieces]

    def _joined(self, pieces: Sequence[_Piece]) -> Annotation:
        if not pieces:
            return EMPTY
        tags, parts = zip(*pieces, strict=True)
        tree = None
        if self.options.trees == "constituency":
            tree = f"(ROOT {' '.join(chain.from_iterable(parts))})"
        elif self.options.trees:
            tree = "\n".join(_conllu(parts))
        return Annotation(tuple(chain.from_iterable(tags)), tree)

    def _parsed(self, pieces: Sequence[Sentence]) -> list[_Piece]:
        try:
            sentences = self._document(pieces).sentences
        except AssertionError:  # the constituency parser gave up a sentence
            if len(pieces) == 1:
                return [self._flat(pieces[0])]
            half = len(pieces) // 2
            return self._parsed(pieces[:half]) + self._parsed(pieces[half:])
        return [self._read(sentence, piece) for sentence, piece in zip(sentences, pieces, strict=True)]

    def _document(self, pieces: Sequence[Sentence]) -> Any:
        """Run the pipeline; the parser reads the tags of the pieces, if they have some."""
        words = [list(piece.words) for piece in pieces]
        if not self.options.tagged:
            return self.pipeline(words)
        document = self.pipeline(words, processors=_TAGGING)
        for sentence, piece in zip(document.sentences, pieces, strict=True):
            for word, tag in zip(sentence.words, piece.tags or (), strict=True):
                if self.options.trees == "constituency":
                    word.upos = word.xpos = tag  # a model reads one of them
                else:
                    setattr(word, self.options.tagset, tag)
        return self.pipeline(document, processors="lemma,constituency,depparse")

    def _read(self, sentence: Any, piece: Sentence) -> _Piece:
        tags = piece.tags or self._tags(sentence)
        if self.options.trees == "constituency":
            for leaf, tag in zip(sentence.constituency.yield_preterminals(), tags, strict=True):
                leaf.label = tag  # some models read the other tagset
            return tags, tuple(f"{child:O}" for child in sentence.constituency.children)
        return tags, sentence.words

    def _tags(self, sentence: Any) -> tuple[str, ...]:
        """Return the tags of the tagset, or else of the other one, escaped as in a tree."""
        own = self.options.tagset == "xpos"
        pairs = ((word.xpos, word.upos) if own else (word.upos, word.xpos) for word in sentence.words)
        tags = (one or other or NO_VALUE for one, other in pairs)
        return tuple(map(_escaped, tags) if self.options.trees == "constituency" else tags)

    def _flat(self, piece: Sentence) -> _Piece:
        tags = piece.tags or self._tags(self.pipeline([list(piece.words)], processors=_TAGGING).sentences[0])
        leaves = zip(map(_escaped, tags), map(_escaped, piece.words), strict=True)
        return tags, tuple(f"({tag} {word})" for tag, word in leaves)


def _pieces(sentence: Sentence) -> list[Sentence]:
    """Cut a sentence into pieces of ``MAX_PARSED`` tokens; an empty one, on which Stanza fails, has none."""
    parts = (slice(start, start + MAX_PARSED) for start in range(0, len(sentence), MAX_PARSED))
    return [Sentence(sentence.words[part], sentence.tags and sentence.tags[part]) for part in parts]


def _escaped(text: str) -> str:
    return text.replace("(", "-LRB-").replace(")", "-RRB-")


def _conllu(pieces: Sequence[Sequence[Any]]) -> Iterator[str]:
    """Yield the lines of a sentence; roots of later pieces depend on the root of the first."""
    root = next(number for number, word in enumerate(pieces[0], 1) if word.head == 0)
    before = 0
    for words in pieces:
        for number, word in enumerate(words, before + 1):
            head, relation = word.head + before, word.deprel
            if word.head == 0 and before:
                head, relation = root, "parataxis"
            tags = (word.upos or NO_VALUE, word.xpos or NO_VALUE, word.feats or NO_VALUE)
            row = number, word.text, NO_VALUE, *tags, head, relation, NO_VALUE, NO_VALUE
            yield "\t".join(map(str, row))
        before += len(words)


@lru_cache(maxsize=1)
def annotator(options: AnnotatorOptions) -> Annotator:
    """Return an annotator of this process, on one thread; the models stay loaded for the next call."""
    return Annotator(load_pipeline(options), options)


# Sentences that a worker gets at once, the checkpoint of their annotation, and its key.
_Chunk = tuple[Sequence[Sentence], Checkpoint, str]


def _chunks(
    sentences: Iterable[Sentence], options: AnnotatorOptions, models: Any, checkpoints: Checkpoints
) -> Iterator[_Chunk]:
    settings = [asdict(options) | {"folder": None}, models]  # of which annotation depends on these
    for batch in files.batched(sentences, CHUNK, lambda sentence: len(sentence) + 1):
        key = digest([settings, [(sentence.words, sentence.tags) for sentence in batch]])
        yield batch, checkpoints.part(f"annotation-{key}"), key


def _work(options: AnnotatorOptions, chunk: _Chunk) -> list[Annotation]:
    return annotator(options).annotate(chunk[0])


def _unless_known(work: Callable[[_Chunk], list[Annotation]], chunk: _Chunk) -> list[Annotation]:
    _, checkpoint, key = chunk
    kept = checkpoint.load(key)
    return work(chunk) if kept is None else [Annotation(tuple(tags), tree) for tags, tree in kept[0]]


def annotate(
    sentences: Iterable[Sentence],
    options: AnnotatorOptions,
    workers: int = 1,
    checkpoints: Checkpoints = NO_CHECKPOINTS,
) -> Iterator[tuple[Sentence, Annotation]]:
    """Yield each sentence with its annotation, in order; sentences have tags if ``options.tagged``.

    Each worker (0: this process) has one thread and its own copy of the models; on a GPU there is one worker.
    Finished chunks are kept in ``checkpoints``.
    """
    workers = min(workers, 1) if options.device == "gpu" else workers
    chunks = _chunks(sentences, options, prepare(options), checkpoints)
    work = partial(_unless_known, partial(_work, options))
    for (batch, checkpoint, key), result in in_processes(work, chunks, workers):
        if not checkpoint.present:
            checkpoint.save(key, result, {})
        yield from zip(batch, result, strict=True)


def add_layers(sentences: Iterable[Sentence], options: AnnotatorOptions, **how: Any) -> Iterator[Sentence]:
    """Yield the sentences with tags and, if asked for, trees; ``how`` goes to :func:`annotate`."""
    for sentence, (tags, tree) in annotate(sentences, options, **how):
        parsed = _parsed(tree or "", options) if options.trees else sentence.tree
        yield replace(sentence, tags=tags, tree=parsed)


def _parsed(tree: str, options: AnnotatorOptions) -> SyntaxTree | None:
    if options.trees == "constituency":
        return parse_bracketing(tree).tree
    ((_, readings),) = parse_conllu(enumerate((*filter(None, tree.split("\n")), ""), 1))
    return readings[0].tree

"""The commands that the documents name."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ("preorder", "onmt_preorder", "onmt_build_vocab", "onmt_train", "onmt_translate", "onmt_server")
MODULES = r"python -m ((?:preorder_recipes|benchmarks)\.[\w.]+)"
PAGES = [
    *(Path("docs") / name for name in sorted(path.name for path in (ROOT / "docs").glob("*.md"))),
    Path("README.md"),
    Path("config/README.md"),
    Path("preorder/models/README.md"),
    *sorted(path.relative_to(ROOT) for path in (ROOT / "recipes").glob("*/*.md")),
]
_FENCED = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
_INDENTED = re.compile(r"(?:(?<=\n\n)|(?<=:\n))((?:    .*\n)+)")
_SUBSTITUTED = re.compile(r"\$\(([^()]*)\)")
_PARTS = re.compile(r"[|;&]|\bdo\b")
_FIRST = re.compile(
    rf"^(?:\$ )?(?:{'|'.join(PROGRAMS)}|python|recipes/\w+\.sh|make|git|for|\(cd|curl|cd|source|PYTHON=\S+) ",
    re.M,
)


def _text(page):
    return (ROOT / page).read_text(encoding="utf-8")


def _is_shell(block):
    return _FIRST.search(block) is not None and not block.startswith("config/")


def blocks(page, languages=("", "bash")):
    """Return the blocks of commands of a page; of one in which commands follow a ``$``, these alone."""
    text = _text(page)
    fenced = [body for language, body in _FENCED.findall(text) if language in languages]
    indented = [re.sub("^    ", "", body, flags=re.M) for body in _INDENTED.findall(_FENCED.sub("", text))]
    found = [body for body in (*fenced, *indented) if _is_shell(body)]
    shown = [re.findall(r"^\$ (.*\n)", body, re.M) for body in found]
    return ["".join(lines) or body for lines, body in zip(shown, found, strict=True)]


def commands(block):
    """Return the commands of a block, one a line, without comments; a loop is one command."""
    text = re.sub(r"<<END\n.*?^END$", "", block, flags=re.M | re.S)
    text = re.sub(r"(?<=\s)#.*", "", re.sub(r"\\\n\s*|(?<=\|)\n\s*", " ", text))
    text = re.sub(r"^for [^\n]*do\n.*?^done$", _loop, text, flags=re.M | re.S)
    return [line.strip() for line in text.splitlines() if line.strip()]


def _loop(match):
    return re.sub(r"\s*\n\s*", "; ", match[0]).replace("; do; ", "; do ")


def mentions(page):
    """Return all that a page says of our programs: the parts of its commands, and code within a line."""
    inline = re.findall(r"`([^`]+)`", _FENCED.sub("", _text(page)))
    whole = [*(command for block in blocks(page) for command in commands(block)), *map(_one_line, inline)]
    whole += [inner for one in whole for inner in _SUBSTITUTED.findall(one)]
    return [part.strip() for one in whole for part in _PARTS.split(_SUBSTITUTED.sub("X", one))]


def _one_line(code):
    return " ".join(code.split())


def calls_of(mention):
    """Return the calls of a mention: program or module, subcommand or None, options.

    One or none, or two: what follows ``--preorder`` are options of ``preorder train``.
    """
    if not (match := re.match(rf"(?:{MODULES}|({'|'.join(PROGRAMS)}))(?=\s|$)(.*)", mention)):
        return []
    rest, preorder, passed_on = match[3].partition(" --preorder ")
    words = (rest + preorder).split()
    has_subcommands = (
        match[2] in ("preorder", "onmt_preorder") and words and words[0].isalpha() and words[0].islower()
    )
    call = match[1] or match[2], words[0] if has_subcommands else None, _options(words)
    return [call, ("preorder", "train", _options(passed_on.split()))] if passed_on else [call]


def _options(words):
    return {word.strip("()").partition("=")[0] for word in words if re.match(r"\(?--?[A-Za-z]", word)}

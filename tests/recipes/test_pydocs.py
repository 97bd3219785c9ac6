"""Data folders of Python's documentation, from .po files of the tests' own."""

import re
import shutil

import pytest
from sacrebleu import corpus_bleu

from preorder.annotate.tokenizers import usual
from preorder.errors import DataError
from preorder_recipes import archives
from preorder_recipes.pydocs import curve
from preorder_recipes.pydocs.prepare import distinct, in_sentences, lowercased, main, plain, sentence_pairs
from tests.support.texts import read, spoilt, write

pytest.importorskip("polib")
pytest.importorskip("sacremoses")

ENTRY = '#: {where}\n{flags}msgid "{source}"\nmsgstr "{target}"\n'


def write_po(path, *entries):
    """Write a .po file of (source, target, flags)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    header = 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n'
    texts = [
        ENTRY.format(where=f"a.rst:{number}", source=source, target=target, flags=flags)
        for number, (source, target, flags) in enumerate(entries)
    ]
    path.write_text("\n".join([header, *texts]))


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("See :func:`~os.path.join`.", "See os.path.join."),
        ("the :ref:`import system <importsystem>` and", "the import system and"),
        (":class:`!Foo` is ``x[0]``", "Foo is x[0]"),
        ("`PEP <https://peps.python.org/>`_ and `a`__", "PEP and a"),
        ("*one* **two** 2 * 3 * 4 and a**b", "one two 2 * 3 * 4 and a**b"),
        ("*args* and \\\\*kwargs", "args and \\*kwargs"),
        ("as follows::", "as follows:"),
        ("``__init__``  or\n|version|", "__init__ or version"),
        (":rfc:`4648`, :pep:`8`", "4648, 8"),
        ("a `broken role", "a broken role"),
    ],
)
def test_markup_is_taken_off(text, stripped):
    assert plain(text) == stripped


def test_paragraphs_are_split_where_both_sides_have_as_many_sentences():
    assert in_sentences('One. "Two." Three (3).', "Bir. İki! Üç?") == [
        ("One.", "Bir."),
        ('"Two."', "İki!"),
        ("Three (3).", "Üç?"),
    ]
    assert in_sentences("Use os.path. Then go.", "使う。行く。") == [
        ("Use os.path.", "使う。"),
        ("Then go.", "行く。"),
    ]
    assert in_sentences("One. Two.", "Bir ve iki.") == [("One. Two.", "Bir ve iki.")]
    assert in_sentences("e.g. this", "bu")[0][0] == "e.g. this"


def test_turkish_has_two_letters_i():
    words = ["Isı", "İyi", "ASCII", "StringIO", "io.StringIO", "PY_INIT"]
    assert [lowercased(word, "tr") for word in words] == [
        "ısı",
        "iyi",
        "ascii",
        "stringıo",
        "io.stringio",
        "py_init",
    ]
    assert lowercased("Isı", "de") == "isı"


def test_first_translation_of_a_sentence_counts():
    assert distinct([("a", "b"), ("a", "c"), ("d", "d"), ("e", "f")]) == [("a", "b"), ("e", "f")]


def test_finished_entries_of_all_files_are_read(tmp_path):
    write_po(tmp_path / "library/os.po", ("One two three.", "Bir iki.", ""), ("Four.", "Dört.", "#, fuzzy\n"))
    write_po(tmp_path / "a.po", ("Five six.", "Beş altı.", ""), ("Seven.", "", ""))
    assert list(sentence_pairs(tmp_path)) == [("Five six.", "Beş altı."), ("One two three.", "Bir iki.")]


def test_a_folder_is_written_whole(tmp_path, capsys):
    sentences = [
        (f"Call os.path{n} (see PEP) now.", f"Şimdi os.path{n} Işlevini çağır.", "") for n in range(9)
    ]
    write_po(tmp_path / "docs/tutorial/x.po", *sentences, ("Too short", "Çok kısa metin", ""))
    out = tmp_path / "out"
    command = ["--docs", str(tmp_path / "docs"), "--lang", "tr", "--held", "2"]
    assert main([*command, "--out", str(out)]) == 0
    pairs = {
        part: list(zip(read(out / f"{part}.en"), read(out / f"{part}.tr"), strict=True))
        for part in ("train", "dev", "test")
    }
    assert [len(lines) for lines in pairs.values()] == [5, 2, 2]
    every = sorted(pair for lines in pairs.values() for pair in lines)
    assert every == [
        (f"call os.path{n} ( see pep ) now .", f"şimdi os.path{n} ışlevini çağır .") for n in range(9)
    ]
    again = tmp_path / "again"
    assert main([*command, "--out", str(again)]) == 0
    other = tmp_path / "other"
    assert main([*command, "--seed", "2", "--out", str(other)]) == 0
    texts = [(folder / "train.en").read_bytes() for folder in (out, again, other)]
    assert texts[0] == texts[1] != texts[2]


def test_japanese_is_split_by_sudachi(tmp_path):
    pytest.importorskip("sudachipy")
    pytest.importorskip("sudachidict_core")
    assert usual("ja") == "sudachi"
    write_po(
        tmp_path / "x.po",
        *((f"Use the {n} lists here.", f"ここで{n}個のリストを使います。", "") for n in range(5)),
    )
    assert main(["--docs", str(tmp_path), "--lang", "ja", "--held", "1", "--out", str(tmp_path / "out")]) == 0
    line = read(tmp_path / "out/train.ja")[0]
    assert re.sub(r"\d", "N", line) == "ここ で N 個 の リスト を 使い ます 。"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--lang", "en"], "--lang: 'en' is no code of another language than en"),
        (["--lang", "ko", "--tokenizer", "sudachi"], "SudachiPy splits Japanese (ja), not ko"),
        (["--lang", "tr"], "3 sentence pairs: too few for --held 500"),
    ],
)
def test_what_cannot_be_prepared(tmp_path, capsys, more, message):
    write_po(tmp_path / "x.po", *((f"Call it {n} times.", f"Onu {n} kez çağır.", "") for n in range(3)))
    assert main(["--docs", str(tmp_path), "--out", str(tmp_path / "out"), *more]) == 2
    (line,) = capsys.readouterr().err.splitlines()[-1:]
    assert message in line
    assert not (tmp_path / "out").exists()


def test_a_file_that_is_no_po_file_is_named(tmp_path):
    path = write(tmp_path / "x.po", 'msgid "a', "nonsense")
    with pytest.raises(DataError, match="cannot be read as a .po file") as error:
        list(sentence_pairs(tmp_path))
    assert path in str(error.value)
    with pytest.raises(DataError, match="no .po file"):
        list(sentence_pairs(tmp_path / "nowhere"))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Archives of two sizes, in which the first system is spoilt more than the others, and their test set."""
    reference = [f"a b c d e f g {word} h i" for word in "pqrstuvwxyzk"]
    shares = {"baseline_absolute_relative": 0.4, "gold": 0.1, "guided": 0.3}
    for pairs in (1000, 9000):
        name = f"pydocs-en-ja-{pairs}"
        made = tmp_path / name / name
        made.mkdir(parents=True)
        (tmp_path / f"{name}.tar.xz").touch()
        for system, share in shares.items():
            write(made / f"{system}.seed1.ja", *spoilt(reference, share, pairs))
    (made / "guided.seed1.ja").unlink()
    base = tmp_path / "pydocs-en-ja-1000" / "pydocs-en-ja-1000" / "baseline_absolute_relative.seed1.ja"
    shutil.copy(base, base.with_name("baseline_absolute_relative.seed2.ja"))
    write(tmp_path / "test.ja", *reference)
    monkeypatch.setattr(curve, "FOLDER", tmp_path)
    monkeypatch.setattr(archives, "_unpacked", tmp_path.joinpath)
    return tmp_path


def test_gains_by_the_number_of_pairs(folder, capsys):
    """The twin: gains by sacrebleu."""
    assert curve.main(["--data", f"ja={folder}", "--picture", f"{folder}/curve.svg"]) == 0
    rows = [line[2:-2].split(" | ") for line in capsys.readouterr().out.splitlines()]
    cells = {row[0]: row[1:] for row in rows}
    assert rows[0][1:] == ["En→Ja, 1,000", "En→Ja, 9,000"]
    reference = (folder / "test.ja").read_text().splitlines()

    def bleu(name, pairs):
        (path,) = folder.glob(f"pydocs-en-ja-{pairs}/*/{name}.seed1.ja")
        lines = path.read_text().splitlines()
        return corpus_bleu(lines, [reference], tokenize="none", force=True).score

    base = [bleu("baseline_absolute_relative", pairs) for pairs in (1000, 9000)]
    assert cells["*trainings*"] == ["2", "1"]
    assert [cell.endswith(" of 1") for cell in cells["gold order"]] == [True, False]
    assert cells["*baseline: BLEU*"] == [f"{one:.2f}" for one in base]
    gains = [f"{bleu('gold', pairs) - one:+.2f}" for pairs, one in zip((1000, 9000), base, strict=True)]
    assert [re.match(r"\**([^ *]+)", cell)[1] for cell in cells["gold order"]] == gains
    assert [bool(cell) for cell in cells["guided attention, no order"]] == [True, False]
    assert "gold order" in (folder / "curve.svg").read_text(encoding="utf-8")
    assert curve.main(["--data", f"tr={folder}"]) == 2
    assert capsys.readouterr().err.endswith("--data: no archive of tr\n")

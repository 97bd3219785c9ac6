"""The tables of the papers: definitions hold, kept translations are scored, every table can be trained."""

import json
from dataclasses import replace
from math import prod

import pytest
from onmt.bin.train import _get_parser
from onmt.bin.translate import _get_parser as _translation_parser
from sacrebleu import corpus_bleu

from onmt_preorder.base_configuration import CONFIG
from onmt_preorder.opennmt.configuration import keys_of
from preorder_recipes import archives, paper_tables, papers
from preorder_recipes.configuration import read_system
from preorder_recipes.paper_tables import read_paper
from preorder_recipes.pipeline.leaderboard import COSTS
from preorder_recipes.synthetic import generate
from tests.support.running import ROOT
from tests.support.texts import write

CORPORA = {"enja": ("en", "ja"), "multi30k": ("en", "de"), "kftt": ("en", "ja")}


def tables_of(paper, runs=ROOT):
    return read_paper(CONFIG / "papers" / f"{paper}.yaml", runs, {}).tables


@pytest.mark.parametrize("paper", papers.PAPERS)
def test_every_row_names_a_system_and_every_archive_holds_what_is_compared(paper):
    tables = tables_of(paper)
    assert len({table.name for table in tables}) == len(tables)
    known = {*keys_of(_get_parser()), "begins_from"}
    for row in (row for table in tables for row in table.rows):
        line = papers.command_line(row.experiment, [], [])
        size = papers.main_job.build_parser().parse_args(line).size
        read_system(row.base, size)
        assert row.changes.keys() <= known, row.label
        if row.experiment.kept:
            assert list(ROOT.glob(f"recipes/*/translations/{row.experiment.kept}.tar.xz"))


def test_papers_train_a_system_once():
    """Runs of one name share a folder: with other options one would undo what the other has made."""
    made = {}
    for paper in papers.PAPERS:
        for one in {row.experiment for table in tables_of(paper) for row in table.rows}:
            line = papers.command_line(one, [], [])
            options = vars(papers.main_job.build_parser().parse_args(line)) | {"seeds": None}
            assert made.setdefault(one.folder, (one.data, options)) == (one.data, options), one.folder.name


def corpus(folder, languages):
    """Make a data folder of a synthetic bitext: English is its language with trees."""
    generate.main(["--out", str(folder / "made"), "--pairs", "60", "--held", "25"])
    for name, language in zip(("svo", "sov"), languages, strict=True):
        for path in (folder / "made").glob(f"*.{name}*"):
            path.rename(folder / path.name.replace(f".{name}", f".{language}"))
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    made = {name: corpus(tmp_path_factory.mktemp(name), both) for name, both in CORPORA.items()}
    return ["--data", *(f"{name}={folder}" for name, folder in made.items())]


def test_kept_translations_are_scored_anew(tmp_path, monkeypatch):
    """Against a reference that is one of them, so the figures are known."""
    kept = papers.Row.kept
    monkeypatch.setattr(papers.Row, "kept", lambda row: kept(row) if row.experiment.data == "kftt" else [])
    table = next(table for table in tables_of("kawara2021", tmp_path) if table.name == "III, KFTT")
    best, *_ = texts = [path.read_text().splitlines() for path in table.rows[1].translations()]
    write(tmp_path / "test.en", *best)
    write(tmp_path / "test.ja", *best)
    line = ["kawara2021", "--table", "III, KFTT", "--table", "III, German", "--no-training"]
    line += ["--run", str(tmp_path), "--data", f"kftt={tmp_path}", "--out", f"{tmp_path}/page.md"]
    assert papers.main(line) == 0
    page = (tmp_path / "page.md").read_text().split("\n")
    rows = {row.split(" | ")[0]: row.split(" | ")[1:] for row in page if row.startswith("| ")}
    assert rows["| system"] == ["BLEU", "paper", "precision", "brevity", "RIBES", "paper |"]
    scores = {name: float(cells[0].split(" ")[0]) for name, cells in list(rows.items())[2:]}
    assert max(scores, key=scores.get) == "| relative, neural BTG"
    assert rows["| relative, neural BTG"][1::4] == ["25.28", "0.7652 |"]
    found = [corpus_bleu(run, [best], tokenize="none", force=True) for run in texts]
    twin = ([one.score, prod(one.precisions) ** 0.25, one.bp] for one in found)
    means = [sum(column) / 3 for column in zip(*twin, strict=True)]
    cells = rows["| relative, neural BTG"]
    for cell, mean, digits in zip([cells[0], *cells[2:4]], means, (2, 2, 3), strict=True):
        assert cell.startswith(f"{mean:.{digits}f} ± ")
    assert page[-3] == "Not trained yet: III, German."


@pytest.fixture
def printed(tmp_path, capsys):
    """Give a function that prints tables, from what is kept and the lines of a test set."""

    def printed(paper, corpus, lines, *tables):
        for side in CORPORA[corpus]:
            write(tmp_path / f"test.{side}", *lines)
        line = [paper, "--no-training", "--run", str(tmp_path), "--data", f"{corpus}={tmp_path}"]
        assert papers.main([*line, *(part for table in tables for part in ("--table", table))]) == 0
        return capsys.readouterr().out

    return printed


def test_tables_of_a_corpus_that_is_not_given_are_named(printed):
    page = printed("zhang2017", "enja", ["a b c"] * 500, "2", "2, German", "2, KFTT")
    assert "\n| + H-Distortion | " in page
    assert "\nNot printed without --data multi30k=DIR kftt=DIR: 2, German; 2, KFTT.\n" in page


def test_a_page_keeps_what_is_said_of_its_tables(printed, tmp_path, capsys):
    tables = printed("zhang2017", "enja", ["a b c"] * 500).split("\n", 2)[2]
    line = f"zhang2017 --no-training --run {tmp_path} --data enja={tmp_path}".split()
    page = tmp_path / "zhang2017.md"
    page.write_text("# Ours\n\n## Tables\n\nold\n")
    for _ in range(2):
        assert papers.main([*line, "--pages", str(tmp_path)]) == 0
        assert page.read_text() == "# Ours\n\n## Tables\n\n" + tables.rstrip("\n") + "\n"
    page.write_text("## Tables, old\n")
    assert papers.main([*line, "--pages", str(tmp_path)]) == 2
    error = f"{page}: no line '## Tables', below which the tables stand\n"
    assert capsys.readouterr().err.endswith(error)
    assert page.read_text() == "## Tables, old\n"


def test_the_plan(tmp_path, capsys, monkeypatch):
    assert papers.main(["--plan", "--run", str(tmp_path)]) == 0
    assert capsys.readouterr().err == "nothing is missing\n"
    monkeypatch.setattr(papers.Row, "kept", lambda row: [])
    line = ["chen2019", "--plan", "--run", str(tmp_path), "--table", "3", "--also", "--seeds", "1,2"]
    assert papers.main(line) == 0
    said = capsys.readouterr().err
    assert said.startswith("ja-en: 14 trainings, 5.8 core hours: plain, plain_predicted_text, ")
    assert not list(tmp_path.iterdir())
    for folder in ("plain/seed1", "plain_predicted_text/seed1", "plain_predicted_text/seed2"):
        made = tmp_path / "ja-en/systems" / folder
        made.mkdir(parents=True)
        (made / "test.en").write_text("\n")
    assert papers.main(line) == 0
    said = capsys.readouterr().err
    assert said.startswith("ja-en: 11 trainings, 4.6 core hours: plain, plain_additional, ")


def test_what_training_prints_is_not_in_the_page(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(papers, "train", lambda *_: print("scores"))
    assert papers.main(["chen2019", "--table", "3", "--run", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("# Chen, Wang, ")
    assert ("scores" in printed.out, "scores" in printed.err) == (False, True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("chen2019 --table 3 --table XX", "--table: there is no 'XX'; there are: 1; 3; 3, big; "),
        ("chen2019 --table 3 --pages .", "--pages: a page has all tables of its paper: leave out --table"),
        ("chen2019 --table 3", "--data enja=DIR is needed for ja-en"),
        ("chen2019 --table 3 --data enja=/none", "/none/"),
        ("kawara2021 --data enja=/none", "--data multi30k=DIR is needed for en-de"),  # before enja is read
    ],
)
def test_what_cannot_be(tmp_path, capsys, monkeypatch, line, message):
    monkeypatch.setattr(papers.Row, "kept", lambda row: [])
    assert papers.main([*line.split(), "--run", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err.split("\n")[-2]


@pytest.mark.parametrize(
    ("table", "missing", "is_trained"),
    [
        ("1", ".txt", False),
        ("8 and 9", ".txt", True),  # it runs commands
        ("English to Japanese", ".txt", False),
        ("1", "beam_size1", True),  # another search
    ],
)
def test_what_is_not_kept_needs_a_model(tmp_path, capsys, monkeypatch, table, missing, is_trained):
    kept = paper_tables.kept_files

    def others(archive, pattern):
        return [] if missing in pattern else kept(archive, pattern)

    monkeypatch.setattr(paper_tables, "kept_files", others)
    assert papers.main(["huang2018", "--table", table, "--plan", "--run", str(tmp_path)]) == 0
    assert (" npmt" in capsys.readouterr().err) == is_trained


def test_another_search_is_that_of_the_run_but_for_its_options(tmp_path, monkeypatch):
    """Of a system that reads the source in the predicted order."""
    row = replace(tables_of("huang2018", tmp_path)[0].rows[0], base="npmt_predicted_text")
    for seed in (1, 2):
        (folder := row.experiment.folder / f"systems/{row.system}/seed{seed}").mkdir(parents=True)
        write(folder / "model.pt")
    ran = []
    monkeypatch.setattr(papers.StepRunner, "run", lambda _, steps: ran.extend(steps))
    papers._translate(row, ["--ratio", "0"])
    _, second = ran
    made, source = f"systems/{row.system}/seed2/test-beam_size1.en", "data/test.de.predicted.text"
    assert (second.reads[1], second.makes) == (source, (made,))
    found = _translation_parser().parse_args(second.command[1:])
    assert (found.src, found.output, found.seed) == (source, made, 2)
    assert (found.beam_size, found.swan_word_reward) == (1, 1.2)


def test_what_commands_have_printed_needs_no_model(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(archives, "_unpacked", lambda _: tmp_path)
    (tmp_path / "explicit-ja-en").mkdir()
    write(tmp_path / "explicit-ja-en/refsr.Figure 5.txt", "PE 0.7500, 1.250 tokens away", "")
    line = ["chen2020", "--table", "Figure 5", "--run", str(tmp_path)]
    assert papers.main([*line, "--plan"]) == 0
    assert capsys.readouterr().err == "ja-en: 1 training, 0.4 core hours: exgre\n"
    assert papers.main([*line, "--no-training"]) == 0
    page = capsys.readouterr().out
    command = "python -m preorder_recipes.papers chen2020 --table 'Figure 5' --data enja=DIR --run DIR"
    assert f"\n\n`{command}`: 0.8 core hours.\n\nReFSR:\n" in page
    block = "\n\nReFSR:\n\n```\nPE 0.7500, 1.250 tokens away\n```\n\nNot trained yet: ExGRE.\n"
    assert block in page


def test_numbers_that_commands_have_printed_stand_beside_the_papers(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(archives, "_unpacked", lambda _: tmp_path)
    (tmp_path / "distortion-en-ja").mkdir()
    for system, error in (("rnnsearch_longer", 0.25), ("distortion_hidden", 0.125)):
        numbers = json.dumps({"aer": error, "recall": 1.0, "precision": 0.5, "links": 3})
        write(tmp_path / f"distortion-en-ja/{system}.4.txt", numbers)
    assert papers.main(["zhang2017", "--table", "4", "--run", str(tmp_path), "--no-training"]) == 0
    table = """\
| system | AER | paper | precision | recall |
| --- | ---: | ---: | ---: | ---: |
| RNNsearch*, as long | 0.250 | 0.497 | 0.500 | 1.000 |
| + H-Distortion | 0.125 | 0.470 | 0.500 | 1.000 |

Not trained yet: + T-Distortion; + S-Distortion.
"""
    assert table in capsys.readouterr().out


def keep(patch, folder, archive, language, **translations):
    """Let an archive hold the translations of systems, a list of lines each, and no other be there."""
    patch.setattr(archives, "_unpacked", folder.joinpath)
    (folder / archive / "files").mkdir(parents=True)
    for name, lines in translations.items():
        write(folder / archive / "files" / f"{name}.seed1.{language}", *lines)


def test_the_tau_of_kept_orders(printed, tmp_path, monkeypatch):
    """Of a sentence that is reversed and one that is not; where one is missing, none is told."""
    texts = dict.fromkeys(("baseline_absolute_relative", "preorder_relative"), ("a b c", "a b"))
    for archive in ("kawara-de-en", "kawara-en-de", "kawara-rvnn-en-de"):
        *_, source, target = archive.split("-")
        keep(monkeypatch, tmp_path, archive, target, **texts)
        folder = tmp_path / archive / "files"
        write(folder / "test.align", "0-2 1-1 2-0", "0-0 1-1")
        positions = ["0 1 2", "1 0"] if "rvnn" in archive else ["2 1 0", "0 1"]
        write(folder / f"test.{source}.predicted.positions", *positions)
    asked = ("kawara2021", "multi30k", ["a b c", "a b"], "III, German", "Figure 9")
    page = printed(*asked)
    assert "| system | tau | paper | BLEU | paper | precision | brevity | RIBES | paper |\n" in page
    rows = [row.split(" | ") for row in page.split("\n") if row.startswith("| ")]
    found = {row[0]: [cell.split(" (")[0].rstrip(" |") for cell in row[1:]] for row in rows}
    assert [found[f"| {name}"][:2] for name in ("baseline", "relative, BTG")] == [
        ["0.000", "0.750"],
        ["1.000", "0.730"],
    ]
    curves = {name: found[f"| {name}, Kendall's tau"] for name in ("unreordered", "BTG", "RvNN")}
    assert curves == {"unreordered": ["1.000", "-1.000"], "BTG": ["1.000"] * 2, "RvNN": ["-1.000"] * 2}
    for path in tmp_path.glob("kawara-[rd]*/files/*.positions"):
        path.unlink()
    page = printed(*asked)
    assert "| system | BLEU | paper | precision | brevity | RIBES | paper |\n" in page
    assert "Kendall" not in page


def test_the_speed_of_a_run_is_that_of_its_own_search(printed, tmp_path, monkeypatch):
    names = [f"{system}{search}" for system in ("npmt", "npmt_attention") for search in ("", "-beam_size1")]
    keep(monkeypatch, tmp_path, "phrases-de-en", "en", **{name: ["a b"] for name in names})
    speed = {"npmt": 125, "npmt_attention": 250}
    found = {name: {cost: {"mean": value} for cost in COSTS} for name, value in speed.items()}
    (tmp_path / "phrases-de-en/results.json").write_text(json.dumps({"systems": found}))
    page = printed("huang2018", "multi30k", ["a b"], "1")
    rows = [row.split(" | ") for row in page.split("\n") if row.startswith("| ")]
    assert rows[0][5].rstrip(" |") == "words/s"
    speeds = {row[0].removeprefix("| "): row[5].rstrip(" |") for row in rows[2:]}
    beam = {"NPMT, beam 10": "125", "attention, beam 10": "250"}
    assert speeds == {"NPMT, greedy": "–", "attention, greedy": "–"} | beam


def test_examples_gain_before_they_lose(printed, tmp_path, monkeypatch):
    right, wrong = ["a b c d e", "f g h i j"], ["e d c b a", "j i h g f"]
    systems = {"baseline_absolute_relative": [right[0], wrong[1]], "preorder_relative": [wrong[0], right[1]]}
    keep(monkeypatch, tmp_path, "ja-en-50", "en", **systems)
    page = printed("kawara2021", "kftt", right, "IX")
    gained = "- baseline 0.000: j i h g f\n- BTG 1.000: f g h i j\n"
    lost = "- baseline 1.000: a b c d e\n- BTG 0.000: e d c b a\n"
    assert page.index(gained) < page.index(lost)
    keep(monkeypatch, tmp_path / "other", "ja-en-50", "en", **dict.fromkeys(systems, right))
    assert "\nNo sentence gains or loses.\n" in printed("kawara2021", "kftt", right, "IX")


@pytest.mark.slow
@pytest.mark.parametrize("paper", papers.PAPERS)
def test_every_table_can_be_trained(one_thread, paper, data, tmp_path, monkeypatch):
    out = tmp_path / "page.md"
    more = ["--size", "tiny", "--seeds", "1", "--steps", "4", "--beam", "2", "--jobs", "2"]
    left_out = ["kftt", "ja-en-rvnn", "de-en-rvnn"]  # the last two need models of Stanza's
    names = [
        table.name
        for table in tables_of(paper)
        if not any(name in row.experiment.folder.name for row in table.rows for name in left_out)
    ]
    line = [paper, *data, "--run", str(tmp_path / "runs"), "--out", str(out)]
    line += [part for name in names for part in ("--table", name)]
    monkeypatch.setattr(paper_tables, "kept_files", lambda *_: [])
    assert papers.main([*line, "--also", *more]) == 0
    page = out.read_text()
    assert all(f"\n### {name}: " in page for name in names)
    assert "\nNot trained yet: " not in page
    assert ("| RvNN, Kendall's tau | " in page) == (paper == "kawara2021")  # Figure 9

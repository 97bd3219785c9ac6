"""The benchmark runs on next to nothing."""

from benchmarks.significance import main


def test_runs(capsys):
    main(["--sentences", "8", "--systems", "3", "--resamples", "10", "--repeat", "1"])
    output = capsys.readouterr().out
    for cell in ("counting a system: bleu", "testing: ribes", "testing: all of them", "×"):
        assert cell in output

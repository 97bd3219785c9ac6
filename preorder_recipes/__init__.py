"""The main job, end to end, on a folder of parallel text."""

import sys

if sys.argv[0] == "-m":  # ``python -m preorder_recipes.…`` is about to import the module that it runs
    from preorder.processes import end_when_interrupted

    end_when_interrupted()

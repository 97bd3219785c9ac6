"""The steps of ``recipes.run``, and how they are run."""

"""The steps of ``preorder_recipes.run``, and how they are run."""

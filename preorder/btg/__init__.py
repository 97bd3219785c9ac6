"""BTG preordering: a latent-variable perceptron with exact inference (Nakagawa 2015).

``features`` declares what is looked at, ``scores`` sums it up for a sentence, ``chart`` finds the
best tree, ``perceptron``, ``lesson`` and ``update`` learn, ``parse`` applies, ``model`` is what others use.
"""

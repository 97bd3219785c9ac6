"""BTG preordering by a latent-variable perceptron with exact inference (Nakagawa 2015)."""

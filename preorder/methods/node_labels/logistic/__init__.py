"""Logistic regression on hashed features that labels the nodes of given trees."""

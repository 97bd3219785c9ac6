"""The plain way to label the nodes of given trees: logistic regression on hashed features."""

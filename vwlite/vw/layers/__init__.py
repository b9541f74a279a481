"""The layers of a model of Vowpal Wabbit: a linear model, and reductions above it."""

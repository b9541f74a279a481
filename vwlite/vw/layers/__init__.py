"""What a model of Vowpal Wabbit is stacked of: a linear model, and reductions above it."""

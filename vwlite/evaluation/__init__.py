"""How good predictions are: measures with 95 % intervals, beside those of the best constant prediction."""

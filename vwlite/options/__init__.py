"""The mechanism of options: rows, types of values, what was probably meant."""

"""The compiled core, built from `cython_ext/`: parsing, the weight table, losses, rules, the learner."""

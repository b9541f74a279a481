"""The learner: its table of weights, the protocol of rules, losses, counters."""

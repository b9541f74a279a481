"""What all runs of commands share: options, signals and files around a run, the source of batches, notes."""

"""From files and standard input to parsed batches, and their cache."""

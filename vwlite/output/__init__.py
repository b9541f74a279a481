"""Files that are complete or absent, standard streams, signals, progress, text for people."""

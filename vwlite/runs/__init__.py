"""The runs of the commands that process data."""

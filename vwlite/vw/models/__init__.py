"""Model files of Vowpal Wabbit."""

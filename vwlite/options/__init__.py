"""The options of the command line, and their resolution to settings."""

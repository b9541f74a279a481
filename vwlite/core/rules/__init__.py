"""The update rules, one module each."""

"""The options: what was typed, and what it means."""

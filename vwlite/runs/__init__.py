"""What the commands that go through data do."""

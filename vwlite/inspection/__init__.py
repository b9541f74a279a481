"""Look at data and models: `describe`, `check`, `convert`, `info`, `weights`, `names`."""

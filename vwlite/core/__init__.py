"""The compiled core, built from `cython_ext/`: parsing, the weight table, losses, rules, the learner."""

from importlib.machinery import PathFinder

if PathFinder.find_spec(f"{__name__}.projection", __path__) is None:
    raise ImportError(
        f"{__path__[0]} is a source folder without compiled modules: to import the vwlite that is installed, "
        "start Python as `python -P`, or in another folder"
    )

"""`make fuzz`: drawn texts, commands and files, run by the build with the sanitizers, and judged.

    case.py     a case: files and command lines, or a text for the parser; kept as JSON
    draws.py    cases, drawn from a seed
    damage.py   models whose digest is right and caches whose sums are right, but that nobody wrote
    judge.py    runs a case in a forked child and says what is wrong
    shrink.py   makes a case smaller as long as the same is wrong with it
    corpus/     what was found once; the tests replay it

Run `python -m fuzz --help` in the folder of the tests.
"""

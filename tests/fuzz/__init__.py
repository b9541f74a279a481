"""`make fuzz`: drawn texts, commands and files, run by the build with the sanitizers, and checked.

    case.py     a case: files and command lines, or a text for the parser; kept as JSON
    draws.py    cases, drawn from a seed
    damage.py   crafted models and caches, with valid digests and sums
    judge.py    runs a case in a forked child and reports errors
    shrink.py   makes a case smaller as long as the same is wrong with it
    corpus/     what was found once; the tests replay it

Run `python -m fuzz --help` in the folder of the tests.
"""

"""`make fuzz`: drawn texts, commands and files, run by the build with the sanitizers, and checked.

    case.py        a case: files and command lines, or a text for the parser; kept as JSON
    draws.py       cases, drawn from a seed
    damage.py      crafted models and caches, with valid digests and sums
    clients.py     requests to the server of `vwlite serve`
    check_case.py  runs a case in a forked child and reports errors
    shrink.py      shrinks a case as long as it has the same error
    corpus/        cases found earlier; the tests replay them

Run `python -m fuzz --help` in the folder of the tests.
"""

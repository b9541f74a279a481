"""Models in the formats of others: tables of weights, and programs that predict.

    tables.py    tsv and json, which `vwlite import` reads back
    sql.py       a table and the queries over it
    c.py         a header, from templates/predict.h
    python.py    a program, from templates/predict.py.txt

All of them see a model as `Linear`: a weight for each feature and class, and what becomes of the score. None of them
can be continued: what a rule keeps beside its weights stays here.
"""

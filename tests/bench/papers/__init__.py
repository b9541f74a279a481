"""The figures of four papers, drawn anew: `python -m papers` beside this folder; one file a paper."""

"""The figures of four papers, reproduced: `python -m papers` beside this folder; one file a paper."""

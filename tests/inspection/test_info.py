"""`vwlite info`: options, counters and size of a model."""

import json
import os
import re

from vwlite import __version__


def test_info(vwlite, sample_model):
    facts = json.loads(vwlite("info", "m", "--json").out)
    assert facts["program"] == f"vwlite {__version__}"
    assert facts["counters"]["examples"] == 4
    assert facts["features"] == 7 and facts["nonzero_weights"] == 6  # a:x y z, b:u v w, and the constant
    assert facts["file_size"] == os.path.getsize("m")
    assert not facts["interrupted"] and not facts["weights_only"]
    text = vwlite("info", "m").out
    assert re.search(r"^loss +logistic$", text, re.M)
    assert re.search(r"^  examples +4$", text, re.M)

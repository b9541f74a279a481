"""Models with a right digest and a wrong content: 65 and a sentence, from every command alike."""

import io
import tracemalloc
import zipfile
from array import array
from random import Random

import crafted_models
import pytest
from crafted_models import DATA, Parts, crafted, models, outcomes, put_together, split_into_parts, table_models, wrong
from tiers import ALL

from vwlite.algorithms.table import ALGORITHMS, SOLVED
from vwlite.errors import DataError
from vwlite.model import read_model
from vwlite.serve.inference import answered, wanted
from vwlite.serve.served import Served
from vwlite.vw.models.binary import STATE, Header, VwModel, write_binary


@pytest.fixture(scope="module")
def healthy(tmp_path_factory):
    return models(tmp_path_factory.mktemp("healthy"))


pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture(scope="module")
def of_tables(tmp_path_factory):
    return table_models(tmp_path_factory.mktemp("tables"), Random(1))


NOT_FOR_IT = {(2, "solve"), (2, "certify"), (2, "merge")}
NO_MERGE = [name for name, row in ALGORITHMS.items() if row.merging.refusal] + [SOLVED.name]


@pytest.mark.third
@pytest.mark.parametrize("part", range(6))
def test_healthy_models_are_taken_and_splitting_them_loses_nothing(healthy, folder, part):
    """Else what follows could refuse everything. part: of six, with every sixth model."""
    for name, data in [*healthy.items()][part::6]:
        parts = split_into_parts(data)
        found = outcomes(folder, put_together(parts))
        assert wrong(found) is None, name
        # 2: a loss, or classes, that are not for a penalty
        refused = {command for command, (code, _, _) in found.items() if code and (code, command) not in NOT_FOR_IT}
        options = parts.header["options"]
        allowed = {"export"} if options["oaa"] or parts.header["rule"].get("unseen") else set()
        allowed |= {"sql"} if options["interactions"] or options["keep"] or options["ignore"] else set()
        allowed |= {"sql", "export"} if "normalize" in options else set()
        if parts.header["weights_only"]:
            allowed |= {"train"}
        if "calibration" in parts.header:
            allowed = {"train", "merge", "export", "sql", "c", "solve", "certify"}
        if parts.header["algorithm"] in NO_MERGE:
            allowed |= {"merge"}
        assert refused == allowed, (name, found)


def test_weights_that_are_not_those_of_the_state_are_refused(healthy, folder):
    """Of every algorithm and form of a model: any weight, by a little, or zero."""
    draw, refused = Random(3), 0
    for data in healthy.values():
        parts = split_into_parts(data)
        kind, shape, content = parts.arrays["weights"]
        weights = array("d", content)
        at = draw.choice([i for i, w in enumerate(weights) if w])
        for factor in (0, 1 + 1e-5, -1, 1e5):
            changed = array("d", weights)
            changed[at] *= factor
            parts.arrays["weights"] = (kind, shape, changed.tobytes())
            (folder / "m").write_bytes(put_together(parts))
            if parts.header["weights_only"]:
                read_model(str(folder / "m"))
                continue
            refused += 1
            with pytest.raises(DataError, match="in its state"):
                read_model(str(folder / "m"))
    assert refused > 4 * len(ALGORITHMS)


@pytest.mark.drawn
@pytest.mark.third
@pytest.mark.parametrize("seed", range(12))
def test_crafted_models_end_in_a_sentence_and_check_says_what_predict_does(healthy, folder, seed):
    refused = 0
    for i in range(15 if ALL else 6):
        name, data = crafted(Random(f"{seed} {i}"), healthy)
        found = outcomes(folder, data)
        assert wrong(found) is None, name
        refused += found["predict"][0] == 65
    assert refused > (3 if ALL else 0)


def absurd(healthy, kind="gd", **changes):
    """A healthy model with other fields in its header; names of options and of the rule's state are in there too."""
    parts = split_into_parts(healthy[kind])
    for name, value in changes.items():
        where = next((parts.header[n] for n in ("options", "rule") if name in parts.header[n]), parts.header)
        where[name] = value
    return put_together(parts)


ABSURD = {
    "bits": {"bits": 77},
    "no bits": {"bits": None},
    "a hash that there is not": {"hash": "md5"},
    "a normalization that there is not": {"options": {"normalize": "l3"}},
    "a normalization in a list": {"options": {"normalize": ["l2"]}},
    "a softmax without classes": {"options": {"softmax_probabilities": True}},
    "a softmax in a word": {"options": {"softmax_probabilities": "yes"}},
    "a rate of text": {"learning_rate": "fast"},
    "a negative rate": {"learning_rate": -1},
    "a rate that no float holds": {"learning_rate": 10**400},
    "a rate that is not a number": {"learning_rate": float("nan")},
    "letters in a list": {"ignore": ["a"]},
    "letters that are not bytes": {"keep": "\u0100"},
    "an interaction of one": {"interactions": ["a"]},
    "names of classes without --oaa": {"classes": "a,b"},
    "an interaction of a hundred": {"interactions": ["a" * 100]},
    "an option of the future": {"options": {"future": 1}},
    "options in a list": {"options": []},
    "nested options": {"options": {"l1": {"l1": {"l1": 0}}}},
    "one class": {"oaa": 1},
    "classes without end": {"oaa": 1 << 40},
    "classes that are not there": {"oaa": 4},
    "state in words": {"gravity": "strong"},
    "state of classes": {"t": [1.0, 2.0]},
    "state that no float holds": {"norm_sum": 10**400},
    "counters below 0": {"counters": {"examples": -1}},
    "a range that is infinite": {"range": [-float("inf"), 1]},
    "names of classes": {"classes": ["a", "b"]},
    "another algorithm": {"algorithm": "sgd"},
    "an algorithm that there is not": {"options": {"algorithm": "magic"}},
    "another loss": {"loss": "hinge"},
}


@pytest.mark.parametrize("name", ABSURD)
def test_every_command_refuses_an_absurd_header(healthy, folder, name):
    found = outcomes(folder, absurd(healthy, **ABSURD[name]))
    assert wrong(found) is None
    assert {command: code for command, (code, _, _) in found.items() if code != 65} == {"check": 1}
    said = {(out if command == "check" else err).strip() for command, (_, out, err) in found.items()}
    assert len(said) == 1 and next(iter(said)).startswith(("crafted: not a valid model: ", "crafted: needs vwlite"))


@pytest.mark.parametrize(("name", "value"), [("t", 1e16), ("t", -1.0), ("last", -1e300), ("last", 1e300)])
def test_steps_that_were_not_needed_are_not_taken(healthy, folder, name, value):
    """l1-subgradient takes one for each example since a feature was seen: these were never over."""
    parts = split_into_parts(healthy["l1-subgradient"])
    if name == "t":
        parts.header["rule"]["t"] = value
        parts.header["rule"]["gravity"] = 1e200
    else:
        kind, shape, content = parts.arrays["state_last"]
        parts.arrays["state_last"] = (kind, shape, array("d", [value]).tobytes() + content[8:])
    found = outcomes(folder, put_together(parts))
    assert wrong(found) is None
    assert found["predict"][0] == found["train"][0] == 65


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
@pytest.mark.parametrize("name", ["keys", "weights", "state_w", "state_zeros", "more_zeros", "header"])
def test_compressed_arrays_are_refused_before_they_take_memory(healthy, folder, name, method):
    """2.4 MB of them were 4.2 GB."""
    parts = split_into_parts(healthy["sgd"])
    if name == "header":
        parts.header["program"] = " " * (1 << 20)
    else:
        parts.arrays[name] = ("<f8", f"({1 << 20},)", bytes(8 << 20))
    parts.pack[name] = method
    (folder / "m").write_bytes(put_together(parts))
    assert (folder / "m").stat().st_size < 1 << 18
    del parts
    tracemalloc.start()
    with pytest.raises(DataError, match=f"m: not a valid model: {name}.npy is compressed"):
        read_model("m")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2 << 20


def test_arrays_that_overlap_are_refused(healthy, folder):
    """Many entries of the directory for one place in the file: another bomb."""
    parts = split_into_parts(healthy["adagrad"])

    def change(data: bytearray) -> bytearray:
        places = [i.header_offset for i in zipfile.ZipFile(io.BytesIO(bytes(data))).infolist()]
        last = places[-1].to_bytes(4, "little")
        entry = data.rindex(b"PK\x01\x02", 0, data.rindex(b"PK\x01\x02"))
        data[entry + 42 : entry + 46] = last
        return data

    parts.after.append(change)
    (folder / "m").write_bytes(put_together(parts))
    with pytest.raises(DataError, match=r"m: not a valid model: .* does not begin where the array before it ends"):
        read_model("m")


@pytest.mark.parametrize("place", ["before", "between", "behind"])
def test_bytes_that_belong_to_no_array_are_refused(healthy, folder, place):
    def change(data: bytearray) -> bytearray:
        archive = zipfile.ZipFile(io.BytesIO(bytes(data)))
        begin = {"before": 0, "between": archive.infolist()[1].header_offset, "behind": archive.start_dir}[place]
        data[begin:begin] = bytes(100)
        directory = archive.start_dir + 100
        data[-6:-2] = directory.to_bytes(4, "little")
        for info in archive.infolist():
            entry = data.index(b"PK\x01\x02", directory)
            directory = entry + 1
            offset = info.header_offset + 100 * (info.header_offset >= begin)
            data[entry + 42 : entry + 46] = offset.to_bytes(4, "little")
        return data

    (folder / "m").write_bytes(put_together(Parts(**vars(split_into_parts(healthy["gd"])) | {"after": [change]})))
    with pytest.raises(DataError, match=r"m: not a "):
        read_model("m")


def vw_model(options="", slots=(3, 9), floats=(0.5, 1, 1, -0.25, 1, 1), low=-1.0, **changes) -> bytes:
    state = {name: 0.0 for name, _ in STATE} | {"l2_state": 1.0, "min_label": low, "max_label": 1.0} | changes
    header = Header(min_label=low, max_label=1, bits=18, options=options)
    return write_binary(VwModel(header, state, 3, array("I", slots), array("f", floats)))


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (vw_model(floats=(float("nan"), 1, 1, 1, 1, 1)), "a weight is not finite"),
        (vw_model(floats=(1, 1, float("inf"), 1, 1, 1)), "state_N is not finite"),
        (vw_model(slots=(3, 3)), "keys are not ascending"),
        (vw_model(low=float("nan")), "the range of predictions is from nan to 1.0"),
        (vw_model(low=2), "the range of predictions is from 2.0 to 1.0"),
        (vw_model(l1_state=float("inf")), "gravity is not finite"),
        (vw_model(" --power_t -1"), "only `vwlite vw -i` can read: --power-t: -1.0 is out of range"),
        (vw_model(" --interactions a"), "only `vwlite vw -i` can read: --interactions: 'a'"),
        (vw_model(" --args /dev/zero"), "unknown options: unrecognised option '--args'"),
        (vw_model(" --args=/etc/hosts"), "unknown options: unrecognised option '--args=/etc/hosts'"),
        (vw_model(" --cb 2"), "unknown options: vwlite vw: --cb is not supported"),
    ],
)
def test_crafted_models_of_vowpal_wabbit_are_refused(folder, data, why):
    found = outcomes(folder, data)
    assert wrong(found) is None
    assert found["predict"][0] == 65
    assert found["predict"][2].startswith("crafted: ") and why in found["predict"][2]


def test_slots_of_vowpal_wabbit_may_come_in_any_order(vwlite, folder):
    """As `--sparse_weights` leaves them."""
    (folder / "d").write_text("|x 3 9:2\n")
    for name, slots, floats in (("a", (3, 9), (0.5, 1, 1, -0.25, 2, 2)), ("b", (9, 3), (-0.25, 2, 2, 0.5, 1, 1))):
        (folder / name).write_bytes(vw_model(" --noconstant", slots, floats))
    assert vwlite("weights", "a").out == vwlite("weights", "b").out == "3\t0.5\n9\t-0.25\n"


def test_weights_that_vowpal_wabbit_cannot_hold_are_not_exported(vwlite, folder):
    (folder / "d").write_text(DATA)
    vwlite("train", "d", "-m", "m", "--algorithm", "sgd", "--save-weights-only", "--quiet")
    parts = split_into_parts((folder / "m").read_bytes())
    kind, shape, content = parts.arrays["weights"]
    parts.arrays["weights"] = (kind, shape, array("d", [1e39]).tobytes() + content[8:])
    (folder / "m").write_bytes(put_together(parts))
    assert "too large for a float of Vowpal Wabbit" in vwlite("export", "m", "--to", "vw", "-o", "o", code=65).err
    assert not (folder / "o").exists()


def test_the_harness_itself_fails_for_what_is_wrong():
    good = dict.fromkeys(crafted_models.COMMANDS, (0, "", ""))
    assert wrong(good) is None
    for name, outcome in {
        "info": (70, "", "internal error: ValueError: x"), "predict": (65, "", ""), "weights": (0, "5\tnan\n", ""),
        "check": (1, "m: damaged\n", ""), "export": (65, "", "m:\x1b[31m"), "train": (70, "", "out of memory"),
    }.items():
        assert wrong(good | {name: outcome}), name


def with_column(**facts):
    """Change what is said of the first derived column."""
    return lambda h: h["options"]["derived"]["columns"][0].update(facts)


def with_role(name, role):
    """Change the role of a column of the table."""
    return lambda h: next(pair for pair in h["columns"]["roles"] if pair[0] == name).__setitem__(1, role)


def with_fact(name, value):
    """Change what `--algorithm auto` says of its choice."""
    return lambda h: h["chosen"].__setitem__(name, value)


def with_products(change):
    def changed(h):
        derived = h["options"]["derived"]
        derived["products"] = change(derived["products"])
    return changed


def fine_grid(h):
    """More cells than a file of this size has seen: products of numbers at many resolutions."""
    derived = h["options"]["derived"]
    knots = {"64": [float(i) for i in range(64)], "63": [float(i) for i in range(63)]}
    derived["columns"] = [{"name": name, "mean": 0.0, "deviation": 1.0, "missing": True, "knots": knots}
                          for name in ("x", "a", "b")]
    for name in ("a", "b"):
        with_role(name, "numeric")(h)
    derived["products"] = [[[0, i], [1, j], [2, k]] for i in (63, 64) for j in (63, 64) for k in (63, 64)]


FACTS = {
    "a column that the table has not": (with_column(name="zz"), "no numeric column"),
    "a column of words as a number": (with_role("x", "categorical"), "x, no numeric column"),
    "a number as a column of words": (with_role("a", "numeric"), "a, no categorical column"),
    "a column that is dropped": (with_role("x", "drop"), "x, no numeric column"),
    "a number twice": (lambda h: h["options"]["derived"]["columns"].append(h["options"]["derived"]["columns"][0]),
                       "derived twice"),
    "products twice": (with_products(lambda found: found * 2), "derived twice"),
    "products twice, turned": (with_products(lambda found: [*found, found[0][::-1]]), "derived twice"),
    "a square": (with_products(lambda found: [[found[0][0], found[0][0]]]), "with itself"),
    "a fine grid": (fine_grid, "than a file of its size"),
    "digest of infinity": (with_fact("data", float("-inf")), "not finite"),
    "a loss that is no number": (with_fact("loss", float("nan")), "not finite"),
    "something infinite": (with_fact("what", [{"a": float("inf")}]), "not finite"),
    **{f"{name} in words": (with_fact(name, "x"), f"{name} of what --algorithm auto chose is 'x'")
       for name in ("baseline", "loss", "pass", "passes", "weights", "offsets", "loss without derived features")},
    "a kind of loss that is none": (with_fact("loss is", 1), "loss is of what --algorithm auto chose is 1"),
}


@pytest.mark.parametrize("name", FACTS)
def test_facts_that_contradict_one_another_are_refused(of_tables, folder, name):
    change, why = FACTS[name]
    parts = split_into_parts(of_tables["numbers"][0])
    (folder / "m").write_bytes(put_together(parts))
    assert read_model(str(folder / "m")).settings.derived.products
    change(parts.header)
    (folder / "m").write_bytes(put_together(parts))
    with pytest.raises(DataError, match=f"m: not a valid model: .*{why}"):
        read_model(str(folder / "m"))


def test_names_of_products_are_those_of_cells_that_have_a_weight(of_tables, folder):
    for data, _ in of_tables.values():
        (folder / "m").write_bytes(data)
        model = read_model(str(folder / "m"))
        derived, keys, mask = model.settings.derived, {*model.keys.tolist()}, (1 << model.settings.bits) - 1
        if derived is None:
            assert model.derived_names == {}
            continue
        every, found = derived.named(model.settings.hash == "all"), model.derived_hashes
        assert found.items() <= every.items() and len(found) < len(every)
        assert {hash for hash in every if hash & mask in keys} <= found.keys()


def test_a_model_without_any_class_is_explained(of_tables, folder, vwlite):
    data, text = of_tables["several"]
    parts = split_into_parts(data)
    del parts.header["classes"]
    (folder / "m").write_bytes(put_together(parts))
    rows = [row.partition(",")[2] for row in text.splitlines()[1:6]]
    (folder / "t.csv").write_text("y,x,a,b,at,words\n" + "".join(f",{row}\n" for row in rows))
    assert vwlite("explain", "-m", folder / "m", folder / "t.csv").out.count("predicted none") == len(rows)
    served = Served(str(folder / "m"), refuses_unknown=False)
    asked = wanted(b'{"inputs": [{"name": "x", "datatype": "FP64", "shape": [1], "data": [1]}]}', served)
    outputs = {o["name"]: o["data"] for o in answered(served, asked, served.rows(asked.lines)[0])}
    assert outputs == {"prediction": [None], "probability": [], "classes": []}

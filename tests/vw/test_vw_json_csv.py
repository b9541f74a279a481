"""JSON and CSV in `vwlite vw`: each line is the line of VW text that Vowpal Wabbit makes of it."""

from pathlib import Path
from typing import Any

import pytest

from vwlite.vw.text.csv import CsvError, CsvParser
from vwlite.vw.text.json import JsonError, JsonParser
from vwlite.vw.text.parser import FeatureHashing, ParsedExample, TextParser


def of_json(line: str | bytes, chain_hash: bool = False, labels: str = "SIMPLE", **options: Any) -> ParsedExample:
    line = line.encode() if isinstance(line, str) else line
    return JsonParser(FeatureHashing(**options), chain_hash, labels, []).line(line)


def of_csv(text: str, scales: str = "", **options: Any) -> list[ParsedExample]:
    parser = CsvParser(
        FeatureHashing(**options), lambda words: None, separator=",", has_head=True, head=None, scales=scales
    )
    return [found for line in text.encode().split(b"\n") if (found := parser.line(line)) is not None]


def features(example: ParsedExample) -> list[tuple[int, int, float]]:
    return [
        (letter, *pair) for letter, s in example.spaces.items() for pair in zip(s.hashes, s.values, strict=True)
    ]


def of_text(line: str, **options: Any) -> list[tuple[int, int, float]]:
    return features(TextParser(FeatureHashing(**options), None).line(line.encode()))  # type: ignore[arg-type]


@pytest.mark.parametrize("options", [{}, {"hash_all": True}, {"hash_all": True, "hash_seed": 7}])
def test_words_of_text_are_escaped_before_they_are_hashed(options: dict[str, Any]) -> None:
    example = of_json('{"a":{"_text":"see http://a.example\\u0009at 10:30 yes|no"}}', **options)
    assert features(example) == of_text("|a see http_//a.example at 10_30 yes_no", **options)


def test_strings_are_escaped_also_if_they_are_chained() -> None:
    assert features(of_json('{"a":{"k":"x|y: z"}}', chain_hash=True)) == of_text("|a k:x_y__z")
    assert features(of_json('{"a":{"k":"x|y: z"}}')) == of_text("|a kx_y__z")


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e400", "-1e400", "9" * 400])
def test_numbers_that_json_does_not_have_are_refused(vwlite: Any, tmp_path: Path, number: str) -> None:
    """Wherever they are, but for keys that are left out; nothing is learned, and no model is written."""
    for line in ('{"a":%s}', '{"_label":%s}', '{"_label":{"Weight":%s}}', '{"_label_Initial":%s}', '{"a":[1,%s]}'):
        (tmp_path / "d").write_text('{"_label":1,"a":1}\n' + line % number + "\n")
        said = vwlite("vw", "-d", tmp_path / "d", "--json", "-f", tmp_path / "m", code=1).out
        assert "[error] vw example #1(" in said and "JSON parser error" in said
        assert not (tmp_path / "m").exists()
    assert features(of_json(f'{{"_note":{number},"a":1}}')) == of_text("| a")


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ('{"_label":{"Label":1,"Weight":2,"Initial":0.5}}', [1, 2, 0.5]),
        ('{"_label":{"label":1,"INITIAL":0.5}}', [1, 1, 0.5]),
        ('{"_label":{"Weight":2}}', [None, 2, 0]), ('{"_label":{"Initial":0.25}}', [None, 1, 0.25]),
        ('{"_label_Initial":0.5}', [None, 1, 0.5]), ('{"_label_Weight":3,"_label":1}', [1, 3, 0]),
        ('{"_label":1,"_label":{"Weight":2}}', [None, 2, 0]), ('{"_label":{"Label":null}}', [None, 1, 0]),
        ('{"_label":{"Cost":1,"Action":2,"Probability":0.5}}', [None, 1, 0]), ('{"a":{"_label":-1}}', [-1, 1, 0]),
        ('{"_label":"1 2 0.5"}', [1, 2, 0.5]), ('{"_label":"x"}', [0, 1, 0]), ('{"_label":"1 2 3 4"}', [None, 1, 0]),
    ],
)
def test_each_part_of_a_label_is_taken_for_itself(label: str, expected: list[float | None]) -> None:
    found = of_json(label).simple
    assert found is not None
    assert [None if x != x else x for x in found] == expected


@pytest.mark.parametrize(
    "line",
    [
        '{"_label":true}', '{"_label":{"Foo":1}}', '{"_label":{"Label":{"Label":1}}}', '{"_label":{"Label":"one"}}',
        '{"_labels":1}', '{"_labelIndex":0}', '{"_tag":5}', '{"_text":5}', '{"a":[true]}', '{"_slot_id":1}', "",
    ],
)
def test_what_vowpal_wabbit_refuses_is_refused(line: str) -> None:
    with pytest.raises(JsonError):
        of_json(line)


def test_a_label_of_a_class_is_a_number_or_text() -> None:
    assert of_json('{"_label":2}', labels="MULTICLASS").words == [b"2"]
    assert of_json('{"_label":"2 0.5"}', labels="MULTICLASS").words == [b"2", b"0.5"]
    assert of_json('{"_label":{"Label":2}}', labels="MULTICLASS").words == []
    with pytest.raises(JsonError):
        of_json('{"_label":2}', labels="CS")


def test_null_and_objects_have_no_place_in_an_array() -> None:
    assert features(of_json('{"a":[1,null,2]}')) == features(of_json('{"a":[1,2]}')) == of_text("|a :1 :2")
    mixed = features(of_json('{"a":[1,{"x":3},2]}'))
    assert sorted(mixed) == sorted(of_text("|a :1 :2") + of_text("|a x:3"))


def test_the_outermost_namespace_is_hashed_as_a_blank() -> None:
    for options in ({"hash_all": True}, {"hash_seed": 5}, {"hash_all": True, "hash_seed": 5}):
        assert features(of_json('{"x":1}', **options)) == features(of_json('{" ":{"x":1}}', **options))
        assert features(of_json('{"x":1}', **options)) != features(of_json('{"x":1}'))


def test_features_of_one_first_letter_are_in_the_order_of_the_line() -> None:
    example = of_json('{"a":{"x":1,"ab":{"y":2},"z":3}}')
    assert example.spaces[ord("a")].values == [1, 2, 3]


def test_a_cell_in_quotes_is_a_word() -> None:
    """Also a number, and `nan`, which is no number without quotes either."""
    number, word = (of_csv(f"_label,n|age\n1,{cell}\n1,{cell}")[1] for cell in ("30", '"30"'))
    assert features(number) == of_text("|n age:30")
    [(_, hash, value)] = features(word)
    f = FeatureHashing()
    assert (hash, value) == (f.hash(b"30", f.hash(b"age", f.hash(b"n", 0))), 1)
    assert word.spaces[ord("n")].names == [b"n^age^30"]
    for cell in ("nan", '"nan"'):
        [found] = of_csv(f"_label,n|age\n1,{cell}")
        assert found.spaces[ord("n")].names == [b"n^age^nan"] and found.spaces[ord("n")].values == [1]


def test_numbers_without_a_name_have_places_and_a_seed_is_that_of_text() -> None:
    assert features(of_csv("n|,n|,_label\n2,3,1")[0]) == of_text("|n :2 :3")
    assert features(of_csv("x,_label\n2,1", hash_seed=7)[0]) == of_text("| x:2", hash_seed=7)


def test_a_line_of_empty_cells_is_blank() -> None:
    first, second = of_csv('a,b,_label\n,,1\n"",,1')
    assert first.blank and not second.blank and len(features(second)) == 1


@pytest.mark.parametrize("text", ["a,b\n1", "a,b\n1,2\n", '_label,a\n1,"x', '_label,a\n1,"x"y', "a|b|c,_label\n1,1"])
def test_malformed_tables_are_refused(text: str) -> None:
    with pytest.raises(CsvError):
        of_csv(text)


@pytest.mark.parametrize("more", [[], ["-q", "ab"], ["--oaa", "2"]])
def test_an_audit_shows_what_is_not_added_up(vwlite: Any, tmp_path: Path, more: list[str]) -> None:
    """As if the weights of --ignore_linear's namespaces were zero."""
    (tmp_path / "d").write_text("1 |a x y |b p:2 q\n2 |a x |b q\n")
    audits = {}
    for ignored in ([], ["--ignore_linear", "a"]):
        out = vwlite("vw", "-d", tmp_path / "d", "-a", "--quiet", *more, *ignored).out.splitlines()
        lines = [line for line in out if line.startswith("\t")]
        audits[bool(ignored)] = [sorted(word.rpartition(":")[0] for word in line.split("\t")) for line in lines]
    assert audits[True] == audits[False]
    shown = [word for line in out for word in line.split("\t") if word.startswith("a^x:")]
    assert len(shown) >= 2 and all(word.split(":")[3].split("@")[0] == "0" for word in shown)


def test_an_audit_shows_indices_of_dictionaries(vwlite: Any, tmp_path: Path) -> None:
    (tmp_path / "words").write_text("x p:2 q\n")
    (tmp_path / "d").write_text("1 | x\n1 |a x\n")
    for option, name in (("words", " "), ("a:words", "a")):
        option = option.replace("words", str(tmp_path / "words"))
        out = vwlite("vw", "-d", tmp_path / "d", "-a", "--quiet", "-b", "10", "--dictionary", option).out
        found = [word.split(":") for word in out.replace("\n", "\t").split("\t") if word.startswith("dictionary^")]
        assert len(found) == 2
        for head, index, *_ in found:
            assert head == f"dictionary^{name}_x={index}" and int(index) < 1024

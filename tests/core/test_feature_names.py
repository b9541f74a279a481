"""Names of features: what a finder and a store make of text, beside a slow reader of the same."""

import random
import re
import threading
from itertools import combinations_with_replacement, product
from queue import SimpleQueue

import numpy as np
import pytest

from vwlite.algorithms.settings import Settings
from vwlite.core.data.batch import Batch
from vwlite.core.data.interactions import concrete
from vwlite.core.text.feature_names import NameFinder, NameStore, disorder
from vwlite.core.text.parser import Parser
from vwlite.hashing import feature_hash, namespace_hash
from vwlite.model.feature_names import FeatureNames, escaped, unescaped
from vwlite.model.learners import make_expander, make_finder

PRIME = 16777619


def slow_line(line, hash_all, libsvm):
    """The features of a line, by the definition: letter of the namespace, name, hash; those of value 0 left out."""
    if libsvm:
        for word in re.split(rb"[ \t]+", line.split(b"#")[0].strip(b" \t\r\n")):
            name, colon, value = word.partition(b":")
            if colon and float(value) != 0:
                name = name.lstrip(b"0") or b"0"
                yield 32, name, feature_hash(name, b"", hash_all)
        return
    _, *spaces = line.strip(b"\r\n").split(b"|")
    for text in spaces:
        words = re.split(rb"[ \t]+", text)
        space, _, scale = words[0].partition(b":")
        nameless = 0
        for word in filter(None, words[1:]):
            name, colon, value = word.partition(b":")
            value = np.float32(np.float32(value.decode() or 1 if colon else 1) * np.float32(scale.decode() or 1))
            if name:
                key = feature_hash(name, space, hash_all)
            else:
                key = namespace_hash(space, hash_all) + nameless & 0xFFFFFFFF
                name, nameless = b"%d" % nameless, nameless + 1
            if value != 0:
                yield space[0] if space else 32, space + b"^" + name if space else name, key


def slow_names(text, settings, libsvm=False, most=10**9):
    """The names of all features and crosses, by hash: the first one of each hash, at most N of each kind."""
    linear, crosses = {}, {}
    keep, ignore, ignore_linear = (getattr(settings, n).encode("latin-1") for n in ("keep", "ignore", "ignore_linear"))
    hash_all = settings.hash == "all"
    parts = []
    for line in text.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        runs = {}
        for letter, name, key in slow_line(line, hash_all, libsvm):
            if (keep and letter not in keep) or letter in ignore:
                continue
            if len(linear) < most or key in linear:
                linear.setdefault(key, (name, letter not in ignore_linear))
            runs.setdefault(letter, []).append((name, key))
        parts.append(runs)
    for runs in parts:
        for term in concrete([p.encode("latin-1") for p in settings.interactions], sorted(runs)):
            if not all(runs.get(c) for c in term):
                continue
            if len(set(term)) == 1 and len(term) > 1:
                found = combinations_with_replacement(runs[term[0]], len(term))
            else:
                found = (
                    c for c in product(*(list(enumerate(runs[c])) for c in term))
                    if all(a[0] <= b[0] for a, b, x, y in zip(c, c[1:], term, term[1:], strict=False) if x == y)
                )
                found = ([one for _, one in c] for c in found)
            for one in found:
                h = 0
                for _, key in one:
                    h = h * PRIME ^ key
                if len(crosses) < most or h & 0xFFFFFFFF in crosses:
                    crosses.setdefault(h & 0xFFFFFFFF, [key for _, key in one])
    names = {(key, name) for key, (name, counts) in linear.items() if counts}
    for key, of in crosses.items():
        if all(one in linear for one in of):
            names.add((key, b"*".join(linear[one][0] for one in of)))
    return sorted({(key & (1 << settings.bits) - 1, name) for key, name in names})


def found_names(text, settings, libsvm=False, most=10**9, sizes=None, finders=1, wanted=None, seed=0):
    """What finders, each with some of the blocks of a text, and a store make of it: of all features."""
    store = NameStore(min(most, 1 << 40))
    of = [make_finder(settings, store, wanted) for _ in range(finders)]
    form = "libsvm" if libsvm else "vw"
    parser = Parser(format=form, hash_all=settings.hash == "all", stop_at_fault=False, places=True)
    keys, draw, at, found, line = set(), random.Random(seed), 0, [], 1
    lines = text.splitlines(keepends=True) if b"\r" not in text.replace(b"\r\n", b"") else text.split(b"\n")
    while at < len(lines):
        n = draw.choice(sizes or [len(lines)])
        block = b"".join(lines[at : at + n])
        batch = Batch()
        batch.first_line = line
        parser.parse(block, batch)
        found.append(draw.choice(of).find(block, batch))
        expander = make_expander(settings)
        for i in range(len(batch)):
            keys.update(expander.features(batch, i)[0])
        at += n
        line += n
    for one in found:
        store.take(one)
    keys = np.array(sorted(keys), np.uint32)
    return list(FeatureNames.kept(store, memoryview(keys), memoryview(np.ones(len(keys))), settings.bits)), store


VW = b"""\
1 |a b:0.5 c d:-2 |x d 17 u:3e-1
-1 2 0.25 'tagged|a c:2 e |x:0.5 d f
| a nameless:1.5 17 017 :2 :-1 |x g |a b :0 :1 q
 \t
-1 1 1 no_bar_before|x f:1e-50 d:1e3 |x u\t f:.5 |a\tb:+1.25 c:1e-3\r
bad line
1 |a worse:x
1 'x |bb zero:0 c d |0 17 |\xc3\xa9t\xff neige:2 |a e:0.25 |yy z w*v ^ zero:0 zero:0 after
1 |nothing:0 b c |a:1 more
-1 |a averyveryverylongname:0.5 abcdefgh:2 abcdefghi \x01ctl:1 nul\x00l |x |a x^y"""
LIBSVM = b"1 0:2 1:0.5 2:0 3:1 17:2\n# a | comment\n-1 00002:1e-3 3:2 4294967295:0.125\n\n4:1 9:0 10:2#5:5\n0 00:1\n"

SETTINGS = {
    "": {},
    "few bits": {"bits": 4},
    "hash all": {"hash": "all"},
    "kept": {"keep": "ay"},
    "ignored": {"ignore": "a"},
    "crossed": {"interactions": ("ax", "aa", "axx")},
    "crossed, ignored, few bits": {"interactions": ("ax", "aa", "ay"), "ignore": "y", "bits": 6},
    "not linear": {"interactions": ("ax",), "ignore_linear": "a"},
    "wildcards": {"interactions": ("::", "a:")},
    "three alike": {"interactions": ("aaa",)},
}


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"])
def test_names_are_those_of_the_text(name, bom):
    settings = Settings(**SETTINGS[name])
    text = b"\n".join(line for line in VW.split(b"\n") if b"bad" not in line and b"worse" not in line)
    expected = slow_names(text, settings)
    assert found_names(bom + VW, settings)[0] == expected
    for seed in range(4):
        assert found_names(bom + VW, settings, sizes=[1, 2, 3], finders=3, seed=seed)[0] == expected
    assert len(expected) > 5


@pytest.mark.parametrize("hash", ["strings", "all"])
def test_names_of_libsvm_are_its_indices(hash):
    settings = Settings(hash=hash)
    expected = slow_names(LIBSVM, settings, libsvm=True)
    assert found_names(LIBSVM, settings, libsvm=True)[0] == expected
    assert {name for _, name in expected} == {b"0", b"1", b"2", b"3", b"4", b"10", b"17", b"4294967295"}


@pytest.mark.parametrize("most", [1, 2, 5, 10, 20])
@pytest.mark.parametrize("name", ["", "crossed", "kept"])
def test_those_that_came_first_are_kept_wherever_blocks_end(name, most):
    settings = Settings(**SETTINGS[name])
    lines = [line for line in VW.split(b"\n") if b"bad" not in line and b"worse" not in line]
    text = b"\n".join(lines[:7])
    expected = slow_names(text, settings, most=most)
    for seed in range(6):
        found, store = found_names(text, settings, most=most, sizes=[1, 2], finders=1 + seed % 3, seed=seed)
        assert found == expected
        assert store.full == (len(slow_names(text, Settings(**SETTINGS[name] | {"interactions": ()}))) >= most)


def test_names_of_random_text():
    """Few words, so that all of it happens often: the same name with and without value, zero, again, nameless."""
    draw = random.Random(5)
    words = [b"a", b"b", b"17", b"07", b":1", b":0", b"a:0", b"b:0.5", b"c:1e-60", b"long" * 9, b"x^y", b"u*v", b"\xff"]
    for turn in range(60):
        settings = Settings(**draw.choice(list(SETTINGS.values())))
        lines = []
        for _ in range(12):
            spaces = draw.choices([b"", b"a", b"x", b"ab", b"x:2", b"y:0", b"longname"], k=draw.randrange(4))
            text = b"".join(b"|%b %b " % (s, b" ".join(draw.choices(words, k=draw.randrange(6)))) for s in spaces)
            lines.append(b"1 " + text if text else b"")
        text = b"\n".join(lines) + draw.choice([b"", b"\n"])
        expected = slow_names(text, settings)
        assert found_names(text, settings, sizes=[1, 2, 12], finders=2, seed=turn)[0] == expected


def test_only_requested_names_are_found_and_parts_of_crosses():
    settings = Settings(interactions=("ax",), bits=10)
    text = b"1 |a b c |x d e\n1 |a b f |x e\n"
    every = {name: key for key, name in slow_names(text, settings)}
    wanted = [every[b"a^b*x^e"], every[b"x^d"]]
    found, _ = found_names(text, settings, wanted=wanted)
    assert {(wanted[0], b"a^b*x^e"), (wanted[1], b"x^d")} <= set(found)
    assert not any(b"*" in name for key, name in found if key not in wanted)
    plain, store = found_names(text, Settings(bits=10), wanted=[every[b"x^d"]])
    assert plain == [(every[b"x^d"], b"x^d")] and len(store) == 1


def test_names_that_were_known_stay_and_count():
    known = FeatureNames.of([(3, b"old"), (5, b"older"), (5, b"a^b"), (9, b"gone")])
    store = NameStore(5, known.arrays)
    assert len(store) == 4 and not store.full
    settings = Settings(bits=3)
    finder = make_finder(settings, store)
    batch = Batch()
    Parser(places=True).parse(b"1 |a b\n1 |a c d\n", batch)
    store.take(finder.find(b"1 |a b\n1 |a c d\n", batch))
    assert store.full and len(store) == 5
    keys = np.arange(8, dtype=np.uint32)
    weights = np.array([0, 1, 1, 1, 1, 1, 1, 1.0])
    found = list(FeatureNames.kept(store, memoryview(keys), memoryview(weights), 3))
    b = feature_hash(b"b", b"a") & 7
    assert found == sorted({(3, b"old"), (5, b"older"), (5, b"a^b")} | ({(b, b"a^b")} if b else set()))


def test_a_store_has_capacity_for_a_hundred_bytes_a_name():
    store = NameStore(10)
    finder = make_finder(Settings(), store)
    for i in range(4):
        text = b"1 |a " + b"%d" % i + b"x" * 300 + b"\n"
        batch = Batch()
        Parser(places=True).parse(text, batch)
        store.take(finder.find(text, batch))
    assert store.full and len(store) == 3


RARE = [b"", b"plain", b"a\tb\nc\rd\\e", b"\xff\xfe", b"\x00\x1b[31m", "\u00e9\u202e\u2028".encode(), b"\\x41"]


@pytest.mark.parametrize("name", RARE)
def test_escaped_names_are_one_printable_word_and_come_back(name):
    shown = escaped(name)
    assert shown.isprintable() and "\t" not in shown
    assert unescaped(shown) == name


@pytest.mark.parametrize("text", ["\\", "a\\q", "\\x4", "\\xgg"])
def test_escapes_that_mean_nothing_are_refused(text):
    with pytest.raises(ValueError, match="has a"):
        unescaped(text)


def arrays(keys, ends, text):
    return np.array(keys, np.uint32), np.array(ends, np.uint32), np.frombuffer(text, np.uint8)


@pytest.mark.parametrize(
    ("names", "why"),
    [
        (arrays([1, 2], [1, 2], b"ab"), None),
        (arrays([1, 1], [1, 2], b"ab"), None),
        (arrays([], [], b""), None),
        (arrays([1, 2], [1], b"ab"), "as many ends"),
        (arrays([1, 2], [2, 1], b"ab"), "before it begins"),
        (arrays([1, 2], [1, 3], b"ab"), "behind all names"),
        (arrays([2, 1], [1, 2], b"ab"), "not ascending"),
        (arrays([1, 1], [1, 2], b"ba"), "not ascending"),
        (arrays([1, 1], [1, 2], b"aa"), "not ascending"),
        (arrays([1, 5], [1, 2], b"ab"), "that is not there"),
        (arrays([1, 2], [1, 2], b"abc"), "more text"),
    ],
)
def test_names_that_were_read_are_checked(names, why):
    found = disorder(*names, np.array([0, 1, 2, 7], np.uint32))
    assert found is None if why is None else why in found


def test_finders_want_an_expander_of_their_own():
    with pytest.raises(TypeError):
        NameFinder(NameStore(1), None)


def test_finders_look_while_the_store_grows():
    """Many threads look for names while one keeps them: each name is kept once, however often threads find it."""
    store = NameStore(10**6)
    settings = Settings(interactions=("ax",))
    lines = [b"1 |a w%d v%d |x u%d\n" % (i % 997, i, i % 13) for i in range(10_500)]
    texts = [b"".join(lines[k * 250 : k * 250 + 350]) for k in range(40)]
    found = SimpleQueue()
    turns = iter(range(len(texts)))

    def work():
        finder, parser = make_finder(settings, store), Parser(places=True)
        for k in turns:
            batch = Batch()
            parser.parse(texts[k], batch)
            found.put((k, finder.find(texts[k], batch)))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    waiting, at = {}, 0
    while at < len(texts):
        k, what = found.get()
        waiting[k] = what
        while at in waiting:
            store.take(waiting.pop(at))
            at += 1
    for thread in threads:
        thread.join()
    expected = slow_names(b"".join(texts), settings)
    keys = np.array(sorted({key for key, _ in expected}), np.uint32)
    assert list(FeatureNames.kept(store, memoryview(keys), memoryview(np.ones(len(keys))), 32)) == expected


@pytest.mark.parametrize("shift", [0, 1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_united_names_are_those_of_all_models_as_far_as_there_is_space(seed, shift):
    """At any address, as in a file."""
    chance = random.Random(seed)

    def drawn():
        size = chance.choice([0, 1, 5, 40])
        pairs = {(chance.randrange(30), bytes(chance.choices(b"ab^\xff", k=chance.randrange(4)))) for _ in range(size)}
        names = FeatureNames.of(pairs)
        lain = (memoryview(bytes(shift) + x.tobytes())[shift:].cast(x.format) if len(x) else x for x in names.arrays)
        return pairs, FeatureNames(*lain)

    each = [drawn() for _ in range(chance.randrange(1, 6))]
    keys = sorted(chance.sample(range(30), 20))
    memory = memoryview(np.array(keys, dtype=np.uint32))
    wanted = [{pair for pair in pairs if pair[0] in keys} for pairs, _ in each]
    found, whole = FeatureNames.united([names for _, names in each], memory, 1000)
    assert (list(found), whole) == (sorted(set().union(*wanted)), True)
    assert found.inconsistency(memory) is None
    for most in (0, 1, 7, 30):
        slow: set[tuple[int, bytes]] = set()
        for pairs in wanted:
            slow |= set(sorted(pairs - slow)[: most - len(slow)])
        found, whole = FeatureNames.united([names for _, names in each], memory, most)
        assert (list(found), whole) == (sorted(slow), slow == set().union(*wanted))
    names = FeatureNames.of([(1, b"x" * 350), (2, b"y"), (3, b"z" * 60)])
    found, whole = FeatureNames.united([names], memoryview(np.array([1, 2, 3], dtype=np.uint32)), 4)
    assert ([len(name) for _, name in found], whole) == ([350, 1], False)  # 100 bytes of text for each

"""Bad lines of every kind, with what is said about them.

(id, format, settings of the parser, text, line, column, message); the line counts from 1.
"""

from typing import Any, NamedTuple


class BadText(NamedTuple):
    id: str
    format: str
    settings: dict[str, Any]
    text: bytes
    line: int
    column: int
    message: str


BINARY: dict[str, Any] = {"label_domain": "binary", "loss_name": "logistic"}
HINGE: dict[str, Any] = {"label_domain": "binary", "loss_name": "hinge"}
POISSON: dict[str, Any] = {"label_domain": "nonnegative", "loss_name": "poisson"}
MAPPED: dict[str, Any] = {"labels": (0, 1), **BINARY}

NO_BAR = "no '|' before the features: a line of VW text is 'label |namespace feature:value ...'"
CR = "carriage return inside of the line"
TAG = "; a tag touches the '|' or begins with '"
EXTRA = "is one word too many before the '|', after label, importance and initial prediction"


def _vw(id: str, text: bytes, column: int, message: str, line: int = 1, **settings: Any) -> BadText:
    return BadText("vw-" + id, "vw", settings, text, line, column, message)


def _libsvm(id: str, text: bytes, column: int, message: str, line: int = 1, **settings: Any) -> BadText:
    return BadText("libsvm-" + id, "libsvm", settings, text, line, column, message)


BAD_LINES = [
    # no bar
    _vw("no-bar", b"1 a b\n", 1, NO_BAR),
    _vw("no-bar-label-only", b"1\n", 1, NO_BAR),
    _vw("no-bar-indented", b" \t1\n", 3, NO_BAR),
    _vw("no-bar-libsvm-line", b"1 |a\n1 3:4 5:6\n", 1, NO_BAR, line=2),
    _vw("no-bar-control-byte", b"\x0b\n", 1, NO_BAR),
    _vw("no-bar-nul", b"\x00\n", 1, NO_BAR),
    _vw("no-bar-no-newline", b"1 | a\nabc", 1, NO_BAR, line=2),
    _vw("no-bar-crlf", b"abc \r\n", 1, NO_BAR),
    # carriage returns
    _vw("cr-in-header", b"1\r2 |a\n", 2, CR),
    _vw("cr-at-start", b"\r1 |a\n", 1, CR),
    _vw("cr-in-name", b"1 |f ab\rc\n", 8, CR),
    _vw("cr-after-value", b"1 |f ab:1\r c\n", 10, CR),
    _vw("cr-after-bar", b"1 |\r a\n", 4, CR),
    _vw("cr-in-namespace", b"1 |na\rme a\n", 6, CR),
    _vw("cr-between-features", b"1 |f a \r b\n", 8, CR),
    _vw("cr-twice-at-end", b"1 |f a\r\r\n", 7, CR),
    _vw("cr-without-bar", b"1\r2\n", 2, CR),
    # label
    _vw("label-word", b"spam |f a\n", 1, "label 'spam' is not a number"),
    _vw("label-nan", b"nan |f a\n", 1, "label 'nan' is not a finite number"),
    _vw("label-inf", b"-Infinity |f a\n", 1, "label '-Infinity' is not a finite number"),
    _vw("label-hex", b"0x10 |f a\n", 1, "label '0x10' has text after the number"),
    _vw("label-underscore", b"1_000 |f a\n", 1, "label '1_000' has text after the number"),
    _vw("label-comma", b"1,5 |f a\n", 1, "label '1,5' has text after the number"),
    _vw("label-two-points", b"1.2.3 |f a\n", 1, "label '1.2.3' has text after the number"),
    _vw("label-two-signs", b"--1 |f a\n", 1, "label '--1' is not a number"),
    _vw("label-sign-only", b"+ |f a\n", 1, "label '+' is not a number"),
    _vw("label-point-only", b". |f a\n", 1, "label '.' is not a number"),
    _vw("label-open-exponent", b"1e |f a\n", 1, "label '1e' has text after the number"),
    _vw("label-too-large", b"1e999 |f a\n", 1, "label '1e999' is too large"),
    _vw("label-wide-digits", "\u0661 |f a\n".encode(), 1, "label '\u0661' is not a number"),
    _vw("label-not-utf8", b"\xff1 |f a\n", 1, "label '\\xff1' is not a number"),
    _vw("label-control", b"\x1b[1m |f a\n", 1, "label '\\x1b[1m' is not a number"),
    _vw("label-after-tag", b"'tag 1 |f a\n", 1, "label ''tag' is not a number"),
    _vw("label-long", b"x" * 41 + b" |f a\n", 1, "label '" + "x" * 40 + "...' is not a number"),
    _vw("label-long-utf8", b"x" * 39 + "éa |f a\n".encode(), 1, "label '" + "x" * 39 + "...' is not a number"),
    _vw("label-indented", b"  x |f a\n", 3, "label 'x' is not a number"),
    _vw("label-colon", b"1:2 |f a\n", 1, "label '1:2' has text after the number"),
    _vw("label-second-bom", b"1 |f a\n\xef\xbb\xbf1 |f a\n", 1, "label '\\ufeff1' is not a number", line=2),
    # what a loss can use
    _vw(
        "label-zero-logistic",
        b"0 |f a\n",
        1,
        "label 0: logistic needs -1 or 1; if all are 0 or 1 add --labels 0,1; for more classes --oaa K",
        **BINARY,
    ),
    _vw(
        "label-zero-hinge",
        b"1 |f a\n0.0 |f b\n",
        1,
        "label 0.0: hinge needs -1 or 1; if all are 0 or 1 add --labels 0,1; for more classes --oaa K",
        line=2,
        **HINGE,
    ),
    _vw(
        "label-two-logistic",
        b"2 |f a\n",
        1,
        "label 2: logistic needs -1 or 1; if all are 1 or 2 add --labels 1,2; for more classes --oaa K",
        **BINARY,
    ),
    _vw(
        "label-other-logistic",
        b"7.5 |f a\n",
        1,
        "label 7.5: logistic needs -1 or 1; for two others add --labels NEG,POS; for more classes --oaa K",
        **BINARY,
    ),
    _vw("label-negative-poisson", b"-2 |f a\n", 1, "label -2: poisson needs a label of 0 or more", **POISSON),
    _vw("label-not-mapped", b"7 |f a\n", 1, "label 7: expected 0 or 1, as in --labels", **MAPPED),
    _vw("label-minus-one-not-mapped", b"-1 |f a\n", 1, "label -1: expected 0 or 1, as in --labels", **MAPPED),
    _vw(
        "label-not-mapped-fractions",
        b"1 |f a\n",
        1,
        "label 1: expected 0.5 or 2.5, as in --labels",
        labels=(0.5, 2.5),
    ),
    _vw("label-word-lenient", b"spam |f a\n", 1, "label 'spam' is not a number", lenient_labels=True, **BINARY),
    # importance, initial prediction, more
    _vw("importance-word", b"1 x |f a\n", 3, "importance 'x' is not a number" + TAG),
    _vw("importance-negative", b"1 -2 |f a\n", 3, "importance '-2' is negative"),
    _vw("importance-minus-inf", b"1 -1e999 |f a\n", 3, "importance '-1e999' is negative"),
    _vw("importance-nan", b"1 NaN |f a\n", 3, "importance 'NaN' is not a finite number"),
    _vw("importance-too-large", b"1 1e309 |f a\n", 3, "importance '1e309' is too large"),
    _vw("importance-text", b"1 2x 'tag|f a\n", 3, "importance '2x' has text after the number"),
    _vw("initial-word", b"1 2 x |f a\n", 5, "initial prediction 'x' is not a number" + TAG),
    _vw("initial-inf", b"1 2 inf |f a\n", 5, "initial prediction 'inf' is not a finite number"),
    _vw("initial-too-large", b"1 2 -1e400 |f a\n", 5, "initial prediction '-1e400' is too large"),
    _vw("four-words", b"1 2 3 4 |f a\n", 7, f"'4' {EXTRA}"),
    _vw("four-words-and-tag", b"1 2 3 x tag|f a\n", 7, f"'x' {EXTRA}"),
    _vw("nine-words", b"1 2 3 4 5 6 7 8 '9 |f a\n", 7, f"'4' {EXTRA}"),
    _vw("four-words-bad-second", b"1 b 3 4 |f a\n", 3, "importance 'b' is not a number" + TAG),
    # namespaces
    _vw("namespace-no-name", b"1 |:2 a\n", 4, "no namespace name before ':2'"),
    _vw("namespace-colon-only", b"1 |: a\n", 4, "no namespace name before ':'"),
    _vw("scale-missing", b"1 |f: a\n", 6, "no namespace scale after 'f:'"),
    _vw("scale-missing-at-end", b"1 |f a |gh:", 12, "no namespace scale after 'gh:'"),
    _vw("scale-word", b"1 |f:x a\n", 6, "namespace scale 'x' is not a number"),
    _vw("scale-nan", b"1 |f:nan a\n", 6, "namespace scale 'nan' is not a finite number"),
    _vw("scale-text", b"1 |f:1:2 a\n", 6, "namespace scale '1:2' has text after the number"),
    _vw("scale-too-large", b"1 |f:1e39 a\n", 6, "namespace scale '1e39' is too large for a 32-bit float"),
    # feature values
    _vw("value-word", b"1 |f a:abc\n", 8, "feature value 'abc' is not a number"),
    _vw(
        "value-word-line-17",
        b"1 |f a\n" * 16 + b"1 |f price:1 clicks:2 abc:abc d\n",
        27,
        "feature value 'abc' is not a number",
        line=17,
    ),
    _vw("value-missing", b"1 |f a: b\n", 8, "no feature value after 'a:'"),
    _vw("value-missing-at-end", b"1 |f a:", 8, "no feature value after 'a:'"),
    _vw("value-missing-at-bar", b"1 |f a:|g b\n", 8, "no feature value after 'a:'"),
    _vw("value-missing-at-cr", b"1 |f a:\r\n", 8, "no feature value after 'a:'"),
    _vw("value-missing-no-name", b"1 |f : b\n", 7, "no feature value after ':'"),
    _vw("value-nan", b"1 |f a:nan\n", 8, "feature value 'nan' is not a finite number"),
    _vw("value-inf", b"1 |f a:+inf\n", 8, "feature value '+inf' is not a finite number"),
    _vw("value-infinity", b"1 |f a:INFINITY\n", 8, "feature value 'INFINITY' is not a finite number"),
    _vw("value-too-large", b"1 |f a:1e39\n", 8, "feature value '1e39' is too large for a 32-bit float"),
    _vw(
        "value-just-too-large",
        b"1 |f a:340282356779733661637539395458142568448\n",
        8,
        "feature value '340282356779733661637539395458142568448' is too large for a 32-bit float",
    ),
    _vw(
        "value-huge-exponent",
        b"1 |f a:1e99999999999999999999\n",
        8,
        "feature value '1e99999999999999999999' is too large for a 32-bit float",
    ),
    _vw(
        "value-too-large-by-scale",
        b"1 |f:-2e20 b a:-3e20\n",
        16,
        "feature value '-3e20' is too large for a 32-bit float after scaling by its namespace",
    ),
    _vw("value-two-colons", b"1 |f a:1:2 b\n", 8, "feature value '1:2' has text after the number"),
    _vw("value-double-colon", b"1 |f a::2 b\n", 8, "feature value ':2' is not a number"),
    _vw("value-comma", b"1 |f a:1,5 b\n", 8, "feature value '1,5' has text after the number"),
    _vw("value-unit", b"1 |f a:5kg b\n", 8, "feature value '5kg' has text after the number"),
    _vw("value-hex", b"1 |f a:0x1p3 b\n", 8, "feature value '0x1p3' has text after the number"),
    _vw("value-open-exponent", b"1 |f a:1e+ b\n", 8, "feature value '1e+' has text after the number"),
    _vw("value-fraction-exponent", b"1 |f a:1e1.5\n", 8, "feature value '1e1.5' has text after the number"),
    _vw("value-no-name", b"1 |f :x b\n", 7, "feature value 'x' is not a number"),
    _vw("value-nul", b"1 |f a:1\x00 b\n", 8, "feature value '1\\x00' has text after the number"),
    _vw("value-not-utf8", b"1 |f a:\xe9t\xe9 b\n", 8, "feature value '\\xe9t\\xe9' is not a number"),
    _vw("value-newline-char", "1 |f a:\u2028 b\n".encode(), 8, "feature value '\\u2028' is not a number"),
    _vw("value-second-namespace", b"1 |f a:1 |g b:2 c:y\n", 19, "feature value 'y' is not a number"),
    _vw("value-after-utf8-name", "1 |f été:x\n".encode(), 12, "feature value 'x' is not a number"),
    _vw("value-of-zero-scale", b"1 |f:0 a:x\n", 10, "feature value 'x' is not a number"),
    _vw("value-after-bom", b"\xef\xbb\xbf1 |f a:x\n", 11, "feature value 'x' is not a number"),
    _vw("value-in-rejected-last", b"1 |f a:b c:d\n", 8, "feature value 'b' is not a number"),
    _vw(
        "value-long-digits",
        b"1 |f a:" + b"1" * 50 + b"x\n",
        8,
        "feature value '" + "1" * 40 + "...' has text after the number",
    ),
    # libsvm: label
    _libsvm("label-word", b"spam 1:2\n", 1, "label 'spam' is not a number"),
    _libsvm("label-list", b"1,2 1:2\n", 1, "label '1,2' has text after the number"),
    _libsvm("label-nan", b"nan 1:2\n", 1, "label 'nan' is not a finite number"),
    _libsvm("label-too-large", b"1e400 1:2\n", 1, "label '1e400' is too large"),
    _libsvm(
        "label-zero",
        b"1 1:2\n0 1:2\n",
        1,
        "label 0: logistic needs -1 or 1; if all are 0 or 1 add --labels 0,1; for more classes --oaa K",
        line=2,
        **BINARY,
    ),
    _libsvm("label-negative", b"-0.5 1:2\n", 1, "label -0.5: poisson needs a label of 0 or more", **POISSON),
    _libsvm("label-not-mapped", b"2 1:2\n", 1, "label 2: expected 0 or 1, as in --labels", **MAPPED),
    _libsvm("vw-line", b"1 |f a:1\n", 3, "'|f' is not of the form index:value"),
    # libsvm: indices
    _libsvm("second-number", b"1 2 3:4\n", 3, "'2' is not of the form index:value"),
    _libsvm("word", b"1 abc\n", 3, "'abc' is not of the form index:value"),
    _libsvm("long-number", b"1 123456789\n", 3, "'123456789' is not of the form index:value"),
    _libsvm("query", b"1 qid:3 1:2\n", 3, "'qid:3' groups queries for ranking, which is not supported: remove it"),
    _libsvm("index-word", b"1 abc:2\n", 3, "feature index 'abc' is not a whole number"),
    _libsvm("index-missing", b"1 :2\n", 3, "feature index '' is not a whole number"),
    _libsvm("index-fraction", b"1 1.5:2\n", 3, "feature index '1.5' is not a whole number"),
    _libsvm("index-plus", b"1 +1:2\n", 3, "feature index '+1' is not a whole number"),
    _libsvm("index-minus-only", b"1 -:2\n", 3, "feature index '-' is not a whole number"),
    _libsvm("index-zero-again", b"1 0:2 00:1\n", 7, "feature index 00 is repeated"),
    _libsvm("index-zero-late", b"1 1:2 0:1\n", 7, "feature index 0 comes after 1, but indices must rise"),
    _libsvm("index-negative", b"1 -3:2\n", 3, "feature index -3 is below 0"),
    _libsvm("index-repeated", b"1 3:2 3:2\n", 7, "feature index 3 is repeated"),
    _libsvm("index-repeated-zero-value", b"1 3:0 3:2\n", 7, "feature index 3 is repeated"),
    _libsvm("index-order", b"1 5:2 3:2\n", 7, "feature index 3 comes after 5, but indices must rise"),
    _libsvm("index-order-tabs", b"1\t5:2\t\t3:2\n", 8, "feature index 3 comes after 5, but indices must rise"),
    _libsvm("index-too-large", b"1 4294967296:2\n", 3, "feature index 4294967296 is above 4294967295"),
    _libsvm("index-huge", b"1 18446744073709551617:2\n", 3, "feature index 18446744073709551617 is above 4294967295"),
    _libsvm("index-wide-digit", "1 \uff11:2\n".encode(), 3, "feature index '\uff11' is not a whole number"),
    # libsvm: values
    _libsvm("value-word", b"1 1:2 2:abc\n", 9, "feature value 'abc' is not a number"),
    _libsvm("value-missing", b"1 1: 2:3\n", 5, "no feature value after '1:'"),
    _libsvm("value-missing-comment", b"1 1:# 2:3\n", 5, "no feature value after '1:'"),
    _libsvm("value-nan", b"1 1:nan\n", 5, "feature value 'nan' is not a finite number"),
    _libsvm("value-inf", b"1 1:-inf\n", 5, "feature value '-inf' is not a finite number"),
    _libsvm("value-too-large", b"1 1:-4e38\n", 5, "feature value '-4e38' is too large for a 32-bit float"),
    _libsvm("value-two-colons", b"1 1:2:3\n", 5, "feature value '2:3' has text after the number"),
    _libsvm("value-no-label", b"1:x\n", 3, "feature value 'x' is not a number"),
    _libsvm("cr-between", b"1 1:2 \r2:3\n", 7, CR),
    _libsvm("cr-in-label", b"1\r2 1:2\n", 2, CR),
    _libsvm("cr-first", b"\r1 1:2\n", 1, CR),
]

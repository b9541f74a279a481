"""What the words of a text contribute, from what its features contribute.

A feature is a word, several words in a row (`not_good`), or letters within a piece between blanks (`~york`, `~<new`).
It covers letters of the text wherever it occurs. Its contribution is given to these letters, in equal parts; a word has
the sum of its letters. What covers no letter, such as signs, is left over.
"""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

MOST_INDEXED = 16


class Word(NamedTuple):
    """A word at its place in a text, and what it contributes there."""

    begin: int
    end: int
    contribution: float


class WordText(NamedTuple):
    """A text, in normal form C, with its words. rest: what no word contributes."""

    text: str
    words: list[Word]
    rest: float

    def by_word(self) -> dict[str, float]:
        """What each different word contributes, in lower case."""
        found: dict[str, float] = {}
        for begin, end, x in self.words:
            word = self.text[begin:end].lower()
            found[word] = found.get(word, 0.0) + x
        return found

    def pieces(self) -> Iterator[tuple[str, float | None]]:
        """The whole text in pieces: words with what they contribute, and what is between them with None."""
        at = 0
        for begin, end, x in self.words:
            if begin > at:
                yield self.text[at:begin], None
            yield self.text[begin:end], x
            at = end
        if at < len(self.text):
            yield self.text[at:], None


def words_of(text: str, features: Iterable[tuple[str, float]]) -> WordText:
    """features: the names of the features of a text, and what they contribute to its score."""
    text = unicodedata.normalize("NFC", text)
    places, letters, rest = _Places(text), [0.0] * len(text), 0.0
    for name, x in features:
        covered = places.of(name)
        if not covered:
            rest += x
        for place in covered:
            part = x / len(covered) / len(place)
            for i in place:
                letters[i] += part
    words = [Word(begin, end, sum(letters[begin:end])) for begin, end in places.spans]
    return WordText(text, words, rest + sum(letters) - sum(word.contribution for word in words))


class _Substrings:
    """Where substrings of a text are. Those of up to MOST_INDEXED letters are in an index, as texts have many features.
    """

    def __init__(self, text: str) -> None:
        self._text, self._by_length = text, dict[int, dict[str, list[int]]]()

    def places(self, part: str) -> Sequence[int]:
        n, text = len(part), self._text
        if not 0 < n <= MOST_INDEXED:
            return [*_places(text, part)]
        if n not in self._by_length:
            found = self._by_length[n] = {}
            for at in range(len(text) - n + 1):
                found.setdefault(text[at : at + n], []).append(at)
        return self._by_length[n].get(part, ())


class _Places:
    """Finds the places of features in a text: for each of them, the letters and digits that it covers there."""

    def __init__(self, text: str) -> None:
        low = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
        self.spans = [*_spans(text)]
        self._is_letter = [c.isalnum() for c in text]
        self._words = [low[begin:end] for begin, end in self.spans]
        self._at: dict[str, list[int]] = {}
        for k, word in enumerate(self._words):
            self._at.setdefault(word, []).append(k)
        # The pieces between blanks, with < and > around each; for each sign its place in the text, -1 for < and >
        signs, self._place = [], []
        for is_blank, run in groupby(range(len(low)), key=lambda i: low[i].isspace()):
            if not is_blank:
                at = [*run]
                signs.append(f"<{low[at[0] : at[-1] + 1]}> ")
                self._place += [-1, *at, -1, -1]
        self._pieces, self._joined = _Substrings("".join(signs)), _Substrings("\0".join(self._words))
        self._of_joined = [i for begin, end in self.spans for i in (*range(begin, end), -1)]

    def of(self, name: str) -> list[list[int]]:
        found = self._of_letters(name[1:]) if name.startswith("~") else self._of_words(name.split("_"))
        letters = ([i for i in place if i >= 0 and self._is_letter[i]] for place in found)
        return [place for place in letters if place]

    def _of_letters(self, name: str) -> Iterator[Sequence[int]]:
        return (self._place[at : at + len(name)] for at in self._pieces.places(name))

    def _of_words(self, wanted: Sequence[str]) -> Iterator[Sequence[int]]:
        """Words in a row. Without such words, letters in a row: scripts without blanks."""
        n, found = len(wanted), False
        for k in self._at.get(wanted[0], ()):
            if self._words[k : k + n] == wanted:
                found = True
                yield [i for begin, end in self.spans[k : k + n] for i in range(begin, end)]
        if not found:
            joined = "".join(wanted)
            yield from (self._of_joined[at : at + len(joined)] for at in self._joined.places(joined))


def _spans(text: str) -> Iterator[tuple[int, int]]:
    """The places of words: runs of letters and digits, with the marks behind them."""
    begin = None
    for i, c in enumerate(text):
        inside = c.isalnum() or (begin is not None and unicodedata.category(c).startswith("M"))
        if inside and begin is None:
            begin = i
        elif not inside and begin is not None:
            yield begin, i
            begin = None
    if begin is not None:
        yield begin, len(text)


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part) if part else -1
    while at >= 0:
        yield at
        at = text.find(part, at + 1)

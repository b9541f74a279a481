"""VW text of tables with the features that a model derives from their columns."""

from vwlite.core.base.escapes import as_in_text
from vwlite.core.data.batch import Batch
from vwlite.core.text.parser import Parser
from vwlite.derived import Derived, NumberColumn
from vwlite.input.schema import Schema
from vwlite.model import Model
from vwlite.names import absent_name


class DerivedText:
    """Puts the features that are derived into lines of VW text, behind those that stay."""

    def __init__(self, model: Model, derived: Derived) -> None:
        hash_all = model.settings.hash == "all"
        self._derivation = derived.derivation(hash_all)
        self._names = {
            hash: (_encoded(space), as_in_text(_encoded(name))) for hash, space, name, _ in derived.hashed(hash_all)
        }
        numbers = [c.name for c in derived.columns if isinstance(c, NumberColumn)]
        # By namespace, the features that are replaced: a number, and that of a missing one.
        self._numbers = {
            _encoded(name): tuple(as_in_text(_encoded(of)) for of in (name, absent_name(name))) for name in numbers
        }
        self._parser = Parser(format="vw", hash_all=hash_all, spaces=True, places=True)
        self._parser.zeros = True
        self._parser.unescapes = bool(model.columns) and Schema.restored(model.columns).is_escaped

    def of(self, text: bytes) -> bytes:
        """The same lines, each with what is derived."""
        lines = [line.partition(b"|") for line in text.split(b"\n")[:-1]]
        batch = Batch()
        failed = self._parser.parse(b"".join(bar + features + b"\n" for _, bar, features in lines), batch)
        assert not failed, "lines are valid"
        found = self._derivation.derived(batch)
        return b"".join(self._line(*line, more) + b"\n" for line, more in zip(lines, found, strict=True))

    def _line(
        self, head: bytes, bar: bytes, features: bytes, derived: tuple[list[int], list[float], int] | None
    ) -> bytes:
        """derived: as of `Derivation.derived`."""
        if derived is None:
            return head + bar + features
        more = self._text(*derived)
        parts = (part for part in features.split(b"|") if part.strip() and not self._is_number(part))
        kept = b"".join(b"|" + part for part in parts)
        kept = kept.rstrip(b" ") if more else kept
        return head + kept + more if kept else head + (more[1:] or b"|")  # a bar may touch a tag

    def _text(self, hashes: list[int], values: list[float], copied: int) -> bytes:
        """What is derived: ` |space name:value ...`."""
        parts, before = [], None
        for hash, x in zip(hashes[copied:], values[copied:], strict=True):
            space, name = self._names[hash]
            if space != before:
                parts.append(b" |" + space)
            parts.append(b" " + name if x == 1 else b" %b:%.9g" % (name, x))
            before = space
        return b"".join(parts)

    def _is_number(self, part: bytes) -> bool:
        words = part.split()
        if len(words) != 2 or part[:1].isspace():
            return False
        space, name = (word.partition(b":")[0] for word in words)
        return name in self._numbers.get(space, ())


def _encoded(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")

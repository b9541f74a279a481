"""Which of two labels that are words is the positive one."""

import re
from collections.abc import Sequence
from unicodedata import normalize

# Yes in many languages, and what is looked for in data.
_YES = """
    yes y true ja j jo oui vrai si sí sì sim verdadero verdadeiro vero verdade tak ano áno igen da taip jah jā kyllä
    joo evet hai ya có да так истина ναι כן نعم بله हाँ हां ใช่ 是 是的 对 はい 예 네
    fraud fraudulent fraudster spam phishing scam bot fake malware malicious malignant attack intrusion anomaly
    anomalous abnormal outlier churn churned churner exited default defaulted positive pos toxic sick infected diseased
    died dead deceased clicked converted purchased bought subscribed
"""  # noqa: RUF001
# No, and what is left of data besides.
_NO = """
    no n false nein falsch non faux falso não nao nee nej nei nie ne nem nu ei hayır hayir tidak không нет ні не ложь
    όχι לא لا نه नहीं ไม่ ไม่ใช่ 不 不是 否 没有 いいえ 아니오 아니요
    ham ok okay normal benign negative neg legit legitimate genuine clean healthy none control retained
"""  # noqa: RUF001
YES, NO = frozenset(_YES.split()), frozenset(_NO.split())
_NOT = re.compile(r"(?:no|not|non|nicht|kein|keine|geen|niet|nie|ingen|inte|ikke|sin|sem|sans|pas|senza|не|нет|без)"
                  r"[\s_.-]*")


def _sign(word: str, other: str) -> int:
    """1: yes; -1: no, or not the other word; 0: neither."""
    is_not = word.endswith(other) and other not in NO and _NOT.fullmatch(word.removesuffix(other)) is not None
    return (word in YES) - (word in NO or is_not)


def positive_of(words: Sequence[str]) -> str | None:
    """The one of two words that means yes, if the other does not, or the other one means no; None: they do not tell."""
    one, other = (normalize("NFC", word).strip().casefold() for word in words)
    signs = _sign(one, other), _sign(other, one)
    return None if signs[0] == signs[1] else words[signs[1] > signs[0]]


def in_order(words: Sequence[str]) -> list[str]:
    """Two words, the negative one first: by what they mean, else by their bytes."""
    positive = positive_of(words)
    return sorted(words, key=lambda word: (word == positive, word.encode("utf-8", "surrogateescape")))


def typed(words: Sequence[str]) -> str:
    """The option that says this order."""
    from vwlite.names import names_text
    from vwlite.output.shell_words import quoted

    return f"--labels {quoted(names_text(words))}"

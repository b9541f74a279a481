"""Heads of HTTP/1.1, and answers.

A head is parsed strictly (RFC 9112), because heads that two programs read differently allow request smuggling: one
length, CRLF at line ends, no folded lines. Clients repeat the same head, so parsed heads are cached.
"""

import json
import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

MOST_HEAD = 16 << 10  # bytes of the request line and the headers; also of a chunk's line, and of trailers
MOST_HEADERS = 100
JSON = "application/json"
# What a body of this type is: a format of `vwlite predict`, json, or "", which is json if it begins with { or [. In
# json an object may have several lines, and brackets tell where it ends; in jsonl each line gets its answer.
TYPES = {
    "": "", "application/octet-stream": "", "application/x-www-form-urlencoded": "", "text/plain": "auto",
    "text/csv": "csv", "text/tab-separated-values": "tsv", "text/libsvm": "libsvm", JSON: "json",
    "application/x-ndjson": "jsonl", "application/jsonl": "jsonl",
}
UTF8, PLAIN = ("", "utf-8", "utf8", "us-ascii"), ("", "identity")  # charsets and encodings of bodies
REASONS = {
    200: "OK", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 408: "Request Timeout",
    413: "Content Too Large", 415: "Unsupported Media Type", 417: "Expectation Failed", 422: "Unprocessable Content",
    429: "Too Many Requests", 431: "Request Header Fields Too Large", 500: "Internal Server Error",
    501: "Not Implemented", 503: "Service Unavailable", 505: "HTTP Version Not Supported",
}
_LINE = re.compile(rb"([A-Za-z][!#$%&'*+.^_`|~0-9A-Za-z-]*) ([\x21-\x7e]+) HTTP/(\d)\.(\d)")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):([^\x00-\x08\x0a-\x1f\x7f]*)")
_HOST = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+,;=%-]*|\[[0-9A-Za-z:._-]*\])(?::\d{0,5})?")
_ORIGIN = re.compile(r"\Ahttps?://[^/?#]*", re.IGNORECASE)
_ONCE = (b"content-length", b"transfer-encoding", b"host", b"content-type", b"content-encoding", b"expect")


class Refused(Exception):
    """A request that gets an answer other than 200. more: of the answer's object."""

    def __init__(self, status: int, why: str, headers: str = "", **more: object) -> None:
        super().__init__(why)
        self.status, self.headers, self.more = status, headers, more


class Head(NamedTuple):
    """The used parts of a request line and headers. length: None for a chunked body. query: the first of each."""

    method: str
    path: str
    query: dict[str, str]
    type: str
    charset: str
    encoding: str
    length: int | None
    expects: bool
    keeps: bool  # the connection
    old: bool  # HTTP/1.0
    kind: str | None = None  # of the body, as in TYPES, if it may be a single row of /predict without other options


class Answer(NamedTuple):
    status: int
    body: bytes
    type: str = JSON
    headers: str = ""


def refusal(e: Refused) -> Answer:
    return Answer(e.status, json.dumps({"error": str(e), **e.more}).encode() + b"\n", JSON, e.headers)


def parse_fields(lines: list[bytes]) -> dict[bytes, bytes]:
    """Headers, or trailers, by name. Refused for an invalid line."""
    if len(lines) > MOST_HEADERS:
        raise Refused(431, f"a request has {MOST_HEADERS} headers at most")
    found: dict[bytes, bytes] = {}
    for header in lines:
        match = _HEADER.fullmatch(header)
        if not match:
            raise Refused(400, "a header is a line such as Content-Type: text/plain, without control characters")
        name, value = match[1].lower(), match[2].strip(b" \t")
        if name in found and name in _ONCE:
            raise Refused(400, f"two headers {name.decode()}")
        found[name] = found[name] + b"," + value if name in found else value
    return found


@lru_cache(256)
def parse_head(text: bytes) -> Head:
    """The head of a request, without the empty line at its end."""
    first, *lines = text.split(b"\r\n")
    line = _LINE.fullmatch(first)
    if not line:
        raise Refused(400, "the request does not begin with a line such as POST /predict HTTP/1.1")
    if line[3] != b"1":
        raise Refused(505, "this server speaks HTTP/1.1 and HTTP/1.0")
    found = parse_fields(lines)
    old = line[4] == b"0"
    if not old and b"host" not in found:
        raise Refused(400, "a request of HTTP/1.1 has a header Host")
    if not _HOST.fullmatch(found.get(b"host", b"")):
        raise Refused(400, "Host is not a name or an address, with or without a port")
    connection = {word.strip() for word in found.get(b"connection", b"").lower().split(b",")}
    length: int | None = 0
    if b"transfer-encoding" in found:
        if b"content-length" in found or old:
            raise Refused(400, "Transfer-Encoding excludes Content-Length, and HTTP/1.0 does not have it")
        if found[b"transfer-encoding"].lower() != b"chunked":
            raise Refused(501, "of Transfer-Encoding only chunked is supported")
        length = None
    elif b"content-length" in found:
        if not re.fullmatch(rb"\d{1,18}", found[b"content-length"]):
            raise Refused(400, "Content-Length is not a number of bytes")
        length = int(found[b"content-length"])
    if found.get(b"expect", b"100-continue").lower() != b"100-continue":
        raise Refused(417, "of Expect only 100-continue is supported")
    path, _, query = _ORIGIN.sub("", line[2].decode()).partition("?")  # clients of a proxy send all of the URL
    kind, _, parameters = found.get(b"content-type", b"").decode("latin-1").lower().partition(";")
    charset = re.search(r"charset=\"?([^\s;\"]+)", parameters)
    head = Head(
        line[1].decode(), unquote(path), dict(parse_qsl(query, keep_blank_values=True)), kind.strip(),
        charset[1] if charset else "", found.get(b"content-encoding", b"").decode("latin-1").lower(), length,
        b"expect" in found, b"keep-alive" in connection if old else b"close" not in connection, old,
    )
    is_row = (head.method == "POST" and head.path == "/predict" and not head.query.keys() - {"model"}
              and head.charset in UTF8 and head.encoding in PLAIN and TYPES.get(head.type) in ("", "auto", "json"))
    return head._replace(kind=TYPES[head.type]) if is_row else head

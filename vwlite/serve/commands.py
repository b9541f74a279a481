"""`vwlite serve`: options and help."""

import os
import re

import click

from vwlite.errors import UsageError
from vwlite.input import ON_UNKNOWN
from vwlite.options.declaring import command
from vwlite.options.spec import IN, OUT, RUN, option, specs_of
from vwlite.options.types import PATH, Bytes, Choice, Number, Whole
from vwlite.prediction.commands import PredictOptions
from vwlite.records import record
from vwlite.runs.options import LINK_OF_MODEL, LOSS_OF_OTHERS, InputOptions

_LIMITS = "Limits"


@command(
    "serve", "vwlite.serve.server:serve",
    IN, RUN, _LIMITS, *specs_of(PredictOptions, "probabilities"), LINK_OF_MODEL, OUT, *specs_of(InputOptions, "quiet"),
    *LOSS_OF_OTHERS, context_settings={"auto_envvar_prefix": "VWLITE_SERVE"},
    usual=("--model", "--port", "--host", "--lines", "--workers", "--log", "--quiet"),
    examples=("vwlite serve -m clicks.model --port 8080",
              "vwlite serve -m a=A.model -m b=B.model --workers 2 --log requests.jsonl"),
)
@record(frozen=True)
class ServeOptions(InputOptions):
    """Predict over HTTP: the lines of a POST to /predict, or its JSON.

    Text gets the lines that vwlite predict writes; an object of JSON, a list or JSON lines, with columns by name, get
    objects. It never learns, and takes a new model file without a failed request. SIGTERM ends it after the requests
    that are there.

    Options that are not typed are taken from the environment: VWLITE_SERVE_MAX_BODY is --max-body, and so on;
    VWLITE_SERVE_PORT, or else PORT, is --port.
    """

    model: tuple[str, ...] = option(
        (), "-m", "-i", "--model", group=IN, multiple=True, required=True, type=PATH, metavar="[NAME=]FILE",
        help="A model file, with the name that requests give. May be repeated; the name of one model is that of its "
             "file. A new file is taken as soon as it is there.",
    )
    probabilities: bool = False
    host: str = option(
        "127.0.0.1", "--host", group=RUN, type=click.STRING, metavar="ADDRESS",
        help="Address to listen on. 0.0.0.0 means all addresses: everyone in the network can send requests.",
    )
    port: int = option(
        8080, "--port", group=RUN, type=Whole(0, 65535), metavar="N", environment=("VWLITE_SERVE_PORT", "PORT"),
        help="Port of HTTP. 0: any that is free.",
    )
    on_unknown: str = option(
        "error", "--on-unknown", group=IN, type=Choice(ON_UNKNOWN),
        help="What to do with a row that lacks columns of the model. error: refuse a JSON row that has none, and "
             "tensors (/v2) that lack an input. note: predict them with missing values.",
    )
    lines: int | None = option(
        None, "--lines", group=RUN, type=Whole(0, 65535), metavar="[=N]", bare="26542",
        help="Also answer Vowpal Wabbit's line protocol, on port N. Without N it is 26542.",
    )
    workers: int = option(
        1, "--workers", group=RUN, type=Whole(1, 256), metavar="N", help="Number of processes, each with all models."
    )
    log: str | None = option(
        None, "--log", group=OUT, type=PATH, metavar="FILE", writes=True, stdout=True,
        help="Append each request to this file, as a JSON line. With time, model, tags, request and answer; - is "
             "standard output.",
    )
    max_body: int = option(
        16 << 20, "--max-body", group=_LIMITS, type=Bytes(), shown="16M", help="Largest body of a request, or line."
    )
    max_connections: int = option(
        1000, "--max-connections", group=_LIMITS, type=Whole(1), metavar="N", help="Open connections of a process."
    )
    timeout: float = option(
        30.0, "--timeout", group=_LIMITS, type=Number(0.1), metavar="SECONDS",
        help="Longest time that a client may take. To send a request, to read its answer, or idle.",
    )

    def files(self) -> dict[str, str]:
        """The files of the models by name. UsageError for a name that is given twice."""
        found: dict[str, str] = {}
        for text in self.model:
            named = None if os.path.exists(text) else re.fullmatch(r"([\w.-]+)=(.+)", text)
            stem = os.path.splitext(os.path.basename(text))[0]
            name, path = named.groups() if named else (re.sub(r"[^\w.-]", "_", stem) or "model", text)
            if name in found:
                raise UsageError(f"--model: two models {name}: give them names, as in -m a={path} -m b=...")
            found[name] = path
        return found

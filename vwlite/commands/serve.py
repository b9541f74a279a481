"""`vwlite serve`"""

import click

from vwlite.options.command import Command
from vwlite.options.serve import ServeOptions, serve_options


@click.command(
    "serve", cls=Command, usual=("--model", "--port", "--host", "--lines", "--workers", "--log", "--quiet"),
    examples=(
        "vwlite serve -m clicks.model --port 8080",
        "vwlite serve -m a=A.model -m b=B.model --workers 2 --log requests.jsonl",
    ),
)  # fmt: skip
@serve_options
def command(options: ServeOptions) -> int:
    """Predict over HTTP: the lines of a POST to /predict, or its JSON.

    Text gets the lines that vwlite predict writes; an object of JSON, a list or JSON lines, with columns by name, get
    objects. It never learns, and takes a new model file without a failed request. SIGTERM ends it after the requests
    that are there.
    """
    from vwlite.serve.server import serve

    return serve(options)

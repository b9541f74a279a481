"""`vwlite check`"""

import click

from vwlite.options import PATH, Command, Option

SHOWN = 20  # bad lines of a file that are printed


@click.command("check", cls=Command)
@click.argument("files", nargs=-1, required=True, type=PATH, metavar="FILE...")
@click.option(
    "--format", cls=Option, type=click.Choice(["auto", "vw", "libsvm"]), default="auto", show_default=True,
    help="What the text of data files is.",
)  # fmt: skip
def command(files: tuple[str, ...], format: str) -> int:
    """Check that each FILE - a model, a cache or data - is whole and valid.

    Exit code 0: all are. 1: some are not; the lines say why.
    """
    sound = [check_file(path, format) for path in files]
    return 0 if all(sound) else 1


def check_file(path: str, format: str) -> bool:
    """Print what the file is and whether it is sound."""
    from vwlite.cache import MAGIC
    from vwlite.errors import DataError, NoInputError

    try:
        with open(path, "rb") as f:
            begin = f.read(len(MAGIC))
    except OSError as e:
        click.echo(f"{path}: {e.strerror}")
        return False
    try:
        if begin.startswith(b"PK\x03\x04"):
            return _check_model(path)
        if begin.startswith(MAGIC[:-2]):
            return _check_cache(path)
        return _check_data(path, format)
    except (DataError, NoInputError) as e:
        click.echo(e)
        return False


def _check_model(path: str) -> bool:
    from vwlite.commands.info import describe

    facts = describe(path)
    state = ", without state" if facts["weights_only"] else ""
    click.echo(f"{path}: a model, whole: {facts['algorithm']}, {facts['nonzero weights']} nonzero weights{state}")
    return True


def _check_cache(path: str) -> bool:
    from vwlite.cache import CacheUnusable, open_cache

    try:
        cache = open_cache(path, None)
        lines = sum(len(batch) for batch, _ in cache.batches())
    except (CacheUnusable, ValueError) as e:
        click.echo(f"{path}: a cache that cannot be used: {e}")
        return False
    click.echo(f"{path}: a cache, whole: {lines} lines")
    return True


def _check_data(path: str, format: str) -> bool:
    from vwlite.pipeline import ParseOptions, parsed_batches

    lines = bad = 0
    with parsed_batches([path], ParseOptions(format=format, skip=True), threads=2) as batches:
        for parsed in batches:
            lines += len(parsed.batch)
            for b in parsed.bad:
                bad += 1
                if bad <= SHOWN:
                    click.echo(b)
    if bad > SHOWN:
        click.echo(f"{path}: ... and {bad - SHOWN} more")
    click.echo(f"{path}: data, {lines} lines" + (f", {bad} bad lines" if bad else ", every line valid"))
    return not bad

"""`vwlite vw`"""

import click


@click.command(
    "vw",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> int:
    """Take Vowpal Wabbit's own arguments and do what it does: `alias vw='vwlite vw'`."""
    from vwlite.vw.run import main

    return main(list(arguments))

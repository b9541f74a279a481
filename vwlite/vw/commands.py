"""`vwlite vw`"""

import click


@click.command(
    "vw",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False, "help_option_names": []},
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def vw_command(arguments: tuple[str, ...]) -> int:
    """Run Vowpal Wabbit's command lines, with its arguments and output: `alias vw='vwlite vw'`."""
    from vwlite.vw.run import main

    return main(list(arguments))

"""Commands and options as click has them, and the two helps of a command: `-h`, one screen, and `--help`, all of it."""

import inspect
import os
import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import click
from click.core import ParameterSource

MAX_BRIEF = 60  # columns of the first sentence of an option's help
MAX_CHOICE = 11  # columns of the values of a choice in `-h`


class Option(click.Option):
    """An option with a place in a group of the help, and spellings of Vowpal Wabbit that the help leaves out."""

    def __init__(
        self, decls: list[str], group: str = "Options", vw: tuple[str, ...] = (), bare: str = "", **attributes: Any
    ) -> None:
        super().__init__([*decls, *vw], **attributes)
        self.group, self.bare = group, bare
        self.shown = [o for o in self.opts if o not in vw]

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        everything, self.opts = self.opts, self.shown
        try:
            record = super().get_help_record(ctx)
        finally:
            self.opts = everything
        return record and (record[0], self.help or "")

    def get_error_hint(self, ctx: click.Context | None) -> str:
        if ctx is not None and ctx.get_parameter_source(self.name or "") is ParameterSource.ENVIRONMENT:
            names = [self.envvar] if isinstance(self.envvar, str) else [*(self.envvar or ())]
            names.append(f"{ctx.auto_envvar_prefix}_{(self.name or '').upper()}")
            return f"the environment variable {next(name for name in names if os.environ.get(name))}"
        return " / ".join(map(repr, self.shown))


def brief(text: str | None) -> str:
    """The first sentence of an option's help, without the period."""
    return re.split(r"\. |\.$|  \[", text or "")[0]


def help_option(*typed: str, says: str) -> click.Option:
    """The option that prints the help. That of click looks its text up among translations, at every start."""

    def show(ctx: click.Context, _: click.Parameter, given: bool) -> None:
        if given and not ctx.resilient_parsing:
            click.echo(ctx.get_help(), color=ctx.color)
            ctx.exit()

    return click.Option([*typed], is_flag=True, expose_value=False, is_eager=True, callback=show, help=says)


class Command(click.Command):
    """A command whose options have groups, and may have a value of their own.

    usual: the long names of the options that `-h` shows, in this order; none: all. examples: commands that `--help`
    ends with. remembers: the function also gets `raw`, what was typed as text by name, in the order of typing, for
    commands that it prints.
    """

    def __init__(
        self, *args: Any, usual: Sequence[str] = (), examples: Sequence[str] = (), remembers: bool = False,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.usual, self.examples, self.remembers = usual, examples, remembers

    def get_help_option_names(self, ctx: click.Context) -> list[str]:
        return ["--help"]

    def get_help_option(self, ctx: click.Context) -> click.Option:
        return self._help

    @cached_property
    def _help(self) -> click.Option:
        return help_option("--help", says="Show all options and examples, and exit.")

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        *own, last = super().get_params(ctx)
        show = click.Option(["-h"], is_flag=True, is_eager=True, expose_value=False, callback=self._show,
                            help="Show the usual options in short, and exit.")
        return [*own, show, last]

    def _show(self, ctx: click.Context, _: click.Parameter, given: bool) -> None:
        if given and not ctx.resilient_parsing:
            click.echo(self.screen(ctx), color=ctx.color)
            ctx.exit()

    def screen(self, ctx: click.Context) -> str:
        """What `-h` prints."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(inspect.cleandoc(self.help or "").split("\n\n")[0])
        own = [o for o in self.params if isinstance(o, Option) and not o.hidden]
        by_name = {name: o for o in own for name in o.opts}
        chosen = [by_name[name] for name in self.usual] or own
        rows = [(_first_column(o, ctx), brief(o.help)) for o in chosen]
        rows.append(("--help", "Show all options and examples"))
        with formatter.section("Usual options" if self.usual else "Options"):
            formatter.write_dl(rows, col_max=30)
        return formatter.getvalue().rstrip("\n")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        bare = {name: o.bare for o in self.params if isinstance(o, Option) and o.bare for name in o.opts}
        end = args.index("--") if "--" in args else len(args)
        names = {name: getattr(o, "is_flag", False) for o in self.params for name in o.opts}
        for before, a in zip(["", *args], args[:end], strict=False):
            if a[:1] == "-" and a[2:3].isalpha() and f"-{a.partition('=')[0]}" in names and names.get(before, True):
                ctx.fail(f"{a!r} would be read as {a[:2]} {a[2:]!r}: write -{a}, with two hyphens")
        # Of an option of one letter click first looks for similar ones with two hyphens, at every start
        long = {name: next((x for x in o.opts if x[:2] == "--"), name)
                for o in self.params for name in o.opts if len(name) == 2}
        args = [long.get(a, a) if names.get(before, True) and i < end - 1 else a
                for i, (before, a) in enumerate(zip(["", *args], args, strict=False))]
        typed = _joined(args[:end], [name for name, value in bare.items() if "." in value])
        args = [f"{a}={bare[a]}" if a in bare else a for a in typed] + args[end:]
        if self.remembers:
            ctx.params["raw"] = self.make_parser(ctx).parse_args(list(args))[0]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None and isinstance(parameter, click.Option):
                groups.setdefault(getattr(parameter, "group", "Options"), []).append(record)
        groups.setdefault("Options", groups.pop("Options", []))  # -h and --help come last
        for name, records in groups.items():
            with formatter.section(name):
                formatter.write_dl(records, col_max=30)
        if self.examples:
            with formatter.section("Examples"):
                formatter.write("".join(f"{'':>{formatter.current_indent}}{line}\n" for line in self.examples))


class UnknownCommand(click.UsageError):
    """A word that is not a command."""

    def __init__(self, word: str, commands: list[str], ctx: click.Context) -> None:
        super().__init__(f"No such command {word!r}.", ctx)
        self.word, self.commands = word, commands


class Commands(click.Group):
    """A group of commands whose error knows them. Alone it prints its help."""

    def get_help_option(self, ctx: click.Context) -> click.Option:
        return self._help

    @cached_property
    def _help(self) -> click.Option:
        return help_option("-h", "--help", says="Show this message and exit.")

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, args if args or ctx.resilient_parsing else ["--help"])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-") and not ctx.resilient_parsing:
            raise UnknownCommand(args[0], self.list_commands(ctx), ctx)
        return super().resolve_command(ctx, args)


def _joined(args: Sequence[str], names: Sequence[str]) -> list[str]:
    """The arguments, with a fraction that follows one of these options as its value: `--sparse=0.9`."""
    found: list[str] = []
    for a in args:
        if found and found[-1] in names and re.fullmatch(r"\d*\.\d+", a):
            found[-1] += f"={a}"
        else:
            found.append(a)
    return found


def _first_column(option: Option, ctx: click.Context) -> str:
    """The short and the long name of an option, and its value; a choice of many is NAME."""
    long = next(name for name in option.shown if name.startswith("--"))
    names = ", ".join(dict.fromkeys((option.shown[0], long)))
    if option.is_flag:
        return names
    value = option.make_metavar(ctx)
    if isinstance(option.type, click.Choice) and len(value) > MAX_CHOICE:
        value = "NAME"
    return names + (value if value.startswith("[=") else f" {value}")

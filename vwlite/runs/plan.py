"""What is read: which files, in which format, with which columns and classes. Decided once for a run, and handed on."""

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from vwlite.algorithms.settings import Settings
from vwlite.core.data.class_names import ClassNames
from vwlite.errors import UsageError
from vwlite.input.formats import FORMATS, LABEL, OF_TEXT, TEXT
from vwlite.input.parsing import ParseOptions
from vwlite.input.pipeline import is_fasttext
from vwlite.names import names_in
from vwlite.output.stdio import say
from vwlite.records import record
from vwlite.runs.options import InputOptions

if TYPE_CHECKING:
    from vwlite.input.schema import RoleOptions
    from vwlite.input.tables import TableReader
    from vwlite.model import Model


@record(frozen=True, eq=False)
class DataPlan:
    """The files of a run, and how they are read. roles: of columns, and how tables are written, as far as it was typed;
    None: nothing was. classes: their names, as typed. skip: bad lines."""

    files: tuple[str, ...] = ()  # none: standard input
    format: str = "auto"
    roles: "RoleOptions | None" = None
    classes: str = ""
    skip: bool = False
    threads: int = 1
    quiet: bool = True

    @cached_property
    def is_fasttext(self) -> bool:
        """Whether these are lines of fastText, for which the first file is opened."""
        return is_fasttext(self.files, self.format)

    @property
    def group(self) -> str | None:
        """The column of groups."""
        return self.roles.group if self.roles is not None else None

    def table(self, columns: dict[str, Any] | None = None, *, needs_label: bool = False) -> "TableReader | None":
        """The columns of tables, as far as they are known: those of a model, and what was typed; None if nothing is.
        UsageError for roles that contradict each other or the model's."""
        kind = "fasttext" if columns is None and self.is_fasttext else self.format
        if not columns and self.roles is None and kind != "fasttext":
            return None
        from vwlite.input.schema import LONGEST_NUMBER, RoleOptions, Schema, SchemaError, fits_unit
        from vwlite.input.tables import TableReader

        schema = Schema.restored(columns) if columns else None
        options = self.roles or RoleOptions()
        if options.thousands and options.thousands == (options.decimal or "."):
            raise UsageError(f"--thousands {options.thousands} is the decimal point too: add --decimal "
                             f"{'.' if options.thousands == ',' else ','}")
        for word in options.units:
            if not fits_unit(word):
                raise UsageError(f"--units {word}: a unit begins with no digit, point or comma, has no sign or bracket "
                                 f"at an end, and less than {LONGEST_NUMBER} characters")
        try:
            typed = options.roles()
            if schema is not None:
                options.check_same(schema)
        except SchemaError as e:
            raise UsageError(str(e)) from None
        allowed = RoleOptions(ngram=options.ngram) if kind in OF_TEXT else RoleOptions()
        if kind != "auto" and (kind in OF_TEXT or not FORMATS[kind].is_table) and options != allowed:
            others = {
                "ngram": options.ngram > 1, "delimiter": options.delimiter, "quote": options.quote,
                "escape": options.escape, "columns": options.names, "no-header": options.no_header,
                "missing": options.missing is not None, "decimal": options.decimal, "thousands": options.thousands,
                "units": options.units, "time-format": options.time_format,
            }
            what = next((f"{role} {name}" for name, role in typed.items()), None)
            what = what or next(name for name, is_typed in others.items() if is_typed)
            raise UsageError(f"--{what} is for tables, and --format {kind} has no columns: leave one of them out")
        if kind == "fasttext" and schema is None:
            options = replace(options, label=LABEL, text=(TEXT,))
        delimiter = options.delimiter or (schema.delimiter if schema is not None else "")
        if delimiter and delimiter == (options.escape or (schema.escape if schema is not None else "")):
            raise UsageError(f"--escape {delimiter} is the delimiter, too: give another one")
        missing = schema.missing if schema is not None else options.missing_words
        both = set(missing) & set(names_in(self.classes))
        if both:
            raise UsageError(f"--classes names {min(both)}, which means a missing label: give --missing other words, "
                             "or ''")
        return TableReader(options, schema, needs_label, say=(lambda line: None) if self.quiet else say)

    def parsing(
        self, settings: Settings, class_names: ClassNames | None = None, table: "TableReader | None" = None, *,
        lenient_labels: bool = False, or_numbers: bool = False,
    ) -> ParseOptions:
        """How a run with these settings reads text. or_numbers: labels are the two class names, or numbers."""
        domain = settings.outputs.domain
        return ParseOptions(
            table=table, spaces=bool(settings.crosses), derives=settings.derived is not None, format=self.format,
            hash_all=settings.hash == "all", labels=settings.labels, loss_name=settings.outputs.learned_by,
            label_domain="ternary" if or_numbers and domain == "binary" else domain, lenient_labels=lenient_labels,
            skip=self.skip, class_names=class_names, or_numbers=or_numbers,
        )

    def parsing_for(
        self, model: "Model", settings: Settings, path: str, class_names: ClassNames | None
    ) -> ParseOptions:
        """How a run that only looks at examples reads text, with a model from a file."""
        table, text_model = self.table(model.columns), "" if model.columns else path
        if table is not None:
            table.model = text_model
            if model.columns:
                from vwlite.model.absent import applied_schema

                table.schema = applied_schema(model)
        return replace(self.parsing(settings, class_names, table, lenient_labels=True), model=text_model)

    def shaping(self, settings: Settings, named: list[str], columns: dict[str, Any] | None = None) -> dict[str, Any]:
        """The options that shape a cache. named: the classes that were known before it. columns: of tables."""
        parse = self.parsing(settings)
        separate = (
            "loss_name", "class_names", "or_numbers", "table", "spaces", "finder", "keeps_text", "only_text", "model",
            "tap", "derives", "logs", "whole_rows", "samples", "names_spaces", "part",
        )
        found = {k: v for k, v in vars(parse).items() if k not in separate}
        if parse.spaces:
            found |= {"spaces": True}
        if parse.derives:
            found |= {"derives": True}
        if columns:
            found |= {"columns": columns}
        return found | settings.outputs.shaping(named)


NO_FILES = DataPlan()  # of those who have rows in memory


def planned(o: InputOptions) -> DataPlan:
    """The plan for the data of a command."""
    return DataPlan(
        o.data, o.format, o.roles if o.names_columns else None, str(o.typed.get("classes", "")),
        o.on_error == "skip", o.threads, o.quiet,
    )

"""Every key of a policy, defined once.

    Key(
        "min_units",                                 its name,
        Whole(MOST_ROWS),                            its type,
        "Groups of this many units or fewer ...",    its sentence in the documentation,
        default=1,                                   its value when it is left out,
        remark="smaller groups are hidden, ...",     the comment beside it in a composed file,
        draft="# min_units = 10    # decide: ...",   its line in a draft
    )

The table is the source of the keys that a section may hold (``toml_section``), of the readers of regular
keys (``toml_values``), of the lines of composed and drafted files (``toml_lines``), of the digests of
``model``, and of the tables of docs/policy.md. A new key is an entry here, a field of the same name in its
rule in ``model``, and the code that uses it; tests/unit/test_policy_keys.py names what is missing.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from enum import Enum
from typing import Final, TypeAlias

from dpsql.lazy_dataclass import dataclass

MOST_ROWS = 10**6
MOST_LENGTH = 10_000
MOST_UNITS = 10**12
ACCOUNTANTS = ("zcdp", "rdp", "pure", "approx")
LEAST_DELTA, LARGEST_DELTA = 1e-18, 0.01
DEFAULT_PRICE = 0.1
LEAST_EPSILON, LARGEST_EPSILON = 1e-9, 1e9
LEAST_MEMORY, MOST_MEMORY = 64 * 2**20, 2**44
MOST_SECONDS = 86_400.0
MOST_ANSWER = 10**9
"""Most rows of an answer that a policy may allow."""


# ---- types of values ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number above zero."""

    most: float | None = None


@dataclass(frozen=True, slots=True)
class Epsilon:
    """A number within the range of the ledger's units."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number, at least one."""

    most: int


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""


@dataclass(frozen=True, slots=True)
class Text:
    """Any string."""


@dataclass(frozen=True, slots=True)
class Size:
    """A number of bytes, written in MB or GB."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Own:
    """A value with a reader of its own: ``by`` is the function's name, below ``dpsql.policy``."""

    type: type
    said: str
    by: str


@dataclass(frozen=True, slots=True)
class Names:
    """Names of columns, as the database compares names, in any order."""

    said: str
    by: str


@dataclass(frozen=True, slots=True)
class Together:
    """The name of a column, or of several in an order, whose values together are one."""

    said: str
    by: str


@dataclass(frozen=True, slots=True)
class Values:
    """Numbers, texts or dates of one kind."""

    said: str
    by: str


@dataclass(frozen=True, slots=True)
class Reference:
    """A table and its key, "orders.order_id"."""

    said: str
    by: str


@dataclass(frozen=True, slots=True)
class Below:
    """A table with keys of its own, or one such table for each name."""

    keys: Keys


Regular: TypeAlias = Number | Epsilon | Whole | Flag | Text | Size
"""Types that ``toml_values`` reads."""

Kind: TypeAlias = Regular | Own | Names | Together | Values | Reference | Below


# ---- keys and sections ------------------------------------------------------------------------------------


class _Default(Enum):
    NONE = "there is none"


NO_DEFAULT: Final = _Default.NONE
PATHS, VIEWS = "paths", "views"
"""Places in digests for keys that are hashed together: ``model.unit_text``, and the views in order."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a section.

    default     its value in the model when it is left out; ``otherwise`` describes it where a value cannot
    needed      the help of the refusal when it is left out, for a required key
    unrelated   why no answer rests on it; '' if answers do, and then ``version`` depends on it
    original    its place in the first ledgers' digests, where it is hashed with any value: keys of a section
                that share a place are a list. Later keys are hashed only if they differ from the default, so
                that policies without them keep their digests; ``later`` is their name there, or else
                "[query] min_units"
    remark      the comment in a composed file, where it differs from the default or is written ``always``
    draft       its line in a draft; {unit} stands for the unit's name
    """

    name: str
    kind: Kind
    sentence: str
    _: KW_ONLY
    default: object = NO_DEFAULT
    otherwise: str = ""
    needed: str = ""
    unrelated: str = ""
    original: str = ""
    later: str = ""
    remark: str = ""
    always: bool = False
    draft: str = ""

    @property
    def rests(self) -> bool:
        """Whether answers rest on it, or on a key below it."""
        below = isinstance(self.kind, Below) and not any(key.rests for key in self.kind.keys.keys)
        return not (self.unrelated or below)


@dataclass(frozen=True, slots=True)
class Keys:
    """The keys below one header; ``rule`` is the class of ``model`` that holds them.

    Digests contain the titles of later keys, so a title never changes.
    """

    title: str
    rule: str
    keys: tuple[Key, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(key.name for key in self.keys)

    def __getitem__(self, name: str) -> Key:
        return next(key for key in self.keys if key.name == name)

    def ordered(self, *first: str) -> tuple[Key, ...]:
        """Return the keys, these first."""
        return (*map(self.__getitem__, first), *(key for key in self.keys if key.name not in first))


# ---- the keys -----------------------------------------------------------------------------------------

_SPENDING = "it limits spending"
_PRICE = "an answer is stored with its own price"
_ABOVE = "it limits the work, not the release"
_KEPT = "it says how the ledger is kept"

BUDGET = Keys(
    "[budget]",
    "BudgetRule",
    (
        Key(
            "epsilon",
            Epsilon(),
            "What all analysts together may spend, for the life of the database.",
            needed="[budget] needs epsilon and delta: what all analysts together may spend",
            unrelated=_SPENDING,
            original="epsilon",
            draft="epsilon = 1.0    # decide: the smaller, the more private",
        ),
        Key(
            "delta",
            Own(float, f"a number below {LARGEST_DELTA}", "toml._delta"),
            "The probability that the promise fails: well below one divided by the number of units.",
            default=0.0,
            needed='for example: delta = 1e-6; or accountant = "pure", which has none',
            otherwise='needed, except with `accountant = "pure"`',
            original="budget",
            draft="delta = 1e-6    # decide: well below one divided by the number of units ({unit})",
        ),
        Key(
            "accountant",
            Own(str, "one of " + ", ".join(f'`"{name}"`' for name in ACCOUNTANTS), "toml._accountant"),
            "How prices add up: tightly (rdp, and zcdp), without delta (pure), or by addition (approx).",
            default="zcdp",
            original="budget",
            always=True,
            draft='accountant = "rdp"    # fitted to epsilon for good: up_to is for more one day',
        ),
        Key(
            "responses",
            Epsilon(),
            "The part of `epsilon` that is kept for randomized responses; a ledger fixes it.",
            default=None,
            otherwise="none: responses are paid from the whole",
            unrelated=_SPENDING,
            later="responses",
            remark="kept for randomized responses, fixed when the ledger is opened",
        ),
        Key(
            "up_to",
            Epsilon(),
            "The largest `epsilon` that you may grant later: rdp fixes its order for it.",
            default=None,
            otherwise="`epsilon`",
            unrelated=_SPENDING,
            later="up_to",
            remark="the largest epsilon that may be granted later",
        ),
    ),
)

QUERY = Keys(
    "[query]",
    "QueryRule",
    (
        Key(
            "epsilon",
            Own(float, "a number above zero", "toml._query"),
            "The price of a query that names none.",
            otherwise=f"{DEFAULT_PRICE}, or `max_epsilon` where that is less",
            unrelated=_PRICE,
            original="prices",
            remark="the price of a query that names none",
            draft="epsilon = 0.1    # decide: the default price of one query",
        ),
        Key(
            "max_epsilon",
            Own(float, "a number above zero, at most the budget's", "toml._query"),
            "The highest price of one query.",
            otherwise="the whole budget",
            unrelated=_PRICE,
            original="prices",
            remark="the highest price of one query",
            draft="max_epsilon = 0.5    # decide: the highest price of one query",
        ),
        Key(
            "min_epsilon",
            Own(float, "a number above zero, at most `epsilon`", "toml._query"),
            "The lowest price of one query: each takes room in the ledger for good.",
            default=None,
            otherwise="a millionth of the budget",
            unrelated=_PRICE,
            later="least",
            remark="the lowest price of one query",
        ),
        Key(
            "find_bounds",
            Flag(),
            "Whether a query may find privately the ranges and `rows_per_unit` that are left out.",
            default=True,
            original="query",
            remark="bounds that are left out are not found privately",
        ),
        Key(
            "bounds_last",
            Flag(),
            "Whether found bounds serve later versions of the data, for as long as the column has its type.",
            default=True,
            unrelated="a bound that is used is in the plan",
            later="bounds_last",
            remark="bounds are found anew in every version of the data",
        ),
        Key(
            "min_units",
            Whole(MOST_ROWS),
            "Groups of at most this many units show with probability delta at most; listed keys always show.",
            default=1,
            original="query",
            remark="smaller groups are hidden, unless their keys are listed",
            draft="# min_units = 10    # decide: hide groups of fewer units, unless their keys are listed",
        ),
    ),
)

LIMITS = Keys(
    "[limits]",
    "LimitsRule",
    (
        Key(
            "seconds",
            Number(MOST_SECONDS),
            "The time limit for planning one query, and again for post-processing its release. What the"
            " machine gives to others meanwhile is not counted: up to five times as long.",
            default=10.0,
            unrelated=_ABOVE,
            original="limits",
        ),
        Key(
            "memory",
            Size(LEAST_MEMORY, MOST_MEMORY),
            "The memory limit of planning, of post-processing and of the rows of an answer.",
            default=512 * 2**20,
            unrelated=_ABOVE,
            original="limits",
        ),
        Key(
            "rows",
            Own(int, f"a whole number from 1 to {MOST_ANSWER:,}", "limits._rows"),
            "The most rows of an answer.",
            default=1_000_000,
            unrelated=_ABOVE,
            original="limits",
        ),
    ),
)

ANALYST = Keys(
    "[analysts.NAME]",
    "AnalystRule",
    (
        Key(
            "epsilon",
            Epsilon(),
            "The part of the budget that this analyst may spend.",
            needed="epsilon is what this analyst may spend of the budget",
            unrelated=_SPENDING,
            original="analysts",
            draft="# epsilon = 0.5",
        ),
        *(
            Key(
                name,
                Epsilon(),
                f"The most that this analyst may spend in {window} of the policy's time zone.",
                default=None,
                otherwise="no such cap",
                unrelated=_SPENDING,
                later=name,
                remark=f"the most that they may spend in {window}",
            )
            for name, window in (
                ("per_day", "a day"),
                ("per_week", "a week, from Monday,"),
                ("per_month", "a month"),
            )
        ),
        Key(
            "megabytes",
            Number(),
            "The most that this analyst's queries and answers may fill of the ledger.",
            default=100.0,
            unrelated="it limits storage",
            later="megabytes",
            remark="the most that their queries and answers may fill of the ledger",
        ),
        Key(
            "tables",
            Names(
                'a list of tables, `"visits"`, columns, `"patients.age"`, and views', "analysts.read_tables"
            ),
            "What exists for this analyst; a view, if all that it reads does.",
            default=None,
            otherwise="all that exists for analysts",
            unrelated="it limits who may ask for which answer",
            later="sees",
            remark="nothing else exists for them",
        ),
        Key(
            "group",
            Own(str, "the name of a group", "analysts.read_group"),
            "The group whose tables exist for this analyst.",
            default="",
            otherwise="none",
            unrelated="it limits who may ask for which answer",
            later="group",
        ),
    ),
)

GROUP = Keys(
    "[groups.NAME]",
    "GroupRule",
    (
        Key(
            "tables",
            Names(
                'a list of tables, `"visits"`, columns, `"patients.age"`, and views', "analysts.read_tables"
            ),
            "What exists for the analysts who name this group.",
            default=None,
            otherwise="all that exists for analysts",
            unrelated="it limits who may ask for which answer",
            later="group sees",
            remark="nothing else exists for those who name it",
        ),
        Key(
            "epsilon",
            Epsilon(),
            "What the analysts of this group may spend together, with all who ever were in it.",
            default=None,
            otherwise="no cap",
            unrelated=_SPENDING,
            later="group epsilon",
            remark="of all its analysts together",
        ),
        Key(
            "analysts",
            Names('a list of analysts, `["ana", "bo"]`', "analysts.read_members"),
            "The analysts whose spending the cap is for, beside those who name the group.",
            default=(),
            otherwise="those who name it",
            unrelated=_SPENDING,
            later="group analysts",
        ),
    ),
)

STUDY = Keys(
    "[studies.NAME]",
    "StudyRule",
    (
        Key(
            "epsilon",
            Epsilon(),
            "What may be spent for this study; it is bookkeeping, and promises nothing.",
            needed="epsilon is what may be spent for this study",
            unrelated=_SPENDING,
            later="study epsilon",
        ),
    ),
)

LEDGER = Keys(
    "[ledger]",
    "LedgerRule",
    (
        Key(
            "texts",
            Own(str, '`"plain"` or `"digest"`', "ledger._texts"),
            "How the ledger keeps the SQL and the parameters of analysts, which may hold names: as they are, "
            "or as a digest, keyed by the ledger.",
            default="plain",
            unrelated=_KEPT,
            remark="of analysts' SQL, the ledger keeps a keyed digest",
        ),
        Key(
            "witness",
            Own(str, 'a path, from the policy\'s folder: `"/mnt/b/clinic.witness"`', "ledger._path"),
            "A file with the number and the hash of the ledger's last entry: an older ledger is refused.",
            default="",
            otherwise="there is none",
            unrelated=_KEPT,
            remark="knows the last entry: an older ledger is refused",
        ),
        Key(
            "mirror",
            Own(str, 'a path, or a folder\'s with a slash at its end: `"/mnt/b/"`', "ledger._path"),
            "A second ledger, to which each entry is written before private rows are read.",
            default="",
            otherwise="there is none",
            unrelated=_KEPT,
            remark="each entry is written there too, before private rows are read",
        ),
    ),
)

_COLUMNS = Together("a column's name, or a list of them", "toml._together")

BLOCKS = Keys(
    "blocks = { }",
    "BlocksRule",
    (
        Key(
            "column",
            Text(),
            "The column of the unit's own table that says in which block a unit is, for good.",
            needed='blocks = { column = "cohort", values = [2023, 2024] }',
            unrelated=_SPENDING,
        ),
        Key(
            "values",
            Values("a list of texts, whole numbers, booleans or dates", "blocks._values"),
            "A block for each value; NULL, other values and units without a row are one more, the rest. "
            "Values may be appended, and none is removed.",
            needed='blocks = { column = "cohort", values = [2023, 2024] }',
            unrelated=_SPENDING,
        ),
        Key(
            "check",
            Flag(),
            "Whether a file beside the ledger keeps in which block each unit was seen: a unit that moves "
            "keeps the database shut, and a value that is appended has its whole budget.",
            default=False,
            otherwise="the owner promises it, and an appended value has spent what the rest has",
            unrelated=_SPENDING,
        ),
    ),
)

UNIT = Keys(
    "[unit]",
    "UnitRule",
    (
        Key(
            "name",
            Own(str, "a word", "toml._word"),
            "The word for one unit, such as patient.",
            default="unit",
            original="unit",
            always=True,
        ),
        Key(
            "table",
            Text(),
            "The table that has a row for each unit, if there is one.",
            default=None,
            otherwise="no table has a row for each unit",
            original=PATHS,
        ),
        Key(
            "key",
            _COLUMNS,
            "The column of that table that holds each unit once; or several, which together do.",
            default=None,
            otherwise="needed beside `table`",
            original=PATHS,
        ),
        Key(
            "column",
            _COLUMNS,
            "The column whose value says whose a row is, in each private table that says no other `unit`; or "
            "several, whose values together do. NULL, in any of them, is nobody.",
            default=None,
            otherwise="each private table says its `unit`",
            original=PATHS,
        ),
        Key(
            "about",
            Whole(MOST_UNITS),
            "The approximate number of units, as the public may know it; nothing is computed from it. "
            "A query that could show nothing at its price is then refused free, and one that could hardly "
            "show anything says so.",
            default=None,
            otherwise="unknown",
            unrelated="it only helps to refuse what would show nothing",
            later="about",
            remark="the approximate number of units",
            draft="# about = 30_000    # decide: about how many there are ({unit}), if that may be public",
        ),
        Key(
            "blocks",
            Below(BLOCKS),
            "Blocks of units, each with the whole budget: a question pays where its rows can be.",
            default=None,
            otherwise="every question pays for all units",
        ),
    ),
)

UNIT_PATH = Keys(
    "unit = { }",
    "UnitPath",
    (
        Key(
            "column",
            _COLUMNS,
            "The column that holds the unit, or that references a table that does; or several, in the order "
            "of the unit's or of those that they reference.",
            needed='unit = { column = "..." }, and references = "table.key" along a foreign key',
            original=PATHS,
        ),
        Key(
            "references",
            Reference(
                'a table and its key, `"orders.order_id"`; or a list, `["orders.shop", "orders.no"]`',
                "toml._reference",
            ),
            "The table and key that `column` references.",
            default=None,
            otherwise="`column` holds the unit itself",
            original=PATHS,
        ),
    ),
)

COLUMN = Keys(
    "[tables.NAME.columns]",
    "ColumnRule",
    (
        Key(
            "range",
            Values("a list of two numbers or dates, the lower first", "columns._range"),
            "The range to which values are clamped before they are summed.",
            default=None,
            otherwise="of numbers: found privately, where a query needs it; of dates: none",
            original="columns",
        ),
        Key(
            "values",
            Values("a list of texts, numbers, booleans or dates", "columns._values"),
            "The public list of values: each is always shown as a group, however few units it has.",
            default=None,
            otherwise="groups appear when enough units are in them",
            original="columns",
        ),
        Key(
            "length",
            Whole(MOST_LENGTH),
            "The most characters of a text or items of a list, the range of lengths; no promise about data.",
            default=None,
            otherwise="a length has no range; ten items of a list count",
            later="lengths",
        ),
        Key(
            "type",
            Own(str, 'a type, such as `"INTEGER"`', "files.read_type"),
            "The type of a csv file's column; a value that does not fit it is NULL.",
            default=None,
            otherwise="the type in the database or the parquet file",
            later="types",
        ),
        Key(
            "null",
            Flag(),
            "Whether a column of a private table may hold NULL. With `false`, queries leave out the rows "
            "where it does, and no group of NULL is listed.",
            default=True,
        ),
        Key(
            "tells_unit",
            Flag(),
            "Whether each value tells the unit, as an order's number does: joins on it stay within units.",
            default=False,
            later="ties",
        ),
        Key(
            "comment",
            Text(),
            "What the column holds, in words: analysts read it in `\\d`, completions and other tools.",
            default="",
            otherwise="nothing is said",
            unrelated="it is shown beside the column, and nothing is computed from it",
            later="comments",
        ),
    ),
)

CSV = Keys(
    "csv = { }",
    "CsvRule",
    (
        Key(
            "delim",
            Own(str, "one character", "files._delim"),
            "The separator of fields.",
            default=",",
            original="csv",
        ),
        Key(
            "quote",
            Own(str, 'one character, or `""` for none', "files._quote"),
            "The quote around texts that contain a separator.",
            default='"',
            otherwise="double quotes",
            original="csv",
        ),
        Key(
            "header",
            Flag(),
            "Whether the first line names the columns; if not, the policy lists all, in the file's order.",
            default=True,
            original="csv",
        ),
        Key(
            "nullstr",
            Text(),
            "The text that means NULL, besides an empty field.",
            default="",
            original="csv",
        ),
        Key(
            "dateformat",
            Own(str, 'a format, such as `"%d.%m.%Y"`', "files._dateformat"),
            "The format of dates.",
            default="",
            otherwise="as 2024-12-31",
            original="csv",
        ),
        Key(
            "decimal",
            Own(str, '`"."` or `","`', "files._decimal"),
            "The decimal point.",
            default=".",
            original="csv",
        ),
    ),
)

TABLE = Keys(
    "[tables.NAME]",
    "TableRule",
    (
        Key(
            "public",
            Flag(),
            "Whether its rows belong to no unit, and everybody may see all of it.",
            default=False,
            original="public",
        ),
        Key(
            "key",
            Names("a column's name, or a list of them", "toml._key"),
            "Columns that are unique together; verified on the data if the database does not enforce it.",
            default=(),
            otherwise="no key is used",
            original="key",
        ),
        Key(
            "unit",
            Below(UNIT_PATH),
            "The path from a private table's rows to their unit.",
            default=None,
            otherwise="for public tables and the unit's own; else in the `column` of `[unit]`",
        ),
        Key(
            "rows_per_unit",
            Whole(MOST_ROWS),
            "The number of rows per unit at which clipping starts; no promise about the data.",
            default=None,
            otherwise="found privately, where a query needs it",
            original="rows",
            remark="where the clipping of one unit's rows starts",
            draft="rows_per_unit = 10    # decide: where the clipping of one unit's rows starts ({unit})",
        ),
        Key(
            "check",
            Own(
                str,
                'a comparison of two columns, `"admitted <= discharged"`, or several with AND',
                "checks.read_check",
            ),
            "Columns that are never greater than others: ranges of their differences are narrower.",
            default="",
            otherwise="the CHECK constraints of the database",
            later="checks",
            remark="not verified: rows that violate it are clamped",
        ),
        Key(
            "columns",
            Below(COLUMN),
            "The columns that exist for analysts, besides keys and the path to the unit.",
            default=(),
            otherwise="no others; all columns of a public table",
        ),
        Key(
            "files",
            Own(str, 'a pattern from the data\'s folder, `"visits/*.parquet"`', "files.read_files"),
            "The files of the table.",
            default="",
            otherwise="the file named after the table",
            later="files",
        ),
        Key(
            "csv",
            Below(CSV),
            "The format of its csv files.",
            default=None,
            otherwise='lines such as `17,"Smith, Ann",2024-02-29` below a header',
        ),
    ),
)

PRIVATE = Keys(
    "private = { }",
    "PrivateRule",
    (
        Key(
            "epsilon",
            Epsilon(),
            "The price of the view, which the first who asks it pays.",
            default=None,
            otherwise="the policy's price of a query",
        ),
        Key(
            "ranges",
            Names("a list of columns", "views._names"),
            "Ordered columns: the noise is made for all their ranges.",
            default=(),
            otherwise="it is made for single values and totals",
        ),
        Key(
            "dimensions",
            Names("a list of columns", "views._names"),
            "The columns whose combinations are counted, beside `ranges`.",
            default=(),
            otherwise="all columns of the query",
        ),
        Key(
            "method",
            Own(str, 'one of `"mwem"`, `"mst"`', "views._method"),
            "How synthetic rows are made, in place of counts of all combinations.",
            default=None,
            otherwise="all combinations are counted",
            later="method",
        ),
        Key(
            "sums",
            Names("a list of columns", "views._names"),
            "Columns that are summed in each combination of the others, each at a share of the price.",
            default=(),
            otherwise="rows are counted alone",
            later="sums",
        ),
    ),
)

VIEW = Keys(
    "[views.NAME]",
    "ViewRule",
    (
        Key(
            "sql",
            Text(),
            "The query; it may use tables and the views above it.",
            needed='sql = "SELECT ... FROM ..."',
            original=VIEWS,
        ),
        Key(
            "private",
            Below(PRIVATE),
            "It counts the rows of each combination of its columns, bought once and then free to ask.",
            default=None,
            otherwise="it is a query that is expanded where it is named",
        ),
    ),
)

TOP = Keys(
    "the policy",
    "Policy",
    (
        Key(
            "budget",
            Below(BUDGET),
            "What all analysts together may spend.",
            needed="[budget] needs epsilon and delta: what all analysts together may spend",
            remark="of all analysts together, for good",
        ),
        Key("query", Below(QUERY), "The prices of queries, and the smallest groups shown."),
        Key(
            "limits",
            Below(LIMITS),
            "Time, memory and rows of planning, post-processing and answers.",
            remark="of planning, post-processing and answers",
        ),
        Key("ledger", Below(LEDGER), "What the ledger keeps."),
        Key("analysts", Below(ANALYST), "A spending cap for each analyst, if wanted.", default=()),
        Key("groups", Below(GROUP), "What exists for several analysts, and what they may spend.", default=()),
        Key("studies", Below(STUDY), "A spending cap for each study, if wanted.", default=()),
        Key(
            "unit",
            Below(UNIT),
            "The privacy unit: whom the promise protects.",
            needed="[unit] says whom the promise protects: name, and column, or table and key",
            remark="whom the promise protects",
        ),
        Key(
            "tables",
            Below(TABLE),
            "The tables that exist for analysts.",
            needed="each table that analysts may ask about has a [tables.<name>]",
        ),
        Key("views", Below(VIEW), "Queries that analysts may name like tables.", default=()),
        Key(
            "timezone",
            Own(str, 'a name, such as `"Europe/Oslo"`', "toml._timezone"),
            "The time zone of days and of times with an offset; write it above all sections.",
            default="UTC",
            original="timezone",
        ),
    ),
)

SECTIONS: tuple[Keys, ...] = (TOP, BUDGET, QUERY, LIMITS, LEDGER, ANALYST, GROUP, STUDY)
SECTIONS += (UNIT, BLOCKS, TABLE, UNIT_PATH, COLUMN, CSV, VIEW, PRIVATE)
"""The sections, in the order of the documentation."""

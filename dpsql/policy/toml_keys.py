"""Every key that a policy may hold, said once.

    Key(
        "min_units",                                 its name,
        Whole(MOST_ROWS),                            its value,
        "Groups of this many units or fewer ...",    its sentence in the documentation,
        default=1,                                   its value when it is left out,
        remark="smaller groups are hidden, ...",     what a composed file says beside it,
        draft="# min_units = 10    # decide: ...",   its line in a draft
    )

From here are made: which keys a section may hold (``toml_section``), what is read where nothing is special
about it (``toml_values``), the lines of composed and drafted files (``toml_lines``), what the digests of
``model`` rest on, and the tables of docs/policy.md. A new key is an entry here, a field of the same name in
its rule in ``model``, and what is done with it; tests/test_policy_keys.py names what is forgotten.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from enum import Enum
from typing import Final, TypeAlias

MOST_ROWS = 10**6
MOST_UNITS = 10**12
ACCOUNTANTS = ("zcdp", "pure", "approx")
LEAST_DELTA, LARGEST_DELTA = 1e-18, 0.01
DEFAULT_PRICE = 0.1
LEAST_EPSILON, LARGEST_EPSILON = 1e-9, 1e9
LEAST_MEMORY, MOST_MEMORY = 64 * 2**20, 2**44
MOST_SECONDS = 86_400.0
MOST_ANSWER = 10**9
"""Rows."""


# ---- what a value is ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Number:
    """A finite number above zero."""

    most: float | None = None


@dataclass(frozen=True, slots=True)
class Epsilon:
    """A number that can be told in the units of a ledger."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A whole number from one."""

    most: int


@dataclass(frozen=True, slots=True)
class Flag:
    """true or false."""


@dataclass(frozen=True, slots=True)
class Text:
    """Any string."""


@dataclass(frozen=True, slots=True)
class Size:
    """So many bytes, written in MB or GB."""

    least: int
    most: int


@dataclass(frozen=True, slots=True)
class Own:
    """What a function of its own reads: ``by`` is its name, below ``dpsql.policy``."""

    type: type
    said: str
    by: str


@dataclass(frozen=True, slots=True)
class Names:
    """Columns, as the database compares names, in any order."""

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
    """A table with keys of its own, or such a table for each name."""

    keys: Keys


Regular: TypeAlias = Number | Epsilon | Whole | Flag | Text | Size
"""What ``toml_values`` reads."""

Kind: TypeAlias = Regular | Own | Names | Values | Reference | Below


# ---- what a key is ------------------------------------------------------------------------------------


class _Default(Enum):
    NONE = "there is none"


NO_DEFAULT: Final = _Default.NONE
PATHS, VIEWS = "paths", "views"
"""Places in digests of keys that are said as a whole: ``model.unit_text``, and the views in order."""


@dataclass(frozen=True, slots=True)
class Key:
    """A key of a section, and all that is said of it.

    default     what stands in the model when it is left out; ``otherwise`` says so where a value does not
    needed      the help of the refusal when it is left out, where it may not be
    unrelated   why no answer rests on it; '' where answers do, and ``version`` follows it
    original    its place in the first ledgers' digests, said there whatever it is: keys of a section that
                share one are a list. Of a key that came later only what is not the default is said, so that
                policies without it keep their digests; ``later`` is its name there, else "[query] min_units"
    remark      what a composed file says beside it, where it differs from the default or is said ``always``
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
    """What may stand below one header: ``rule`` is the class of ``model`` that holds it.

    Digests hold the titles of keys that came later: a title stays as it is.
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
        """These first, then the others."""
        return (*map(self.__getitem__, first), *(key for key in self.keys if key.name not in first))


# ---- the keys -----------------------------------------------------------------------------------------

_SPENDING = "it says how much may be spent"
_PRICE = "an answer is kept with its own price"
_ABOVE = "it bounds the work, not what is measured"

BUDGET = Keys(
    "[budget]",
    "BudgetRule",
    (
        Key(
            "epsilon",
            Epsilon(),
            "What all analysts together may spend, for the life of the database.",
            needed="[budget] holds epsilon and delta: what all analysts together may spend",
            unrelated=_SPENDING,
            original="epsilon",
            draft="epsilon = 1.0    # decide: the smaller, the more private",
        ),
        Key(
            "delta",
            Own(float, f"a number below {LARGEST_DELTA}", "toml._delta"),
            "The chance that the promise fails for somebody: well below one divided by the number of units.",
            default=0.0,
            needed='delta = 1e-6, say; or accountant = "pure", which has none',
            otherwise='needed; with `accountant = "pure"` there is none',
            original="budget",
            draft="delta = 1e-6    # decide: well below one divided by the number of units ({unit})",
        ),
        Key(
            "accountant",
            Own(str, "one of " + ", ".join(f'`"{each}"`' for each in ACCOUNTANTS), "toml._accountant"),
            "How the costs of queries are summed: tightly, without delta, or by simple addition.",
            default="zcdp",
            original="budget",
            always=True,
            draft='accountant = "zcdp"',
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
            "What a query costs that names no price.",
            otherwise=f"{DEFAULT_PRICE}, or `max_epsilon` where that is less",
            unrelated=_PRICE,
            original="prices",
            remark="what a query costs that names no price",
            draft="epsilon = 0.1    # decide: the default price of one query",
        ),
        Key(
            "max_epsilon",
            Own(float, "a number above zero, at most the budget's", "toml._query"),
            "The most that one query may cost.",
            otherwise="the whole budget",
            unrelated=_PRICE,
            original="prices",
            remark="the most that one may cost",
            draft="max_epsilon = 0.5    # decide: the highest price of one query",
        ),
        Key(
            "min_epsilon",
            Own(float, "a number above zero, at most `epsilon`", "toml._query"),
            "The least that one query costs, for each is kept in the ledger for good.",
            default=None,
            otherwise="a millionth of the budget",
            unrelated=_PRICE,
            later="least",
            remark="the least that one may cost",
        ),
        Key(
            "find_bounds",
            Flag(),
            "Whether a query may find privately the ranges and `rows_per_unit` that the policy leaves out.",
            default=True,
            original="query",
            remark="what is left out below is not found privately",
        ),
        Key(
            "min_units",
            Whole(MOST_ROWS),
            "Groups of so many units or fewer appear with a chance of delta at most, but for listed keys.",
            default=1,
            original="query",
            remark="smaller groups are hidden, unless their keys are listed",
            draft="# min_units = 10    # decide: hide groups of fewer units, whose keys no list declares",
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
            "How long planning one query may take, and post-processing what it released again.",
            default=10.0,
            unrelated=_ABOVE,
            original="limits",
        ),
        Key(
            "memory",
            Size(LEAST_MEMORY, MOST_MEMORY),
            "What planning, post-processing and the rows of an answer may need of memory.",
            default=512 * 2**20,
            unrelated=_ABOVE,
            original="limits",
        ),
        Key(
            "rows",
            Own(int, f"a whole number from 1 to {MOST_ANSWER:,}", "limits._rows"),
            "How many rows an answer may have.",
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
            "What this analyst may spend of the budget.",
            needed="epsilon is what this analyst may spend",
            unrelated=_SPENDING,
            original="analysts",
            draft="# epsilon = 0.5",
        ),
        Key(
            "megabytes",
            Number(),
            "How much of the ledger this analyst's queries and answers may fill.",
            default=100.0,
            unrelated="it says how much may be kept",
            later="megabytes",
            remark="of the ledger, at most",
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
            "What one of those who are protected is called.",
            default="unit",
            original="unit",
            always=True,
        ),
        Key(
            "table",
            Text(),
            "The table that has a row for each unit.",
            needed="table is the one that has a row for each unit",
            original=PATHS,
        ),
        Key(
            "key",
            Text(),
            "The column of that table that holds each unit once.",
            needed="key is the column that holds each unit once",
            original=PATHS,
        ),
        Key(
            "about",
            Whole(MOST_UNITS),
            "How many units there are, roughly: then a price at which nothing can be found is told sooner.",
            default=None,
            otherwise="unknown",
            unrelated="it only helps to refuse prices that are too small",
            later="about",
            remark="so many there are, roughly",
        ),
    ),
)

UNIT_PATH = Keys(
    "unit = { }",
    "UnitPath",
    (
        Key(
            "column",
            Text(),
            "The column that holds the unit, or that leads to a table that does.",
            needed='unit = { column = "..." }, and references = "table.key" along a foreign key',
            original=PATHS,
        ),
        Key(
            "references",
            Reference('a table and its key, `"orders.order_id"`', "toml._reference"),
            "Where `column` leads.",
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
            "Where values are cut off before they are summed.",
            default=None,
            otherwise="found privately, where a query needs it",
            original="columns",
        ),
        Key(
            "values",
            Values("a list of texts, numbers, booleans or dates", "columns._values"),
            "The values that are public: each is a group of its own, however few units are in it.",
            default=None,
            otherwise="groups appear when enough units are in them",
            original="columns",
        ),
        Key(
            "type",
            Own(str, 'a type, such as `"INTEGER"`', "files.read_type"),
            "What a csv file's text is read as; a value that does not fit it is NULL.",
            default=None,
            otherwise="the database or the parquet file says it",
            later="types",
        ),
    ),
)

CSV = Keys(
    "csv = { }",
    "CsvRule",
    (
        Key(
            "delim",
            Own(str, "one mark", "files._delim"),
            "What stands between two fields.",
            default=",",
            original="csv",
        ),
        Key(
            "quote",
            Own(str, 'one mark, or `""` for none', "files._quote"),
            "What stands around a text that holds other marks.",
            default='"',
            otherwise="double quotes",
            original="csv",
        ),
        Key(
            "header",
            Flag(),
            "Whether the first line names the columns; else the policy lists all, in the file's order.",
            default=True,
            original="csv",
        ),
        Key(
            "nullstr",
            Text(),
            "What stands for NULL, besides nothing at all.",
            default="",
            original="csv",
        ),
        Key(
            "dateformat",
            Own(str, 'a format, such as `"%d.%m.%Y"`', "files._dateformat"),
            "How dates are written.",
            default="",
            otherwise="as 2024-12-31",
            original="csv",
        ),
        Key(
            "decimal",
            Own(str, '`"."` or `","`', "files._decimal"),
            "What stands before the fraction of a number.",
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
            "Whether its rows belong to nobody, and everybody may see all of it.",
            default=False,
            original="public",
        ),
        Key(
            "key",
            Names("a column's name, or a list of them", "toml._key"),
            "Columns on which no two rows agree; checked on the data where the database does not enforce it.",
            default=(),
            otherwise="none is relied on",
            original="key",
        ),
        Key(
            "unit",
            Below(UNIT_PATH),
            "Whose a private table's rows are.",
            default=None,
            otherwise="for public tables and the unit's own",
        ),
        Key(
            "rows_per_unit",
            Whole(MOST_ROWS),
            "Where clipping the rows of one unit starts; no promise about the data.",
            default=None,
            otherwise="found privately, where a query needs it",
            original="rows",
            remark="where the clipping of one unit's rows starts",
            draft="rows_per_unit = 10    # decide: where the clipping of one unit's rows starts ({unit})",
        ),
        Key(
            "columns",
            Below(COLUMN),
            "The columns that exist for analysts, besides keys and those that lead to the unit.",
            default=(),
            otherwise="no others; of a public table, all",
        ),
        Key(
            "files",
            Own(str, 'a pattern from the data\'s folder, `"visits/*.parquet"`', "files.read_files"),
            "Which files are the table.",
            default="",
            otherwise="the file that is called like the table",
            later="files",
        ),
        Key(
            "csv",
            Below(CSV),
            "How the lines of its csv files are written.",
            default=None,
            otherwise='as `17,"Smith, Ann",2024-02-29` below a line of names',
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
            needed="[budget] holds epsilon and delta: what all analysts together may spend",
            remark="of all analysts together, for good",
        ),
        Key("query", Below(QUERY), "What one query may cost and show."),
        Key(
            "limits",
            Below(LIMITS),
            "What planning, post-processing and answers may use.",
            remark="of planning, post-processing and answers",
        ),
        Key("analysts", Below(ANALYST), "A cap for each analyst, where there is to be one.", default=()),
        Key(
            "unit",
            Below(UNIT),
            "Whom the promise protects.",
            needed="[unit] says whom the promise protects: name, table and key",
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
            "In which a day begins, and times with an offset are read; it stands above all sections.",
            default="UTC",
            original="timezone",
        ),
    ),
)

SECTIONS = (TOP, BUDGET, QUERY, LIMITS, ANALYST, UNIT, TABLE, UNIT_PATH, COLUMN, CSV, VIEW)
"""In the order of the documentation."""

"""Plans as text for digests: the same text for the same plan in every version of this program.

    Ref("age")                     Ref(name='age')
    Materialized(columns, rows)    Given(columns=(...), rows=(...), keys=())

The digest of this text is the ledger's key of a plan. So the tags of classes, fields and members stay as they
were first written, whatever their names in the code: a renaming changes nothing here. Details bring their own
(``Detail.written``). Fields that are not listed change no digest: spans of the query's text, and who declared
a range. A type that is not listed raises TypeError.
"""

from __future__ import annotations

import datetime
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from itertools import chain

from dpsql.ir.column import Anything, Categories, Column, Fact, Interval, Kind, Listed, Sized, Type
from dpsql.ir.detail import Detail
from dpsql.ir.event import (
    AlertEvent,
    ChoiceEvent,
    GaussianEvent,
    GeometricEvent,
    LaplaceEvent,
    ResponseEvent,
    ThresholdEvent,
)
from dpsql.ir.export import Design, Question
from dpsql.ir.grid import End, Grid, Spacing
from dpsql.ir.measure import Finish, Line
from dpsql.ir.model import Fit, Model, Term
from dpsql.ir.options import Option
from dpsql.ir.plan import DetailPlan, Noise, Norm, PublicKeys, Runs, Shape, Threshold
from dpsql.ir.relation import (
    Aggregate,
    AggregateCall,
    Filter,
    Join,
    JoinKind,
    Link,
    Materialized,
    Named,
    OrderedCall,
    Ordering,
    Owner,
    Project,
    Scan,
    ScanColumn,
    StageInput,
    Union,
    Window,
    WindowCall,
)
from dpsql.ir.scalar import Call, Literal, Ref
from dpsql.ir.statistic import Axis, Part, Statistic
from dpsql.ir.synthetic import SyntheticPlan, SyntheticRows

_TAGS: dict[type, tuple[str, str]] = {
    Aggregate: ("Aggregate", "input keys aggregates"),
    AggregateCall: ("AggregateCall", "name function argument distinct condition others"),
    AlertEvent: ("AlertEvent", "epsilon"),
    Anything: ("Anything", ""),
    Axis: ("Axis", "argument low high"),
    Call: ("Call", "function arguments type"),
    Categories: ("Categories", "values"),
    ChoiceEvent: ("ChoiceEvent", "epsilon"),
    Column: ("Column", "name fact"),
    Design: ("Design", "size marks other"),
    DetailPlan: ("PlannedDetail", "detail rows sensitivity events noise epsilon choices blocks"),
    Fact: ("Fact", "type domain nullable"),
    Filter: ("Filter", "input condition"),
    Finish: ("Finish", "call statistics type places"),
    GaussianEvent: ("GaussianEvent", "sensitivity scale epsilon delta"),
    GeometricEvent: ("GeometricEvent", "sensitivity scale"),
    Grid: ("Grid", "spacing low high size unit step"),
    Interval: ("Interval", "low high"),
    Join: ("Join", "kind left right condition unit"),
    LaplaceEvent: ("LaplaceEvent", "sensitivity scale"),
    Line: ("Line", "slope offset"),
    Link: ("Link", "column table key"),
    Listed: ("Listed", "table column bounds"),
    Literal: ("Literal", "value type"),
    Materialized: ("Given", "columns rows keys"),
    Model: ("Model", "fit terms sums"),
    Named: ("Named", "name scalar"),
    Noise: ("Noise", "mechanism norm sensitivity scale event"),
    Option: ("Option", "name value"),
    OrderedCall: ("OrderedCall", "name function argument distinct condition others order"),
    Ordering: ("Ordering", "scalar descending nulls_first"),
    Owner: ("Owner", "name fact column links rows at_most filled widened"),
    Project: ("Project", "input columns"),
    PublicKeys: ("PublicKeys", "domains sets"),
    Question: ("Question", "name scalar type values otherwise epsilon design"),
    Ref: ("Ref", "name"),
    ResponseEvent: ("ResponseEvent", "epsilon"),
    Runs: ("Runs", "branching groups clip column unit"),
    Scan: ("Scan", "table columns keys owner size"),
    ScanColumn: ("ScanColumn", "name source fact"),
    StageInput: ("Awaited", "name columns keys size"),
    Sized: ("Sized", "most exact"),
    Statistic: ("Statistic", "part argument condition step most low high offset other cell"),
    Term: ("Term", "name middle half"),
    Threshold: ("Threshold", "statistic steps units event listed least"),
    SyntheticPlan: ("SyntheticPlan", "method sizes clip step total one_column choices two_columns"),
    SyntheticRows: ("SyntheticRows", "domains plan"),
    ThresholdEvent: ("ThresholdEvent", "delta"),
    Type: ("Type", "kind sql"),
    Union: ("Union", "left right"),
    Window: ("Window", "input call"),
    WindowCall: ("WindowCall", "name function arguments partition order rows condition ignore_nulls"),
}

_MEMBERS: dict[Enum, str] = {
    End.LEAST: "<End.LEAST: 'least'>",
    End.GREATEST: "<End.GREATEST: 'greatest'>",
    Fit.LINEAR: "<Fit.LINEAR: 'linear'>",
    Fit.COVARIANCE: "<Fit.COVARIANCE: 'covariance'>",
    Fit.LOGISTIC: "<Fit.LOGISTIC: 'logistic'>",
    Fit.WEIGHTS: "<Fit.WEIGHTS: 'weights'>",
    Fit.BEGUN: "<Fit.BEGUN: 'begun'>",
    Fit.LENGTH: "<Fit.LENGTH: 'length'>",
    JoinKind.INNER: "<JoinKind.INNER: 'inner'>",
    JoinKind.LEFT: "<JoinKind.LEFT: 'left'>",
    JoinKind.FULL: "<JoinKind.FULL: 'full'>",
    JoinKind.SEMI: "<JoinKind.SEMI: 'semi'>",
    JoinKind.ANTI: "<JoinKind.ANTI: 'anti'>",
    Kind.BOOLEAN: "<Kind.BOOLEAN: 'boolean'>",
    Kind.INTEGER: "<Kind.INTEGER: 'integer'>",
    Kind.DECIMAL: "<Kind.DECIMAL: 'decimal'>",
    Kind.FLOAT: "<Kind.FLOAT: 'float'>",
    Kind.TEXT: "<Kind.TEXT: 'text'>",
    Kind.DATE: "<Kind.DATE: 'date'>",
    Kind.TIMESTAMP: "<Kind.TIMESTAMP: 'timestamp'>",
    Kind.TIMESTAMPTZ: "<Kind.TIMESTAMPTZ: 'timestamp with time zone'>",
    Kind.TIME: "<Kind.TIME: 'time'>",
    Kind.INTERVAL: "<Kind.INTERVAL: 'interval'>",
    Kind.UUID: "<Kind.UUID: 'uuid'>",
    Kind.NULL: "<Kind.NULL: 'null'>",
    Kind.COMPOSITE: "<Kind.COMPOSITE: 'composite'>",
    Kind.OPAQUE: "<Kind.OPAQUE: 'opaque'>",
    Norm.L1: "<Norm.L1: 1>",
    Norm.L2: "<Norm.L2: 2>",
    Part.ROWS: "<Part.ROWS: 'rows'>",
    Part.UNITS: "<Part.UNITS: 'units'>",
    Part.VALUE: "<Part.VALUE: 'value'>",
    Part.REST: "<Part.REST: 'rest'>",
    Part.BERNSTEIN: "<Part.BERNSTEIN: 'bernstein'>",
    Part.LAGRANGE: "<Part.LAGRANGE: 'lagrange'>",
    Shape.ROWS: "<Shape.ROWS: 'one row per unit: one pass'>",
    Shape.UNIT: '<Shape.UNIT: "the unit\'s sums, then one clip">',
    Shape.L1: "<Shape.L1: 'one norm per unit, rows scaled'>",
    Shape.CELLS: "<Shape.CELLS: 'sums per unit and group, then one clip'>",
    Spacing.WHOLE: "<Spacing.WHOLE: 'whole numbers'>",
    Spacing.EVEN: "<Spacing.EVEN: 'even'>",
    Spacing.LOG: "<Spacing.LOG: 'logarithmic'>",
}

_FORMS = {kind: (tag, tuple(fields.split())) for kind, (tag, fields) in _TAGS.items()}

LATER: dict[type, tuple[str, ...]] = {
    PublicKeys: ("tied",),
    Scan: ("checks",),
    Finish: ("line",),
    Statistic: ("digits",),
    Model: ("before", "share", "mean", "short"),
}
"""Fields that were added later: written where they hold something, so that older texts stay."""

_PLAIN = frozenset(
    (type(None), bool, int, float, str, Decimal, Fraction, datetime.date, datetime.datetime)
)  # Python itself defines their repr


def written(value: object) -> str:
    """Return the text of a value of a plan; TypeError for a type that is not listed."""
    kind = type(value)
    if kind in _PLAIN:
        return repr(value)
    if kind is tuple:
        assert isinstance(value, tuple)
        kinds = {*map(type, value)}
        if kinds == {tuple}:  # rows
            kinds = {*map(type, chain.from_iterable(value))}
        if kinds <= _PLAIN:
            return repr(value)
        items = ", ".join(map(written, value))
        return f"({items},)" if len(value) == 1 else f"({items})"
    if isinstance(value, Enum):
        return _MEMBERS[value]
    if isinstance(value, Detail):
        tag, *fields = value.written.split()
        names = tuple(fields)
    elif kind in _FORMS:
        tag, names = _FORMS[kind]
    else:
        raise TypeError(f"{kind.__name__} has no written form")
    names += tuple(name for name in LATER.get(kind, ()) if _holds_something(getattr(value, name)))
    return f"{tag}({', '.join([f'{name}={written(getattr(value, name))}' for name in names])})"


def _holds_something(value: object) -> bool:
    """Whether a later field has another value than its default; 0 is one."""
    return value is not None and value is not False and value != ()

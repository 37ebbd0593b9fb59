"""Two lists decide whether an answer is a repeat: every field is on them, or left out with the reason.

Of plans the reasons stand here, of policies in the table of their keys.
A field is on a list where the digest follows it: with something else in its place, the digest is another,
or cannot be made. What a field holds is looked at where the field itself is on the list.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, get_args, get_type_hints

import pytest
from every_key import EVERY_KEY

import dpsql
from dpsql import details
from dpsql.audit import plan_of
from dpsql.ir import (
    column,
    detail,
    event,
    export,
    grid,
    measure,
    plan,
    relation,
    scalar,
    statistic,
    synthetic,
)
from dpsql.plan import written_form
from dpsql.plan.digest import digest_of
from dpsql.plan.terms import Terms
from dpsql.policy.model import Policy, digest, version
from dpsql.policy.toml_keys import TOP, Below, Keys
from dpsql.session.checks import parse_policy
from dpsql.shelf import modules

Digest = Callable[[Any], str]

DETAILS = [
    each
    for each in modules("dpsql.details", details.__path__)
    if each.__name__.rpartition(".")[2] == "detail"
]
"""The modules of the details' classes."""


class Other:
    """Something else than whatever stood there."""

    def __repr__(self) -> str:
        return "something else"


def with_(value: Any, name: str, field: Any) -> Any:
    """A copy that no check of its class has seen."""
    made = copy.copy(value)
    object.__setattr__(made, name, field)
    if isinstance(made, plan.PublicKeys) and name != "_listed":
        object.__setattr__(made, "_listed", None)  # as ``replace`` leaves it
    return made


def followed(value: Any, digest: Digest) -> Iterator[tuple[str, bool]]:
    """Every field below a value, Class.field, and whether the digest follows it there."""
    if isinstance(value, tuple):
        for i, element in enumerate(value):
            yield from followed(element, lambda made, i=i: digest((*value[:i], made, *value[i + 1 :])))  # type: ignore[misc]  # i is bound now
    elif dataclasses.is_dataclass(value) and not isinstance(value, type):
        for field in dataclasses.fields(value):
            follows = _follows(value, field.name, digest)
            yield f"{type(value).__name__}.{field.name}", follows
            if follows:
                yield from followed(
                    getattr(value, field.name),
                    lambda made, name=field.name: digest(with_(value, name, made)),  # type: ignore[misc]  # bound now
                )


def _follows(value: Any, name: str, digest: Digest) -> bool:
    try:
        return digest(with_(value, name, Other())) != digest(value)
    except (TypeError, AttributeError):  # it is read, and is not what is read
        return True


PLANS_LEAVE_OUT = {
    "Applied.gram": "computed from all that is asked, which is named",
    "Dense.matrix": "found for what is asked, and filed; its norm is declared",
    "Fact.order": "of columns that conditions and checks compare, which the relation holds",
    "Join.added": "who wrote a part of the condition",
    "PublicKeys._listed": "computed from the lists",
    "PublicKeys._sizes": "computed from the lists",
    "Measure.added_up": "in the SQL above",
    "Measure.aggregates": "finishes and details are made of them",
    "Measure.fitted": "the clip that was chosen is in the noise's sensitivity",
    "Link.filled": "whether the database keeps NULL out, or the SQL does",
    "MeasurePlan.fitted": "in the noise's sensitivity",
    "Measure.clip": "the clip is in the noise's sensitivity; this is the place where it was written",
    "Measure.derived": "what margins are simulated from, and sums of runs, which the plan holds as runs",
    "Measure.details": "the planned details hold them",
    "Measure.families": "made of the statistics, in whose sensitivity they show",
    "Measure.intervals": "whether margins stand beside the numbers",
    "Measure.lists": "the key rule holds them",
    "Measure.model": "computed from released numbers; what is handed down has it",
    "Measure.posteriors": "computed from released numbers, with the law of their noise",
    "Measure.non_negative": "done with released numbers",
    "Measure.pairs": "the key rule lists their groups",
    "Measure.name": "a number of the query's own; what is handed down has it in the stage's SQL",
    "Measure.running": "the plan holds them as runs",
    "Measure.sets": "the relation copies rows for them, and the key rule lists them",
    "Measure.titles": "what columns are called",
    "Measure.units": "a place in the statistics, which the key rule reads",
    "Measure.view": "in the strategy that is applied to it",
    "Measure.weights": "they make the steps of the statistics",
    "MeasurePlan.groups": "in the noise's sensitivity",
    "MeasurePlan.keys": "the measure's keys, with their facts",
    "Measure.counted": "which released numbers show a group of NULL",
    "MeasurePlan.once": "in the noise's sensitivity",
    "MeasurePlan.rests_on_noise": "whether a margin can be told",
    "MeasurePlan.rows": "in the noise's sensitivity",
    "MeasurePlan.rows_from": "a sentence for people",
    "Named.known": "the ranges that follow from it are in the statistics and the keys",
    "Scan.most": "in the noise's sensitivity",
    "Scan.tied": "the conditions of joins have the units beside them",
    "ScanColumn.guessed": "whose word the fact is",
}
"""And every span: where something was written."""

LAST_STAGES_LEAVE_OUT = {
    "Measure.other": "only what is handed down has the row of other groups by then",
    "StagePlan.post": "what is done with released tables changes nothing of what is measured",
    "Post.adds_up": "in the SQL",
    "Post.columns": "their names",
    "Post.margins": "what is shown beside them",
    "Post.plain": "how the same rows are fetched",
    "Post.released": "in the SQL",
    "Post.replicated": "margins are computed from what is released",
    "Post.tables": "in the SQL",
    "Post.totals": "which keys are told from NULL",
    "Post.without": "which numbers have no margin",
}

WORDS = {"Policy.name": "the file's name", "Policy.text": "the file's text: its spacing and its comments"}
"""And every line: where something is written."""

QUERIES = (
    "SELECT ward, COUNT(*), AVG(age), MEDIAN(age), MODE(ward) FROM patients GROUP BY ward",
    "SELECT city, COUNT(*), COUNT(DISTINCT kind) FROM patients JOIN visits USING (patient_id) "
    "WHERE age > 3 GROUP BY city",
    "SELECT ward, smoker, COUNT(*), GROUPING(ward) FROM patients GROUP BY ROLLUP (ward, smoker)",
    "SELECT COUNT(*) FROM patients WHERE age > (SELECT AVG(age) FROM patients)",
    "SELECT COUNT(DISTINCT cost), SUM(cost) FILTER (WHERE minutes > 3) FROM visits",
    "SELECT OPTIONS(other_group = 'others') city, COUNT(*) FROM patients GROUP BY city",
    "SELECT CORR(cost, minutes), VAR_POP(cost) FROM visits",
    "SELECT SUM(age), SUM(age + 1) FROM patients",
    "SELECT age // 1 AS years, SUM(COUNT(*)) OVER (ORDER BY age // 1) AS younger FROM patients GROUP BY 1",
    "SELECT AVG(n) FROM (SELECT patient_id, LEAST(GREATEST(SUM(cost), 0), 9) AS n FROM visits GROUP BY 1)",
    "SELECT COUNT(*) FROM (SELECT patient_id FROM visits UNION ALL SELECT patient_id FROM patients)",
    "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY cost) AS r "
    "FROM visits) WHERE r = 1",
    "SELECT COUNT(*) FROM drugs",
    "SELECT SUM(score) FROM patients",
    "SELECT DP_SAMPLE(skewness(age), -5, 5) AS skewness FROM patients",
    "SELECT COUNT(*) FROM (SELECT ARG_MIN(kind, cost) AS k FROM visits GROUP BY patient_id) "
    "WHERE k = 'surgery'",
    "CREATE PRIVATE VIEW v WITH (method = 'mst') AS SELECT ward, smoker, age FROM patients",
)

DIGESTS = (
    "e8fa5cd1 ebdabddf cc4fbf29 a7c85a8a 994bb201 c4febd5e 67e9362b 59f10d9b "
    "e446db8b 1237abbf 7bb72cae e70072f4 78785d48 c7be64cd 870c4897 48bb69ae 5342fd39"
).split()


def left_out(found: Iterator[tuple[str, bool]], words: str) -> set[str]:
    return {name for name, follows in found if not follows and not name.endswith(words)}


def test_the_digest_of_a_plan_follows_all_that_is_measured(db: dpsql.Connection) -> None:
    session = db._open()
    terms = Terms(session.accountant, session.budget, 1.0)
    out, seen = set[str](), set[str]()
    for sql in QUERIES:
        made = plan_of(session, sql, 1.0)
        for stages in (made.stages, *(() if made.first is None else (made.first.plan.stages,))):
            found = list(followed(stages, lambda made: digest_of(made, terms)))
            seen |= {name for name, _ in found}
            out |= left_out(iter(found), ".span")
    assert out == {*PLANS_LEAVE_OUT, *LAST_STAGES_LEAVE_OUT}
    kinds = {
        kind.__name__
        for module in (plan, measure, detail, *DETAILS, statistic, relation, scalar, grid, synthetic)
        for kind in vars(module).values()
        if dataclasses.is_dataclass(kind) and kind.__module__ == module.__name__
    }
    assert kinds - {name.partition(".")[0] for name in seen} == {
        *("KeyList", "KeyPairs", "PublicColumn", "Family", "Replicated"),  # of fields that are left out
        *("Plan", "BoundSearchPlan", "Split", "Stage"),  # what plans are made of, and what holds a digest
        "AlertQuestion",  # it has a digest of its own, beside that of the alert
        "BoughtView",  # where the answer to a digest is
    }


def test_the_digest_of_a_plan_follows_its_terms(db: dpsql.Connection) -> None:
    session = db._open()
    stages = plan_of(session, QUERIES[0], 1.0).stages
    terms = Terms(session.accountant, session.budget, 1.0)
    out = {
        f.name
        for f in dataclasses.fields(terms)
        if not _follows(terms, f.name, lambda t: digest_of(stages, t))
    }
    # what the price buys, which the noise says; a plan without a search is not paid for
    assert out == {"budget", "given", "strategies", "searched"}


def test_a_digest_is_the_same_in_every_version(db: dpsql.Connection) -> None:
    """Ledgers know by it what was paid for: whatever the code calls things, these stay."""
    session = db._open()
    assert [plan_of(session, sql, 1.0).digest[:8] for sql in QUERIES] == DIGESTS


def written_details() -> set[type[detail.Detail]]:
    found = (each for module in (detail, *DETAILS) for each in vars(module).values())
    return {each for each in found if isinstance(each, type) and issubclass(each, detail.Detail)} - {
        detail.Detail
    }


def written_classes() -> Iterator[type]:
    """Every class that a digest can meet, by the types of its fields."""
    hints = get_type_hints(measure.Measure)
    left = [hints[name] for name in ("relation", "keys", "statistics", "finishes", "other", "model")]
    left += [plan.KeyRule, plan.Shape, plan.Noise, plan.DetailPlan, plan.Runs, relation.StageInput]
    left += [event.Event, export.Question, relation.OrderedCall, *written_details()]
    seen = set()
    while left:
        kind = left.pop()
        if isinstance(kind, type) and (dataclasses.is_dataclass(kind) or issubclass(kind, Enum)):
            if kind not in seen:
                seen.add(kind)
                yield kind
                named = get_type_hints(kind) if dataclasses.is_dataclass(kind) else {}
                left += (
                    [named[field.name] for field in dataclasses.fields(kind) if field.repr] if named else []
                )
        else:
            left += get_args(kind)


def test_all_that_a_digest_can_meet_has_a_written_form() -> None:
    """And every field of it, but for those that no text of it shows."""
    kinds = set(written_classes())
    classes = {kind for kind in kinds if dataclasses.is_dataclass(kind)}
    assert {relation.Materialized, export.Design, column.Listed} <= classes
    forms = written_form._FORMS | {
        each: (tag, tuple(fields)) for each in written_details() for tag, *fields in [each.written.split()]
    }
    assert len(forms) == len(written_form._FORMS) + len(written_details())
    assert {kind: (*fields, *written_form.LATER.get(kind, ())) for kind, (_, fields) in forms.items()} == {
        kind: tuple(field.name for field in dataclasses.fields(kind) if field.repr) for kind in classes
    }
    assert set(written_form._MEMBERS) == {member for kind in kinds - classes for member in kind}  # type: ignore[attr-defined]  # enums
    tags = [*written_form._MEMBERS.values(), *(tag for tag, _ in forms.values())]
    assert len(set(tags)) == len(tags)


def test_what_has_no_written_form_is_no_part_of_a_plan() -> None:
    with pytest.raises(TypeError, match="set has no written form"):
        written_form.written((1, {2}))


@pytest.fixture(scope="module")
def policy() -> Policy:
    """One that says everything that a policy may say."""
    return parse_policy(EVERY_KEY, "policy.toml")


def unrelated(keys: Keys) -> Iterator[str]:
    """Fields on which no answer rests, by the table of keys; a section where it says so of all in it."""
    for key in keys.keys:
        if not key.rests:
            yield f"{keys.rule}.{key.name}"
        elif isinstance(key.kind, Below):
            yield from unrelated(key.kind.keys)


def test_answers_rest_on_all_that_a_policy_says_of_data(policy: Policy) -> None:
    assert left_out(followed(policy, version), ".line") == {*unrelated(TOP), *WORDS}


def test_a_policy_is_known_by_all_that_it_says(policy: Policy) -> None:
    assert left_out(followed(policy, digest), ".line") == {*WORDS}

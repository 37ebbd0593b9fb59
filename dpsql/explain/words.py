"""The facts of an explanation as lines of text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsql.aggregates import shelf
from dpsql.detail_kinds import part
from dpsql.plan.measure_facts import KEYS_ALONE
from dpsql.render.english import one

RESTS_ON_NOISE = "no margin: the noise of what is released before it moves it too, nobody knows how far"


def words(facts: dict[str, Any], unit: str) -> str:
    price = facts["price"]
    most = "at most " if facts["steps"] else ""
    line = f"price     {most}epsilon {price:g} under {facts['accountant']}"
    lines = [line if price else "price     nothing"]
    if facts["pays_in"] is not None:
        lines.append(f"pays in   {facts['pays_in']}")
    lines += [f"found     {bound['words']}" for bound in facts["found"]]
    if facts["first"] is not None:
        lines += [f"first     {facts['first']['words']}", *(_indented(sql) for sql in facts["first"]["sql"])]
    if facts["alert"] is not None:
        return "\n".join([*lines, *facts["alert"]["words"]])
    if facts["within"] is not None:
        lines.append(f"within    {facts['within']}")
    for doubt in facts["doubts"]:
        refused = ": it would show nothing, and is refused (D511)" if doubt["nothing"] else ""
        lines.append(f"doubt     {doubt['words']}{refused}")
    for number, stage in enumerate(facts["stages"], 1):
        again = [measure for measure in stage["measures"] if _is_another_step(measure)]
        for measure in again:
            lines.append(f"release   {measure['name']} (stage {number}): as before, with noise of its own")
        if again:
            continue
        for measure in stage["measures"]:
            lines += _measure_words(number, measure, unit)
        lines += [
            f"post      stage {number}, over released and public tables only:",
            _indented(stage["post"]),
        ]
    return "\n".join(lines)


def _is_another_step(measure: Mapping[str, Any]) -> bool:
    """Whether this is a step of a logistic fit that only differs from the one before in its weights."""
    model = measure["model"]
    return model is not None and model["fit"] == "weights" and model["step"] > 2


def _measure_words(number: int, measure: dict[str, Any], unit: str) -> list[str]:
    rows = measure["rows_per_unit"]
    lines = [
        f"release   {measure['name']} (stage {number})",
        f"  keys        {', '.join(measure['keys']) or 'none'}; {measure['key_rule']['words']}",
    ]
    if measure["key_rule"].get("public_if"):
        lines.append(f"  public if   {'; '.join(measure['key_rule']['public_if'])}")
    if measure["statistics"]:
        lines.append(f"  bounded by  {measure['bounded_by']}")
    if measure["rows_per_unit_from"] == KEYS_ALONE:
        lines.append(f"  votes       {one(unit)} has one vote, spread over the groups that it is in")
    elif measure["fitted"] is not None:
        fitted = measure["fitted"]
        many = (
            "the clip that is chosen first"
            if isinstance(fitted, str)
            else f"{fitted:,.3g} times the most of one row"
        )
        lines.append(
            f"  clip bias   {one(unit)} that adds more than {many} is scaled down; margins do not show it"
        )
    elif measure["statistics"] and measure["once_in_a_group"] and not measure["rows_per_unit_from"]:
        lines.append(f"  counts      {one(unit)} counts once in a group, in full in all groups")
    elif measure["statistics"] and measure["rows_proved"] is None:
        counted = "groups" if measure["once_in_a_group"] else "rows"
        many = f"more than about {rows} {counted}" if rows else "more rows than are found first"
        lines.append(
            f"  clip bias   {one(unit)} with {many} is scaled down; margins do not show it "
            f"({measure['rows_per_unit_from']})"
        )
    if measure["multiplied"]:
        lines.append(f"  many rows   {measure['multiplied']}")
    if measure["weights"] and measure["model"] is None:
        lines.append(
            f"  weights     {', '.join(f'{weight:g}' for weight in measure['weights'])}, from the query"
        )
    for tie in measure["ties"]:
        lines.append(f"  joined      by {tie}, only within one {unit}: rows of two {unit}s do not meet")
    for most in measure["items_of_lists"]:
        lines.append(f"  lists       the first {most} items of a list count; margins do not show the others")
    for declaration in measure["relies_on"]:
        lines.append(f"  relies on   {declaration} (declared, and verified for this version of the data)")
    if measure["statistics"]:
        lines.append(
            f"  noise       {measure['mechanism']}, scale {measure['scale_in_steps']:.6g} grid steps for a "
            f"sensitivity of {measure['sensitivity']['steps']:,} steps in {measure['sensitivity']['norm']}"
        )
    if measure["runs"] is not None:
        lines.append(f"  instead     {measure['runs']}")
    if measure["model"] is not None:
        lines.append(f"  model       {_model_words(measure['model'], measure['columns'])}")
    for column in measure["columns"] if measure["model"] is None else ():
        lines.append(f"  {column['aggregate']:<10}  {_column_words(column, unit)}")
        if "tighter" in column:
            lines.append(f"  tighter     {_tighter_words(**column['tighter'])}")
    lines += ["  sql", _indented(measure["sql"], 4)] if measure["sql"] else ["  reads no private row"]
    return lines


def _model_words(model: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> str:
    """Return words on a fit, and on the noise of the sums that it is made of."""
    *terms, last = model["terms"]
    if model["fit"] in ("weights", "logistic"):
        return _step_words(model, columns)
    if model["fit"] in ("begun", "length") or model["step"] > 1:
        return _linear_step_words(model, columns)
    linear = model["fit"] == "linear"
    listed = ", ".join(terms if linear else model["terms"][1:])
    errors = [column["expected_error"] for column in columns if "expected_error" in column]
    words = f"least squares of {last} on {listed}" if linear else f"covariances of {listed}"
    words += f": computed from {model['sums']} sums of products of these, each on [-1, 1]"
    if errors:
        words += f"; a sum is expected within ± {max(errors):.4g}"
        words += f", with {last} ± {min(errors):.4g} (95 %)" if linear else " (95 %)"
    return words


def _step_words(model: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> str:
    """Return words on a step of a logistic fit."""
    *terms, last = model["terms"]
    step, many = model["step"], f"{model['sums']} sums"
    if model["fit"] == "logistic":
        said = (
            f"the last of {step} steps of the logistic fit: the curvature at the mean of the weights, {many} "
            "of products on [-1/4, 1/4]; coefficients and margins are computed from what all steps released"
        )
    elif step == 1:
        said = (
            f"logistic fit of {last} on {', '.join(terms)}, step 1: {many} of products of these, on [-1, 1]"
        )
    else:
        said = (
            f"step {step}: the gradient, {many} of terms times (chance - {last}), at the weights that the "
            "step before gave"
        )
    errors = [column["expected_error"] for column in columns if "expected_error" in column]
    return f"{said}; a sum is expected within ± {max(errors):.4g} (95 %)" if errors else said


def _linear_step_words(model: Mapping[str, Any], columns: Sequence[Mapping[str, Any]]) -> str:
    """Return words on one of the three releases of a linear fit."""
    *terms, last = model["terms"]
    many = f"{model['sums']} sums"
    said = {
        "begun": f"least squares of {last} on {', '.join(terms)}, step 1: {many} of products of these, each "
        "on [-1, 1]",
        "length": f"step 2: how many rows are how long, by the terms times ({last} - what step 1 predicts): "
        f"{model['sums']} counts",
        "linear": f"the last of {model['step']} steps of the linear fit: {many} of terms times ({last} - "
        "what step 1 predicts), in parts of a length that few rows exceed, to which all are cut; "
        "coefficients and margins are computed from what all steps released",
    }[model["fit"]]
    errors = [column["expected_error"] for column in columns if "expected_error" in column]
    if model["fit"] == "linear" and errors:
        return f"{said}; a sum is expected within ± {max(errors):.4g} times that length (95 %)"
    return f"{said}; a sum is expected within ± {max(errors):.4g} (95 %)" if errors else said


def _column_words(column: dict[str, Any], unit: str) -> str:
    parts = [f"{column['name']} {column['type']}"]
    if column.get("open"):
        return f"{parts[0]}; how exactly depends on what is found first"
    kind = shelf()[column["aggregate"]].detail
    if kind:
        return "; ".join([*parts, *part("explain", kind).words(column, unit)])
    if column.get("cells", 1) > 1:
        parts.append(f"the sum of {column['cells']} cells that share no row")
    if "bounds" in column:
        ends = column["bounds"]
        ranges = " and ".join(f"[{low:g}, {high:g}]" for low, high in zip(ends[::2], ends[1::2], strict=True))
        parts.append(f"values clamped to {ranges} from {', '.join(column['bounds_from']) or 'the query'}")
    if column.get("clipped_by_rows"):
        parts.append("a value beyond that end counts as the end, and margins do not show it")
    if column.get("clamped_lifts"):
        parts.append("CLAMPED BETWEEN sets another end, for more noise")
    return "; ".join([*parts, *noise_words(column)])


def _tighter_words(of: str, instead: str, factor: float) -> str:
    times = f"{factor:.2g}" if factor < 100 else f"{factor:,.0f}"
    never = " ".join(of.split())
    return f"{instead} has {times} times less noise, and means the same if {never} is never below 0"


def noise_words(column: Mapping[str, Any]) -> list[str]:
    """Return words on the noise of a column and its expected error."""
    parts = [column["mechanism"]] if "mechanism" in column else []
    parts.append(f"sensitivity {column['sensitivity']:.6g}, scale {column['scale']:.6g}")
    if "rests_on_noise" in column:
        parts.append(RESTS_ON_NOISE)
    elif "synthetic" in column:
        parts.append("no margin: rows are fitted to noisy marginals")
    elif "expected_error" in column:
        parts.append(f"expected within ± {column['expected_error']:.4g} (95 %)")
    elif "expected_error_at_1000_rows" in column:
        parts.append(f"expected within ± {column['expected_error_at_1000_rows']:.4g} (95 %) over 1,000 rows")
    else:
        parts.append("no margin over 1,000 rows: the noise is too large")
    if "expected_error_of_totals" in column:
        parts.append(f"running totals within ± {column['expected_error_of_totals']:.4g}")
    return parts


def _indented(sql: str, by: int = 2) -> str:
    return " " * by + sql

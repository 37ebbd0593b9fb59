"""Split -> Plan: what exactly is released, with which noise, at what price.

For each measure: how a unit's vector is clipped (``Shape``), the norm and mechanism with the smaller
expected error under the policy's accountant, and the key rule. Nothing here reads private data: plans,
prices and refusals depend on the query, the policy and the public tables only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias

from dpsql.detail_kinds import part
from dpsql.errors import Error, refuse
from dpsql.ir.bound import Bound, MissingClip, NeededBounds
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.measure import Measure, Split
from dpsql.ir.model import Fit
from dpsql.ir.plan import MeasurePlan, Norm, Plan, PublicKeys, Runs, StagePlan, Threshold
from dpsql.ir.statistic import CELLS, Part
from dpsql.mechanisms import mechanism, prefix
from dpsql.once_each import once_each
from dpsql.plan import joint, private_view
from dpsql.plan.clip_search import assumed, fitted_in, missing_clip
from dpsql.plan.clips import Clip, clips_of
from dpsql.plan.delta_ceiling import check_delta
from dpsql.plan.digest import digest_of
from dpsql.plan.key_rule import rule_of
from dpsql.plan.measure_facts import KEYS_ALONE, MeasureFacts, measure_facts_of
from dpsql.plan.noise_choice import LARGEST_SCALE, deviation, noise_of, noise_with
from dpsql.plan.public_groups import Combinations
from dpsql.plan.running_totals import CHOICES, asked_of, delivered_unit, plain_variances, running_groups
from dpsql.plan.split_budget import share_of
from dpsql.plan.staged_noise import resting
from dpsql.plan.terms import Terms
from dpsql.plan.unit_weights import weighed
from dpsql.plan.unread_columns import without_unread
from dpsql.policy.catalogue import Known
from dpsql.rewrite.disjoint_cells import candidates, load

_ROUNDS = (Fraction(1, 10), Fraction(9, 10))
"""Shares of the price of two rounds of keys: a first round for common keys is cheap."""


_FactsOf: TypeAlias = Callable[[Measure], MeasureFacts]


def plan(
    split: Split,
    known: Known,
    terms: Terms,
    combinations: Combinations,
    chosen: Mapping[MissingClip, Bound] = MappingProxyType({}),
    together: bool = True,
) -> Plan | NeededBounds:
    """Return the plan: explain prints it, the ledger records its digest, the audit checks it.

    Numbers are measured ``together`` where that makes them more exact, unless each is to have its own noise.

    If bounds are missing, return all of them instead: a plan on stand-in bounds is no plan. ``chosen`` are
    the clips that fit measures.
    """
    measures = [measure for stage in split.stages for measure in stage.measures]

    def facts_of(measure: Measure) -> MeasureFacts:
        share = share_of(measure, measures) * terms.share
        return measure_facts_of(measure, known, terms, share, combinations)

    steps: dict[object, MeasurePlan] = {}

    def planned_once(measure: Measure) -> MeasurePlan:
        """Plan a measure; steps of a fit that only differ in what they read have one plan."""
        if measure.model is None or not measure.model.before:
            return without_unread(_best_of(measure, facts_of, chosen, together))
        same = (measure.relation, measure.aggregates, measure.statistics, measure.model.share)
        if same not in steps:
            steps[same] = without_unread(_best_of(measure, facts_of, chosen, together))
        best = steps[same]
        return replace(best, measure=replace(best.measure, name=measure.name, model=measure.model))

    try:
        needed = _needed(split, [facts_of(measure) for measure in measures])
        if needed:
            return NeededBounds.of_all(needed)
        clips = [_clip_of(measure, facts_of) for measure in measures]
        unknown = [missing for missing in clips if missing is not None and missing not in chosen]
        if unknown:
            refusal = _unfitted(measures, known).within(split.source.text, split.source.name)
            return NeededBounds(tuple(dict.fromkeys(unknown)), refusal)
        stages = resting(
            StagePlan(
                tuple(planned_once(measure) for measure in stage.measures),
                stage.post,
                stage.awaited,
            )
            for stage in split.stages
        )
        if split.delta is not None:
            check_delta(split.delta, stages, terms)
    except Error as error:
        raise error.within(split.source.text, split.source.name) from None
    digest = digest_of(stages, terms)
    free = Plan(split.source, stages, 0.0, terms.accountant.name, digest)
    return replace(free, epsilon=float(Fraction(terms.epsilon) * terms.share)) if free.events else free


def _best_of(
    measure: Measure, facts_of: _FactsOf, chosen: Mapping[MissingClip, Bound], together: bool
) -> MeasurePlan:
    """Return the best plan of a measure: its numbers one by one, or measured together."""
    _check_steps(measure, facts_of)
    if measure.view is not None:
        if measure.view.method is not None:
            from dpsql.plan import synthetic_view

            return synthetic_view.planned(facts_of(measure), measure.view)
        return private_view.planned(facts_of(measure), measure.view)
    best = _best(_options(measure, facts_of, chosen))
    if not together or best.fitted is not None or measure.model is not None:
        return best
    other = joint.joint(facts_of(measure), facts_of)
    if other is None:
        return best
    assert isinstance(other.rule, PublicKeys)
    apart = len(other.rule.groups()) * _variance(best)
    return other if joint.variance(other) < joint.GAIN**2 * apart else best


def _check_steps(measure: Measure, facts_of: _FactsOf) -> None:
    """Refuse a fit in steps without Gaussian noise: the noise of so many numbers, so often, hides all."""
    if measure.model is None or measure.model.fit not in (Fit.WEIGHTS, Fit.LOGISTIC):
        return
    facts = facts_of(measure)
    if facts.bought(facts.share).gaussian is None:
        raise refuse(
            "D304",
            "a logistic fit needs a delta",
            measure.span,
            label=f"accountant = '{facts.terms.accountant.name}' in {facts.known.policy_name} has none",
            help="DP_LINEAR fits a number without one: DP_LINEAR((SELECT CASE WHEN sex = 'F' THEN 1 ELSE 0 "
            "END AS y, ...)); or let the owner choose another accountant",
        )


def _options(measure: Measure, facts_of: _FactsOf, chosen: Mapping[MissingClip, Bound]) -> list[MeasurePlan]:
    """Return the plans of a measure in all its forms; of a measure that is fitted, the only one."""
    if not _may_fit(measure, facts_of):
        return [planned(facts) for candidate in candidates(measure) for facts in weighed(facts_of(candidate))]
    facts, missing = _to_fit(measure, facts_of)
    assert isinstance(missing.detail, ClipSearch)
    return [planned(replace(facts, fitted=fitted_in(chosen[missing], missing.detail.norm)))]


def _clip_of(measure: Measure, facts_of: _FactsOf) -> MissingClip | None:
    """Return the clip that a measure needs, if the query asks for one that fits it."""
    return _to_fit(measure, facts_of)[1] if _may_fit(measure, facts_of) else None


def _may_fit(measure: Measure, facts_of: _FactsOf) -> bool:
    return measure.fitted is not None and facts_of(measure).may_fit()


def _to_fit(measure: Measure, facts_of: _FactsOf) -> tuple[MeasureFacts, MissingClip]:
    """Return the form of a measure that is best for an assumed number of rows, and the clip that it needs."""
    forms = [
        (facts_of(candidate), facts)
        for candidate in candidates(measure)
        for facts in weighed(assumed(facts_of(candidate)))
    ]
    (own, facts), plan = min(
        ((form, planned(form[1])) for form in forms), key=lambda pair: _variance(pair[1])
    )
    facts = replace(facts, rows=own.rows)
    return facts, missing_clip(facts, plan)


def _best(plans: list[MeasurePlan]) -> MeasurePlan:
    return min(plans, key=_variance)


def _unfitted(measures: list[Measure], known: Known) -> Error:
    """Return the refusal of a query whose clip may not be chosen."""
    span = next(measure.fitted.span for measure in measures if measure.fitted is not None)
    return refuse(
        "D302",
        "the clip of this query may not be chosen privately",
        span,
        label=f"find_bounds = false in {known.policy_name}",
        help="say a number: max_rows_contributed = 20",
    )


def _needed(split: Split, all_facts: list[MeasureFacts]) -> list[NeededBounds]:
    """Return the bounds missing in bind and rewrite, and the missing rows per unit where clipping starts."""
    needed = list(split.needed)
    for facts in all_facts:
        if not split.needed:
            _check_shown(facts)
        needed += facts.needed_rows()
    for bounds in needed:
        bounds.refusal.within(split.source.text, split.source.name)
    return needed


def _check_shown(facts: MeasureFacts) -> None:
    """Raise D304 if groups are not public and the accountant has no delta for a threshold."""
    if not facts.public.whole and facts.allowance.laplace_delta is None:
        raise refuse(
            "D304",
            "these groups are not public, and there is no delta to show them with",
            facts.measure.span,
            label="which groups exist depends on the data",
            help="group by a column with declared values, or cut a declared range (age // 10); "
            "or let the owner choose another accountant",
        )


def _variance(planned: MeasurePlan) -> float:
    """Return the noise variance of all numbers together, each relative to what one row adds to it."""
    return float(load(planned.measure)) * deviation(planned.noise) ** 2


def planned(facts: MeasureFacts) -> MeasurePlan:
    """Plan one measure: its vector and its details, each with its noise and its price."""
    return _in_rounds(_in_runs(_in_one_round(facts), facts), facts)


def _in_one_round(facts: MeasureFacts) -> MeasurePlan:
    measure = facts.measure
    clip, noise = noise_of(facts)
    proved, enforced = facts.private_groups(), None
    if not facts.public.whole and proved is None:
        enforced = facts.many_groups()
    rule = rule_of(facts, clip, noise, proved or enforced)
    groups, sums = facts.proved_groups(), facts.scales() and facts.fitted is None
    details = tuple(
        part("plan", detail.kind).planned(
            detail, measure, facts.detail_rows(detail), groups, facts.share, facts.bought
        )
        for detail in measure.details
    )
    return MeasurePlan(
        *(_in_l2(measure) if noise.norm is Norm.L2 else measure, facts.columns, rule, clip.shape, noise),
        *(enforced, *((facts.rows, facts.rows_from) if sums or details else (None, "")), details),
        once=facts.once,
        fitted=None if facts.fitted is None else facts.fitted.steps / facts.fitted.one,
    )


def _in_rounds(single: MeasurePlan, facts: MeasureFacts) -> MeasurePlan:
    """Plan two rounds for keys only, if the second round's threshold is little higher than a single round's.

    Nine tenths of the price give 5 % more noise under zCDP, and 11 % where epsilons add up.
    """
    one_group = facts.private_groups() == 1
    if not facts.keys_alone or one_group or single.measure.sets or facts.rows_from != KEYS_ALONE:
        return single
    try:
        first, again = (_in_one_round(replace(facts, share=facts.share * part)) for part in _ROUNDS)
    except Error:  # the price is too small to be split
        return single
    before, after = single.rule, again.rule
    assert isinstance(before, Threshold)
    assert isinstance(after, Threshold)
    if single.noise.norm is not Norm.L2 or after.steps > 1.08 * before.steps:
        return single
    return replace(first, again=again)


def _in_runs(plain: MeasurePlan, facts: MeasureFacts) -> MeasurePlan:
    """Measure runs of groups instead of single groups, if the running totals become more exact."""
    groups = running_groups(plain)
    if groups is None:
        return plain
    clip, _ = clips_of(facts)  # in L1 for any noise, so that the columns' norms bound it
    best, least = plain, asked_of(plain.measure, plain_variances(groups)) * deviation(plain.noise) ** 2
    for name, norm, branching in CHOICES:
        ratio = 1 / facts.allowance.laplace if name == "laplace" else facts.allowance.gaussian
        column = prefix.column(branching, groups, norm)
        wider = Clip(norm, clip.steps * column, clip.shape)
        if ratio is None or not mechanism(name).scale_for(wider.steps, ratio) < LARGEST_SCALE:
            continue
        noise = noise_with(facts, name, wider, ratio)
        error = asked_of(plain.measure, prefix.variances(branching, groups)) * deviation(noise) ** 2
        if error < least:
            runs = Runs(branching, groups, clip.steps, column, delivered_unit(plain.measure))
            best, least = replace(plain, shape=clip.shape, noise=noise, runs=runs), error
    return best


@once_each
def _in_l2(measure: Measure) -> Measure:
    """Use the Lagrange basis: as many cells, smaller L2 norm, less variance."""
    return replace(
        measure,
        statistics=tuple(
            replace(statistic, part=Part.LAGRANGE) if statistic.part in CELLS else statistic
            for statistic in measure.statistics
        ),
    )

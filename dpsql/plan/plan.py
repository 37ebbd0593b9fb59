"""Split -> Plan: what exactly is released, with which noise, at what price.

For each measure: how a unit's vector is bounded (``Shape``), the norm and mechanism with the smaller
expected error under the accountant in force, and the rule that shows a group. Nothing here has seen
the data: plans, prices and refusals depend on the query, the policy and the public tables.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.detail_kinds import part
from dpsql.errors import Error, refuse
from dpsql.ir.bound import NeededBounds
from dpsql.ir.measure import Measure, Split
from dpsql.ir.plan import MeasurePlan, Norm, Plan, Runs, StagePlan, Threshold
from dpsql.ir.statistic import CELLS, Part
from dpsql.mechanisms import mechanism, prefix
from dpsql.plan.clips import Clip, clips_of
from dpsql.plan.delta_ceiling import check_delta
from dpsql.plan.digest import digest_of
from dpsql.plan.key_rule import Values, rule_of
from dpsql.plan.measure_facts import KEYS_ALONE, MeasureFacts, measure_facts_of
from dpsql.plan.noise_choice import LARGEST_SCALE, deviation, noise_of, noise_with
from dpsql.plan.running_totals import CHOICES, asked_of, delivered_unit, plain_variances, running_groups
from dpsql.plan.split_budget import share_of
from dpsql.plan.staged_noise import resting
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known
from dpsql.rewrite.disjoint_cells import candidates, load

_ROUNDS = (Fraction(1, 10), Fraction(9, 10))
"""Of the price of keys that are sought twice: the common ones are found for little."""


def plan(split: Split, known: Known, terms: Terms, values: Values) -> Plan | NeededBounds:
    """The auditable artefact: explain prints it, the ledger records its digest, the audit checks it.

    Or all the bounds that the query needs and nobody declared: what is made on stand-ins is no plan.
    """
    measures = [each for stage in split.stages for each in stage.measures]
    share = share_of(measures) * terms.share
    try:
        needed = _needed(split, [measure_facts_of(each, known, terms, share) for each in measures])
        if needed:
            return NeededBounds.of_all(needed)
        stages = resting(
            StagePlan(
                tuple(
                    min(
                        (
                            planned(measure_facts_of(way, known, terms, share), values)
                            for way in candidates(each)
                        ),
                        key=_variance,
                    )
                    for each in stage.measures
                ),
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
    paid = any(each.events for stage in stages for each in stage.measures)
    price = float(Fraction(terms.epsilon) * terms.share) if paid else 0.0
    return Plan(split.source, stages, price, terms.accountant.name, digest)


def _needed(split: Split, subjects: list[MeasureFacts]) -> list[NeededBounds]:
    """What bind and rewrite missed, and the numbers of rows that clipping would start from."""
    needed = list(split.needed)
    for subject in subjects:
        if not split.needed:
            _check_shown(subject)
        needed += subject.needed_rows()
    for each in needed:
        each.refusal.within(split.source.text, split.source.name)
    return needed


def _check_shown(subject: MeasureFacts) -> None:
    """D304 unless groups that are not public can be shown."""
    if not subject.public.whole and subject.allowance.laplace_delta is None:
        raise refuse(
            "D304",
            "these groups are not public, and there is no delta to show them with",
            subject.measure.span,
            label="which groups exist depends on the data",
            help="group by a column with declared values, or cut a declared range (age // 10); "
            "or let the owner choose another accountant",
        )


def _variance(planned: MeasurePlan) -> float:
    """What noise adds to all numbers together, relative to what one row adds to each."""
    return float(load(planned.measure)) * deviation(planned.noise) ** 2


def planned(subject: MeasureFacts, values: Values) -> MeasurePlan:
    """One measure: its vector and its details, each with its noise and its price."""
    return _in_rounds(_in_runs(_planned(subject, values), subject), subject, values)


def _planned(subject: MeasureFacts, values: Values) -> MeasurePlan:
    measure = subject.measure
    clip, noise = noise_of(subject)
    proved, enforced = subject.private_groups(), None
    if not subject.public.whole and proved is None:
        enforced = subject.many_groups()
    rule = rule_of(subject, clip, noise, proved or enforced, values)
    groups = subject.proved_groups()
    details = tuple(
        part("plan", each.kind).planned(
            each, measure, subject.detail_rows(each), groups, subject.share, subject.bought
        )
        for each in measure.details
    )
    return MeasurePlan(
        *(_in_l2(measure) if noise.norm is Norm.L2 else measure, subject.columns, rule, clip.shape, noise),
        *(enforced, subject.rows, subject.rows_from, details),
    )


def _in_rounds(whole: MeasurePlan, subject: MeasureFacts, values: Values) -> MeasurePlan:
    """Keys alone, sought twice where the second time costs little of its sharpness.

    Under rho, nine tenths of the price are 5 % more noise; where epsilons add up they are 11 %.
    """
    one_group = subject.private_groups() == 1
    if not subject.keys_alone or one_group or whole.measure.sets or subject.rows_from != KEYS_ALONE:
        return whole
    try:
        first, again = (_planned(replace(subject, share=subject.share * part), values) for part in _ROUNDS)
    except Error:  # too small a price to be shared
        return whole
    before, after = whole.rule, again.rule
    assert isinstance(before, Threshold)
    assert isinstance(after, Threshold)
    if whole.noise.norm is not Norm.L2 or after.steps > 1.08 * before.steps:
        return whole
    return replace(first, again=again)


def _in_runs(plain: MeasurePlan, subject: MeasureFacts) -> MeasurePlan:
    """The same by sums of runs of groups, where running totals are asked for and become more exact."""
    groups = running_groups(plain)
    if groups is None:
        return plain
    clip, _ = clips_of(subject)  # in L1, whatever the noise: so the columns' norms bound it
    found, least = plain, asked_of(plain.measure, plain_variances(groups)) * deviation(plain.noise) ** 2
    for name, norm, branching in CHOICES:
        ratio = 1 / subject.allowance.laplace if name == "laplace" else subject.allowance.gaussian
        column = prefix.column(branching, groups, norm)
        wider = Clip(norm, clip.steps * column, clip.shape)
        if ratio is None or not mechanism(name).scale_for(wider.steps, ratio) < LARGEST_SCALE:
            continue
        noise = noise_with(subject, name, wider, ratio)
        error = asked_of(plain.measure, prefix.variances(branching, groups)) * deviation(noise) ** 2
        if error < least:
            runs = Runs(branching, groups, clip.steps, column, delivered_unit(plain.measure))
            found, least = replace(plain, shape=clip.shape, noise=noise, runs=runs), error
    return found


def _in_l2(measure: Measure) -> Measure:
    """Cells of polynomials in the basis that is short in L2, and tells more there: as many, as long."""
    return replace(
        measure,
        statistics=tuple(
            replace(each, part=Part.LAGRANGE) if each.part in CELLS else each for each in measure.statistics
        ),
    )

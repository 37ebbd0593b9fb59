"""The analysts of a policy: what each may spend, and what exists for each, or for a group of them.

[analysts.ana]                                              [analysts.bob]
epsilon = 2.0                                               epsilon = 1.0
tables = ["visits", "patients.age", "patients.ward"]        group = "trainees"
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.policy.model import AnalystRule, GroupRule, StudyRule
from dpsql.policy.names import fold, perhaps
from dpsql.policy.seen import in_two
from dpsql.policy.toml_keys import ANALYST, GROUP, STUDY
from dpsql.policy.toml_section import Section, sort_of
from dpsql.policy.toml_values import optional, regular_values


def read_groups(section: Section, names: Sequence[str]) -> tuple[GroupRule, ...]:
    """Read every [groups.<name>]; ``names`` are the policy's tables and views."""
    rules = []
    for name, group in section.tables():
        group.allow(GROUP)
        if not name.strip():
            raise section.wrong(name, "a group needs a name", on_key=True)
        if not {"tables", "epsilon"} & group.values.keys():
            raise section.wrong(
                name,
                f"the group {name} says nothing",
                on_key=True,
                help='tables = ["visits", "patients.age"] is what exists for it, epsilon caps what it spends',
            )
        tables = optional(group, GROUP["tables"], lambda group: read_tables(group, names))
        members = optional(group, GROUP["analysts"], read_members)
        regular = regular_values(group, GROUP)
        rules.append(GroupRule(name, tables, section.line(name), analysts=members, **regular))
    return tuple(rules)


def read_members(section: Section) -> tuple[str, ...]:
    """Read the analysts of a group; ``check_members`` compares them with the policy's."""
    value = section.values["analysts"]
    if not isinstance(value, list) or not all(type(name) is str for name in value):
        label, example = f"this is {sort_of(value)}", 'for example: ["ana", "bo"]'
        raise section.wrong("analysts", "analysts must be a list of names", label=label, help=example)
    return tuple(value)


def check_members(section: Section, groups: Sequence[GroupRule], analysts: Sequence[AnalystRule]) -> None:
    """Refuse unknown members, and a cap of a group without any."""
    known = [rule.name for rule in analysts]
    for name, group in section.tables():
        rule = next(each for each in groups if each.name == name)
        for place, member in enumerate(rule.analysts):
            if member not in known or member in rule.analysts[:place]:
                what = "there is no analyst" if member not in known else "the group has twice the analyst"
                hint = perhaps(member, known) or f"write [analysts.{member}] with an epsilon"
                raise group.wrong("analysts", f"{what} {member}", at=place, help=hint)
        if rule.epsilon is not None and not rule.analysts and name not in (each.group for each in analysts):
            title = f"the group {name} has no analysts to share its epsilon"
            raise group.wrong("epsilon", title, on_key=True, help='list them: analysts = ["ana", "bo"]')


def read_studies(section: Section) -> tuple[StudyRule, ...]:
    """Read every [studies.<name>]."""
    rules = []
    for name, study in section.tables():
        study.allow(STUDY)
        if not name.strip():
            raise section.wrong(name, "a study needs a name", on_key=True)
        study.need(STUDY["epsilon"])
        rules.append(StudyRule(name=name, line=section.line(name), **regular_values(study, STUDY)))
    return tuple(rules)


def read_analysts(
    section: Section, names: Sequence[str], groups: Sequence[GroupRule] = ()
) -> tuple[AnalystRule, ...]:
    """Read every [analysts.<name>]; ``names`` are the policy's tables and views."""
    rules = []
    for name, analyst in section.tables():
        analyst.allow(ANALYST)
        if not name.strip():
            raise section.wrong(name, "an analyst needs a name", on_key=True)
        analyst.need(ANALYST["epsilon"])
        tables = optional(analyst, ANALYST["tables"], lambda analyst: read_tables(analyst, names))
        group = optional(analyst, ANALYST["group"], lambda analyst: read_group(analyst, groups))
        line, regular = section.line(name), regular_values(analyst, ANALYST)
        rules.append(AnalystRule(name=name, line=line, tables=tables, group=group, **regular))
    return tuple(rules)


def read_group(section: Section, groups: Sequence[GroupRule]) -> str:
    """Read the name of a group that the policy has."""
    name, known = section.string("group"), [group.name for group in groups]
    if name not in known:
        raise section.wrong(
            "group",
            f"there is no group {name}",
            help=perhaps(name, known) or f"write [groups.{name}] with tables = [...]",
        )
    if "tables" in section.values:
        raise section.wrong(
            "group",
            "an analyst has tables, or a group",
            on_key=True,
            label="tables are listed here too",
            help="leave out one of them",
        )
    return name


def read_tables(section: Section, names: Sequence[str]) -> tuple[str, ...]:
    """Read what exists for an analyst: tables, columns and views, each listed once."""
    value = section.values["tables"]
    if not isinstance(value, list) or not value:
        raise section.wrong(
            "tables",
            "tables must be a list of tables and columns",
            label=f"this is {sort_of(value)}",
            help='for example: ["visits", "patients.age"]; all exist for an analyst without this line',
        )
    listed: dict[tuple[str, str], str] = {}
    for index, entry in enumerate(value):
        if not isinstance(entry, str):
            label = f"this is {sort_of(entry)}"
            raise section.wrong("tables", "tables must be a list of names", at=index, label=label)
        table, column = in_two(entry, list(names))
        if fold(table) not in map(fold, names):
            raise section.wrong(
                "tables",
                f"{entry} is no table of the policy, no column of one, and no view",
                at=index,
                help=perhaps(table.partition(".")[0], names) or f"there are {', '.join(names)}",
            )
        here = fold(table), fold(column)
        before = [other for (of, part), other in listed.items() if of == here[0] and (not part or not column)]
        if here in listed or before:
            raise section.wrong(
                "tables",
                f"{entry} is listed twice",
                at=index,
                label=f"{(before or [listed[here]])[0]} is listed before",
                help="list a table, or some of its columns",
            )
        listed[here] = entry
    return tuple(listed.values())

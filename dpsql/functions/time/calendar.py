"""The proleptic Gregorian calendar without limits on years, for the ends of ranges.

    civil(18321) = (2020, 2, 29)      days(2020, 2, 29) = 18321

The algorithms are Howard Hinnant's, "chrono-compatible low-level date algorithms".
"""

from __future__ import annotations


def civil(day: int) -> tuple[int, int, int]:
    """Return year, month and day of a day number counted from 1970-01-01."""
    era, left = divmod(day + 719_468, 146_097)
    year = (left - left // 1_460 + left // 36_524 - left // 146_096) // 365
    of_year = left - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    return (
        year + 400 * era + (month >= 10),
        month + 3 if month < 10 else month - 9,
        of_year - (153 * month + 2) // 5 + 1,
    )


def days(year: int, month: int, day: int) -> int:
    """Return the number of days from 1970-01-01."""
    year -= month <= 2
    era, of_era = divmod(year, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719_468


def last_of_month(year: int, month: int) -> int:
    """Return the number of days of a month."""
    return days(year + month // 12, month % 12 + 1, 1) - days(year, month, 1)


def months_later(day: int, months: int) -> int:
    """Add months to a day; the day of the month is capped at the last of the month."""
    year, month, of_month = civil(day)
    carried, zero = divmod(month - 1 + months, 12)
    return days(year + carried, zero + 1, min(of_month, last_of_month(year + carried, zero + 1)))

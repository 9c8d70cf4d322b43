"""Dates are found in their usual formats, and keep their format when replaced."""

import datetime
import itertools
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from evaluator.curation.corruption.dates import Date, find_dates, fits, replace_dates

MOVED = {Date(1901, 5, 3): Date(1901, 11, 22), Date(1904, 12, 21): Date(1904, 6, 1)}


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        ("born 3 May 1901.", "born 22 November 1901."),
        ("born on May 3, 1901, and", "born on November 22, 1901, and"),
        ("(3rd of May, 1901)", "(22nd of November, 1901)"),
        ("1901-05-03", "1901-11-22"),
        ("+1901-05-03T00:00:00Z", "+1901-11-22T00:00:00Z"),
        ("21 December 1904", "1 June 1904"),
        ("21 Dec. 1904", "1 Jun. 1904"),
        ("Dec 21st, 1904", "Jun 1st, 1904"),
        ("03 May 1901", "22 November 1901"),
        ("05 December 1904 and 21 December 1904", "05 December 1904 and 1 June 1904"),
        ("3 May 1901 to 21 December 1904", "22 November 1901 to 1 June 1904"),
        ("3 May. 1901", "22 Nov. 1901"),
    ],
)
def test_day_and_month_change_and_year_and_format_are_kept(text, becomes):
    assert replace_dates(text, MOVED) == becomes


@pytest.mark.parametrize(
    "text",
    ["May 1901", "1901", "31 April 1901", "29 February 1901", "0 May 1901", "3 Mayor 1901", "13 May 19012",
     "x1901-05-03", "1901-05-031", "1901-13-03", "Maybe 3, 1901", "33 May 1901", "3 may 1901", "0000-05-03"],
)  # fmt: skip
def test_other_text_is_not_replaced(text):
    assert list(find_dates(text)) == []
    everything = {
        Date(year, month, day): Date(year, 1, 1)
        for year, month, day in itertools.product((1901, 1), range(1, 13), range(1, 32))
    }
    assert replace_dates(text, everything) == text


def written(date, form):
    return [
        f"{date.day} {date:%B} {date.year:04d}",
        f"{date:%B} {date.day}, {date.year:04d}",
        f"{date.day} {date:%b} {date.year:04d}",
        f"{date.year:04d}-{date.month:02d}-{date.day:02d}",
    ][form]


@example([(datetime.date(1901, 5, 3), 2)], 0)
@given(st.lists(st.tuples(st.dates(datetime.date(1000, 1, 1)), st.integers(0, 3)), max_size=6), st.integers(0, 10**6))
@settings(deadline=None)
def test_every_date_of_the_calendar_in_every_form(dates, number):
    text = f"{number} things: " + " and ".join(written(date, form) for date, form in dates) + f" of {number}"
    dates_found = [tuple(match.date) for match in find_dates(text)]
    assert dates_found == [(date.year, date.month, date.day) for date, _ in dates]
    # "May" may be an abbreviation or a full name: its replacement is written in full.
    full = [(date.replace(month=2, day=1), 0 if form == 2 and date.month == 5 else form) for date, form in dates]
    expected = f"{number} things: " + " and ".join(written(date, form) for date, form in full) + f" of {number}"
    assert replace_dates(text, {Date(*date): Date(date[0], 2, 1) for date in dates_found}) == expected
    assert replace_dates(text, {}) == text


@given(st.text(st.sampled_from("0123456789 -May,.Junestrd"), max_size=40))
@settings(deadline=None)
def test_only_dates_are_replaced(text):
    moved = {match.date: match.date._replace(month=1, day=1) for match in find_dates(text)}
    after = replace_dates(text, moved)
    assert len(list(find_dates(after))) >= len(moved)
    if not moved:
        assert after == text
    assert re.findall(r"[0-9]{4}", after)[:1] == re.findall(r"[0-9]{4}", text)[:1]


@pytest.mark.parametrize("year", [1896, 1900, 1904, 2000, 2001])
def test_leap_days(year):
    assert fits(Date(1904, 2, 29), year) == (year in (1896, 1904, 2000))
    assert fits(Date(1904, 2, 28), year)

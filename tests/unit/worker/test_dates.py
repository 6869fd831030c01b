"""Dates in printed text, and the choice among them."""

from datetime import date, time, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from receipt_worker.extraction import dates
from receipt_worker.extraction.dates import DateFound
from receipt_worker.extraction.tables import DateOrder
from receipt_worker.gate import CLEAR
from tests.unit.worker.printed import TODAY, VOCABULARY, make_lines

OLDEST_YEARS = 20


def find(*texts: str, order: DateOrder = DateOrder.DAY_FIRST) -> tuple[DateFound, ...]:
    return dates.dates(
        make_lines(*texts), VOCABULARY, order=order, today=TODAY, oldest_years=OLDEST_YEARS
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        pytest.param("28.02.20 09:58", date(2020, 2, 28), id="two digits of the year, with a time"),
        pytest.param("DATE: 21/10/2017", date(2017, 10, 21), id="slashes"),
        pytest.param("11/02/1819:21", date(2018, 2, 11), id="a time glued to a short year"),
        pytest.param("14/04/201816:14", date(2018, 4, 14), id="a time glued to a long year"),
        pytest.param("25,12.2018", date(2018, 12, 25), id="a comma misread for a point"),
        pytest.param("2024-03-05", date(2024, 3, 5), id="ISO is never turned round"),
        pytest.param("14 Mar 2024", date(2024, 3, 14), id="an English month"),
        pytest.param("March 5, 2024", date(2024, 3, 5), id="an English month in front"),
        pytest.param("3. Mai 2024", date(2024, 5, 3), id="a German month"),
        pytest.param("12. März 2024", date(2024, 3, 12), id="a German month with an umlaut"),
        pytest.param("1er août 2024", date(2024, 8, 1), id="a French month"),
        pytest.param("5 de marzo de 2024", date(2024, 3, 5), id="a Spanish month"),
        pytest.param("5 mrt 2024", date(2024, 3, 5), id="a Dutch month"),
        pytest.param("12 settembre 2024", date(2024, 9, 12), id="an Italian month"),
        pytest.param("5 de fevereiro de 2024", date(2024, 2, 5), id="a Portuguese month"),
        pytest.param("10 septiembre 2024", date(2024, 9, 10), id="the longest month"),
        pytest.param("-REG #2- 25/12/2016 13:51", date(2016, 12, 25), id="a number in front"),
        pytest.param("19.01.20 14:35", date(2020, 1, 19), id="the year 20 in front of a time"),
        pytest.param("O5/12/2Ol8", date(2018, 12, 5), id="letters read for digits"),
        pytest.param("GS Jan 2017", date(2017, 1, 5), id="letters that can be one day only"),
        pytest.param("25/Ocl/2017", date(2017, 10, 25), id="a month with a letter misread"),
        pytest.param("Date: 22/1 2/2017", date(2017, 12, 22), id="a month torn apart"),
        pytest.param("0036 25032018 13:11:54", date(2018, 3, 25), id="run together, with a time"),
        pytest.param("20180325 13:11", date(2018, 3, 25), id="run together, the year first"),
    ],
)
def test_a_printed_date_is_read(text: str, value: date) -> None:
    assert [found.value for found in find(text)] == [value]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("31.02.2024", id="a day that is not"),
        pytest.param("28.02.2031", id="in the future"),
        pytest.param("28.02.1999", id="older than receipts get"),
        pytest.param("Valid until 31.12.2025", id="of an offer"),
        pytest.param("Payment due 31.12.2023", id="to pay by, in English"),
        pytest.param("Zahlbar bis 31.12.2023", id="to pay by, in German"),
        pytest.param("Date limite de paiement le 31 décembre 2023", id="to pay by, in French"),
        pytest.param("Fecha límite de pago 31/12/2023", id="to pay by, in Spanish"),
        pytest.param("Uiterlijk te betalen 31-12-2023", id="to pay by, in Dutch"),
        pytest.param("Pagare entro il 31/12/2023", id="to pay by, in Italian"),
        pytest.param("Data de vencimento 31/12/2023", id="to pay by, in Portuguese"),
        pytest.param("GÜLTIG BIS 31.12.2025", id="of a German offer"),
        pytest.param("AS-Zeit 19.05. 16:04 Uhr", id="a day without a year, beside a time"),
        pytest.param("TEL 05251 / 180420", id="a telephone number"),
        pytest.param("NO 12/345/67", id="a document number"),
        pytest.param("INVOICE 25032018", id="digits run together without a time"),
        pytest.param("25/Jub/2017", id="a misread month that may be two"),
        pytest.param("12 Feu 2017", id="a misread month between spaces"),
        pytest.param("SO Jan 2017", id="letters that are no day"),
        pytest.param("19.01.20Z4 07:55", id="half of a long year, the rest misread"),
        pytest.param("04-06-20)18 07:55", id="half of a long year, with a mark in it"),
        pytest.param("19.01.20 24", id="half of a long year that was torn"),
    ],
)
def test_what_is_no_date_of_a_purchase_is_left_out(text: str) -> None:
    assert not find(text)


@pytest.mark.parametrize(
    ("text", "order", "value", "ambiguous"),
    [
        pytest.param("05/06/2024", DateOrder.DAY_FIRST, date(2024, 6, 5), False, id="day first"),
        pytest.param(
            "05/06/2024", DateOrder.MONTH_FIRST, date(2024, 5, 6), False, id="month first"
        ),
        pytest.param("05/06/2024", DateOrder.UNKNOWN, date(2024, 6, 5), True, id="nobody knows"),
        pytest.param("25/06/2024", DateOrder.UNKNOWN, date(2024, 6, 25), False, id="only one way"),
        pytest.param("05.06.2024", DateOrder.UNKNOWN, date(2024, 6, 5), False, id="points tell"),
        pytest.param("05/05/2024", DateOrder.UNKNOWN, date(2024, 5, 5), False, id="all the same"),
    ],
)
def test_day_and_month_change_places_only_where_the_country_says_so(
    text: str, order: DateOrder, value: date, *, ambiguous: bool
) -> None:
    [found] = find(text, order=order)

    assert (found.value, found.ambiguous) == (value, ambiguous)


@pytest.mark.parametrize("text", ["GS Jan 2017 12:41", "25/Ocl/2017 07:43"])
def test_a_date_that_had_to_be_put_right_is_in_doubt(text: str) -> None:
    [found] = find(text)

    assert found.confidence < CLEAR


def test_a_country_with_the_day_first_has_no_month_first_dates() -> None:
    assert not find("02/25/2024", order=DateOrder.DAY_FIRST)


def test_a_date_with_its_time_counts_in_front_of_one_of_something_else() -> None:
    [found] = find("05.01.2024 18:41 Valid until 04.04.2024")

    assert (found.value, found.labelled) == (date(2024, 1, 5), True)
    assert not find("10.01.2024 until 12.01.2024")


def test_a_time_may_be_printed_with_an_h() -> None:
    assert dates.times("le 02/12/23 \u00e0 18h42") == (time(18, 42),)
    assert not dates.times("Parking 2h30")


def test_the_date_beside_a_time_is_the_purchase() -> None:
    chosen = dates.best(find("Printed 01.01.2024", "Another 02.01.2024 12:30"))

    assert chosen is not None
    assert chosen.value == date(2024, 1, 2)


@given(
    day=st.dates(TODAY - timedelta(days=365 * 19), TODAY),
    layout=st.sampled_from(
        ["%d.%m.%Y", "%d/%m/%Y", "%d-%m-%y", "%Y-%m-%d", "%d %b %Y", "%B %d, %Y"]
    ),
)
def test_whatever_is_printed_is_read_back(day: date, layout: str) -> None:
    [found] = find(f"Date {day.strftime(layout)} 12:30")

    assert (found.value, found.labelled) == (day, True)


@given(st.text())
def test_any_text_is_survived(text: str) -> None:
    find(text)

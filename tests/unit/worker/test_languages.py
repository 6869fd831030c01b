"""Receipts of each language: what is paid, in which currency, when, and how it is proven."""

from datetime import date
from decimal import Decimal

import pytest

from receipt_worker.extraction.identities import Evidence
from receipt_worker.extraction.tables import Role
from receipt_worker.extraction.vocabulary import role_of, spoken
from tests.unit.worker.printed import VOCABULARY, find

RECEIPTS = [
    pytest.param(
        [
            "CORNER SHOP LTD",
            "London",
            "VAT No 123",
            "Date 05/03/2024",
            "SUB-TOTAL £6.60",
            "VAT £0.40",
            "TOTAL £7.00",
            "CASH £10.00",
            "CHANGE £3.00",
        ],
        ("7.00", "GBP", date(2024, 3, 5), Evidence.PAID_MINUS_CHANGE, "cash"),
        id="English",
    ),
    pytest.param(
        [
            "Müller GmbH",
            "Datum 05.03.2024 12:30",
            "Brot 3,00",
            "Käse 4,10",
            "SUMME EUR 7,10",
            "Gegeben BAR 10,10",
            "Rückgeld 3,00",
        ],
        ("7.10", "EUR", date(2024, 3, 5), Evidence.ITEMS_SUM, "cash"),
        id="German",
    ),
    pytest.param(
        [
            "BOULANGERIE DUPONT SARL",
            "SIRET 123 456 789 00012",
            "Le 5 mars 2024",
            "TOTAL HT 6,60",
            "TVA 0,40",
            "NET À PAYER 7,00 €",
            "CARTE BANCAIRE 7,00 €",
        ],
        ("7.00", "EUR", date(2024, 3, 5), Evidence.PARTS_SUM, "card"),
        id="French",
    ),
    pytest.param(
        [
            "PANADERÍA SOL SL",
            "CIF B12345678",
            "Fecha: 5 de marzo de 2024",
            "Pan 3,00",
            "Queso 4,10",
            "IMPORTE TOTAL 7,10 EUR",
            "EFECTIVO 10,00",
            "CAMBIO 2,90",
        ],
        ("7.10", "EUR", date(2024, 3, 5), Evidence.PAID_MINUS_CHANGE, "cash"),
        id="Spanish",
    ),
    pytest.param(
        [
            "BAKKERIJ JANSEN BV",
            "KvK 12345678",
            "Datum 05-03-2024",
            "Brood 3,00",
            "Kaas 4,10",
            "TE BETALEN EUR 7,10",
            "CONTANT 10,00",
            "WISSELGELD 2,90",
        ],
        ("7.10", "EUR", date(2024, 3, 5), Evidence.PAID_MINUS_CHANGE, "cash"),
        id="Dutch",
    ),
    pytest.param(
        [
            "RISTORANTE ROMA SRL",
            "P.IVA 01234567890",
            "DOCUMENTO COMMERCIALE",
            "05/03/2024 12:30",
            "TOTALE COMPLESSIVO 7,10",
            "CONTANTI 10,00",
            "RESTO 2,90",
        ],
        ("7.10", "EUR", date(2024, 3, 5), Evidence.PAID_MINUS_CHANGE, "cash"),
        id="Italian",
    ),
    pytest.param(
        [
            "PASTELARIA LISBOA LDA",
            "Contribuinte 501234567",
            "Data 5 de março de 2024",
            "TOTAL A PAGAR 7,10 €",
            "DINHEIRO 10,00",
            "TROCO 2,90",
        ],
        ("7.10", "EUR", date(2024, 3, 5), Evidence.PAID_MINUS_CHANGE, "cash"),
        id="Portuguese",
    ),
]


@pytest.mark.parametrize(("texts", "wanted"), RECEIPTS)
def test_a_receipt_is_read_in_its_own_language(
    texts: list[str], wanted: tuple[str, str, date, Evidence, str]
) -> None:
    total, currency, day, evidence, method = wanted
    found = find(*texts)

    assert found.totals.best is not None
    assert found.totals.best.value == Decimal(total)
    assert evidence in found.totals.best.evidence
    assert found.currency == currency
    assert found.day is not None
    assert (found.day.value, found.day.ambiguous) == (day, False)
    assert [payment.method for payment in found.payments] == [method]


def test_words_of_a_language_that_is_not_spoken_mean_nothing() -> None:
    texts = ["RESTO BAR LTD", "Date 05 Mar 2024", "RESTO SPECIAL 4.00", "TOTAL 7.00", "CASH 7.00"]

    found = find(*texts)

    assert "change" not in found.others
    assert found.totals.best is not None
    assert not found.totals.contradicted


def test_english_is_understood_beside_the_language_spoken() -> None:
    words = spoken(VOCABULARY, ["SUMME EUR 7,10", "MwSt 0,40"])

    assert "change due" in dict(words.phrases)
    assert "summe" in dict(words.phrases)
    assert "sous total" not in dict(words.phrases)


@pytest.mark.parametrize(
    ("texts", "total", "currency"),
    [
        pytest.param(
            ["Tokyo Store", "Coffee ¥450", "Cake ¥830", "TOTAL ¥1,280"], "1280", "JPY", id="yen"
        ),
        pytest.param(
            ["Seoul Mart", "Tea ₩4,500", "Rice ₩12,000", "TOTAL ₩16,500"],
            "16500",
            "KRW",
            id="won",
        ),
    ],
)
def test_amounts_of_a_currency_without_decimals_are_whole(
    texts: list[str], total: str, currency: str
) -> None:
    found = find(*texts)

    assert found.currency == currency
    assert found.totals.best is not None
    assert found.totals.best.value == Decimal(total)
    assert Evidence.ITEMS_SUM in found.totals.best.evidence


def test_a_receipt_without_any_decimals_is_read_in_whole_amounts() -> None:
    found = find("Grand Hotel", "GSTIN 12", "Room Rs 1939 x 1", "Grand Total Rs 1939")

    assert found.currency == "INR"
    assert found.totals.best is not None
    assert found.totals.best.value == Decimal(1939)


def test_a_charge_is_no_misread_change() -> None:
    assert role_of("Delivery charge", VOCABULARY) is None
    assert role_of("Chanqe", VOCABULARY) is Role.CHANGE


@pytest.mark.parametrize(
    ("texts", "currency"),
    [
        pytest.param(["TOTAL £4.00", "€5.00"], None, id="two currencies speak equally loud"),
        pytest.param(
            ["Sydney", "ABN 12", "TOTAL $4.00"], "AUD", id="a dollar that the country names"
        ),
        pytest.param(["Tokyo", "TOTAL ¥400"], "JPY", id="a sign of two, that the country names"),
        pytest.param(["TOTAL ¥400"], None, id="a sign of two alone"),
        pytest.param(["TOTAL 56.00 DH", "Maroc"], "MAD", id="dirham"),
        pytest.param(
            ["Austin, TX 78704", "TOTAL $4.00"], "USD", id="a dollar that the post code names"
        ),
        pytest.param(["MI6 5AA", "TOTAL 4.00"], "GBP", id="of the country of a post code"),
        pytest.param(["NIF 501234567", "TOTAL 4.00"], "EUR", id="of both countries of a word"),
        pytest.param(["NO 12345", "TOTAL $4.00"], None, id="a number that is no post code"),
    ],
)
def test_the_currency_is_never_a_default(texts: list[str], currency: str | None) -> None:
    assert find(*texts).currency == currency


@pytest.mark.parametrize(
    ("sign", "ambiguous"),
    [
        pytest.param("EUR", False, id="of countries that all print the day first"),
        pytest.param("RM", False, id="of one country that prints the day first"),
        pytest.param("USD", True, id="of a country that prints the month first, seen everywhere"),
        pytest.param("$", True, id="of many countries"),
    ],
)
def test_a_currency_tells_that_the_day_comes_first(sign: str, *, ambiguous: bool) -> None:
    found = find("SHOP", "05/03/2024 12:30", f"TOTAL {sign} 4.00")

    assert found.day is not None
    assert (found.day.value, found.day.ambiguous) == (date(2024, 3, 5), ambiguous)

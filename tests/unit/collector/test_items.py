"""Categories outlive a new reading."""

from decimal import Decimal

import pytest

from receipt_collector.items import ItemRow, carry_categories

MILK = ItemRow("Milk 2L", Decimal("3.09"), "Groceries", "manual", None)
BREAD = ItemRow("Bread", Decimal("2.00"), "Bakery", "manual", None)


@pytest.mark.parametrize(
    ("old", "new", "categories"),
    [
        pytest.param([MILK], [("milk  2l", "3.09")], ["Groceries"], id="the same line"),
        pytest.param([MILK], [("Milk 2L", "3.19")], ["Groceries"], id="another amount"),
        pytest.param([MILK], [("Mi1k 2L", "3.09")], ["Groceries"], id="a letter read better"),
        pytest.param([MILK], [("Mi1k 2L", "3.19")], [None], id="another name and amount"),
        pytest.param([MILK], [("Coffee", "3.09")], [None], id="another thing for the same amount"),
        pytest.param(
            [MILK, BREAD],
            [("Bread", "2.00"), ("Milk 2L", "3.09")],
            ["Bakery", "Groceries"],
            id="another order",
        ),
        pytest.param(
            [MILK],
            [("Milk 2L", "3.09"), ("Milk 2L", "3.09")],
            ["Groceries", None],
            id="one category is given once",
        ),
        pytest.param(
            [MILK, MILK._replace(budget_category="Party")],
            [("Milk 2L", "3.09"), ("Milk 2L", "3.09")],
            ["Groceries", "Party"],
            id="equal lines keep their categories in order",
        ),
        pytest.param(
            [MILK._replace(line_total=Decimal("9.99")), MILK._replace(budget_category="Party")],
            [("Milk 2L", "3.09")],
            ["Party"],
            id="the equal amount goes before the equal name",
        ),
        pytest.param([ItemRow("Milk 2L", None)], [("Milk 2L", "3.09")], [None], id="none to keep"),
        pytest.param([MILK], [], [], id="nothing read"),
    ],
)
def test_categories_go_to_the_same_thing(
    old: list[ItemRow], new: list[tuple[str, str]], categories: list[str | None]
) -> None:
    read = [ItemRow(name, Decimal(total)) for name, total in new]

    carried = carry_categories(old, read)

    assert [row.budget_category for row in carried] == categories
    assert [(row.name, row.line_total) for row in carried] == [
        (row.name, row.line_total) for row in read
    ]

"""How the window is shared, for any requests."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from receipt_contract.requests import Priority
from receipt_operator.window import Demand, allocate


def make_demand(
    request_id: str = "a",
    *,
    priority: Priority = Priority.NORMAL,
    waiting: int = 1000,
    in_flight: int = 0,
    limit: int = 100,
) -> Demand:
    return Demand(request_id, priority=priority, waiting=waiting, in_flight=in_flight, limit=limit)


@st.composite
def _demands(draw: st.DrawFn) -> list[Demand]:
    numbers = range(draw(st.integers(0, 8)))
    return [
        make_demand(
            str(number),
            priority=draw(st.sampled_from(Priority)),
            waiting=draw(st.integers(0, 60)),
            in_flight=draw(st.integers(0, 40)),
            limit=draw(st.integers(1, 50)),
        )
        for number in numbers
    ]


CAPS = st.integers(0, 120)


@given(_demands(), CAPS)
def test_g7_no_request_gets_more_than_it_can_use(demands: list[Demand], cap: int) -> None:
    granted = allocate(demands, cap)

    for demand in demands:
        slots = granted.get(demand.request_id, 0)
        assert slots <= demand.waiting
        assert not slots or demand.in_flight + slots <= demand.limit


@given(_demands(), CAPS)
def test_g7_the_cap_holds_but_for_one_slot_of_those_with_none(
    demands: list[Demand], cap: int
) -> None:
    granted = allocate(demands, cap)

    in_flight = sum(demand.in_flight for demand in demands)
    first_slots = sum(1 for demand in demands if demand.want and demand.in_flight == 0)
    assert in_flight + sum(granted.values()) <= max(cap, in_flight + first_slots)


@given(_demands(), CAPS)
def test_every_active_request_gets_on(demands: list[Demand], cap: int) -> None:
    granted = allocate(demands, cap)

    for demand in demands:
        if demand.want and demand.in_flight == 0:
            assert granted[demand.request_id] >= 1


@given(_demands(), CAPS)
def test_nothing_free_is_left_over_while_someone_wants_it(demands: list[Demand], cap: int) -> None:
    granted = allocate(demands, cap)

    used = sum(demand.in_flight for demand in demands) + sum(granted.values())
    if used < cap:
        assert granted == {demand.request_id: demand.want for demand in demands if demand.want}


@example(
    [
        Demand("new", Priority.LOW, waiting=3, in_flight=0, limit=3),
        Demand("going", Priority.LOW, waiting=1, in_flight=1, limit=2),
    ],
    3,
)
@given(_demands(), CAPS)
def test_requests_of_one_priority_get_equal_shares(demands: list[Demand], cap: int) -> None:
    granted = allocate(demands, cap)

    for priority in Priority:
        hungry = [
            granted.get(demand.request_id, 0)
            for demand in demands
            if demand.priority is priority and granted.get(demand.request_id, 0) < demand.want
        ]
        # A first slot may come on top of an equal share.
        assert not hungry or max(hungry) - min(hungry) <= 1


@given(_demands(), CAPS)
def test_a_lower_priority_waits_until_the_higher_ones_have_all(
    demands: list[Demand], cap: int
) -> None:
    granted = allocate(demands, cap)

    order = [Priority.HIGH, Priority.NORMAL, Priority.LOW]
    for demand in demands:
        first_slot = 1 if demand.in_flight == 0 else 0
        if granted.get(demand.request_id, 0) > first_slot:
            higher = order[: order.index(demand.priority)]
            assert all(
                granted.get(other.request_id, 0) == other.want
                for other in demands
                if other.priority in higher
            )


@pytest.mark.parametrize(
    ("demands", "cap", "granted"),
    [
        pytest.param([], 10, {}, id="nobody wants anything"),
        pytest.param([make_demand(limit=7)], 100, {"a": 7}, id="its own limit"),
        pytest.param(
            [make_demand(limit=7, in_flight=5)], 100, {"a": 2}, id="what is left of its own limit"
        ),
        pytest.param([make_demand(limit=7, in_flight=9)], 100, {}, id="a limit that was lowered"),
        pytest.param(
            [make_demand("a", in_flight=10), make_demand("b")],
            10,
            {"b": 1},
            id="a full window still lets a new request begin",
        ),
        pytest.param(
            [make_demand("large", waiting=9000, limit=9000), make_demand("small", waiting=3)],
            100,
            {"large": 97, "small": 3},
            id="what a small request does not use goes to the large one",
        ),
        pytest.param(
            [
                make_demand("low", priority=Priority.LOW),
                make_demand("high", priority=Priority.HIGH),
                make_demand("normal"),
            ],
            52,
            {"low": 1, "high": 50, "normal": 1},
            id="high first, after one slot for everyone",
        ),
    ],
)
def test_the_window_is_shared(demands: list[Demand], cap: int, granted: dict[str, int]) -> None:
    assert allocate(demands, cap) == granted

"""When an object is deleted after its end, and what keeps it."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from receipt_contract.requests import RequestSpec
from receipt_contract.status import Kept
from receipt_operator.cleaning import Ended, Retention, is_due
from receipt_operator.observed import Observed, Tracker, packed
from receipt_operator.status import status_of
from tests.support.facts import BEGAN, make_facts, make_finished, make_observed, make_request
from tests.support.requests import NOON, with_field

HOUR = timedelta(hours=1)
ENDED = status_of(make_facts(make_finished()))
UNDER_WAY = status_of(make_facts(make_request()))


def _ended(
    *, ttl: int | None = 3600, created_at: datetime = BEGAN, status: dict[str, Any] = ENDED
) -> Ended:
    fields = {} if ttl is None else {"ttlSecondsAfterFinished": ttl}
    observed = replace(make_observed(with_field(**fields), status=status), created_at=created_at)
    return Ended(observed, RequestSpec.model_validate(observed.spec), NOON)


@pytest.mark.parametrize(
    ("ended", "now", "due"),
    [
        pytest.param(_ended(), NOON + HOUR, True, id="its time is over"),
        pytest.param(_ended(), NOON + HOUR - timedelta(seconds=1), False, id="a second before"),
        pytest.param(_ended(ttl=0), NOON, True, id="at once"),
        pytest.param(_ended(ttl=None), NOON + 100 * HOUR, False, id="it did not ask"),
        pytest.param(
            _ended(created_at=NOON + HOUR), NOON + HOUR, False, id="created again after the end"
        ),
        pytest.param(
            _ended(created_at=NOON + HOUR), NOON + 2 * HOUR, True, id="an hour after that"
        ),
        pytest.param(_ended(status=UNDER_WAY), NOON + HOUR, False, id="its end is not shown yet"),
        pytest.param(_ended(status={}), NOON + HOUR, False, id="its status is gone"),
    ],
)
def test_an_object_is_due_so_long_after_its_end(ended: Ended, now: datetime, *, due: bool) -> None:
    assert is_due(ended, now) is due


ASKING = make_observed(with_field(ttlSecondsAfterFinished=60))


def _forbidden(observed: Observed) -> Observed:
    return replace(observed, packed_status=packed({"effective": {"keptBecause": "Forbidden"}}))


@pytest.mark.parametrize(
    ("observed", "may_delete", "kept"),
    [
        pytest.param(make_observed(), False, None, id="it did not ask"),
        pytest.param(ASKING, True, None, id="it asked"),
        pytest.param(ASKING, False, Kept.DELETION_OFF, id="switched off"),
        pytest.param(
            replace(ASKING, tracked_by=Tracker.ARGO_CD), True, Kept.TRACKED_BY_ARGO_CD, id="Argo CD"
        ),
        pytest.param(
            replace(ASKING, tracked_by=Tracker.FLUX), True, Kept.TRACKED_BY_FLUX, id="Flux"
        ),
        pytest.param(_forbidden(ASKING), True, Kept.FORBIDDEN, id="the Role lacked it before"),
        pytest.param(
            _forbidden(ASKING), False, Kept.DELETION_OFF, id="the Role lacked it, now it is off"
        ),
    ],
)
def test_what_keeps_an_object(observed: Observed, kept: Kept | None, *, may_delete: bool) -> None:
    spec = RequestSpec.model_validate(observed.spec)

    assert Retention(may_delete=may_delete).keeps(observed, spec) is kept


def test_a_role_without_the_verb_keeps_a_namespace_until_it_is_mended() -> None:
    retention = Retention(may_delete=True)
    namespace = ASKING.key.namespace
    spec = RequestSpec.model_validate(ASKING.spec)

    retention.forbid(namespace)
    forbidden = retention.keeps(ASKING, spec)
    tried_again = retention.may_try(namespace)
    retention.allow(namespace)

    assert forbidden is Kept.FORBIDDEN
    assert not tried_again
    assert retention.may_try("another")
    assert retention.keeps(ASKING, spec) is None

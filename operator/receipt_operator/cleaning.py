"""Deleting objects that have been finished for as long as they asked for, and why others stay.

Only the object goes; the register keeps the request, so the same object created again shows its
first result (promise G3).
"""

import time
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog
from aiolimiter import AsyncLimiter

from receipt_contract.requests import RequestSpec
from receipt_contract.status import ConditionStatus, ConditionType, Kept
from receipt_operator.cluster import Cluster, ConflictError, ForbiddenError, GoneError
from receipt_operator.conditions import conditions_before
from receipt_operator.observed import Observed, Tracker
from receipt_operator.workqueue import WorkQueue

DELETIONS_PER_SECOND = 10
FORBIDDEN_SECONDS = 600.0  # until a Role is tried again that lacked the verb

_TRACKED = {Tracker.ARGO_CD: Kept.TRACKED_BY_ARGO_CD, Tracker.FLUX: Kept.TRACKED_BY_FLUX}

_log = structlog.get_logger(__name__)


class Ended(NamedTuple):
    """An object whose request has finished."""

    observed: Observed
    spec: RequestSpec
    finished_at: datetime


class Retention:
    """Why an object stays although it asked to be deleted after its end."""

    def __init__(self, *, may_delete: bool) -> None:
        """Take whether deleting is switched on."""
        self._may_delete = may_delete
        self._forbidden: dict[str, float] = {}  # by namespace, since when

    def keeps(self, observed: Observed, spec: RequestSpec) -> Kept | None:
        """Return what keeps an object; None when nothing does, or when it did not ask."""
        if spec.ttl_seconds_after_finished is None:
            return None
        if not self._may_delete:
            return Kept.DELETION_OFF
        if observed.tracked_by is not None:
            return _TRACKED[observed.tracked_by]
        if observed.key.namespace in self._forbidden or _said(observed) == Kept.FORBIDDEN:
            return Kept.FORBIDDEN
        return None

    def forbid(self, namespace: str) -> None:
        """Note that our Role in a namespace lacks the verb."""
        self._forbidden[namespace] = time.monotonic()

    def allow(self, namespace: str) -> None:
        """Note that it has it."""
        self._forbidden.pop(namespace, None)

    def may_try(self, namespace: str) -> bool:
        """Whether it is worth while to try."""
        since = self._forbidden.get(namespace)
        return since is None or time.monotonic() - since >= FORBIDDEN_SECONDS


@dataclass(frozen=True)
class Cleaner:
    """The only deleter of objects."""

    cluster: Cluster
    queue: WorkQueue
    retention: Retention
    limit: AsyncLimiter

    async def round(self, ended: Iterable[Ended], now: datetime) -> None:
        """Delete what is due, and let be shown what our Role keeps us from."""
        for one in [one for one in ended if is_due(one, now) and self._is_ours(one)]:
            namespace = one.observed.key.namespace
            if self.retention.may_try(namespace):
                await self._delete(one.observed)
            elif _said(one.observed) != Kept.FORBIDDEN:
                self.queue.add([one.observed.key])

    def _is_ours(self, one: Ended) -> bool:
        return self.retention.keeps(one.observed, one.spec) in {None, Kept.FORBIDDEN}

    async def _delete(self, observed: Observed) -> None:
        namespace = observed.key.namespace
        await self.limit.acquire()
        try:
            await self.cluster.delete(observed)
        except ForbiddenError:
            self.retention.forbid(namespace)
            self.queue.add([observed.key])
            _log.warning("finished objects are kept: our Role lacks delete", namespace=namespace)
        except (ConflictError, GoneError):
            return  # it changed, or somebody was quicker; the watch tells
        else:
            self.retention.allow(namespace)
            _log.info("a finished object was deleted", object=observed.key.name)


def is_due(one: Ended, now: datetime) -> bool:
    """Tell whether an object's time is over, counted from when its end could be seen at all."""
    ttl = one.spec.ttl_seconds_after_finished
    if ttl is None:
        return False
    over_at = max(one.finished_at, one.observed.created_at) + timedelta(seconds=ttl)
    return now >= over_at and _shows_its_end(one.observed)


def _said(observed: Observed) -> object:
    return observed.status.get("effective", {}).get("keptBecause")


def _shows_its_end(observed: Observed) -> bool:
    return any(
        one.type is ConditionType.FINISHED and one.status is ConditionStatus.TRUE
        for one in conditions_before(observed.status)
    )

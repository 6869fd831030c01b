"""What counts as seen, whatever order watch and lists come in."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from receipt_contract.requests import Kind
from receipt_operator import observed as observed_module
from receipt_operator.observed import Objects, Observed, Tracker, from_document, packed
from receipt_operator.register.rows import ObjectKey
from tests.support.facts import KEY, make_observed
from tests.support.requests import for_reference

OTHER = ObjectKey(KEY.kind, KEY.namespace, "other")


def _seen(*objects: Observed) -> Objects:
    seen = Objects()
    for one in objects:
        seen.put(one)
    return seen


def _list(objects: Objects, listed: list[Observed], *, began: int) -> list[ObjectKey]:
    return objects.replace(KEY.kind, KEY.namespace, listed, began=began)


def test_a_list_brings_what_the_watch_missed() -> None:
    objects = Objects()

    keys = _list(objects, [make_observed()], began=objects.moment())

    assert keys == [KEY]
    assert objects.get(KEY) == make_observed()


def test_what_a_list_lacks_is_gone_and_spoken_about() -> None:
    objects = _seen(make_observed())

    keys = _list(objects, [], began=objects.moment())

    assert keys == [KEY]
    assert objects.get(KEY) is None
    assert len(objects) == 0


def test_what_was_created_while_a_list_was_read_stays() -> None:
    objects = Objects()
    began = objects.moment()
    objects.put(make_observed())

    _list(objects, [], began=began)

    assert objects.get(KEY) is not None


def test_what_changed_while_a_list_was_read_stays_as_the_watch_saw_it() -> None:
    objects = _seen(make_observed())
    began = objects.moment()
    objects.put(make_observed(generation=2))

    _list(objects, [make_observed()], began=began)

    newest = objects.get(KEY)
    assert newest is not None
    assert newest.generation == 2


def test_g5_what_was_deleted_while_a_list_was_read_does_not_come_back() -> None:
    objects = _seen(make_observed())
    began = objects.moment()
    objects.drop(KEY)

    _list(objects, [make_observed()], began=began)

    assert objects.get(KEY) is None


def test_what_was_deleted_and_created_again_is_there() -> None:
    objects = _seen(make_observed())
    objects.drop(KEY)
    began = objects.moment()

    _list(objects, [make_observed(uid="uid-2")], began=began)

    newest = objects.get(KEY)
    assert newest is not None
    assert newest.uid == "uid-2"


def test_a_list_of_one_kind_and_namespace_says_nothing_about_others() -> None:
    elsewhere = ObjectKey(KEY.kind, "elsewhere", KEY.name)
    another_kind = ObjectKey(Kind.CACHE_REBUILD, KEY.namespace, KEY.name)
    objects = _seen(make_observed(key=elsewhere), make_observed(key=another_kind))

    keys = _list(objects, [make_observed(key=OTHER)], began=objects.moment())

    assert keys == [OTHER]
    assert len(objects) == 3


def test_g7_deleted_objects_leave_nothing_behind_after_the_next_list() -> None:
    objects = _seen(make_observed())
    objects.drop(KEY)

    _list(objects, [], began=objects.moment())

    assert _list(objects, [], began=objects.moment()) == []


def test_an_older_generation_does_not_take_the_place_of_a_newer_one() -> None:
    objects = _seen(make_observed(generation=2))

    objects.put(make_observed(generation=1))

    newest = objects.get(KEY)
    assert newest is not None
    assert newest.generation == 2


def test_a_list_is_believed_also_where_it_goes_back() -> None:
    objects = _seen(make_observed(generation=2))

    _list(objects, [make_observed(generation=1)], began=objects.moment())

    newest = objects.get(KEY)
    assert newest is not None
    assert newest.generation == 1


@pytest.mark.parametrize(
    ("there", "kept"),
    [
        pytest.param(None, None, id="a deleted object stays deleted"),
        pytest.param(make_observed(uid="uid-2"), "uid-2", id="a new one of that name stays"),
        pytest.param(make_observed(), "uid-1", id="the same one is renewed"),
    ],
)
def test_a_write_of_ours_brings_nothing_back(there: Observed | None, kept: str | None) -> None:
    objects = _seen(make_observed())
    objects.drop(KEY)
    if there is not None:
        objects.put(there)

    objects.renew(make_observed())

    newest = objects.get(KEY)
    assert (newest.uid if newest else None) == kept


def test_an_object_is_read_as_the_api_server_sends_it() -> None:
    seen = observed_module.from_document(
        {
            "kind": "ReceiptReprocess",
            "metadata": {
                "namespace": "receipts",
                "name": "some",
                "uid": "uid-1",
                "generation": 4,
                "resourceVersion": "99",
                "creationTimestamp": "2026-05-04T11:00:00Z",
            },
            "spec": {"runId": "one"},
        }
    )

    assert seen == replace(
        make_observed({"runId": "one"}),
        generation=4,
        resource_version="99",
        created_at=datetime(2026, 5, 4, 11, tzinfo=UTC),
        packed_status=packed({}),
    )


def _document(**metadata: Any) -> dict[str, Any]:
    return {
        "kind": KEY.kind.value,
        "metadata": {
            "namespace": KEY.namespace,
            "name": KEY.name,
            "uid": "uid-1",
            "generation": 1,
            "resourceVersion": "7",
            "creationTimestamp": "2026-05-04T11:00:00Z",
            **metadata,
        },
        "spec": for_reference("a.png"),
    }


@pytest.mark.parametrize(
    ("value", "approved"),
    [("true", True), ("True", False), ("false", False), ("", False)],
)
def test_only_the_word_true_approves(value: str, *, approved: bool) -> None:
    annotations = {"receipts.homebudget.dev/approve": value}

    assert from_document(_document(annotations=annotations)).approved is approved


@pytest.mark.parametrize(
    ("metadata", "tracker"),
    [
        pytest.param({}, None, id="nothing"),
        pytest.param({"labels": {"app": "receipts"}}, None, id="a label of its own"),
        pytest.param(
            {"annotations": {"argocd.argoproj.io/tracking-id": "app:x"}},
            Tracker.ARGO_CD,
            id="Argo CD by annotation",
        ),
        pytest.param(
            {"labels": {"app.kubernetes.io/instance": "app"}},
            Tracker.ARGO_CD,
            id="Argo CD by label",
        ),
        pytest.param(
            {"labels": {"kustomize.toolkit.fluxcd.io/name": "app"}}, Tracker.FLUX, id="Flux"
        ),
        pytest.param(
            {"labels": {"helm.toolkit.fluxcd.io/name": "app"}}, Tracker.FLUX, id="Flux with Helm"
        ),
    ],
)
def test_who_tracks_an_object_is_known_by_its_labels(
    metadata: dict[str, Any], tracker: Tracker | None
) -> None:
    assert from_document(_document(**metadata)).tracked_by is tracker


def test_the_newest_version_of_a_place_outlives_its_object() -> None:
    objects = _seen(replace(make_observed(), resource_version="12"), make_observed(key=OTHER))

    objects.drop(KEY)

    assert objects.newest(KEY.kind, KEY.namespace) == 12
    assert objects.newest(KEY.kind, "elsewhere") == 0
    assert objects.newest(Kind.CACHE_REBUILD, KEY.namespace) == 0

"""Work that is lost with the broker is sent again, on evidence and never without bound."""

from pathlib import Path

import pytest

from tests.integration.operator import volumes
from tests.integration.operator.desk import Desk
from tests.integration.operator.post import Post, ids_by_reference, references_of, send_round

pytestmark = pytest.mark.services


async def test_g1_lost_work_is_sent_again_under_its_id(desk: Desk, post: Post, root: Path) -> None:
    names = volumes.write(root, "lost.png", "answered.png")
    request_id = await desk.accept(*names)
    await post.connected()
    await send_round(desk, post.publication(desk, root))
    first = ids_by_reference(post.take_all())
    desk.set_item(request_id, "lost.png", published_at="-3 h")
    desk.set_item(
        request_id, "answered.png", published_at="-1 h", state="done", ended_by="collector"
    )

    await send_round(desk, post.publication(desk, root))

    again = post.take_all()
    assert ids_by_reference(again) == {"lost.png": first["lost.png"]}
    assert len(again) == 1
    assert desk.item(request_id, "lost.png")["publications"] == 2


async def test_g1_without_evidence_one_is_probed_and_its_answer_is_evidence(
    desk: Desk, post: Post, root: Path
) -> None:
    names = volumes.write_numbered(root, 3)
    request_id = await desk.accept(*names)
    await post.connected()
    await send_round(desk, post.publication(desk, root))
    post.take_all()  # all three are lost
    for name in names:
        desk.set_item(request_id, name, published_at="-2 h")

    await send_round(desk, post.publication(desk, root))
    [probe] = post.take_all()
    publications = desk.item(request_id, probe["source_reference"])["publications"]
    desk.set_item(request_id, probe["source_reference"], state="done", ended_by="collector")
    await send_round(desk, post.publication(desk, root))

    assert publications == 1
    others = set(names) - {probe["source_reference"]}
    assert references_of(post.take_all()) == dict.fromkeys(others, 1)


async def test_lost_three_times_a_receipt_fails(desk: Desk, post: Post, root: Path) -> None:
    request_id = await desk.accept(*volumes.write(root, "lost.png", "answered.png"))
    desk.set_item(
        request_id,
        "lost.png",
        state="published",
        source_sha256=volumes.sha_of("lost.png"),
        published_at="-3 h",
        publications=3,
    )
    desk.set_item(
        request_id, "answered.png", published_at="-1 h", state="done", ended_by="collector"
    )
    await post.connected()

    await send_round(desk, post.publication(desk, root))

    item = desk.item(request_id, "lost.png")
    assert (item["state"], item["reason"], item["ended_by"]) == ("failed", "no_result", "operator")
    assert post.take_all() == []

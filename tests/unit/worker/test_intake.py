"""What lies in a file, told by content and measured from headers."""

import io
from collections.abc import Callable

import pytest
from PIL import Image

from receipt_contract.errors import PermanentError, Reason
from receipt_worker import imaging, intake
from receipt_worker.intake import ImageDocument
from receipt_worker.settings import ReadingLimits

LIMITS = ReadingLimits(max_pages=3, max_pixels=10_000, max_side_pixels=200)
EXIF_ORIENTATION = 0x0112


def encoded(image: Image.Image, kind: str = "PNG", **options: object) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def frames(count: int) -> bytes:
    pictures = [Image.new("L", (20, 20), shade) for shade in range(count)]
    return encoded(pictures[0], "TIFF", save_all=True, append_images=pictures[1:])


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"just text", Reason.UNSUPPORTED_TYPE, id="no picture"),
        pytest.param(encoded(Image.new("L", (300, 3))), Reason.TOO_LARGE, id="too wide"),
        pytest.param(encoded(Image.new("1", (150, 150))), Reason.TOO_LARGE, id="too many pixels"),
        pytest.param(frames(4), Reason.TOO_MANY_PAGES, id="too many frames"),
        pytest.param(
            encoded(Image.effect_noise((90, 90), 80), "JPEG")[:600], Reason.CORRUPT, id="cut off"
        ),
    ],
)
def test_a_bad_picture_is_refused_with_its_reason(data: bytes, reason: Reason) -> None:
    with pytest.raises(PermanentError) as failure:
        [page.image() for page in ImageDocument(data, LIMITS).pages()]

    assert failure.value.reason is reason


def test_every_frame_is_a_page() -> None:
    pages = [page.image().image for page in ImageDocument(frames(3), LIMITS).pages()]

    assert [page.getpixel((0, 0)) for page in pages] == [0, 1, 2]


def test_a_photo_stands_upright_as_its_camera_says() -> None:
    photo = Image.new("L", (40, 20), "white")
    photo.putpixel((0, 0), 0)
    exif = Image.Exif()
    exif[EXIF_ORIENTATION] = 6  # turned to the left by the camera

    [page] = [
        page.image().image
        for page in ImageDocument(encoded(photo, "TIFF", exif=exif), LIMITS).pages()
    ]

    assert page.size == (20, 40)


@pytest.mark.parametrize(
    "image",
    [
        pytest.param(Image.new("RGBA", (9, 9), (0, 0, 0, 0)), id="transparent"),
        pytest.param(Image.new("LA", (9, 9), (0, 0)), id="transparent grey"),
        pytest.param(Image.new("CMYK", (9, 9), (0, 0, 0, 0)), id="printing inks"),
        pytest.param(Image.new("RGB", (9, 9), "white").convert("P"), id="a palette"),
        pytest.param(Image.new("1", (9, 9), 1), id="black and white"),
    ],
)
def test_paper_is_white_in_every_kind_of_picture(image: Image.Image) -> None:
    assert imaging.grey(image).getextrema() == (255, 255)


@pytest.mark.parametrize(
    ("data", "is_pdf"),
    [
        pytest.param(b"%PDF-1.7", True, id="at the start"),
        pytest.param(b"\xef\xbb\xbfjunk %PDF-1.4", True, id="behind some junk"),
        pytest.param(b"x" * 2000 + b"%PDF-1.4", False, id="far inside"),
        pytest.param(b"\x89PNG", False, id="a picture"),
    ],
)
def test_a_pdf_is_known_by_its_header(data: bytes, *, is_pdf: bool) -> None:
    assert intake.is_pdf(data) is is_pdf


def text_page() -> Image.Image:
    """Return a page with rows of bars, like text, away from its margins."""
    page = Image.new("L", (400, 600), "white")
    for row in range(150, 450, 20):
        for column in range(120, 280, 12):
            page.paste(0, (column, row, column + 8, row + 8))
    return page


@pytest.mark.parametrize("angle", [-4.0, 3.0])
def test_a_leaning_page_is_straightened(angle: float) -> None:
    leaning = text_page().rotate(angle, Image.Resampling.BICUBIC, expand=True, fillcolor="white")

    straight = imaging.straightened(leaning)

    assert straight.size != leaning.size
    assert imaging.straightened(straight).size == straight.size  # nothing is left to do


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(text_page, id="a level page"),
        pytest.param(lambda: Image.new("L", (400, 600), "white"), id="an empty page"),
    ],
)
def test_other_pages_are_left_as_they_are(page: Callable[[], Image.Image]) -> None:
    before = page()

    assert imaging.straightened(before) is before


def test_margins_are_cut_and_places_stay_known() -> None:
    prepared = imaging.cropped(text_page())

    assert prepared.image.width < 300
    assert (prepared.left > 0, prepared.top > 0) == (True, True)


def test_uneven_light_is_taken_away() -> None:
    shaded = Image.blend(text_page(), Image.linear_gradient("L").resize((400, 600)), 0.3)

    corner = imaging.even(shaded).crop((0, 580, 20, 600))
    assert corner.histogram()[:250] == [0] * 250

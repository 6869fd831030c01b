"""Files that nobody should send and somebody will: each with the ways in which it may end.

Made here, a few kilobytes each; what they claim to hold is far more.
"""

import os
import socket
import struct
import zlib
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from dev import paper
from dev.paper import Row
from tests.support.receipts import small_receipt

MIB = 1024 * 1024
TOTAL = small_receipt().total  # on each of them that can be read
READ = frozenset({"complete", "review"})
DOUBTED = frozenset({"review"})
NOTHING = frozenset({"unreadable"})

_CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"
_FONT = b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>"


class Odd(NamedTuple):
    """One file; `may` has statuses, or the reason of its failure."""

    name: str
    content: bytes
    may: frozenset[str]


def every() -> Iterator[Odd]:
    """Make all files."""
    yield from _pictures()
    yield from _half_pictures()
    yield from _huge_pictures()
    yield from _documents()
    yield from _bombs()


def write(folder: Path) -> dict[str, frozenset[str]]:
    """Write all files, and what only looks like one; returns how each name may end."""
    may = {}
    for odd in every():
        (folder / odd.name).write_bytes(odd.content)
        may[odd.name] = odd.may
    return may | _no_files(folder)


def _no_files(folder: Path) -> dict[str, frozenset[str]]:
    (folder / "folder.jpg").mkdir()
    os.mkfifo(folder / "pipe.png")
    (folder / "circle.png").symlink_to(folder / "circle.png")
    (folder / "nowhere.png").symlink_to(folder / "none.png")
    (folder / "endless.png").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(folder / "socket.png"))
    with (folder / "sparse.png").open("wb") as sparse:
        sparse.truncate(2**33)
    return {
        "folder.jpg": _fails("source_unreadable"),
        "pipe.png": _fails("source_unreadable"),
        "circle.png": _fails("unsafe_reference"),
        "nowhere.png": _fails("source_missing"),
        "endless.png": _fails("source_unreadable"),
        "socket.png": _fails("source_unreadable"),
        "sparse.png": _fails("too_large"),
    }


def _pictures() -> Iterator[Odd]:
    """Every kind of picture that can be read."""
    page = _page()
    turned = Image.Exif()
    turned[0x0112] = 6
    moving = [page.point(lambda level, by=by: max(0, level - by)) for by in range(1, 20)]
    ink = page.point(lambda level: 255 - level)
    deep = page.convert("I").point(lambda level: level * 257).convert("I;16")
    for name, content in {
        "cmyk.jpg": _saved(page.convert("RGB").convert("CMYK"), "JPEG"),
        "turned by its tag.jpg": _saved(page.rotate(90, expand=True), "JPEG", exif=turned),
        "tail.jpg": _saved(page, "JPEG") + b"<script>" * 1000,
        "photo with depth.jpg": _saved(page, "MPO", save_all=True, append_images=[page.reduce(2)]),
        "sixteen bits.png": _saved(deep, "PNG"),
        "see-through.png": _saved(Image.merge("LA", (Image.new("L", page.size), ink)), "PNG"),
        "moving.gif": _saved(page, "GIF", save_all=True, append_images=moving),
        "moving.png": _saved(page, "PNG", save_all=True, append_images=moving),
        "moving.webp": _saved(page, "WEBP", save_all=True, append_images=moving),
        "floats.tiff": _saved(page.convert("F"), "TIFF"),
        "pdf named.png": paper.as_text_pdf([Row("CORNER SHOP"), Row("TOTAL EUR", "9.00")] * 3),
    }.items():
        yield Odd(name, content, READ)


def _half_pictures() -> Iterator[Odd]:
    whole, photo = small_receipt().content, _saved(_page(), "JPEG")
    yield Odd("empty.pdf", b"", _fails("empty_file"))
    yield Odd("half.png", whole[: len(whole) // 2], _fails("corrupt"))
    yield Odd("third.jpg", photo[: len(photo) // 3], _fails("corrupt"))
    yield Odd("head only.jpg", photo[:40], _fails("corrupt"))
    yield Odd("damaged head.png", whole[:20] + b"\xff" * 10 + whole[30:], _fails("corrupt"))
    yield Odd("drawing.png", b"<svg><text>TOTAL 9.00</text></svg>", _fails("unsupported_type"))
    yield Odd("program.png", b"%!PS-Adobe-3.0 EPSF-3.0\n{} loop", _fails("unsupported_type"))
    yield Odd("packed.pdf", b"PK\x03\x04" + bytes(100), _fails("unsupported_type"))


def _huge_pictures() -> Iterator[Odd]:
    frames = [Image.new("1", (60, 60))] * 30
    yield Odd("a line.png", _saved(Image.new("1", (10_000, 1)), "PNG"), NOTHING)
    yield Odd("claims.png", _png(2**31 - 1, 2**31 - 1, b""), _fails("too_large"))
    yield Odd("bomb.png", _png(30_000, 30_000, _zeros(8 * MIB)), _fails("too_large"))
    yield Odd("bomb.tiff", _tiff(50_000, 50_000, _zeros(8 * MIB)), _fails("too_large"))
    text = _chunk(b"zTXt", b"x\0\0" + _zeros(64 * MIB))
    yield Odd("bomb of words.png", _png(8, 8, _zeros(1), more=text), _fails("corrupt"))
    many = _saved(frames[0], "TIFF", save_all=True, append_images=frames[1:])
    yield Odd("many pages.tiff", many, _fails("too_many_pages"))


def _documents() -> Iterator[Odd]:
    kids = b" ".join([b"3 0 R"] * 500)
    pages = b"<< /Type /Pages /Kids [%s] /Count 500 >>" % kids
    blank = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 240 400] >>"
    one = b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>"
    key = b"/Encrypt << /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>"
    key %= (b"11" * 32, b"22" * 32)
    yield Odd("500 pages.pdf", paper.as_pdf(_CATALOG, pages, blank), _fails("too_many_pages"))
    locked = paper.as_pdf(_CATALOG, one, blank).replace(b"/Root", key + b" /Root")
    yield Odd("locked.pdf", locked, _fails("encrypted"))
    yield Odd("head only.pdf", b"%PDF-1.7\n", _fails("corrupt"))
    circle = b"<< /Type /Pages /Kids [2 0 R] /Count 3 >>"
    yield Odd("pages in a circle.pdf", paper.as_pdf(_CATALOG, circle), _fails("corrupt"))
    for name, size in {"no size": b"0 0 0 0", "no number": b"0 0 nan 1e30"}.items():
        yield Odd(f"{name}.pdf", _document(b"", size=size), NOTHING)
    inside = _stream(b"/I Do", b"/Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources 5 0 R")
    yield Odd("form in itself.pdf", _document(b"/I Do", drawn=[inside]), NOTHING)


def _bombs() -> Iterator[Odd]:
    """Small PDFs that are long to read."""
    packed = b"/Filter /FlateDecode"
    page = _document(_zeros(1024 * MIB), packed)
    yield Odd("bomb of nothing.pdf", page, _fails("killed"))
    lines = b"".join(b"(TOTAL %d.00 1/2/2024 EUR) Tj T*\n" % number for number in range(20_000))
    text = b"BT /F1 9 Tf 14 TL 16 380 Td\n" + lines + b"ET"
    yield Odd("a book on one page.pdf", _document(zlib.compress(text), packed), DOUBTED)
    long = b"BT /F1 9 Tf 14 TL 16 380 Td\n" + b"(TOTAL 1,234.56 1 2 3) Tj\n" * 3000 + b"ET"
    yield Odd("one long line.pdf", _document(zlib.compress(long), packed), DOUBTED)
    picture = b"/Type /XObject /Subtype /Image /BitsPerComponent 8 /ColorSpace /DeviceGray" + packed
    for name, side, count in (("picture", 30_000, 1), ("pictures", 8_000, 30)):
        size = b"/Width %d /Height %d " % (side, side)
        drawn = [_stream(_zeros(MIB), size + picture)] * count
        shown = b"".join(b"/I%s Do\n" % (b"" if not n else b"%d" % n) for n in range(count))
        yield Odd(f"bomb of {name}.pdf", _document(shown, drawn=drawn), _fails("too_large"))


def _fails(reason: str) -> frozenset[str]:
    return frozenset({reason})


def _page() -> Image.Image:
    with Image.open(BytesIO(small_receipt().content)) as page:
        return page.convert("L")


def _saved(page: Image.Image, kind: str, **options: object) -> bytes:
    stream = BytesIO()
    page.save(stream, kind, **options)
    return stream.getvalue()


def _zeros(size: int) -> bytes:
    packing = zlib.compressobj(9)
    return b"".join(packing.compress(bytes(MIB)) for _ in range(size // MIB)) + packing.flush()


def _chunk(kind: bytes, content: bytes) -> bytes:
    checked = kind + content
    return struct.pack(">I", len(content)) + checked + struct.pack(">I", zlib.crc32(checked))


def _png(width: int, height: int, pixels: bytes, *, more: bytes = b"") -> bytes:
    head = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + head + more + _chunk(b"IDAT", pixels) + _chunk(b"IEND", b"")


def _tiff(width: int, height: int, pixels: bytes) -> bytes:
    """Write one strip of one bit a pixel; tags: number, kind (4 is 32 bits), how many, value."""
    tags = {256: width, 257: height, 258: 1, 259: 8, 262: 1, 273: 122, 277: 1, 278: height}
    tags[279] = len(pixels)
    rows = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in tags.items())
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + rows + bytes(4) + pixels


def _stream(content: bytes, about: bytes = b"") -> bytes:
    return b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), about, content)


def _document(
    content: bytes, about: bytes = b"", *, size: bytes = b"0 0 240 400", drawn: Sequence[bytes] = ()
) -> bytes:
    """Write one page; what is drawn on it is called /I, /I1, /I2 and so on."""
    names = b" ".join(b"/I%s %d 0 R" % (b"%d" % n if n else b"", 7 + n) for n in range(len(drawn)))
    return paper.as_pdf(
        _CATALOG,
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [%s] /Resources 5 0 R /Contents 6 0 R >>" % size,
        _FONT,
        b"<< /Font << /F1 4 0 R >> /XObject << %s >> >>" % names,
        _stream(content, about),
        *drawn,
    )

"""Two plots of a run, as SVG without any library: what passes are worth, and what confidence is."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import mean
from typing import NamedTuple
from xml.sax.saxutils import escape

from benchmarks.ocr.measuring import Measured
from benchmarks.ocr.scoring import Measure, Score

WIDTH, HEIGHT, EDGE = 560, 380, 56
COLOURS = ("#0d6efd", "#d63384", "#198754", "#fd7e14")
LEAST_PERCENT = 40.0  # where the axis of accuracy begins
_FONT = 'font-family="sans-serif" font-size="12"'
_SVG = "http://www.w3.org/2000/svg"
_FIELDS = {
    Measure.TOTAL: "total",
    Measure.DATE: "transaction_date",
    Measure.MERCHANT: "merchant_name",
}


class Point(NamedTuple):
    """One measured point; `note` is written beside it."""

    x: float
    y: float
    note: str = ""


class Curve(NamedTuple):
    """Points that belong together."""

    name: str
    points: Sequence[Point]


def reliability(scores: Sequence[Score], measured: Sequence[Measured]) -> list[Curve]:
    """Say how often values were right, by the confidence they were told with."""
    return [
        Curve(measure.value, list(_by_confidence(scores, measured, measure))) for measure in _FIELDS
    ]


def _by_confidence(
    scores: Sequence[Score], measured: Sequence[Measured], measure: Measure
) -> Iterable[Point]:
    told: dict[float, list[bool]] = {}
    for score, one in zip(scores, measured, strict=True):
        fields = one.reading.extraction.fields if one.reading else {}
        if measure in score.right and (field := fields.get(_FIELDS[measure])):
            told.setdefault(float(field.confidence), []).append(score.right[measure])
    for confidence, right in sorted(told.items()):
        yield Point(100.0 * confidence, 100.0 * mean(right), str(len(right)))


def write(path: Path, curves: Sequence[Curve], *, across: str, up: str, to: float) -> None:
    """Write one plot; `to` is where the axis across ends."""
    parts = [
        f'<svg xmlns="{_SVG}" width="{WIDTH}" height="{HEIGHT}" {_FONT}>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        *_axes(across, up, to),
    ]
    for number, curve in enumerate(curves):
        parts += _curve(curve, COLOURS[number % len(COLOURS)], number, to)
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join([*parts, "</svg>"]), encoding="utf-8")


def _axes(across: str, up: str, to: float) -> Iterable[str]:
    left, bottom = EDGE, HEIGHT - EDGE
    yield f'<path d="M{left},{EDGE / 2} V{bottom} H{WIDTH - EDGE / 2}" fill="none" stroke="#333"/>'
    yield _text(WIDTH / 2, HEIGHT - 12, across)
    yield _text(left - 30, EDGE / 2 - 8, up, anchor="start")
    for step in range(6):
        percent = LEAST_PERCENT + (100.0 - LEAST_PERCENT) * step / 5
        yield _text(left - 24, _y(percent) + 4, f"{percent:.0f}")
        yield _text(_x(to * step / 5, to), bottom + 18, f"{to * step / 5:.3g}")


def _curve(curve: Curve, colour: str, number: int, to: float) -> Iterable[str]:
    places = [(_x(point.x, to), _y(point.y)) for point in curve.points]
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="1.5"/>'
    for (x, y), point in zip(places, curve.points, strict=True):
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"/>'
        yield _text(x + 7, y + 14, point.note, anchor="start", colour=colour)
    yield _text(EDGE + 16, HEIGHT - EDGE - 14 - 16 * number, curve.name, "start", colour)


def _x(value: float, to: float) -> float:
    return EDGE + (WIDTH - 1.5 * EDGE) * min(value, to) / to


def _y(percent: float) -> float:
    share = (max(percent, LEAST_PERCENT) - LEAST_PERCENT) / (100.0 - LEAST_PERCENT)
    return HEIGHT - EDGE - (HEIGHT - 1.5 * EDGE) * share


def _text(x: float, y: float, text: str, anchor: str = "middle", colour: str = "#333") -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}"'
    return f"<text {place}>{escape(text)}</text>"

"""What each further pass is worth: accuracy when every receipt gets one, two, three … passes."""

from collections.abc import Mapping, Sequence
from statistics import mean

from benchmarks.ocr import scoring
from benchmarks.ocr.every_pass import EveryPass
from benchmarks.ocr.labels import Label
from benchmarks.ocr.plots import Curve, Point
from benchmarks.ocr.scoring import Measure

# Places in the worker's own order: RapidOCR, then three pictures for Tesseract.
ORDERS: Mapping[str, tuple[int, ...]] = {
    "RapidOCR, then Tesseract": (0, 1, 2, 3),
    "Tesseract, then RapidOCR": (1, 0, 2, 3),
    "Tesseract alone": (1, 2, 3),
}
SHORT_NAMES = ("R", "T1", "T2", "T3")


def curves(labels: Sequence[Label], read: Sequence[EveryPass]) -> list[Curve]:
    """Give a curve for each order: total and date right, after each of its passes."""
    return [
        Curve(
            name,
            [
                Point(
                    mean(sum(one.seconds[place] for place in order[:count]) for one in read),
                    _percent(labels, read, order[:count]),
                    SHORT_NAMES[order[count - 1]],
                )
                for count in range(1, len(order) + 1)
            ],
        )
        for name, order in ORDERS.items()
    ]


def _percent(labels: Sequence[Label], read: Sequence[EveryPass], places: Sequence[int]) -> float:
    judged = [
        scoring.right(label, one.extraction(places))
        for label, one in zip(labels, read, strict=True)
    ]
    known = [right[Measure.TOTAL_AND_DATE] for right in judged if Measure.TOTAL_AND_DATE in right]
    return 100.0 * mean(known)

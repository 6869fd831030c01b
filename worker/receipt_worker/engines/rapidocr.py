"""RapidOCR: the PP-OCRv6 models in this process, on one thread of onnxruntime.

The only module that imports rapidocr. Both models lie in its wheel and are named by path, because
it would fetch those it has to look for. Loaded once, they are shared with every child by forking.
"""

import functools
import time
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import rapidocr
from PIL import Image
from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError
from rapidocr.main import RapidOCRError

from receipt_contract.errors import AttemptError, Reason
from receipt_worker.extraction.lines import Box, Word

DETECTION_PIXELS = 450_000  # finding lines costs time by the pixel, and needs no more of them
LEAST_SIDE = 32  # pixels; the models see nothing in less
LEAST_SCORE = 0.5  # mean certainty of a line that is text
LINES_AT_ONCE = 6
LINE_HEIGHT = 48  # pixels, given by the model
SHORTEST_LINE = 48  # pixels; lines are padded to the longest of those read at once
MOST_PIXELS = 60_000  # of all lines together at the model's height: twice the longest receipt
STANDS = 2.0  # times its width, from which the height of a line tells that it runs up or down
WIDE_GAP = 3.0  # times the usual step between characters, from which another word begins

_FINDER, _READER = "PP-OCRv6_det_small.onnx", "PP-OCRv6_rec_small.onnx"
_NO_RESIZING = 100_000  # a limit that no side reaches
_BROKEN = (RapidOCRError, ONNXRuntimeError)


class _Mark(NamedTuple):
    """One character, its certainty (0..1) and the middle of its place in the line (0..1)."""

    text: str
    certainty: float
    middle: float


class _Found(NamedTuple):
    """One line: corners from the upper left one clockwise, in pixels, and its picture."""

    corners: Any
    picture: Any

    @property
    def length(self) -> float:
        """Width in pixels at the model's height."""
        height, width = self.picture.shape[:2]
        return float(LINE_HEIGHT * width / height)


class RapidOcr:
    """The second engine; `timeout` is seconds of computing a pass may take."""

    name = "rapidocr"
    engine_type = "neural_ocr"
    psm = None
    languages = None

    def __init__(self, *, timeout: float) -> None:
        """Load the models; raises AttemptError(ENGINE_FAILED)."""
        load()
        self._timeout = timeout

    def words(self, image: Image.Image) -> tuple[Word, ...]:
        """Read one image; nothing of a page that lies on its side.

        Raises AttemptError: ENGINE_FAILED, or TIMEOUT also for more text than a receipt has.
        """
        if min(image.size) < LEAST_SIDE:
            return ()
        ends = time.thread_time() + self._timeout
        words: list[Word] = []
        try:
            found = _lines(image)
            if sum(line.length for line in found) > MOST_PIXELS:
                raise AttemptError(Reason.TIMEOUT)
            for start in range(0, len(found), LINES_AT_ONCE):
                if time.thread_time() > ends:
                    raise AttemptError(Reason.TIMEOUT)
                words.extend(_read(found[start : start + LINES_AT_ONCE]))
        except _BROKEN as error:
            raise AttemptError(Reason.ENGINE_FAILED) from error
        return tuple(words)


@functools.cache
def load() -> Any:
    """Load both models, once a process: a second. Raises AttemptError(ENGINE_FAILED)."""
    models = Path(rapidocr.__file__).parent / "models"
    try:
        engine = rapidocr.RapidOCR(
            params={
                "Global.log_level": "critical",
                "Global.use_cls": False,  # a page was turned upright before
                "Global.use_vertical_padding": False,
                "Global.return_word_box": True,
                "EngineConfig.onnxruntime.intra_op_num_threads": 1,
                "EngineConfig.onnxruntime.inter_op_num_threads": 1,
                "Det.model_path": str(models / _FINDER),
                "Det.limit_type": "max",
                "Det.limit_side_len": _NO_RESIZING,
                "Rec.model_path": str(models / _READER),
                "Rec.rec_img_shape": [3, LINE_HEIGHT, SHORTEST_LINE],
                "Rec.rec_batch_num": LINES_AT_ONCE,
            }
        )
        blank = np.full((LINE_HEIGHT, SHORTEST_LINE, 3), 255, np.uint8)
        engine.run_ocr_steps(blank, {})  # models are loaded by their first use
        engine.recognize_txt([blank])
    except (OSError, *_BROKEN) as error:
        raise AttemptError(Reason.ENGINE_FAILED) from error
    return engine


def _lines(image: Image.Image) -> list[_Found]:
    """Cut lines out of an image, the short ones first; none where most stand."""
    corners = _places(image)
    standing = [_height(one) > STANDS * _width(one) for one in corners]
    if 2 * sum(standing) > len(standing):
        return []
    lying = [one for one, stands in zip(corners, standing, strict=True) if not stands]
    found = [_Found(one, _cut(image, one)) for one in lying if min(_width(one), _height(one)) >= 1]
    return sorted(found, key=lambda line: line.length)


def _places(image: Image.Image) -> Sequence[Any]:
    """Find lines on a smaller image; gives their corners on the whole one."""
    factor = min(1.0, (DETECTION_PIXELS / (image.width * image.height)) ** 0.5)
    size = tuple(max(LEAST_SIDE, round(side * factor)) for side in image.size)
    small = image.resize(size, Image.Resampling.LANCZOS) if factor < 1 else image
    detected = load().text_det(_pixels(small))
    if detected.boxes is None:
        return ()
    scale = np.array([image.width / small.width, image.height / small.height])
    return tuple(detected.boxes * scale)


def _cut(image: Image.Image, corners: Any) -> Any:
    size = (_width(corners), _height(corners))
    quad = tuple(map(float, corners[[0, 3, 2, 1]].flatten()))  # Pillow goes counter-clockwise
    return _pixels(image.transform(size, Image.Transform.QUAD, quad, Image.Resampling.BICUBIC))


def _width(corners: Any) -> int:
    return round(float(np.linalg.norm(corners[1] - corners[0])))


def _height(corners: Any) -> int:
    return round(float(np.linalg.norm(corners[3] - corners[0])))


def _pixels(image: Image.Image) -> Any:
    return np.asarray(image.convert("RGB"))


def _read(found: Sequence[_Found]) -> Iterator[Word]:
    recognized = load().recognize_txt([line.picture for line in found])
    for line, text, score, places in zip(
        found, recognized.txts, recognized.scores, recognized.word_results, strict=True
    ):
        if score >= LEAST_SCORE:
            for marks in _words(tuple(_marks(text, places))):
                yield _word(marks, line.corners)


def _marks(text: str, places: Any) -> Iterator[_Mark]:
    """Give each character of a line its place; of spaces the model tells none."""
    columns = [column for word in places.word_cols for column in word]
    middles = iter(middles_of(columns, length=places.line_txt_len))
    for mark, certainty in zip(text, places.confs, strict=True):
        middle = -1.0 if mark.isspace() else next(middles)
        yield _Mark(unicodedata.normalize("NFKC", mark), certainty, middle)


def middles_of(columns: Sequence[int], *, length: float) -> list[float]:
    """Return the middles of characters (0..1) that the model saw in these columns of a line.

    In a long row of one mark it loses its place, and may see the last ones behind the end.
    """
    whole = max([length, *(column + 1.0 for column in columns)])
    return [(column + 0.5) / whole for column in columns]


def _words(marks: Sequence[_Mark]) -> Iterator[list[_Mark]]:
    """Split at spaces, and where a gap was printed that the model read none for."""
    step = _usual_step(marks)
    word: list[_Mark] = []
    for mark in marks:
        if word and (not mark.text.strip() or mark.middle - word[-1].middle > WIDE_GAP * step):
            yield word
            word = []
        if mark.text.strip():
            word.append(mark)
    if word:
        yield word


def _usual_step(marks: Sequence[_Mark]) -> float:
    """How far the middles of neighbours in a word usually lie apart."""
    steps = [
        after.middle - before.middle
        for before, after in pairwise(marks)
        if before.middle >= 0 and after.middle >= 0
    ]
    return median(steps) if steps else 1.0


def _word(marks: Sequence[_Mark], corners: Any) -> Word:
    """Place a word between the ends of its line; as certain as its worst character."""
    half = _usual_step(marks) / 2 if len(marks) > 1 else 1.0 / (2 * len(marks) + 2)
    left, right = max(0.0, marks[0].middle - half), min(1.0, marks[-1].middle + half)
    upper_left, upper_right, lower_right, lower_left = corners
    ends = [
        start + (end - start) * share
        for start, end in ((upper_left, upper_right), (lower_left, lower_right))
        for share in (left, right)
    ]
    low, high = np.min(ends, axis=0), np.max(ends, axis=0)
    width, height = (max(1, round(float(size))) for size in high - low)
    box = Box(max(0, round(float(low[0]))), max(0, round(float(low[1]))), width, height)
    return Word(
        "".join(mark.text for mark in marks), 100.0 * min(mark.certainty for mark in marks), box
    )

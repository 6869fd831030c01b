"""What every reading child would do again, done once before the first is forked.

Patterns are compiled, tables of languages put together and decoders loaded by their first use; a
child that finds them done saves a third of what a text layer takes to read.
"""

from datetime import date

from PIL import Image

from receipt_worker import consensus
from receipt_worker.extraction import lines, receipt, vocabulary
from receipt_worker.extraction.lines import Box, Word
from receipt_worker.extraction.receipt import Assumptions
from receipt_worker.extraction.vocabulary import Vocabulary
from receipt_worker.rounds import PageReading, RoundReading

# Something of everything; who reads it learns nothing.
_SAMPLE = """\
CORNER SHOP LTD
12 Market Street, 10115 Berlin
Tel: 030 123456 VAT No: DE123456789
Receipt No: 000123 Table 4
Date: 05/03/2024 12:30
2 x 1.50 Tea 3.00
Coffee 2.50
Subtotal 5.50
Discount -0.50
VAT 10% 4.55 0.45
TOTAL EUR 5.00
VISA ************1234 5.00
Change 0.00
www.corner-shop.example"""


def warm(words: Vocabulary) -> None:
    """Load decoders, put languages together, and read the sample."""
    Image.init()
    vocabulary.make_ready(words)
    printed = [
        Word(text, 100.0, Box(60 * place, 20 * row, 50, 12))
        for row, line in enumerate(_SAMPLE.splitlines())
        for place, text in enumerate(line.split())
    ]
    sample = lines.rows(printed, page=1)
    findings = receipt.read(sample, words, Assumptions(today=date(2024, 3, 6), oldest_years=1))
    reading = RoundReading((PageReading(1, 1),), given=True, lines=sample, findings=findings)
    consensus.decide([reading], signs=frozenset())

"""Reasons: each has its class and one sentence that gives nothing away."""

import pytest

from receipt_contract.errors import (
    AttemptError,
    FailureClass,
    OutageError,
    PermanentError,
    Reason,
    ReceiptError,
)


@pytest.mark.parametrize("reason", Reason, ids=str)
def test_a_reason_has_a_class_and_a_sentence(reason: Reason) -> None:
    assert isinstance(reason.failure_class, FailureClass)
    assert reason.sentence.endswith(".")
    assert reason.sentence[0].isupper()


def test_no_two_reasons_say_the_same() -> None:
    assert len({reason.sentence for reason in Reason}) == len(Reason)


@pytest.mark.parametrize("error", [PermanentError, AttemptError, OutageError])
def test_g8_an_error_says_its_reasons_sentence_and_no_more(error: type[ReceiptError]) -> None:
    assert str(error(Reason.CORRUPT)) == Reason.CORRUPT.sentence

"""How a table of confidence is made of values that were right or wrong."""

from benchmarks.ocr import fit
from benchmarks.ocr.fit import Step, Value

MANY = 2 * fit.LEAST_VALUES


def values(score: int, *, right: int, wrong: int) -> list[Value]:
    """Return values with as much evidence, some of them right."""
    judged = [True] * right + [False] * wrong
    return [Value("total", score, is_right, half=0) for is_right in judged]


def test_more_evidence_never_means_less_confidence() -> None:
    found = fit.steps(
        [
            *values(0, right=MANY // 2, wrong=MANY // 2),
            *values(1, right=MANY, wrong=1),
            *values(2, right=MANY, wrong=5),
        ]
    )

    assert found == [
        Step(0, MANY // 2, MANY),
        Step(1, 2 * MANY, 2 * MANY + 6),
    ]


def test_a_few_values_join_those_with_less_evidence() -> None:
    found = fit.steps([*values(0, right=MANY, wrong=MANY), *values(3, right=2, wrong=0)])

    assert found == [Step(0, MANY + 2, 2 * MANY + 2)]


def test_values_that_were_always_right_are_not_certain() -> None:
    [step] = fit.steps(values(7, right=MANY, wrong=0))

    assert 0.9 < step.confidence < 1

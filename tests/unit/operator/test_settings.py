"""Settings of the operator, and what is said about wrong ones."""

import pytest

from receipt_operator.settings import OperatorSettings
from receipt_runtime.settings import SettingsError, read

RIGHT = {
    "RABBITMQ_URL": "amqp://user:secret@broker/receipts",
    "DATABASE_URL": "postgresql://user:secret@database/receipts",
    "RECEIPTS_CLUSTER": "home",
    "RECEIPTS_NAMESPACES": "receipts",
    "RECEIPT_SOURCE_ROOT": "/receipts",
    "HOME_BUDGET_OCR_CACHE": "/cache",
}


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Set what the operator needs and nothing more."""
    for name in (*RIGHT, "RECEIPTS_MAX_IN_FLIGHT", "RECEIPTS_SWEEP_SECONDS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in RIGHT.items():
        monkeypatch.setenv(name, value)
    return monkeypatch


@pytest.mark.parametrize(
    ("text", "names"),
    [
        pytest.param("receipts", ("receipts",), id="one"),
        pytest.param("a, b ,c", ("a", "b", "c"), id="three with spaces"),
        pytest.param(" a,,", ("a",), id="empty ones are left out"),
        pytest.param("a,b,a", ("a", "b"), id="one named twice counts once"),
    ],
)
def test_namespaces_are_separated_by_commas(
    environment: pytest.MonkeyPatch, text: str, names: tuple[str, ...]
) -> None:
    environment.setenv("RECEIPTS_NAMESPACES", text)

    assert read(OperatorSettings).namespaces == names


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("RECEIPTS_CLUSTER", "two words", "RECEIPTS_CLUSTER: String should match pattern"),
        ("RECEIPTS_CLUSTER", "", "RECEIPTS_CLUSTER: String should have at least 1 character"),
        ("RECEIPTS_NAMESPACES", " , ", "RECEIPTS_NAMESPACES: "),
        ("RECEIPTS_MAX_IN_FLIGHT", "0", "RECEIPTS_MAX_IN_FLIGHT: "),
        ("RECEIPTS_MAX_IN_FLIGHT", "secret", "RECEIPTS_MAX_IN_FLIGHT: "),
        ("RECEIPTS_SWEEP_SECONDS", "900", "RECEIPTS_SWEEP_SECONDS: "),
        ("RABBITMQ_URL", "http://user:secret@broker", "RABBITMQ_URL: an address like"),
    ],
)
def test_g8_a_wrong_setting_is_one_sentence_without_its_value(
    environment: pytest.MonkeyPatch, name: str, value: str, sentence: str
) -> None:
    environment.setenv(name, value)

    with pytest.raises(SettingsError) as caught:
        read(OperatorSettings)

    said = str(caught.value)
    assert said.startswith(sentence)
    assert "secret" not in said
    assert ";" not in said


@pytest.mark.parametrize("name", RIGHT)
def test_a_missing_setting_is_named(environment: pytest.MonkeyPatch, name: str) -> None:
    environment.delenv(name)

    with pytest.raises(SettingsError, match=f"^{name} is not set$"):
        read(OperatorSettings)


def test_g8_settings_do_not_show_their_secrets() -> None:
    assert "secret" not in repr(read(OperatorSettings))

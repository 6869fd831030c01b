"""Which settings are read, and what a wrong one says."""

import pytest

from receipt_runtime import settings
from receipt_runtime.settings import (
    RuntimeSettings,
    SettingsError,
    TopologyMode,
    answer_help,
    described,
)

A_URL = "amqp://bob:secret@broker:5672/receipts"
VARIABLES = ("RABBITMQ_URL", "RECEIPTS_TOPOLOGY", "HEALTH_PORT", "LOG_LEVEL")


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


def test_a_url_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RABBITMQ_URL", A_URL)

    read = settings.read(RuntimeSettings)

    assert read.rabbitmq_url.get_secret_value() == A_URL
    assert read.topology is TopologyMode.DECLARE
    assert read.health_port == 8080


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        pytest.param({}, "RABBITMQ_URL is not set", id="no URL"),
        pytest.param(
            {"RABBITMQ_URL": "https://secret@broker"},
            "RABBITMQ_URL: an address like amqp://user:password@host:5672/vhost is wanted",
            id="another scheme",
        ),
        pytest.param(
            {"RABBITMQ_URL": "amqp://secret:x@:5672/"},
            "RABBITMQ_URL: an address like amqp://user:password@host:5672/vhost is wanted",
            id="no host",
        ),
        pytest.param(
            {"RABBITMQ_URL": "amqp://secret@host:port"},
            "RABBITMQ_URL: an address like amqp://user:password@host:5672/vhost is wanted",
            id="a word for a port",
        ),
        pytest.param(
            {"RABBITMQ_URL": A_URL, "HEALTH_PORT": "70000"},
            "HEALTH_PORT: Input should be less than or equal to 65535",
            id="a port that does not exist",
        ),
        pytest.param(
            {"RABBITMQ_URL": A_URL, "RECEIPTS_TOPOLOGY": "secret"},
            "RECEIPTS_TOPOLOGY: Input should be 'declare' or 'check'",
            id="a mode that does not exist",
        ),
        pytest.param(
            {"HEALTH_PORT": "secret"},
            "RABBITMQ_URL is not set; HEALTH_PORT: Input should be a valid integer,"
            " unable to parse string as an integer",
            id="two at once",
        ),
    ],
)
def test_g8_a_wrong_setting_is_named_without_its_value(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], expected: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(SettingsError) as raised:
        settings.read(RuntimeSettings)

    assert str(raised.value) == expected
    assert "secret" not in repr(raised.value)
    assert raised.value.__cause__ is None


def test_g8_settings_do_not_show_the_url(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RABBITMQ_URL", A_URL)

    assert "secret" not in repr(settings.read(RuntimeSettings))


def test_every_variable_is_described_with_its_default() -> None:
    found = {setting.names[0]: setting for setting in described(RuntimeSettings)}

    assert found["RABBITMQ_URL"].default is None
    assert found["RECEIPTS_TOPOLOGY"].default == "declare"
    assert all(setting.description for setting in found.values())


def test_help_names_the_variables(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["program", "--help"])

    with pytest.raises(SystemExit) as ended:
        answer_help("program", "What it does.", RuntimeSettings)

    assert ended.value.code == 0
    assert "RABBITMQ_URL" in capsys.readouterr().out

"""Alerts and dashboard speak of what our processes show; each alert fires and is silent."""

import json
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import prometheus_client
import yaml

import receipt_collector.metrics
import receipt_operator.metrics
import receipt_runtime.metrics
import receipt_worker.metrics
from dev import folders
from tests.chart import rendering
from tests.chart.rendering import CHART, DEFAULT, EVERYTHING

OURS = (
    receipt_collector.metrics,
    receipt_operator.metrics,
    receipt_runtime.metrics,
    receipt_worker.metrics,
)
# Prometheus' own about each target, and those of every Python process.
FOREIGN = {"up", "process_resident_memory_bytes"}
ALERTS = sorted(path.stem for path in (CHART / "files" / "alerts").glob("*.yaml"))
RUNBOOKS = folders.CHECKOUT / "docs" / "operations.md"

_METRIC = re.compile(r"\b(up|(?:receipts|process)_[a-z_]+)\b(?=[{)\[, ]|$)")
_GROUPING = re.compile(r"\bby \([^)]*\)")
_LABEL_NAME = re.compile(r"[{,]\s*(\w+)\s*(?==~|!=|=)")

ON_ALL = {"namespace", "container", "pod", "le"}  # labels of the scrape, and of histograms
NS = f'namespace="{rendering.NAMESPACE}"'


class Case(NamedTuple):
    """Series of an alert that fires at `minutes`, and of a good day."""

    firing: Mapping[str, str]
    silent: Mapping[str, str]
    minutes: int
    labels: Mapping[str, str] = {}


def _up(container: str) -> str:
    return f'up{{{NS}, container="{container}"}}'


def _series(name: str, **labels: str) -> str:
    given = (f'{label}="{value}"' for label, value in labels.items())
    return f"{name}{{{', '.join([NS, *given])}}}"


def _histogram(name: str, bucket: str) -> dict[str, str]:
    """Return a histogram of which every value falls into one bucket."""
    return {
        _series(f"{name}_bucket", le="1"): "0+10x180" if bucket == "1" else "0x180",
        _series(f"{name}_bucket", le="3600"): "0+10x180",
        _series(f"{name}_bucket", le="+Inf"): "0+10x180",
    }


SENT = _series("receipts_items_in_flight")
COLLECTED = _series("receipts_collected_total", event_type="run", outcome="stored")
ANSWERED = _series("receipts_answered_total", mode="process", status="complete", origin="read")
FAILED = _series("receipts_failures_total", side="receipts.v1", reason="corrupt")
REFUSED = _series("receipts_failures_total", side="ocr.results.v1", reason="invalid_event")

CASES = {
    "ReceiptsOperatorAbsent": Case(
        {_up("operator"): "0x60"},
        {_up("operator"): "1x60"},
        30,
    ),
    "ReceiptsCollectorAbsent": Case(
        {_up("collector"): "0x60"},
        {_up("collector"): "0 1x60"},
        30,
    ),
    "ReceiptsWorkersAbsent": Case(
        {SENT: "5x60", _up("worker"): "0x60"}, {SENT: "5x60", _up("worker"): "1x60"}, 30
    ),
    "ReceiptsWorkStandsStill": Case(
        {SENT: "5x180", COLLECTED: "7x180"}, {SENT: "5x180", COLLECTED: "0+1x180"}, 120
    ),
    "ReceiptsManyFailures": Case(
        {FAILED: "0+1x180", ANSWERED: "0+1x180"}, {FAILED: "0+1x180", ANSWERED: "0+20x180"}, 120
    ),
    "ReceiptsResultsRefused": Case({REFUSED: "0 0 1x60"}, {REFUSED: "0x60"}, 30),
    "ReceiptsManyRetries": Case(
        {
            _series("receipts_deliveries_total", settlement="retry"): "0+1x180",
            _series("receipts_deliveries_total", settlement="ack"): "0+1x180",
        },
        {
            _series("receipts_deliveries_total", settlement="retry"): "0+1x180",
            _series("receipts_deliveries_total", settlement="ack"): "0+9x180",
        },
        120,
    ),
    "ReceiptsNotPublished": Case(
        {_series("receipts_published_total", publisher="operator", outcome="nacked"): "0+1x60"},
        {_series("receipts_published_total", publisher="operator", outcome="published"): "0+1x60"},
        40,
        {"publisher": "operator", "outcome": "nacked"},
    ),
    "ReceiptsBrokerUnreachable": Case(
        {_series("receipts_reconnects_total", container="worker", link="work"): "0+2x60"},
        {_series("receipts_reconnects_total", container="worker", link="work"): "0x20 1x40"},
        40,
        {"container": "worker"},
    ),
    "ReceiptsOutage": Case(
        {_series("receipts_outages_total", consumer="work", reason="source_unavailable"): "0+1x90"},
        {
            _series(
                "receipts_outages_total", consumer="work", reason="source_unavailable"
            ): "0x30 1x60"
        },
        60,
        {"consumer": "work", "reason": "source_unavailable"},
    ),
    "ReceiptsOperatorFailing": Case(
        {_series("receipts_loop_failures_total", loop="mirror"): "0+3x60"},
        {_series("receipts_loop_failures_total", loop="mirror"): "0 0 5x60"},
        40,
        {"loop": "mirror"},
    ),
    "ReceiptsReconcileBacklog": Case(
        {_series("receipts_reconcile_queue"): "500x60"},
        {_series("receipts_reconcile_queue"): "500 0x10 500x5 0x40"},
        40,
    ),
    "ReceiptsStatusStale": Case(
        {_series("receipts_mirror_age_seconds"): "500x60"},
        {_series("receipts_mirror_age_seconds"): "1 500 1x60"},
        40,
    ),
    "ReceiptsResultsLate": Case(
        _histogram("receipts_collected_lag_seconds", "3600"),
        _histogram("receipts_collected_lag_seconds", "1"),
        60,
    ),
    "ReceiptsReadingSlow": Case(
        _histogram("receipts_reading_seconds", "3600"),
        _histogram("receipts_reading_seconds", "1"),
        120,
    ),
}


def _shown() -> dict[str, set[str]]:
    """Return every series that our processes show, with the labels we give it."""
    shown: dict[str, set[str]] = {}
    for module in OURS:
        for metric in vars(module).values():
            if not isinstance(metric, prometheus_client.metrics.MetricWrapperBase):
                continue
            [family] = metric.describe()
            endings = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count")}
            for ending in endings.get(family.type, ("",)):
                shown[family.name + ending] = set(metric._labelnames)
    return shown


def _rules(helm: Path, *settings: str) -> list[dict[str, Any]]:
    [rule] = rendering.of_kind(
        rendering.objects(helm, DEFAULT, "metrics.prometheusRule.enabled=true", *settings),
        "PrometheusRule",
    )
    [group] = rule["spec"]["groups"]
    return list(group["rules"])


def _unknown(expression: str) -> set[str]:
    """Return metrics and labels in an expression that nobody shows."""
    shown = _shown()
    bare = _GROUPING.sub("", expression)
    metrics = set(_METRIC.findall(bare))
    labels = set(_LABEL_NAME.findall(expression)) | {
        label.strip()
        for grouping in _GROUPING.findall(expression)
        for label in grouping.partition("(")[2].rstrip(")").split(",")
    }
    ours = {label for metric in metrics for label in shown.get(metric, ())}
    return (metrics - set(shown) - FOREIGN) | (labels - ours - ON_ALL)


def test_every_alert_speaks_of_what_our_processes_show(helm: Path) -> None:
    unknown = {rule["alert"]: _unknown(rule["expr"]) for rule in _rules(helm)}

    assert {alert: words for alert, words in unknown.items() if words} == {}
    assert sorted(unknown) == ALERTS


def test_a_metric_that_nobody_shows_is_noticed() -> None:
    assert _unknown('sum by (queue) (receipts_gone_total{side="x"}) > 0') == {
        *("receipts_gone_total", "side", "queue")
    }


def test_every_panel_of_the_dashboard_speaks_of_what_our_processes_show() -> None:
    dashboard = json.loads((CHART / "files/dashboards/receipts.json").read_text("utf-8"))
    panels = dashboard["panels"]
    expressions = [target["expr"] for panel in panels for target in panel.get("targets", ())]

    assert len({panel["id"] for panel in panels}) == len(panels)
    assert {one: _unknown(one) for one in expressions if _unknown(one)} == {}
    used = {metric for one in expressions for metric in _METRIC.findall(_GROUPING.sub("", one))}
    endings = ("_sum", "_count")  # a histogram is drawn from its buckets
    assert {one for one in _shown() if not one.endswith(endings)} - used == set()


def test_every_alert_has_a_runbook() -> None:
    headings = set(re.findall(r"^### (Receipts\w+)$", RUNBOOKS.read_text("utf-8"), re.MULTILINE))

    assert headings == set(ALERTS)


def test_alerts_can_be_left_out_labelled_and_linked(helm: Path) -> None:
    [rule] = rendering.of_kind(rendering.objects(helm, EVERYTHING), "PrometheusRule")
    rules = rule["spec"]["groups"][0]["rules"]

    assert {one["alert"] for one in rules} == set(ALERTS) - {"ReceiptsReadingSlow"}
    assert all(one["labels"]["team"] == "finance" for one in rules)
    assert rules[0]["annotations"]["runbook_url"] == (
        f"https://example.com/operations.md#{rules[0]['alert'].lower()}"
    )


def test_every_alert_fires_when_it_should_and_is_silent_on_a_good_day(
    helm: Path, promtool: Path, tmp_path: Path
) -> None:
    assert sorted(CASES) == ALERTS
    rules = _rules(helm)
    _write(tmp_path / "rules.yaml", {"groups": [{"name": "receipts", "rules": rules}]})
    tests = [
        _test(rule, series, fires=fires)
        for rule in rules
        for series, fires in (
            (CASES[rule["alert"]].firing, True),
            (CASES[rule["alert"]].silent, False),
        )
    ]
    _write(tmp_path / "tests.yaml", {"rule_files": ["rules.yaml"], "tests": tests})

    _promtool(promtool, "check", "rules", "rules.yaml", folder=tmp_path)
    _promtool(promtool, "test", "rules", "tests.yaml", folder=tmp_path)


def _test(rule: Mapping[str, Any], series: Mapping[str, str], *, fires: bool) -> dict[str, Any]:
    case = CASES[rule["alert"]]
    expected = {
        "exp_labels": {**rule["labels"], **case.labels},
        "exp_annotations": rule["annotations"],
    }
    return {
        "name": f"{rule['alert']} {'fires' if fires else 'is silent'}",
        "interval": "1m",
        "input_series": [{"series": one, "values": values} for one, values in series.items()],
        "alert_rule_test": [
            {
                "alertname": rule["alert"],
                "eval_time": f"{case.minutes}m",
                "exp_alerts": [expected] if fires else [],
            }
        ],
    }


def _write(path: Path, content: object) -> None:
    path.write_text(yaml.safe_dump(content), encoding="utf-8")


def _promtool(promtool: Path, *args: str, folder: Path) -> None:
    done = subprocess.run(
        [promtool, *args], check=False, capture_output=True, text=True, cwd=folder
    )
    assert done.returncode == 0, done.stdout + done.stderr

"""Renders the queues and the broker's users as data for the chart, which can read no Python."""

from pathlib import Path

import yaml

from receipt_contract.access import ACCESS
from receipt_contract.topology import SIDES

PATH = Path("charts/receipts/files/topology.yaml")

_HEAD = "# Generated from receipt_contract/{topology,access}.py; do not edit: make generate\n"


def render() -> str:
    """Return the file: exchanges, queues with their bindings, users with their permissions."""
    data = {
        "exchanges": [exchange for side in SIDES for exchange in side.exchanges],
        "queues": [
            {
                "name": queue.name,
                "exchange": queue.exchange,
                "routingKey": queue.routing_key,
                "arguments": dict(queue.arguments),
            }
            for side in SIDES
            for queue in side.queues
        ],
        "users": {user.value: access.patterns for user, access in ACCESS.items()},
    }
    return _HEAD + yaml.safe_dump(data, sort_keys=False, width=200)

"""Renders the queues and the broker's users for those who can read no Python.

The chart gets them as data, people who make users by hand as a script.
"""

from pathlib import Path

import yaml

from receipt_contract.access import ACCESS
from receipt_contract.topology import SIDES

PATH = Path("charts/receipts/files/topology.yaml")

USERS_SCRIPT = Path("examples/rabbitmq/permissions.sh")

_SCRIPT_HEAD = """\
#!/bin/sh
# Generated from receipt_contract/access.py; do not edit: make generate
#
# Gives each user of the broker what it needs and nothing more, in the virtual host that is named:
#
#   for user in operator worker collector topology scaler; do
#     rabbitmqctl add_user "receipts-$user"   # asks for a password
#   done
#   sh permissions.sh receipts
set -eu
vhost=${1:?name the virtual host}
"""

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


def users_script() -> str:
    """Return the shell script that makes the broker's users by hand."""
    lines = [
        _SCRIPT_HEAD,
        *(
            f'rabbitmqctl set_permissions --vhost "$vhost" receipts-{user} '
            + " ".join(f"'{pattern}'" for pattern in access.patterns.values())
            for user, access in ACCESS.items()
        ),
        "rabbitmqctl set_user_tags receipts-scaler management",
    ]
    return "\n".join([*lines, ""])

"""Runs the demo once; exit status 0 only when everything came out as expected."""

import signal
import sys
import time
from datetime import UTC, datetime

from dev import console
from dev.demo import shell
from dev.demo.product import NAMESPACE, Product
from dev.demo.story import Story
from dev.errors import DevError
from dev.stack import DEMO, Stack

INTERRUPTED = 130


def main() -> int:
    """Start or reuse the services, show everything, and say how to look further."""
    signal.signal(signal.SIGTERM, _interrupt)
    began = time.monotonic()
    stack = Stack(DEMO)
    product = Product(stack)
    try:
        _show(stack, product)
    except DevError as error:
        console.say(f"The demo failed: {error}")
        if logs := product.logs():
            console.say("Logs to read: " + " ".join(map(str, logs)))
        return 1
    except KeyboardInterrupt:
        console.say("Interrupted. `make demo-stop` ends what was started.")
        return INTERRUPTED
    shell.heading(f"All as expected, after {time.monotonic() - began:.0f} s")
    _say_more(product)
    return 0


def _show(stack: Stack, product: Product) -> None:
    shell.heading("Services")
    stack.up()
    product.prepare()
    shell.heading("Our programs: one operator, two workers, one collector")
    with console.step("starting them"):
        product.start()
    run_id = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    Story(product, stack.cluster, run_id=run_id).tell()


def _say_more(product: Product) -> None:
    shell.tell("Everything keeps running. To look further:")
    shell.tell(f"  . {product.environment_file}")
    shell.tell(f"  kubectl --namespace {NAMESPACE} get rrp,crb --output wide")
    shell.tell(f"  kubectl --namespace {NAMESPACE} describe rrp with-bad-files")
    shell.tell("  ledger doctor")
    shell.tell(f"  ledger receipts extract {product.root}/2024-03/*")
    shell.tell(f"  tail -f {product.logs()[0]}")
    shell.tell("To end it and remove its data: make demo-stop")


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())

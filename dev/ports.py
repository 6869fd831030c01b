"""Free loopback ports for services that are started more than once on the same port."""

import socket
from random import Random

# Below Linux's ephemeral range (32768 and up): no outgoing connection takes the port of a server
# that a test has just killed and is about to start again.
LOWEST = 20_000
HIGHEST = 29_999


def choose(count: int, *, random: Random) -> list[int]:
    """Return `count` different ports on which nothing listens now."""
    chosen: list[int] = []
    for port in random.sample(range(LOWEST, HIGHEST + 1), k=HIGHEST + 1 - LOWEST):
        if len(chosen) == count:
            break
        if is_free(port):
            chosen.append(port)
    return chosen


def is_free(port: int) -> bool:
    with socket.socket() as listener:
        try:
            listener.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def accepts(port: int) -> bool:
    """Tell whether something on loopback accepts connections on the port."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return True
    except OSError:
        return False

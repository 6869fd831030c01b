import socket
from random import Random

from dev import ports


def test_chosen_ports_are_free_different_and_outside_the_ephemeral_range() -> None:
    chosen = ports.choose(20, random=Random(1))  # noqa: S311  # a seed, no secret

    assert len(set(chosen)) == 20
    assert all(ports.is_free(port) for port in chosen)
    assert all(ports.LOWEST <= port <= ports.HIGHEST for port in chosen)


def test_a_port_in_use_is_not_chosen() -> None:
    (first,) = ports.choose(1, random=Random(1))  # noqa: S311  # a seed, no secret
    with socket.create_server(("127.0.0.1", first)):
        (second,) = ports.choose(1, random=Random(1))  # noqa: S311  # a seed, no secret

        assert ports.accepts(first)
        assert not ports.is_free(first)
        assert second != first

    assert not ports.accepts(first)

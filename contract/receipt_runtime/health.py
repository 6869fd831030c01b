"""`/livez`, `/readyz` and `/metrics` over HTTP, on threads of their own.

A check returns sentences that say what is wrong; none means well.
"""

import threading
from collections.abc import Callable, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

REQUEST_TIMEOUT_SECONDS = 5.0

Check = Callable[[], Sequence[str]]


class HealthServer:
    """Serves the three paths until it is closed."""

    def __init__(self, port: int, *, live: Check, ready: Check) -> None:
        """Bind; port 0 takes any free one. Raises OSError when the port is taken."""
        checks = {"/livez": live, "/readyz": ready}

        class Answer(_Answer):
            def check(self, path: str) -> Check | None:
                return checks.get(path)

        # A kubelet and a metrics scraper come from other addresses than loopback.
        self._server = ThreadingHTTPServer(("0.0.0.0", port), Answer)  # noqa: S104
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, name="health", daemon=True
        )

    @property
    def port(self) -> int:
        """Port that answers."""
        return int(self._server.server_address[1])

    def start(self) -> None:
        """Begin to answer."""
        self._thread.start()

    def close(self) -> None:
        """Stop answering and free the port."""
        self._server.shutdown()
        self._server.server_close()


class _Answer(BaseHTTPRequestHandler):
    timeout = REQUEST_TIMEOUT_SECONDS

    def check(self, path: str) -> Check | None:
        raise NotImplementedError

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path == "/metrics":
            self._send(HTTPStatus.OK, generate_latest(), CONTENT_TYPE_LATEST)
            return
        check = self.check(path)
        if check is None:
            self._send_text(HTTPStatus.NOT_FOUND, "not found")
        elif problems := check():
            self._send_text(HTTPStatus.SERVICE_UNAVAILABLE, "\n".join(problems))
        else:
            self._send_text(HTTPStatus.OK, "ok")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - standard library's name
        """Say nothing: probes come every few seconds."""

    def _send_text(self, status: HTTPStatus, text: str) -> None:
        self._send(status, f"{text}\n".encode(), "text/plain; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

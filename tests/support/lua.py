"""Runs our Lua as Argo CD does: Lua 5.1 with the base and table libraries and nothing else.

In an action `require("os")` gives two functions that tell the time.
"""

import copy
from pathlib import Path
from typing import Any

from lupa import lua51

from receipt_contract.status import State

# What Argo CD has to show of an object in each state.
HEALTHS = {
    State.SUCCEEDED: "Healthy",
    State.EXPIRED: "Healthy",
    State.SUSPENDED: "Suspended",
    State.STALLED: "Degraded",
    State.PARTIALLY_FAILED: "Degraded",
    State.FAILED: "Degraded",
    State.CANCELLED: "Degraded",
    State.INVALID: "Degraded",
}
PROGRESSING = "Progressing"

_LIBRARIES = ("io", "os", "string", "math", "debug", "coroutine", "package", "python", "require")
_SAFE_OS = """\
local time, date = os.time, os.date
return function(name)
  assert(name == "os", "there is no module " .. name)
  return { time = time, date = date }
end
"""


def expected_health(document: dict[str, Any]) -> str:
    """Return the health that an object has to have, told by the one word of its state."""
    status = document.get("status", {})
    if status.get("observedGeneration") != document["metadata"]["generation"]:
        return PROGRESSING
    state = State(status["state"])
    if state is State.SUSPENDED and document["spec"].get("cancel"):
        return PROGRESSING  # it is about to end
    return HEALTHS.get(state, PROGRESSING)


def health(script: Path, document: dict[str, Any]) -> dict[str, str]:
    """Return what a health script says of an object: status and message."""
    answer: dict[str, str] = _plain(_run(script, document))
    return answer


def run_action(script: Path, document: dict[str, Any]) -> dict[str, Any]:
    """Return what an action's script makes of an object, or which actions one finds for it."""
    answer: dict[str, Any] = _plain(_run(script, document))
    return answer


def _run(script: Path, document: dict[str, Any]) -> Any:
    runtime = _runtime()
    runtime.globals()["obj"] = runtime.table_from(copy.deepcopy(document), recursive=True)
    return runtime.execute(script.read_text(encoding="utf-8"))


def _runtime() -> Any:
    runtime = lua51.LuaRuntime(register_eval=False)
    require = runtime.execute(_SAFE_OS)
    for name in _LIBRARIES:
        runtime.globals()[name] = None
    runtime.globals()["require"] = require
    return runtime


def _plain(value: Any) -> Any:
    """Turn tables into dicts and lists."""
    if lua51.lua_type(value) != "table":
        return value
    pairs = dict(value.items())
    if pairs and list(pairs) == list(range(1, len(pairs) + 1)):
        return [_plain(one) for one in pairs.values()]
    return {key: _plain(one) for key, one in pairs.items()}

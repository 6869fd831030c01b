-- Which actions Argo CD offers for a ReceiptReprocess or CacheRebuild.

local status = obj.status or {}
local is_current = status.observedGeneration == obj.metadata.generation

local is_finished = false
for _, condition in ipairs(status.conditions or {}) do
  if condition.type == "Finished" then
    is_finished = condition.status == "True"
  end
end

local actions = {}
if is_current and is_finished then
  if status.progress ~= nil and status.progress.failed > 0 then
    actions["rerun-failed"] = { iconClass = "fa fa-fw fa-redo" }
  end
  return actions
end

if obj.spec.cancel then
  return actions
end
if obj.spec.suspend then
  actions["resume"] = { iconClass = "fa fa-fw fa-play" }
else
  actions["suspend"] = { iconClass = "fa fa-fw fa-pause" }
end
actions["cancel"] = { iconClass = "fa fa-fw fa-stop" }
return actions

-- The health of a ReceiptReprocess or CacheRebuild, for Argo CD (argocd-cm.yaml holds a copy).
--
-- Argo CD runs this without the string library. Counts stay out of the messages of unfinished
-- objects: they change all the time, and Argo CD may show an old one.

local status = obj.status
if status == nil or status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "Waiting for the operator" }
end

local conditions = {}
for _, condition in ipairs(status.conditions or {}) do
  conditions[condition.type] = condition
end

local function holds(name)
  return conditions[name] ~= nil and conditions[name].status == "True"
end

local function said(name)
  return conditions[name].reason .. ": " .. conditions[name].message
end

if holds("Finished") then
  if holds("Succeeded") then
    return { status = "Healthy", message = said("Finished") }
  end
  -- A request that came too late was not sent, as asked for. A rebuilt cluster stays healthy.
  if conditions.Finished.reason == "Expired" then
    return { status = "Healthy", message = said("Finished") }
  end
  return { status = "Degraded", message = said("Finished") }
end

-- One that is being cancelled comes to its end, also where it is still suspended.
if holds("Suspended") and not obj.spec.cancel then
  return { status = "Suspended", message = conditions.Suspended.reason }
end
if holds("Stalled") then
  return { status = "Degraded", message = said("Stalled") }
end
if holds("Reconciling") then
  return { status = "Progressing", message = conditions.Reconciling.reason }
end
return { status = "Progressing", message = "Running" }

-- Reads the failed receipts again, under a new runId.

local os = require("os")

obj.spec.target = { retryFailedOf = obj.status.run.id }
obj.spec.runId = "retry-" .. os.date("!%Y%m%d-%H%M%S")
-- What ended or delayed the request before must not meet the new one.
obj.spec.cancel = nil
obj.spec.suspend = nil
obj.spec.startBefore = nil
return obj

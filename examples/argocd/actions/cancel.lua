-- Ends the request for good; only a new runId starts again.

obj.spec.cancel = true
return obj

-- Sends nothing more until it is resumed; what was sent is still read.

obj.spec.suspend = true
return obj

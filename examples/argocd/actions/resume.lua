-- Goes on with sending.

obj.spec.suspend = false
return obj

// Flux, of which only the definitions of its kinds are used: our example is validated against them.
// Nothing is imported, so `go mod tidy` would empty this file.
module receipts.homebudget.dev/dev/gitops/flux

go 1.27.0

toolchain go1.27.3

require (
	github.com/fluxcd/kustomize-controller v1.10.1
	github.com/fluxcd/source-controller v1.10.1
)

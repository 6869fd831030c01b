// The kinds of others that the chart can make: their definitions are tried against a real API server.
// Nothing is imported, so `go mod tidy` would empty this file.
module receipts.homebudget.dev/dev/helm/kinds

go 1.26.0

require (
	github.com/kedacore/keda/v2 v2.20.2
	github.com/prometheus-operator/prometheus-operator v0.85.0
)

//go:build tools

// Package helm names the command that scripts/kube-binaries builds, so that `go mod tidy` keeps it.
package helm

import (
	_ "helm.sh/helm/v4/cmd/helm"
)

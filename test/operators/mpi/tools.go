//go:build tools

// Package mpi names the command to build, so that go.sum covers it.
package mpi

import _ "github.com/kubeflow/mpi-operator/cmd/mpi-operator"

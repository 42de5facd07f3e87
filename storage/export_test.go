package storage

import (
	"context"
	"testing"
)

// RebuildFileSteps is the part of a repair that makes the index of changed files anew.
func (s *Store) RebuildFileSteps(ctx context.Context) error { return s.rebuildFileSteps(ctx) }

// HoldRepair keeps others out as a repair does.
func HoldRepair(t *testing.T, home string) (release func()) {
	t.Helper()
	release, err := alone(home)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

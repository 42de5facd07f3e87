package storage

import "testing"

// HoldRepair keeps others out as a repair does.
func HoldRepair(t *testing.T, home string) (release func()) {
	t.Helper()
	release, err := alone(home)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

package storage

import (
	"testing"
	"time"
)

// What a read found is not kept if the setting was changed meanwhile.
func TestAnOvertakenReadIsNotKept(t *testing.T) {
	t.Parallel()
	var s settings
	now := time.Now()
	_, _, changes := s.recent("k", now)
	s.changed()
	s.remember("k", "old", now, changes)
	if value, ok, _ := s.recent("k", now); ok {
		t.Errorf("kept %q", value)
	}
	_, _, changes = s.recent("k", now)
	s.remember("k", "new", now, changes)
	if value, ok, _ := s.recent("k", now); !ok || value != "new" {
		t.Errorf("%q, %t", value, ok)
	}
}

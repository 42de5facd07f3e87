package storage

import "testing"

// K-36: commits reach the disk, readers cannot write, and what belongs to a
// session goes with it. No kill shows the first: only a power cut would.
func TestConnections(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for pragma, want := range map[string][2]string{ // of the writer, of a reader
		"journal_mode": {"wal", "wal"},
		"synchronous":  {"2", "2"}, // FULL
		"foreign_keys": {"1", "1"},
		"query_only":   {"0", "1"},
		"busy_timeout": {"5000", "5000"},
	} {
		var got [2]string
		if err := s.write.QueryRow("PRAGMA " + pragma).Scan(&got[0]); err != nil {
			t.Fatal(err)
		}
		if err := s.read.QueryRow("PRAGMA " + pragma).Scan(&got[1]); err != nil {
			t.Fatal(err)
		}
		if got != want {
			t.Errorf("%s: %v, want %v", pragma, got, want)
		}
	}
}

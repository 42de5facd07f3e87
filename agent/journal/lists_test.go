package journal_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal"
)

// K-24: a step that changed more files than its event lists can be undone as a whole,
// because the journal has the other records.
func TestListsOfManyFiles(t *testing.T) {
	t.Parallel()
	j := journal.Open(t.TempDir())
	defer j.Close()
	changed := func(n int, prefix string) agent.FilesChanged {
		var c agent.FilesChanged
		for i := range n {
			hash := fmt.Sprintf("%064x", i)
			c.Files = append(c.Files, agent.FileRecord{Path: fmt.Sprintf("%s%05d", prefix, i), Before: agent.FileVersion{Hash: hash, Size: int64(i), Kind: agent.PlainFile, Mode: 0o640}})
		}
		return c
	}
	for name, c := range map[string]agent.FilesChanged{
		"none": {}, "one": changed(1, "f"), "as many as are listed": changed(2000, "f"), "one more": changed(2001, "f"),
		"many": changed(12_000, "d/f"), "long names": changed(9000, strings.Repeat("n", 600)), "not in order": {Files: reversed(changed(3000, "f").Files)},
		"others that nobody listed": {Files: changed(2500, "f").Files, More: 7},
	} {
		short := j.Limited(t.Context(), c)
		if len(c.Files) == 0 {
			if short != nil {
				t.Errorf("%s: %+v", name, short)
			}
			continue
		}
		if len(short.Files) > 2000 || len(short.Files)+short.More != len(c.Files)+c.More {
			t.Errorf("%s: %d are listed, %d are not", name, len(short.Files), short.More)
		}
		whole := j.Complete(t.Context(), short)
		want := slices.SortedFunc(slices.Values(c.Files), func(a, b agent.FileRecord) int { return strings.Compare(a.Path, b.Path) })
		if diff := cmp.Diff(want, whole.Files); diff != "" || whole.More != c.More {
			t.Errorf("%s: %d are missing: %.300s", name, whole.More, diff)
		}
	}
	lost := agent.FilesChanged{More: 3, Lists: []agent.FileVersion{{Hash: strings.Repeat("0", 64), Size: 1, Kind: agent.PlainFile}}}
	if whole := j.Complete(t.Context(), &lost); whole.More != 3 || len(whole.Files) > 0 {
		t.Errorf("a list that is lost: %+v", whole)
	}
	if j.Complete(t.Context(), nil) != nil {
		t.Error("nothing became something")
	}
}

func reversed(files []agent.FileRecord) []agent.FileRecord {
	slices.Reverse(files)
	return files
}

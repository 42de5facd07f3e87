package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
)

var sample = map[string]*entry{
	"a":          {stamp: stamp{kind: agent.PlainFile, size: 3, changed: 5 * time.Second, touched: 7, file: 1 << 63, mode: 0o600}, hash: hash{1, 2, 3}},
	"d/b":        {stamp: stamp{kind: agent.SymbolicLink, changed: -1}, unkept: agent.UnkeptFailed, recent: true},
	"d/\xff\n c": {stamp: stamp{kind: agent.ExecutableFile, size: 1 << 40}, unkept: agent.UnkeptLarge},
}

func encoded(entries map[string]*entry) []byte {
	out := []byte(magic)
	for at, e := range entries {
		out = appendRecord(out, at, e)
	}
	return out
}

func TestAnIndexIsReadAsItWasWritten(t *testing.T) {
	t.Parallel()
	data := appendRecord(encoded(sample), "gone", sample["a"])
	data = appendRecord(data, "gone", nil)
	if diff := cmp.Diff(sample, parseIndex(data), cmp.AllowUnexported(entry{}, stamp{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The entries of any index are files in the folder, and what was read can be written
// and read again.
func FuzzIndex(f *testing.F) {
	f.Add(encoded(sample))
	f.Add(appendRecord([]byte(magic), "../x", sample["a"]))
	f.Add([]byte(magic + "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte("atelier journal 2\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		known := parseIndex(data)
		for at, e := range known {
			if e == nil || e.stamp.kind == "" || e.stamp.size < 0 || !filepath.IsLocal(at) {
				t.Errorf("%q is %+v", at, e)
			}
		}
		if diff := cmp.Diff(known, parseIndex(encoded(known)), cmp.AllowUnexported(entry{}, stamp{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// A folder that has not been worked in for long makes room for others; one that is
// in use does not.
func TestIndexesAreLimited(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 2*maxIndexes + 10 {
		name := filepath.Join(dir, indexName(string(rune(i))))
		at := time.Unix(int64(i), 0)
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	used, _ := openIndex(filepath.Join(dir, indexName(string(rune(0)))))
	defer used.close()
	limitIndexes(t.Context(), dir)
	left := 0
	for i := range 2*maxIndexes + 10 {
		if _, err := os.Stat(filepath.Join(dir, indexName(string(rune(i))))); err == nil {
			left++
			if i > 0 && i < maxIndexes {
				t.Errorf("index %d is left", i)
			}
		}
	}
	if left != maxIndexes+1 {
		t.Errorf("%d indexes are left", left)
	}
}

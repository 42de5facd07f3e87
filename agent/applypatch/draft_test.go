package applypatch_test

import (
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/applypatch"
	"github.com/google/go-cmp/cmp"
)

// While a model writes a patch, its draft shows which files it changes and how.
func TestDraftShowsProgress(t *testing.T) {
	t.Parallel()
	var d applypatch.Draft
	for _, step := range []struct{ text, want string }{
		{"*** Begin Pat", ""},
		{"ch\n*** Add Fi", ""},
		{"le: a.txt\n", "add a.txt +0 -0"},
		{"+one\n+tw", "add a.txt +1 -0"},
		{"o\n*** Update File: b.txt", "add a.txt +2 -0"},
		{"\n", "add a.txt +2 -0, update b.txt +0 -0"},
		{"*** Move to: c.txt\n@@ f\n context\n-old\n+new\n+", "add a.txt +2 -0, update b.txt > c.txt +1 -1"},
		{"\n*** Delete File: d.txt\n*** End Patch", "add a.txt +2 -0, update b.txt > c.txt +2 -1, delete d.txt +0 -0"},
	} {
		d.Append(step.text)
		if diff := cmp.Diff(step.want, outline(d.Operations())); diff != "" {
			t.Errorf("after %q (-want +got):\n%s", step.text, diff)
		}
	}
	if patch, err := d.Finish(); err != nil || len(patch.Operations) != 3 {
		t.Errorf("%+v, %v", patch, err)
	}
}

// A draft keeps everything before a mistake, and Finish names the mistake.
func TestDraftStopsAtAMistake(t *testing.T) {
	t.Parallel()
	var d applypatch.Draft
	d.Append("*** Begin Patch\n*** Add File: a\n+x\nmistake\n+y\n*** Add File: b\n*** End Patch\n")
	if got := outline(d.Operations()); got != "add a +1 -0" {
		t.Error(got)
	}
	if _, err := d.Finish(); err == nil || !strings.HasPrefix(err.Error(), "line 4 of the patch") {
		t.Error(err)
	}
}

func outline(operations []applypatch.Operation) string {
	var parts []string
	for _, op := range operations {
		path := op.Path
		if op.MoveTo != "" {
			path += " > " + op.MoveTo
		}
		parts = append(parts, fmt.Sprintf("%s %s +%d -%d", op.Kind, path, op.Added, op.Removed))
	}
	return strings.Join(parts, ", ")
}

// A long patch that arrives in single characters takes linear time, even if it
// is a single long line.
func TestDraftIsLinear(t *testing.T) {
	t.Parallel()
	for _, body := range []string{strings.Repeat("+line\n", 200_000), "+" + strings.Repeat("x", 1<<20) + "\n"} {
		text := "*** Begin Patch\n*** Add File: a\n" + body + "*** End Patch\n"
		var d applypatch.Draft
		seen := 0
		for i := range len(text) {
			d.Append(text[i : i+1])
			seen += len(d.Operations())
		}
		if patch, err := d.Finish(); err != nil || seen == 0 || patch.Operations[0].Added != strings.Count(body, "\n") {
			t.Errorf("%v", err)
		}
	}
}

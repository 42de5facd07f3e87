package applypatch_test

import (
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"atelier.dev/atelier/agent/applypatch"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"
)

// seeds adds the patches of the scenarios, each with its file.
func seeds(f *testing.F, add func(text, content string)) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		f.Fatalf("%d scenarios, %v", len(names), err)
	}
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var text, content string
		for _, file := range archive.Files {
			if file.Name == "patch" {
				text = string(file.Data)
			} else if strings.HasPrefix(file.Name, "before/") && content == "" {
				content = string(file.Data)
			}
		}
		add(text, content)
	}
	add("*** Begin Patch\n*** Update File: a\n@@ -1,2 +1,2 @@ -3 +3 @@ x\r\r\n \r\r\n-\r\n+y\r\r\n*** End of File\n\n *** End Patch\n", "\r\r\n")
}

// A text read in pieces gives the same patch as the whole text, and a patch
// that is printed and read again is the same patch.
func FuzzParse(f *testing.F) {
	seeds(f, func(text, _ string) { f.Add(text, 7) })
	f.Fuzz(func(t *testing.T, text string, size int) {
		var d applypatch.Draft
		size = 1 + max(size, -size, 0)%64
		shown := 0
		for at := 0; at < len(text); at += size {
			d.Append(text[at:min(at+size, len(text))])
			if n := len(d.Operations()); n < shown {
				t.Fatalf("%d operations after %d", n, shown)
			} else {
				shown = n
			}
		}
		drafted, draftErr := d.Finish()
		patch, err := applypatch.Parse(text)
		if diff := cmp.Diff(patch, drafted, cmpopts.EquateEmpty()); diff != "" || (err == nil) != (draftErr == nil) {
			t.Fatalf("whole: %v, in pieces: %v (-whole +pieces):\n%s", err, draftErr, diff)
		}
		if err != nil {
			return
		}
		again, err := applypatch.Parse(patch.String())
		places := cmp.Options{
			cmpopts.IgnoreFields(applypatch.Operation{}, "Line"),
			cmpopts.IgnoreFields(applypatch.Chunk{}, "Line"),
			cmpopts.EquateEmpty(),
		}
		if diff := cmp.Diff(patch, again, places); err != nil || diff != "" {
			t.Fatalf("printed %q: %v (-before +after):\n%s", patch.String(), err, diff)
		}
	})
}

// A patch does exactly what its plan says, or nothing.
func FuzzApply(f *testing.F) {
	seeds(f, func(text, content string) { f.Add(text, content) })
	f.Fuzz(func(t *testing.T, text, content string) {
		if !utf8.ValidString(text) {
			return // a model's text is valid UTF-8; a directory listed as [fs.FS] has no other names
		}
		before := map[string]string{"a": content, "b": "x\ny\n"}
		root := tree(t, before)
		held := snapshot(t, root)
		plan, err := applypatch.Apply(root, text)
		if err != nil {
			if diff := cmp.Diff(held, snapshot(t, root)); diff != "" {
				t.Fatalf("%v (-before +after):\n%s", err, diff)
			}
			return
		}
		checkPlan(t, plan, before, contents(t, root))
		for _, c := range plan.Changes {
			if c.Kind == applypatch.Update && !strings.Contains(text+content, "\r") && strings.HasSuffix("\n"+c.Before, "\n") {
				if got, want := strings.Count(c.After, "\n"), strings.Count(c.Before, "\n")+c.Added-c.Removed; got != want {
					t.Fatalf("%s has %d lines after, want %d", c.Path, got, want)
				}
			}
		}
	})
}

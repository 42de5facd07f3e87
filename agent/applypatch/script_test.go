package applypatch_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/applypatch"
)

func TestFromScript(t *testing.T) {
	t.Parallel()
	const patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch\n"
	doc := func(start string) string { return start + "\n" + patch + "EOF\n" }
	tests := []struct {
		name, script, dir string
		ok                bool
	}{
		{"plain", doc("apply_patch <<EOF"), "", true},
		{"other name", doc("applypatch<<'EOF'"), "", true},
		{"double quotes, spaces around", "\n  " + doc(`apply_patch << "EOF" `) + " \n", "", true},
		{"any delimiter", strings.ReplaceAll(doc("apply_patch <<'EOF'"), "EOF", "PATCH_1"), "", true},
		{"no newline at the end", strings.TrimSpace(doc("apply_patch <<'EOF'")), "", true},
		{"directory", doc("cd sub/dir && apply_patch <<'EOF'"), "sub/dir", true},
		{"directory in quotes", doc("cd 'my dir' && apply_patch <<'EOF'"), "my dir", true},
		{"directory in double quotes", doc(`cd "my dir"&&apply_patch <<'EOF'`), "my dir", true},

		{"raw patch", patch, "", false},
		{"delimiters differ", doc("apply_patch <<'END'"), "", false},
		{"mismatched quotes", doc(`apply_patch <<'EOF"`), "", false},
		{"other command", doc("cat <<'EOF'"), "", false},
		{"argument", doc("apply_patch -v <<'EOF'"), "", false},
		{"pipe", doc("apply_patch <<'EOF' | tee log"), "", false},
		{"further command", doc("apply_patch <<'EOF'") + "rm -rf x\n", "", false},
		{"further command on the same line", doc("apply_patch <<'EOF' && make"), "", false},
		{"command before", doc("make; apply_patch <<'EOF'"), "", false},
		{"or", doc("cd x || apply_patch <<'EOF'"), "", false},
		{"semicolon", doc("cd x; apply_patch <<'EOF'"), "", false},
		{"two directories", doc("cd x && cd y && apply_patch <<'EOF'"), "", false},
		{"two words", doc("cd x y && apply_patch <<'EOF'"), "", false},
		{"last directory", doc("cd - && apply_patch <<'EOF'"), "", false},
		{"variable", doc("cd $HOME && apply_patch <<'EOF'"), "", false},
		{"substitution", doc(`cd "$(pwd)" && apply_patch <<'EOF'`), "", false},
	}
	for _, tt := range tests {
		dir, text, ok := applypatch.FromScript(tt.script)
		if ok != tt.ok || ok && (dir != tt.dir || text != patch) {
			t.Errorf("%s: %q, %q, %t", tt.name, dir, text, ok)
		}
	}
}

// A script is either left alone or split completely: a start on one line, the
// patch, and the delimiter.
func FuzzFromScript(f *testing.F) {
	f.Add("cd 'a b' && apply_patch <<'EOF'\nx\nEOF\n")
	f.Add("apply_patch <<EOF\r\nEOF\r\nEOF")
	f.Fuzz(func(t *testing.T, script string) {
		_, patch, ok := applypatch.FromScript(script)
		if !ok {
			return
		}
		before, after, found := strings.Cut(script, "\n"+patch)
		if !found || !strings.Contains(before, "<<") || len(strings.Fields(after)) < 1 {
			t.Fatalf("%q has patch %q", script, patch)
		}
	})
}

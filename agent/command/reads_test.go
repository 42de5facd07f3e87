package command

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadingNamesTheFiles(t *testing.T) { // K-42
	t.Parallel()
	tests := []struct {
		line string
		want Reading
	}{
		{"pwd", Reading{}},
		{"ls -la", Reading{Programs: []string{"ls"}, Paths: []string{"."}}},
		{"ls -la sub 'a b' 2>/dev/null", Reading{Programs: []string{"ls"}, Paths: []string{"a b", "sub"}}},
		{"cat go.mod", Reading{Programs: []string{"cat"}, Paths: []string{"go.mod"}, Files: []string{"go.mod"}}},
		{"cat -n a b", Reading{Programs: []string{"cat"}, Paths: []string{"a", "b"}, Files: []string{"a", "b"}}},
		{"cd sub && cat a && cat b", Reading{Dir: "sub", Programs: []string{"cat"}, Paths: []string{"a", "b"}, Files: []string{"a", "b"}}},
		{"cat a; cat b", Reading{Programs: []string{"cat"}, Paths: []string{"a", "b"}, Files: []string{"a", "b"}}},
		{"cat a && cat b; pwd", Reading{Programs: []string{"cat"}, Paths: []string{"a", "b"}}},
		{"cat a || cat b", Reading{Programs: []string{"cat"}, Paths: []string{"a", "b"}}},
		{"cat a >/dev/null", Reading{Programs: []string{"cat"}, Paths: []string{"a"}}},
		{"cat < a", Reading{Programs: []string{"cat"}, Paths: []string{"a"}}},
		{"nl -ba a | sed -n '1,200p'", Reading{Programs: []string{"nl", "sed"}, Paths: []string{"a"}, Files: []string{"a"}}},
		{"cat a | head -50 | tail -n 5", Reading{Programs: []string{"cat", "head", "tail"}, Paths: []string{"a"}, Files: []string{"a"}}},
		{"cat a | sort", Reading{Programs: []string{"cat", "sort"}, Paths: []string{"a"}}},
		{"cat a | cat b", Reading{Programs: []string{"cat"}, Paths: []string{"a", "b"}}},
		{"sed -n '10,20p;30q' a", Reading{Programs: []string{"sed"}, Paths: []string{"a"}, Files: []string{"a"}}},
		{"sed -n '/func/p' a", Reading{Programs: []string{"sed"}, Paths: []string{"a"}}},
		{"head -20 a", Reading{Programs: []string{"head"}, Paths: []string{"a"}, Files: []string{"a"}}},
		{"tail -n +5 a", Reading{Programs: []string{"tail"}, Paths: []string{"a"}, Files: []string{"a"}}},
		{"grep -n foo a b", Reading{Programs: []string{"grep"}, Paths: []string{"a", "b"}}},
		{"grep -rn foo", Reading{Programs: []string{"grep"}, Paths: []string{"."}, Trees: []string{"."}, Hidden: true}},
		{"grep -rn -e foo src", Reading{Programs: []string{"grep"}, Paths: []string{"src"}, Trees: []string{"src"}, Hidden: true}},
		{"rg --hidden foo", Reading{Programs: []string{"rg"}, Paths: []string{"."}, Trees: []string{"."}, Hidden: true}},
		{"rg foo src -A 3", Reading{Programs: []string{"rg"}, Paths: []string{"3", "src"}, Trees: []string{"src"}}},
		{"rg --files", Reading{Programs: []string{"rg"}, Paths: []string{"."}, Trees: []string{"."}}},
		{"diff a b", Reading{Programs: []string{"diff"}, Paths: []string{"a", "b"}, Trees: []string{"a", "b"}, Hidden: true}},
		{"wc -l *.go s/'a*'?", Reading{Programs: []string{"wc"}, Patterns: []string{`*.go`, `s/a\*?`}}},
		{`find . -name '*.go' -not -path "./x/*"`, Reading{Programs: []string{"find"}, Paths: []string{"."}}},
		{"find -newer a", Reading{Programs: []string{"find"}, Paths: []string{".", "a"}}},
		{"git -C sub status", Reading{Dir: "sub", Programs: []string{"git"}, Git: true}},
		{"for f in a *.b; do wc \"$f\"; done", Reading{Programs: []string{"wc"}, Paths: []string{"a"}, Patterns: []string{"*.b"}}},
		{"timeout 5 wc a", Reading{Programs: []string{"timeout", "wc"}, Paths: []string{"a"}}},
		{"find s -exec head {} +", Reading{Programs: []string{"find", "head"}, Paths: []string{"s"}, Handed: []Handed{{Tree: "s"}}}},
		{"find s | xargs head", Reading{Programs: []string{"find", "head", "xargs"}, Paths: []string{"s"}, Handed: []Handed{{Tree: "s", Plain: true}}}},
		{"test -f a && cat a", Reading{Programs: []string{"cat"}, Paths: []string{"a"}, Files: []string{"a"}}},
		{"git log --oneline -5 -- a", Reading{Programs: []string{"git"}, Paths: []string{"a"}, Git: true}},
		{"git show HEAD:a", Reading{Programs: []string{"git"}, Paths: []string{"HEAD:a", "a"}, Git: true}},
		{"git log -p -1 --author x", Reading{Programs: []string{"git"}, Git: true, Listings: []Listing{
			{Arguments: []string{"log", "-1", "--author=x", "--name-only", "--no-renames", "-z", "--format="}},
		}}},
		{"git show -U9 --stat -n3 v1 HEAD:a -- b", Reading{Programs: []string{"git"}, Paths: []string{"HEAD:a", "a", "b", "v1"}, Git: true, Listings: []Listing{
			{Arguments: []string{"show", "-n3", "--name-only", "--no-renames", "-z", "--format="}, Revisions: []string{"v1"}, Paths: []string{"b"}},
		}}},
		{"git diff --cached -w", Reading{Programs: []string{"git"}, Git: true, Tracked: true, Listings: []Listing{
			{Arguments: []string{"diff", "--cached", "--name-only", "--no-renames", "-z"}},
		}}},
		{"git diff --stat main", Reading{Programs: []string{"git"}, Paths: []string{"main"}, Git: true}},
		{"git grep -e x main", Reading{Programs: []string{"git"}, Paths: []string{"main"}, Git: true, Tracked: true, Present: []string{"main"}}},
		{"git cat-file -p HEAD", Reading{Programs: []string{"git"}, Paths: []string{"HEAD"}, Git: true, Listings: []Listing{
			{Arguments: []string{"rev-parse", "--verify", "--quiet"}, Revisions: []string{"HEAD"}, Tree: true},
		}}},
		{"go env GOPATH", Reading{Programs: []string{"go"}}},
	}
	for _, tt := range tests {
		got, ok := Read(tt.line)
		if diff := cmp.Diff(tt.want, got); !ok || diff != "" {
			t.Errorf("%s: %t %s", tt.line, ok, diff)
		}
	}
}

func TestUnsureNamesThePart(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"for f in a b; do wc -l $f; done":        "",
		"ls && cat a":                            "",
		"ls | mytool -x | head":                  "mytool -x",
		"for f in $(cat l); do wc -l $f; done":   "wc -l $f",
		"cat a; (cd x && ./run)":                 "cd x",
		"if true; then cat a; odd --flag; fi":    "odd --flag",
		"while read l; do echo $l; done < names": "read l",
		"cat a > b":                              "cat a > b",
		"ls 'open":                               "",
	} {
		if got := Unsure(line); got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// Whatever the parser makes of a line, the part that does more is a part of it.
func TestUnsureOfAnyLine(t *testing.T) {
	t.Parallel()
	for _, line := range list(others) {
		if part := Unsure(line); len([]rune(part)) > maxUnsure+1 {
			t.Errorf("%s: %q", line, part)
		}
	}
}

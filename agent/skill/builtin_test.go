package skill_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/skill"
)

// OAS-802, OAS-803, OAS-804, OAS-805, OAS-806: five skills come with the program, with their aliases and tools.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	got := map[string][2][]string{}
	for _, s := range skill.BuiltIn() {
		if len(s.Findings) > 0 || s.Description == "" || s.Body == "" || !s.Usage.ByUser || !s.Usage.ByModel || !s.Limits.Limited {
			t.Errorf("%s: %+v", s.Name, s)
		}
		got[s.Name] = [2][]string{s.Aliases, s.Limits.Tools}
	}
	want := map[string][2][]string{
		"commit":   {{"ci"}, {"Bash", "Read", "Glob", "Grep"}},
		"review":   {{"review-pr", "cr"}, {"Bash", "Read", "Glob", "Grep"}},
		"simplify": {nil, {"Bash", "Read", "Grep", "Glob"}},
		"debug":    {{"investigate", "diagnose"}, {"Read", "Grep", "Glob", "Bash"}},
		"test":     {{"run-tests"}, {"Bash", "Read", "Write", "Glob", "Grep"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// OAS-803, OAS-804, OAS-805: what the built-in skills are asked to look at, and that debug
// mends nothing.
func TestBuiltInContents(t *testing.T) {
	t.Parallel()
	for name, phrases := range map[string][]string{
		"review":   {"**Correctness.**", "**Security.**", "**Performance.**", "**Tests.**", "**Clarity.**"},
		"simplify": {"**Reuse.**", "**Quality.**", "**Efficiency.**"},
		"debug":    {"Diagnose it; do not fix it"},
	} {
		s, _ := skill.Find(skill.NewRegistry(skill.BuiltIn()...), name)
		for _, phrase := range phrases {
			if !strings.Contains(s.Body, phrase) {
				t.Errorf("%s does not say %q", name, phrase)
			}
		}
	}
}

// OAS-806: the skill test is available in a folder with one of its files, of which the
// extension may be any.
func TestAvailable(t *testing.T) {
	t.Parallel()
	s, ok := skill.Find(skill.NewRegistry(skill.BuiltIn()...), "run-tests")
	if !ok || s.Name != "test" {
		t.Fatalf("%v %v", s, ok)
	}
	for name, want := range map[string]bool{
		"go.mod": true, "jest.config.js": true, "vitest.config.ts": true, "Cargo.toml": true, "Package.swift": true, "pytest.ini": true, "README.md": false, "jest.configuration": false, "go.models": false,
	} {
		folder := t.TempDir()
		if err := os.WriteFile(filepath.Join(folder, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if why := s.Available(folder); (why == "") != want {
			t.Errorf("%s: %q", name, why)
		}
	}
	if why := s.Available(filepath.Join(t.TempDir(), "none")); why == "" {
		t.Error("it is available in a folder that is missing")
	}
}

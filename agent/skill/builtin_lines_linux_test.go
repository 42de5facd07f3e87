package skill_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/agent/skill/validate"
)

// OAS-802, OAS-803, OAS-804, OAS-805, OAS-806: the built-in skills have no findings. The lines that
// they run before they are sent only read, so that nobody is asked about them; they succeed also in a
// repository without commits.
func TestBuiltInLinesOnlyRead(t *testing.T) {
	t.Parallel()
	for name, commands := range map[string][]string{
		"no commits": {"init -q -b main"},
		"work":       {"init -q -b main", "add .", "-c user.name=x -c user.email=x@y commit -qm first", "mv a.go b.go"},
	} {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "a.go"), []byte("package a\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, command := range commands {
			cmd := exec.CommandContext(t.Context(), "git", strings.Fields(command)...)
			cmd.Dir = dir
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("git %s: %v %s", command, err, out)
			}
		}
		local, err := env.NewLocal(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = local.Cleanup(context.Background()) })
		lines := 0
		for _, s := range skill.BuiltIn() {
			for _, line := range s.Lines() {
				lines++
				line = skill.Script(line, "an 'argument'; touch x", s.Usage.Arguments)
				if _, ok := local.Foresee(t.Context(), line, dir); !ok {
					t.Errorf("%s: somebody would be asked about %s", s.Name, line)
				}
				cmd := exec.CommandContext(t.Context(), "bash", "-c", line)
				cmd.Dir = dir
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s, %s: %s: %v %s", name, s.Name, line, err, out)
				}
			}
		}
		if lines < 10 {
			t.Errorf("%d lines", lines)
		}
	}
}

// The built-in skills keep the rules that they would be checked by.
func TestBuiltInSkillsAreValid(t *testing.T) {
	t.Parallel()
	for _, s := range skill.BuiltIn() {
		findings, err := validate.Check(filepath.Join("builtin", s.Name), validate.Options{ProjectRoot: "../.."})
		if err != nil || len(findings) > 0 {
			t.Errorf("%s: %v %+v", s.Name, err, findings)
		}
		if tokens := len(s.Body) / 4; tokens > 1800 {
			t.Errorf("%s takes about %d tokens", s.Name, tokens)
		}
	}
}

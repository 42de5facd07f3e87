//go:build unix

package skill_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent/skill"
	"github.com/google/go-cmp/cmp"
)

// An unreadable skill becomes a finding, and the weaker one of its name stays.
func TestDiscoverUnreadable(t *testing.T) {
	t.Parallel()
	user, folder := places(t)
	put(t, folder, map[string]string{
		".claude/skills/large/SKILL.md": strings.Repeat("x", 10<<20), ".claude/skills/good/SKILL.md": md("good"), ".claude/skills/binary/SKILL.md": "\x00\xff\xfe",
		".claude/skills/pipe/x": "", ".agents/skills/large/SKILL.md": md("small"), ".claude/skills/secret/SKILL.md": md("secret"), ".claude/skills/locked/SKILL.md": md("locked"),
	})
	skills := filepath.Join(folder, ".claude/skills")
	if err := errors.Join(syscall.Mkfifo(skills+"/pipe/SKILL.md", 0o600), os.Chmod(skills+"/secret/SKILL.md", 0), os.Chmod(skills+"/locked", 0)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(skills+"/locked", 0o700) })
	found, _ := discovered(t, user, folder)
	rules := map[string]string{}
	for _, s := range found.Skills {
		if s.Broken() {
			rules[s.Name] = s.Findings[0].Rule
			if s.Findings[0].File != "SKILL.md" || s.Usage.ByUser || s.Usage.ByModel {
				t.Errorf("%+v", s)
			}
		}
	}
	want := map[string]string{"large": "READ-02", "pipe": "READ-01"}
	if os.Getuid() != 0 { // root reads everything
		want["secret"], want["locked"] = "READ-01", "READ-01"
	}
	if d := cmp.Diff(want, rules); d != "" {
		t.Error(d)
	}
	resolved := skill.Resolve(found.Skills)
	registry := skill.NewRegistry(resolved.Skills...)
	if s, ok := registry.Find("large"); !ok || s.Description != "small" || len(resolved.HiddenBy) > 0 {
		t.Errorf("%+v %v", s, resolved.HiddenBy)
	}
	if s, ok := registry.Find("good"); !ok || s.Description != "good" {
		t.Errorf("%+v", s)
	}
}

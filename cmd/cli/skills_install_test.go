package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/backend/skills"
)

// A skill is installed from the command line after its text, its files and what it runs were shown,
// and is then listed. Without a yes, or in another's place, it is not.
func TestInstallSkills(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	from := filepath.Join(t.TempDir(), "greet")
	for name, text := range map[string]string{
		"SKILL.md": "---\nname: greet\ndescription: Greets. Use when somebody comes.\n---\nSay hello to !`whoami`.\n", "scripts/wave.sh": "#!/bin/sh\n",
	} {
		path := filepath.Join(from, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	installed := func() (found skills.SkillRow) {
		t.Helper()
		out, errs, code := p.run("skills", "list", "--json")
		var reply skills.SkillsReply
		if err := json.Unmarshal([]byte(out), &reply); err != nil || code != 0 || len(reply.Skills) < 5 {
			t.Fatalf("%v: %d %s%s", err, code, out, errs)
		}
		for _, s := range reply.Skills {
			if s.Name == "greet" {
				found = s
			}
		}
		return found
	}
	out, errs, code := p.run("skills", "install", from)
	if code != 1 || installed().ID != "" {
		t.Errorf("without an answer: %d\n%s%s", code, out, errs)
	}
	for _, part := range []string{"/greet\n", "runs, whenever it is used: whoami", "scripts/wave.sh, 10 bytes, can be run", "  Say hello to", "Install for you, in all projects? [y/N]", "Nothing was installed."} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not shown:\n%s", part, out)
		}
	}
	if out, errs, code = p.run("skills", "install", "--yes", "--project", from); code != 0 || !strings.Contains(out, "Installed /greet.") {
		t.Fatalf("with a yes: %d\n%s%s", code, out, errs)
	}
	if got := installed(); got.Place.Scope != "project" {
		t.Errorf("it is listed as %+v", got)
	}
	for _, args := range [][]string{{}, {"--replace"}, {"--replace", "--yes"}} {
		out, errs, code := p.run(append([]string{"skills", "install", "--project", from}, args...)...)
		if want := "/greet is installed already, with the same content.\n"; out != want || code != 0 {
			t.Errorf("the same again, %v: %d %s%s", args, code, out, errs)
		}
	}
	if err := os.WriteFile(filepath.Join(from, "SKILL.md"), []byte("---\nname: greet\ndescription: Greets. Use when somebody comes.\n---\nSay goodbye to !`whoami`.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, code = p.run("skills", "install", "--yes", "--project", from); code != 1 || !strings.Contains(errs, "--replace") {
		t.Errorf("a second time: %d %s", code, errs)
	}
	out, errs, code = p.run("skills", "install", "--yes", "--project", "--replace", from)
	if code != 0 || !strings.Contains(out, "  -Say hello to !`whoami`.\n  +Say goodbye to !`whoami`.\n") || strings.Count(out, "name: greet") != 1 || !strings.Contains(out, "Installed /greet.") {
		t.Errorf("in its own place: %d %s%s", code, out, errs)
	}
	if out, _, _ = p.run("skills", "list"); !strings.Contains(out, "/greet  ") || !strings.Contains(out, "/commit, /ci  ready") {
		t.Errorf("the list is\n%s", out)
	}
	for _, args := range [][]string{{}, {"--user", "--project", from}, {from, from}} {
		if _, _, code = p.run(append([]string{"skills", "install"}, args...)...); code != 2 {
			t.Errorf("%v ends with %d", args, code)
		}
	}
	if _, errs, code = p.run("skills", "install", "--yes", "none"); code != 1 || errs == "" {
		t.Errorf("a missing folder: %d %s", code, errs)
	}
}

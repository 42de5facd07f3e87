package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// skillFiles are a good skill, two bad ones and a folder that is none.
var skillFiles = map[string]string{
	"skills/good/SKILL.md":   "---\nname: good\ndescription: Does one thing. Use when it has to be done.\n---\nDo it.\n",
	"skills/bad/SKILL.md":    "---\nname: worse\ndescription: Does one | thing, <b>\n---\nIt takes 5 minutes.\n::error::x\n",
	"skills/minor/SKILL.md":  "---\nname: minor\ndescription: Does one thing.\n---\nDo it.\n",
	"skills/notes/README.md": "What these skills are.\n",
	"file":                   "no folder",
}

func skillPlace(t *testing.T) *place {
	t.Helper()
	p := newPlace(t)
	for name, text := range skillFiles {
		path := filepath.Join(p.folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

type skillFinding struct {
	Skill, Rule, Title, Severity, File, Detail, Message, Fix string
	Line                                                     int
}

func (p *place) findings(args ...string) []skillFinding {
	p.t.Helper()
	out, errs, code := p.run(append([]string{"skills", "validate", "--json"}, args...)...)
	var found []skillFinding
	if err := json.Unmarshal([]byte(out), &found); err != nil || code != 0 || errs != "" {
		p.t.Fatalf("%v: %d %s%s", err, code, out, errs)
	}
	return found
}

// SKILLV-15: a finding has a skill, a rule, a title, a severity, a file, a line, what is wrong and
// what to do; findings are sorted by severity, of one skill or of all in a folder.
func TestValidateSkills(t *testing.T) {
	t.Parallel()
	p := skillPlace(t)
	var rules []string
	for _, f := range p.findings("skills") {
		rules = append(rules, strings.Join([]string{f.Severity, f.Rule, f.File}, " "))
		if f.Skill == "" || f.Title == "" || f.Message == "" || f.Fix == "" {
			t.Errorf("incomplete: %+v", f)
		}
	}
	want := []string{
		"CRITICAL SKILL-01 skills/notes/SKILL.md", "HIGH SKILL-05 skills/bad/SKILL.md", "MEDIUM SKILL-06 skills/bad/SKILL.md",
		"MEDIUM SKILL-06 skills/minor/SKILL.md", "LOW SEQ-02 skills/bad/SKILL.md",
	}
	if !slices.Equal(rules, want) {
		t.Errorf("found %q", rules)
	}
	if one := p.findings("skills/minor"); len(one) != 1 || one[0].Rule != "SKILL-06" || one[0].Line != 3 || one[0].Skill != "minor" || one[0].Detail == "" || one[0].Detail != one[0].Message {
		t.Errorf("one skill: %+v", one)
	}
	if none := p.findings("skills/good"); none == nil || len(none) != 0 {
		t.Errorf("a good skill: %+v", none)
	}
	if bmad := p.findings("--preset", "bmad", "skills/good"); len(bmad) != 1 || bmad[0].Rule != "SKILL-04" {
		t.Errorf("with the preset of BMAD: %+v", bmad)
	}
	out, _, code := p.run("skills", "validate", "skills")
	for _, part := range []string{"skills/bad\n", "HIGH      SKILL-05  skills/bad/SKILL.md:2\n", "4 checked: findings about 3, of which 1 critical, 1 high, 2 medium, 1 low."} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is missing (%d):\n%s", part, code, out)
		}
	}
}

// SKILLV-16: findings fail the command with --strict if they are high or worse; a folder that
// cannot be checked, and flags that nobody knows, end it with 2.
func TestValidateSkillsExits(t *testing.T) {
	t.Parallel()
	p := skillPlace(t)
	for want, each := range map[int][][]string{
		0: {{"skills"}, {"skills/bad"}, {"--strict", "skills/minor"}, {"--strict", "skills/good"}, {}},
		1: {{"--strict", "skills/bad"}, {"--strict", "--json", "skills"}, {"--strict", "skills/notes"}},
		2: {{"none"}, {"file"}, {"skills/good", "none"}, {"--preset", "other", "skills"}, {"--unknown"}},
	} {
		for _, args := range each {
			out, errs, code := p.run(append([]string{"skills", "validate"}, args...)...)
			if code != want || (errs == "") != (want < 2) || want == 2 && out != "" {
				t.Errorf("%v ends with %d, want %d\n%s%s", args, code, want, out, errs)
			}
		}
	}
}

// Without a folder, what the project and the user have is checked, as far as it would be loaded.
func TestValidateLoadedSkills(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	home := filepath.Dir(p.home)
	p.env = append(p.env, "HOME="+home)
	for path, text := range map[string]string{
		filepath.Join(p.folder, ".claude/skills/mine/SKILL.md"): "---\nname: mine\n---\nDo it: {project-root}/none.md\n",
		filepath.Join(home, ".agents/skills/yours/SKILL.md"):    "---\nname: yours\ndescription: x. Use when y.\n---\nDo it: {project-root}/none.md\n",
		filepath.Join(p.folder, ".agent/commands/go.md"):        "---\nallowed-tools: Nothing\n---\nGo.\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(home, filepath.Join(p.folder, ".claude/skills/away")); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.findings() {
		got = append(got, f.Rule+" "+f.File)
	}
	slices.Sort(got)
	want := []string{
		"READ-03 .claude/skills/away/SKILL.md", "READ-06 .agent/commands/go.md", "READ-07 .agent/commands/go.md",
		"REF-01 .claude/skills/mine/SKILL.md", "SKILL-03 .claude/skills/mine/SKILL.md",
	}
	if !slices.Equal(got, want) {
		t.Errorf("found %q", got)
	}
}

// SKILLV-17: GitHub Actions gets an annotation for each finding and a table, in which what a
// skill says is text and nothing else.
func TestValidateSkillsOnGitHub(t *testing.T) {
	t.Parallel()
	p := skillPlace(t)
	odd := filepath.Join(p.folder, "skills", "a,b:c%|<i>")
	if err := os.MkdirAll(odd, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(odd, "SKILL.md"), []byte("---\nname: \"x\\n::error::y\"\ndescription: x. Use when y.\n---\nDo it.\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	summary := filepath.Join(p.home, "..", "summary.md")
	if err := os.WriteFile(summary, []byte("before\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "GITHUB_ACTIONS=true", "GITHUB_STEP_SUMMARY="+summary, "GITHUB_WORKSPACE="+filepath.Dir(p.folder))
	out, _, code := p.run("skills", "validate", "skills")
	base := filepath.Base(p.folder)
	for _, part := range []string{
		"::warning file=" + base + "/skills/bad/SKILL.md,line=2,title=SKILL-05 the name differs from the folder::SKILL-05: The name worse is not that of the folder, bad. ",
		"::notice file=" + base + "/skills/bad/SKILL.md,line=5,title=SEQ-02 ",
		"::warning file=" + base + "/skills/notes/SKILL.md,line=1,title=SKILL-01 ",
		"::warning file=" + base + "/skills/a%2Cb%3Ac%25|<i>/SKILL.md,line=2,title=SKILL-04 ",
	} {
		if code != 0 || !strings.Contains(out, part) {
			t.Errorf("%q is missing (%d):\n%s", part, code, out)
		}
	}
	for line := range strings.Lines(out) {
		if trimmed := strings.TrimSpace(line); strings.HasPrefix(trimmed, "::") && !strings.HasPrefix(trimmed, "::warning file=") && !strings.HasPrefix(trimmed, "::notice file=") {
			t.Errorf("a skill gave a command: %q", line)
		}
	}
	b, err := os.ReadFile(summary)
	table := string(b)
	for _, part := range []string{
		"before\n## Skill validation\n\n| Skill | Rule | Severity | File | Detail |\n|---|---|---|---|---|\n", "| bad | SKILL-05 | HIGH | skills/bad/SKILL.md:2 | The name worse is not that of the folder, bad. |\n",
		`a,b:c%\|&lt;i>`, "5 checked: ",
	} {
		if err != nil || !strings.Contains(table, part) {
			t.Errorf("%q is missing:\n%s", part, table)
		}
	}
	if out, errs, _ := p.run("skills", "validate", "--json", "skills"); !json.Valid([]byte(out)) || !strings.Contains(errs, "::warning file=") {
		t.Errorf("with --json: %s\n%s", out, errs)
	}
}

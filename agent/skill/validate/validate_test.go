package validate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"
)

// unpack writes an archive's files into a folder.
func unpack(t *testing.T, archive *txtar.Archive) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, filepath.FromSlash(f.Name)), string(f.Data))
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// check checks a skill in a folder and returns its findings as lines.
func check(t *testing.T, dir string, o Options) []string {
	t.Helper()
	findings, err := Check(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s %s %s %s:%d", filepath.Base(dir), f.Severity, f.Rule, f.File, f.Line))
		if f.Title == "" || f.Message == "" || strings.Contains(f.Message+f.Fix, "{0}") || f.Skill == "" {
			t.Errorf("incomplete: %+v", f)
		}
	}
	return lines
}

// Each archive has skills that a rule accepts and skills that it does not. Its comment lists
// all findings: SKILLV-01 to SKILLV-14, SKILLV-18, SKILLV-19, K-31.
func TestRules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 15 {
		t.Fatalf("%d archives, %v", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			t.Parallel()
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := unpack(t, archive)
			o := Options{Preset: Generic, ProjectRoot: dir}
			var want []string
			for line := range strings.Lines(string(archive.Comment)) {
				switch line = strings.TrimSpace(line); {
				case line == "preset: bmad":
					o.Preset = BMAD
				case line != "" && !strings.Contains(line, "SKILLV-"):
					want = append(want, line)
				}
			}
			var got []string
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			good := 0
			for _, e := range entries {
				if e.Name() == "docs" {
					continue
				}
				lines := check(t, filepath.Join(dir, e.Name()), o)
				if got = append(got, lines...); len(lines) == 0 {
					good++
				}
			}
			slices.Sort(got)
			slices.Sort(want)
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
			if good == 0 || len(want) == 0 {
				t.Errorf("%d good skills and %d findings", good, len(want))
			}
		})
	}
}

// SKILLV-11, SKILLV-14: the generic preset takes no example for a path of one computer, and nothing
// for an estimate but the time that the skill itself takes. The BMAD preset keeps to its letter.
func TestProseIsTakenForWhatItSays(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct{ generic, bmad string }{
		"Read /home/ada/notes/x.md first.":                       {"REF-03", "REF-03"},
		"Templates are in D:\\work\\templates\\x.md.":            {"REF-03", "REF-03"},
		"Likely /Users/ada/x is used.":                           {"REF-03", "REF-03"},
		"Quote paths such as C:\\Program\\x.":                    {"", "REF-03"},
		"Write it, e.g. /home/ada/x, in quotes.":                 {"", "REF-03"},
		"For example, C:\\temp\\rn-12 is too deep.":              {"", "REF-03"},
		"A path `C:\\x` has a drive.":                            {"", "REF-03"},
		"| Maps | X:\\Roam\\LCMap |":                             {"", "REF-03"},
		"例如 /home/ada/x。":                                        {"", "REF-03"},
		"This takes 10 minutes.":                                 {"SEQ-02", "SEQ-02"},
		"It takes about 10 min to run.":                          {"SEQ-02", ""},
		"## Step 1 (~5 min)":                                     {"SEQ-02", "SEQ-02"},
		"**Estimated time:** 15 minutes":                         {"SEQ-02", "SEQ-02"},
		"ETA: 5 minutes":                                         {"SEQ-02", "SEQ-02"},
		"It saves ~35 minutes of human time.":                    {"", "SEQ-02"},
		"Tell the customer a new ETA for the parcel.":            {"", "SEQ-02"},
		"| Service | Estimated Time |":                           {"", "SEQ-02"},
		"Ask for the estimated time of arrival.":                 {"", "SEQ-02"},
		"| ETA | 2 |":                                            {"", "SEQ-02"},
		"A meeting of ~30 minutes every day is in the calendar.": {"", "SEQ-02"},
	} {
		dir := filepath.Join(t.TempDir(), "bmad-x")
		write(t, filepath.Join(dir, "SKILL.md"), "---\nname: bmad-x\ndescription: Does it. Use when it is time.\n---\n\n"+line+"\n")
		for preset, want := range map[Preset]string{Generic: want.generic, BMAD: want.bmad} {
			got := ""
			for _, f := range check(t, dir, Options{Preset: preset, ProjectRoot: dir}) {
				if strings.Contains(f, "REF-03") || strings.Contains(f, "SEQ-02") {
					got += strings.Fields(f)[2]
				}
			}
			if got != want {
				t.Errorf("%s, %s: %q instead of %q", line, preset, got, want)
			}
		}
	}
}

// SKILLV-06: a description may have 1,024 characters, and says in one of several ways when
// the skill is for use.
func TestDescriptions(t *testing.T) {
	t.Parallel()
	const says = "Use when it is. "
	for text, want := range map[string]string{
		says + strings.Repeat("ü", maxDescription-len(says)):   "",
		says + strings.Repeat("ü", maxDescription-len(says)+1): "long",
		"Use for reviews.":              "",
		"Use only from the main agent.": "",
		"Deprecated: see other.":        "",
		"Used for tests of pages.":      "",
		"Reviews pages.":                "SKILL-06",
		"Reuse forms.":                  "SKILL-06",
	} {
		dir := filepath.Join(t.TempDir(), "x")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "SKILL.md"), []byte("---\nname: x\ndescription: \""+text+"\"\n---\nDo it.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		found := check(t, dir, Options{Preset: Generic})
		if got := strings.Join(found, " "); (want == "") != (got == "") || want == "SKILL-06" && !strings.Contains(got, want) || len(found) > 1 {
			t.Errorf("%.30q: %s", text, got)
		}
	}
}

// The findings of one skill do not contradict each other: no advice names what another
// finding complains about.
func TestAdviceAgrees(t *testing.T) {
	t.Parallel()
	for folder, name := range map[string]string{
		"Bad_Skill": "bad_skill", "Bad Skill": "Bad Skill 2", "UPPER": "upper_case", "two--dashes": "-x", "good-folder": "Bad_Name", "Ünï": "",
	} {
		t.Run(folder, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), folder)
			write(t, filepath.Join(dir, "SKILL.md"), "---\nname: "+name+"\ndescription: Use when testing.\n---\nDo it.\n")
			findings, err := Check(dir, Options{Preset: Generic, ProjectRoot: dir})
			if err != nil || len(findings) == 0 {
				t.Fatal(findings, err)
			}
			for _, f := range findings {
				if !HasNameForm(folder) && strings.Contains(f.Fix, folder) || name != "" && strings.Contains(f.Fix, name) {
					t.Errorf("%s advises %q", f.Rule, f.Fix)
				}
			}
		})
	}
}

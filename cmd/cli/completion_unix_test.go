//go:build unix

package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Issue 39: the completions are what the shells themselves take, and know every command and
// flag of the program's own help.
func TestCompletions(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	page, err := os.ReadFile(commandLinePage)
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`).FindAllStringSubmatch(string(page), -1)
	if len(flags) < 60 {
		t.Fatalf("the page has %d flags", len(flags))
	}
	for shell, ask := range map[string]string{
		"bash": `source "$1"; COMP_WORDS=(atelier run --out); COMP_CWORD=2; _atelier; echo "${COMPREPLY[@]}"; COMP_WORDS=(atelier sessions --json ren); COMP_CWORD=3; _atelier; echo "${COMPREPLY[@]}"; COMP_WORDS=(atelier ""); COMP_CWORD=1; _atelier; echo "${COMPREPLY[@]}"`,
		"zsh":  `compdef() { :; }; source "$1"; _describe() { print -l -- $items; }; _files() { :; }; words=(atelier run --out); CURRENT=3; _atelier; words=(atelier sessions ren); CURRENT=3; _atelier; words=(atelier ""); CURRENT=2; _atelier`,
		"fish": `source $argv[1]; complete -C "atelier run --out"; complete -C "atelier sessions ren"; complete -C "atelier "`,
	} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			text, errs, code := p.run("completion", shell)
			if code != 0 {
				t.Fatalf("exit code %d: %s", code, errs)
			}
			for _, f := range flags {
				if !strings.Contains(text, "--"+f[1]) && !strings.Contains(text, " -l "+f[1]+" ") {
					t.Errorf("the flag --%s is missing", f[1])
				}
			}
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip("needs " + shell)
			}
			file := filepath.Join(t.TempDir(), "completion")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			args := []string{"-c", ask, shell, file}
			if shell == "fish" {
				args = []string{"-c", ask, file}
			}
			cmd := exec.Command(shell, args...)
			cmd.Env = append(p.env, "TERM=dumb")
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, want := range []string{"--output", "rename", "doctor"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s is not offered: %s", want, out)
				}
			}
		})
	}
}

// Issue 39: the manual page is one, and has every exit code of the guide in its words.
func TestManualPage(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	text, errs, code := p.run("man")
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	page, err := os.ReadFile(commandLinePage)
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile(`(?m)^\| (\d+) \| (.*) \|$`).FindAllStringSubmatch(string(page), -1)
	if len(rows) != 8 {
		t.Fatalf("the guide has %d exit codes", len(rows))
	}
	for _, row := range rows {
		if !strings.Contains(text, ".B "+row[1]+"\n"+strings.ReplaceAll(row[2], "-", `\-`)+"\n") {
			t.Errorf("the page does not say %q", row[0])
		}
	}
	if _, err := exec.LookPath("man"); err != nil {
		t.Skip("needs man")
	}
	file := filepath.Join(t.TempDir(), "atelier.1")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("man", "--warnings=w", "-P", "cat", "-l", file)
	cmd.Env = append(p.env, "MANWIDTH=100", "LC_ALL=C.UTF-8")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--json-schema") || strings.Contains(string(out), "warning") {
		t.Errorf("%v: %.2000s", err, out)
	}
}

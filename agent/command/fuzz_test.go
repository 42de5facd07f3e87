package command

import (
	"os"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"github.com/google/go-cmp/cmp"
)

// lines are the command lines of the table.
func lines(t testing.TB) []string {
	t.Helper()
	data, err := os.ReadFile(table)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(line string) bool {
		return line == "" || strings.HasPrefix(line, "#") || strings.HasPrefix(line, "\t")
	})
}

func isDangerous(line string) bool {
	return agent.OutlookOf(Of(line, place())...).Risk == agent.RiskDangerous
}

// A dangerous command stays dangerous in any wrapper.
func TestWrappedIsDangerous(t *testing.T) {
	t.Parallel()
	wraps := []string{
		"%", "( % )", "{ %; }", "true && %", "false || %", "% &", "ls; %", "! %", "time %", "if ls; then %; fi", "for i in 1; do %; done",
		"while ls; do %; done", "case x in *) %;; esac", "f() { %; }; f", "echo \"$(%)\"", "cat <(%)", "% | cat", "% 2>&1 > out.txt",
		"sh -c '%'", "bash -lc \"%\"", "eval '%'", "env -i A=b %", "nohup nice -n 3 %", "timeout -k 1 5 %", "command %", "exec %", "stdbuf -oL %",
		"bash <<< '%'", "bash <<'E'\n%\nE\n", "cat <<E\n$(%)\nE\n", "trap '%' EXIT", "echo '%' | sh", "ssh host '%'", "watch -n 1 '%'", "A=$(%)",
		"[[ $(%) ]]", "busybox %", "setsid %", "flock /tmp/l %", "git submodule foreach '%'", "find . -exec % \\;",
	}
	for _, command := range []string{
		"rm -rf /", "rm -r -f ~", "git push --force", "git reset --hard", "sudo ls", "shutdown now", "dd if=x of=/dev/sda", "mkfs /dev/sda", "dropdb shop",
	} {
		for _, wrap := range wraps {
			if line := strings.ReplaceAll(wrap, "%", command); !isDangerous(line) {
				t.Errorf("%s: %s", line, said(line))
			}
		}
	}
}

// Lines of several lines, and what lies behind links.
func TestSpecialLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"cat > x.txt <<'E'\nrm -rf /\nE\n":         "low: changes x.txt",
		"cat > x.txt <<E\n$HOME\nE\n":              "low: changes x.txt",
		"python3 <<'E'\nprint(1)\nE\n":             "elevated: unknown python3",
		"git commit -m \"$(cat <<'E'\nFix\nE\n)\"": "low: changes",
		"ls # rm -rf /":                            "low: reads",
		"go test ./... \\\n  -run X":               "low: runs_project go test",
		"":                                         "low: reads",
		"()0":                                      "elevated: unknown",
		strings.Repeat("true; ", maxSteps) + "true": "dangerous: too_long",
		strings.Repeat("x", maxText+1):              "dangerous: too_long",
	} {
		if diff := cmp.Diff(want, said(line)); diff != "" {
			t.Errorf("%.80q: %s", line, diff)
		}
	}
	linked := place()
	linked.Resolve = func(path string) string {
		if rest, ok := strings.CutPrefix(path, "/work/shop/link"); ok {
			return "/etc" + rest
		}
		return path
	}
	for line, want := range map[string]agent.EffectID{
		"echo x > link/hosts": agent.EffectOutside,
		"rm -rf link/":        agent.EffectDeletesOutside,
		"rm link":             agent.EffectDeletes, // the link itself
		"cd link && rm -f x":  agent.EffectDeletesOutside,
		"make -C link":        agent.EffectRunsProject,
	} {
		if got := agent.OutlookOf(Of(line, linked)...).Effects[0].ID; got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
}

// FuzzOf checks that every line has effects, in bounds, and that no line hides a
// dangerous command that follows it.
func FuzzOf(f *testing.F) {
	for _, line := range lines(f) {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		o := agent.OutlookOf(Of(line, place())...)
		if len(o.Effects) == 0 || len(o.Effects) > 40 {
			t.Errorf("%d effects", len(o.Effects))
		}
		for _, e := range o.Effects {
			if len(e.Args) > 3 || agent.OutlookOf(e).Risk == "" {
				t.Errorf("effect %+v", e)
			}
		}
		after := line + "\n\nmkfs /dev/sda\n"
		file, ok := Parse(after)
		if _, alone := Parse(line); !ok || !alone || len(file.Stmts) == 0 || strings.Contains(line, "mkfs") {
			return
		}
		if !isDangerous(after) {
			t.Errorf("%q hides what follows: %s", line, said(after))
		}
	})
}

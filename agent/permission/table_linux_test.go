package permission_test

import (
	_ "embed"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/tool"
)

// commandTable has lines with what the mode "default" does with each.
//
//go:embed testdata/commands.txt
var commandTable string

// rows returns the lines of the table, and what is wanted of each.
func rows(t testing.TB) (lines []string, want []agent.Decision) {
	t.Helper()
	for row := range strings.Lines(commandTable) {
		decision, line, ok := strings.Cut(strings.TrimSuffix(row, "\n"), " ")
		if !ok || decision == "#" {
			continue
		}
		if d := agent.Decision(decision); d != agent.Allow && d != agent.Ask {
			t.Fatalf("%s: not a row", row)
		}
		lines, want = append(lines, strings.ReplaceAll(line, `\n`, "\n")), append(want, agent.Decision(decision))
	}
	return lines, want
}

// isInstalled reports whether every program is here of a line that only reads.
func isInstalled(line string) bool {
	r, _ := command.Read(line)
	for _, program := range r.Programs {
		if path, err := exec.LookPath(program); err != nil || strings.Contains(path, "shims") {
			return false
		}
	}
	return true
}

// The real tool and the real policy ask about every line of the table that does
// more than read inside the project, and about no other. OAS-621, K-12.
func TestDefaultModeAsksOnlyWhereItMust(t *testing.T) {
	t.Parallel()
	s := newScratch(t, nil)
	access := commandAccess(t, s.project)
	policy, err := permission.New(s.project, permission.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	lines, want := rows(t)
	benign := 0
	for i, line := range lines {
		input, err := json.Marshal(tool.BashInput{Command: line})
		if err != nil {
			t.Fatal(err)
		}
		got := policy.Decide(t.Context(), agent.GateCall{Tool: "Bash", Input: input, Access: access(line), Mode: agent.ModeDefault})
		if want[i] == agent.Allow {
			benign++
		}
		if got.Decision != want[i] && (want[i] == agent.Ask || isInstalled(line)) {
			t.Errorf("%s: %s, want %s: %s", line, got.Decision, want[i], got.Reason)
		}
	}
	if len(lines) < 400 || benign < 150 {
		t.Errorf("%d lines of which %d are benign, want 400 and 150", len(lines), benign)
	}
}

// Lines at the limits are judged quickly, and none beyond them counts as
// reading. K-38.
func TestLinesBeyondTheLimitsAreAskedAbout(t *testing.T) {
	t.Parallel()
	s := newScratch(t, nil)
	access := commandAccess(t, s.project)
	for name, tt := range map[string]struct {
		line string
		want bool
	}{
		"32 KiB":              {"echo " + strings.Repeat("a", 32<<10-5), true},
		"32 KiB and a byte":   {"echo " + strings.Repeat("a", 32<<10-4), false},
		"400 brackets":        {"echo '" + strings.Repeat("(", 400) + "'", true},
		"401 brackets":        {"echo '" + strings.Repeat("(", 401) + "'", false},
		"a group in groups":   {strings.Repeat("{ ", 5) + "ls; pwd" + strings.Repeat("; }", 5), true},
		"390 groups":          {"ls; " + strings.Repeat("{ ", 390) + "ls; " + strings.Repeat("}; ", 390), false},
		"390 tests":           {"[[ " + strings.Repeat("( ", 390) + "-f x" + strings.Repeat(" )", 390) + " ]]", true},
		"200,000 groups":      {strings.Repeat("( ", 200_000) + "ls" + strings.Repeat(")", 200_000), false},
		"10,000 conditions":   {strings.Repeat("if ", 10_000), false},
		"a loop over 20":      {"for i in " + strings.Repeat("a ", 20) + "; do echo $i; done", true},
		"a loop over 21":      {"for i in " + strings.Repeat("a ", 21) + "; do echo $i; done", false},
		"loops within loops":  {"for a in 1 2 3 4 5 6 7 8; do for b in 1 2 3 4 5 6 7 8; do echo $a; done; done", false},
		"substitutions":       {"echo " + strings.Repeat("$(echo ", 100) + strings.Repeat(")", 100), false},
		"a few of them":       {"echo " + strings.Repeat("$(echo ", 6) + strings.Repeat(")", 6), true},
		"quoted ones":         {"echo " + strings.Repeat("\"$(echo ", 100) + strings.Repeat(")\"", 100), false},
		"tested ones":         {strings.Repeat("[[ -n $(", 100) + "ls" + strings.Repeat(") ]]", 100), false},
		"fifty commands":      {strings.TrimSuffix(strings.Repeat("pwd; ", 50), "; "), true},
		"fifty-one commands":  {strings.TrimSuffix(strings.Repeat("pwd; ", 51), "; "), false},
		"a byte that is zero": {"ls\x00", false},
	} {
		if got := access(tt.line).OnlyReads; got != tt.want {
			t.Errorf("%s: only reads %t, want %t", name, got, tt.want)
		}
		if checker := boundary.New(boundary.Settings{DeniedCommands: []string{"rm"}}, s.project, s.home); checker.Command(tt.line+"\nrm x", s.project).Decision == agent.Allow {
			t.Errorf("%s hides rm", name)
		}
	}
}

// BenchmarkAnalysis measures what the lines of the table cost: their effects and
// their verdict by lists, which a call waits for. The median and the 99th
// percentile are what counts.
func BenchmarkAnalysis(b *testing.B) {
	lines, _ := rows(b)
	checker := boundary.New(boundary.Settings{DeniedCommands: []string{"rm"}, DeniedPaths: []string{"/etc"}}, b.TempDir(), "/home/ada")
	lines = append(lines, readGrammar(b).some("line", 1, 1000)...)
	var took []time.Duration
	for b.Loop() {
		for _, line := range lines {
			start := time.Now()
			checker.Command(line, "/")
			took = append(took, time.Since(start))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

package permission_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/permission/rule"
)

// stub tells that it runs, in place of a program.
const stub = "#!/bin/sh\necho \"${0##*/}\" >> /run/ran\n"

// ruled returns what rules of one decision say of a line in a project.
func ruled(t *testing.T, s scratch, decision agent.Decision, texts ...string) func(line string) agent.Decision {
	t.Helper()
	var rules []rule.Rule
	for _, text := range texts {
		r, err := rule.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		r.Decision = decision
		rules = append(rules, r)
	}
	set := rule.New(rule.Place{Project: s.project, Home: s.home}, rules)
	return func(line string) agent.Decision {
		return set.Judge(agent.GateCall{Tool: "Bash", Access: agent.Access{Command: line}}, nil).Decision
	}
}

// A line that the lists allow, or about which rules that deny say nothing, never
// starts a program that they deny. OAS-630, OAS-655, K-33.
func TestDeniedProgramsNeverRun(t *testing.T) {
	t.Parallel()
	needsObserver(t)
	denied := []string{"rm", "curl", "sudo"}
	s := newScratch(t, nil)
	checker := boundary.New(boundary.Settings{DeniedCommands: denied}, s.project, s.home)
	says := ruled(t, s, agent.Deny, "Bash(rm *)", "Bash(curl *)", "Bash(sudo *)")
	for name, passes := range map[string]func(line string) bool{
		"lists": func(line string) bool { return checker.Command(line, s.project).Decision == agent.Allow },
		"rules": func(line string) bool { return says(line) == "" },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed, count := uint64(number(t, "ATELIER_TEST_SEED", 1)), number(t, "ATELIER_TEST_LINES", usualLines)
			var lines []string
			for _, line := range readGrammar(t).some("attack", seed, count) {
				if passes(line) {
					lines = append(lines, line)
				}
			}
			t.Logf("%d of %d lines pass", len(lines), count)
			if len(lines) < count/20 {
				t.Errorf("only %d of %d lines pass", len(lines), count)
			}
			for some := range slices.Chunk(lines, batch) {
				newScratch(t, nil).runs(t, some, denied)
			}
		})
	}
}

// runs reports lines that start one of the programs, in whose place there are
// stubs. A background program may be noticed one line later.
func (s scratch) runs(t *testing.T, lines, programs []string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.root, "stub"), []byte(stub), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, seen := range s.observe(t, lines, programs...) {
		if at, what, ok := strings.Cut(seen, " ran "); ok && slices.Contains(programs, what) {
			i, _ := strconv.Atoi(at)
			t.Errorf("%q passes, but runs %s", lines[i], what)
		}
	}
}

// A line that rules for reading programs allow changes nothing when it really
// runs, and starts no other program. OAS-630.
func TestAllowedLinesDoNoMore(t *testing.T) {
	t.Parallel()
	needsObserver(t)
	s := newScratch(t, nil)
	says := ruled(t, s, agent.Allow, "Bash(git status)", "Bash(ls *)", "Bash(cat *)", "Bash(echo *)", "Bash(wc:*)", "Bash(npm run test:*)")
	seed, count := uint64(number(t, "ATELIER_TEST_SEED", 1)), number(t, "ATELIER_TEST_LINES", usualLines)
	g := readGrammar(t)
	var lines []string
	for _, line := range append(g.some("line", seed, count), g.some("attack", seed+1, count)...) {
		if says(line) == agent.Allow {
			lines = append(lines, line)
		}
	}
	t.Logf("%d of %d lines are allowed", len(lines), 2*count)
	for some := range slices.Chunk(lines, batch) {
		s := newScratch(t, nil)
		s.change(t, some, func(string) string { return "by a rule" })
		s.runs(t, some, []string{"rm", "curl", "sudo"})
	}
}

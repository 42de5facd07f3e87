package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// OAS-630: a run's flags may name some calls of a tool. A rule that denies wins.
func TestRunWithRules(t *testing.T) {
	t.Parallel()
	p := newPlace(t, write("in.txt", "x"), write("docs/out.txt", "x"), write("docs/kept.txt", "x"), llmtest.Round{Text: "Done."})
	if _, errs, code := p.run("run", "--model", "openai/m", "--allowed-tools", "Edit(docs/**)", "--disallowed-tools", "Edit(kept.txt)", "go"); code != 0 {
		t.Errorf("exit %d: %s", code, errs)
	}
	for name, want := range map[string]bool{"in.txt": false, "docs/out.txt": true, "docs/kept.txt": false} {
		if _, err := os.Stat(filepath.Join(p.folder, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, errs, code := p.run("run", "--model", "openai/m", "--allowed-tools", "Bash(", "go"); code == 0 || !strings.Contains(errs, "bracket") {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A rule about the agents of a name says where it is read that it matches no call; one about
// all agents, or about something else, says nothing.
func TestRulesAboutNamedAgents(t *testing.T) {
	t.Parallel()
	for text, told := range map[string]bool{
		"Agent(reviewer)": true, "Task(reviewer)": true, "SpawnAgent(a b)": true, "Agent(x*)": true, "Task(general-purpose)": true,
		"Agent": false, "Task": false, "Agent(*)": false, "Bash(agent x)": false, "Read(Agent)": false,
	} {
		p := newPlace(t, llmtest.Round{Text: "Done."})
		file := p.put(".claude/settings.json", `{"permissions": {"deny": ["`+text+`"]}}`)
		want := "The rule " + text + " in line 1 of " + file + " matches no call, because agents are started without a name."
		for _, args := range [][]string{{"explain", "ls"}, {"run", "--model", "openai/m", "go"}} {
			if _, errs, code := p.run(args...); code != 0 || strings.Contains(errs, want) != told || strings.Count(errs, "matches no call") > 1 {
				t.Errorf("%s, %s: exit %d: %s", text, args[0], code, errs)
			}
		}
	}
	p := newPlace(t, llmtest.Round{Text: "Done."})
	if _, errs, _ := p.run("run", "--model", "openai/m", "--disallowed-tools", "Task(reviewer)", "go"); !strings.Contains(errs, "The rule Task(reviewer) matches no call") {
		t.Errorf("a flag: %s", errs)
	}
	named := p.put("other.json", `{"permissions": {"deny": ["Agent(reviewer)"]}}`)
	if _, errs, _ := p.run("explain", "--settings", named, "ls"); !strings.Contains(errs, "The rule Agent(reviewer) matches no call") {
		t.Errorf("a file that is named: %s", errs)
	}
}

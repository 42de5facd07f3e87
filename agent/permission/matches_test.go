package permission_test

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission"
)

// OAS-814: what a skill's list of tools allows and denies.
func TestMatches(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := permission.New(dir, permission.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	command := func(line string) agent.GateCall {
		return agent.GateCall{Tool: "Bash", Input: json.RawMessage(`{}`), Access: agent.Access{Command: line}}
	}
	tool := func(name string, writes ...string) agent.GateCall {
		call := agent.GateCall{Tool: name, Input: json.RawMessage(`{}`)}
		for _, w := range writes {
			call.Access.Writes = append(call.Access.Writes, filepath.Join(dir, w))
		}
		return call
	}
	for _, tt := range []struct {
		pattern     string
		call        agent.GateCall
		allow, deny bool
	}{
		{"*", tool("Whatever"), true, true},
		{"Bash", command("rm -rf /"), true, true},
		{"bash", command("ls"), false, false}, // a skill is read under canonical names
		{"Bash(git *)", command("git log --oneline"), true, true},
		{"Bash(git:*)", command("git log --oneline"), true, true},
		{"Bash(git *)", command("git log | head -3"), true, true},
		{"Bash(git *)", command("git log; rm -rf x"), false, true},
		{"Bash(git *)", command("git log $(rm -rf x)"), false, true},
		{"Bash(git *)", command("ls"), false, false},
		{"Bash(git push*)", command("git status"), false, false}, // skills and hooks' "if" ask so, too
		{"Bash(git push*)", command("git push -u origin x"), true, true},
		{"Bash(git push --force*)", command("git push -uf origin x"), false, true},
		{"Bash(git *)", tool("TaskOutput"), true, false},
		{"Bash(git *)", tool("WriteStdin"), false, true},
		{"Bash", tool("WriteStdin"), true, true},
		{"Read", tool("ReadMany"), true, true},
		{"Read", tool("Grep"), false, false},
		{"Read", command("cat x"), false, false},
		{"Edit", tool("ApplyPatch", "x"), true, true},
		{"Edit", tool("Write", "x"), false, false},
		{"Write", tool("ApplyPatch", "x"), false, true},
		{"Edit(docs/**)", tool("Edit", "docs/a.md"), true, true},
		{"Edit(docs/**)", tool("Edit", "src/a.go"), false, false},
		{"Edit(docs/**)", tool("ApplyPatch", "docs/a.md"), true, true},
		{"Edit(docs/**)", tool("ApplyPatch", "docs/a.md", "src/a.go"), false, true},
		{"mcp__hub", tool("mcp__hub__search"), true, true},
		{"mcp__hub", tool("mcp__hubris__search"), false, false},
		{"mcp__hub__*", tool("mcp__hub__search"), true, true},
		{"mcp__hub__search", tool("mcp__hub__delete"), false, false},
		{"Agent", tool("Agent"), true, true},
		{"Bash(git", command("git log"), false, true},
		{"", tool("Bash"), false, false},
	} {
		if got := p.Matches(tt.pattern, agent.Allow, tt.call); got != tt.allow {
			t.Errorf("%q allows %s %q: %t", tt.pattern, tt.call.Tool, tt.call.Access.Command, got)
		}
		if got := p.Matches(tt.pattern, agent.Deny, tt.call); got != tt.deny {
			t.Errorf("%q denies %s %q: %t", tt.pattern, tt.call.Tool, tt.call.Access.Command, got)
		}
	}
}

package permission_test

import (
	"os"
	"path/filepath"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/permission/rule"
)

// K-51, OAS-641, K-33: the lists of the settings hold in sessions, for commands and
// for tools that touch files, in every mode and before every rule.
func TestListsHoldInSessions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"src/x.go", "open/y.go"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	bash := func(line string) agent.GateCall {
		return agent.GateCall{Tool: "Bash", Access: agent.Access{Command: line}}
	}
	reads := func(tool, name string) agent.GateCall {
		return agent.GateCall{Tool: tool, ReadOnly: true, Access: agent.Access{Reads: []string{filepath.Join(dir, name)}}}
	}
	writes := func(tool, name string) agent.GateCall {
		return agent.GateCall{Tool: tool, Access: agent.Access{Writes: []string{filepath.Join(dir, name)}}}
	}
	allowAll := rule.Rule{Tool: "Bash", Decision: agent.Allow}
	for _, tt := range []struct {
		lists boundary.Settings
		call  agent.GateCall
		want  agent.Decision // in the mode that asks nothing
	}{
		{boundary.Settings{DeniedCommands: []string{"touch"}}, bash("touch n"), agent.Deny},
		{boundary.Settings{DeniedCommands: []string{"touch"}}, bash("ls; sudo touch n"), agent.Deny},
		{boundary.Settings{DeniedCommands: []string{"touch"}}, bash("$X n"), agent.Deny},
		{boundary.Settings{DeniedCommands: []string{"touch"}}, bash("ls"), agent.Allow},
		{boundary.Settings{DeniedCommands: []string{"rm"}}, bash("find . -delete"), agent.Deny},
		{boundary.Settings{DeniedCommands: []string{"git push --force"}}, bash("git push -uf origin x"), agent.Deny},
		{boundary.Settings{DeniedCommands: []string{"git push --force"}}, bash("git push origin x"), agent.Allow},
		{boundary.Settings{DeniedCommands: []string{"git push*"}}, bash("git status"), agent.Allow},
		{boundary.Settings{AllowedCommands: []string{"ls"}}, bash("ls -la"), agent.Allow},
		{boundary.Settings{AllowedCommands: []string{"ls"}}, bash("cat open/y.go"), agent.Deny},
		{boundary.Settings{AllowedCommands: []string{}}, bash("ls"), agent.Deny},
		{boundary.Settings{DeniedCommands: []string{"ls"}, AllowedCommands: []string{"ls"}}, bash("ls"), agent.Deny},
		{boundary.Settings{DeniedPaths: []string{"src"}}, bash("cat src/x.go"), agent.Deny},
		{boundary.Settings{DeniedPaths: []string{"src"}}, bash("cat open/y.go"), agent.Allow},
		{boundary.Settings{DeniedPaths: []string{"src"}}, reads("Read", "src/x.go"), agent.Deny},
		{boundary.Settings{DeniedPaths: []string{"src"}}, reads("Grep", ""), agent.Deny},
		{boundary.Settings{DeniedPaths: []string{"src"}}, reads("Grep", "open"), agent.Allow},
		{boundary.Settings{DeniedPaths: []string{"src"}}, writes("Edit", "src/x.go"), agent.Deny},
		{boundary.Settings{DeniedPaths: []string{"src"}}, writes("ApplyPatch", "open/y.go"), agent.Allow},
		{boundary.Settings{AllowedWritePaths: []string{"open"}}, writes("Write", "src/new.go"), agent.Deny},
		{boundary.Settings{AllowedWritePaths: []string{"open"}}, writes("Write", "open/new.go"), agent.Allow},
		{boundary.Settings{AllowedReadPaths: []string{"open"}}, reads("Read", "src/x.go"), agent.Deny},
		{boundary.Settings{AllowedReadPaths: []string{}}, reads("ListDir", "open"), agent.Deny},
		{boundary.Settings{}, bash("touch n"), agent.Allow},
	} {
		set := rule.New(rule.Place{Project: dir}, []rule.Rule{allowAll}).Within(tt.lists)
		p, err := permission.New(dir, permission.Rules{Set: func() *rule.Set { return set }})
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []agent.Mode{agent.ModeDefault, agent.ModePlan, agent.ModeAcceptEdits, agent.ModeAuto, agent.ModeDontAsk, agent.ModeBypass} {
			for _, confinement := range []agent.Confinement{"", agent.ConfinedFree} {
				call := tt.call
				call.Mode, call.Access.Confinement = mode, confinement
				p.Grant(call)
				v := p.Decide(t.Context(), call)
				switch {
				case tt.want == agent.Deny && (v.Decision != agent.Deny || !v.Final || v.Code != agent.ReasonListsDeny),
					tt.want == agent.Allow && (v.Code == agent.ReasonListsDeny || mode == agent.ModeBypass && v.Decision != agent.Allow):
					t.Errorf("%+v: %s %v, %s %s: %+v", tt.lists, call.Tool, call.Access, mode, confinement, v)
				}
			}
		}
	}
}

// OAS-624: a tool that is allowed, and a mode that accepts edits, do not cover a
// file that makes other programs run code.
func TestAllowedToolsAskAboutControls(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p, err := permission.New(dir, permission.Rules{Allow: []string{"Write", "Edit", "ApplyPatch", "MultiEdit"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []agent.Mode{agent.ModeDefault, agent.ModePlan, agent.ModeAcceptEdits, agent.ModeAuto, agent.ModeDontAsk} {
		for _, tool := range []string{"Write", "Edit", "ApplyPatch"} {
			for _, name := range []string{".git/config", ".vscode/tasks.json", ".envrc", ".mcp.json", "sub/.husky/pre-commit"} {
				call := agent.GateCall{Tool: tool, Mode: mode, Access: agent.Access{Writes: []string{filepath.Join(dir, name)}}}
				p.Grant(call)
				if v := p.Decide(t.Context(), call); v.Decision == agent.Allow || !v.Final || !v.EachTime {
					t.Errorf("%s: %s %s: %+v", mode, tool, name, v)
				}
			}
		}
	}
}

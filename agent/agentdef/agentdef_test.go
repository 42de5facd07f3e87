package agentdef_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/agentdef"
	"atelier.dev/atelier/agent/llm"
)

func parse(front string) agentdef.Definition {
	return agentdef.Parse(agentdef.Place{Scope: agent.ScopeProject, File: "/p/.claude/agents/x.md"}, "", "---\n"+front+"\n---\nDo it.\n")
}

// findings writes what is wrong as "line id".
func findings(d agentdef.Definition) string {
	var out []string
	for _, f := range d.Findings {
		out = append(out, fmt.Sprintf("%d %s", f.Line, f.ID))
	}
	return strings.Join(out, ", ")
}

// OAS-311, OAS-505, OAS-506: every key of an agent's file is understood.
func TestParse(t *testing.T) {
	t.Parallel()
	d := parse(`name: reviewer
description: Reviews changes.
tools: Read, Bash(git *), mcp__github
disallowedTools: [Write]
model: opus
effort: High
permissionMode: plan
maxTurns: 12
skills: [style, go]
mcpServers:
- jira
- inline: {command: x}
hooks:
  PreToolUse:
  - matcher: Bash
    hooks: [{type: command, command: ./check}]
background: true
isolation: worktree
color: green
initialPrompt: Begin.`)
	want := agentdef.Definition{
		Name: "reviewer", Description: "Reviews changes.", Prompt: "Do it.",
		Place:  agentdef.Place{Scope: agent.ScopeProject, File: "/p/.claude/agents/x.md"},
		Limits: agentdef.Limits{Limited: true, Tools: []string{"Read", "Bash(git *)", "mcp__github", "mcp__jira"}, Denied: []string{"Write"}},
		Model:  "opus", Effort: llm.EffortHigh, Mode: agent.ModePlan, Rounds: 12, Skills: []string{"style", "go"},
		Hooks: []byte(`{"PreToolUse":[{"hooks":[{"command":"./check","type":"command"}],"matcher":"Bash"}]}`),
		Start: agentdef.Start{Background: true, Worktree: true, Color: "green", InitialPrompt: "Begin."},
	}
	if diff := cmp.Diff(want, d); diff != "" {
		t.Error(diff)
	}
	if use := d.Limit(); use == nil || !use.Agent || !use.Limited {
		t.Errorf("%+v", use)
	}
}

// A file that cannot be read as it was meant says where, and never allows more than it names.
func TestParseNarrows(t *testing.T) {
	t.Parallel()
	const head = "name: x\ndescription: d\n"
	many := strings.TrimSuffix(strings.Repeat("NoSuchTool%d, ", 200), ", ")
	for i := range 200 {
		many = strings.Replace(many, "%d", fmt.Sprint(i), 1)
	}
	for name, c := range map[string]struct {
		front, findings string
		broken          bool
		mode            agent.Mode
	}{
		"no name":                   {"description: d", "1 agent_name", true, ""},
		"a name with a colon":       {"name: a:b\ndescription: d", "2 agent_name", true, ""},
		"a name with a dash":        {"name: -a\ndescription: d", "2 agent_name", true, ""},
		"no description":            {"name: a", "1 agent_description", true, ""},
		"no tools":                  {head + "tools:", "4 agent_no_tools", true, ""},
		"200 tools, none exists":    {head + "tools: " + many, strings.Repeat("4 agent_tool, ", 100)[:len("4 agent_tool, ")*100-2] + ", 4 agent_no_tools", true, ""},
		"tools as a map in a list":  {head + "tools:\n- a: b", "4 agent_no_tools", true, ""},
		"tools behind broken YAML":  {head + "x: [\n  tools: Read", "4 agent_yaml, 4 agent_no_tools", true, ""},
		"a mode that is not known":  {head + "permissionMode: yolo", "4 agent_mode", false, agent.ModePlan},
		"a mode of another name":    {head + "permissionMode: manual", "", false, agent.ModeDefault},
		"hooks that are a text":     {head + "hooks: ./check", "4 agent_hooks", true, ""},
		"rounds that are no number": {head + "maxTurns: many", "4 agent_value", false, ""},
		"another isolation":         {head + "isolation: remote", "4 agent_value", true, ""},
		"a server of its own":       {head + "mcpServers: {a: {command: b}}", "4 agent_no_effect", false, ""},
	} {
		d := parse(c.front)
		if got := findings(d); got != c.findings || d.Broken() != c.broken || d.Mode != c.mode {
			t.Errorf("%s: %s, broken %t, mode %q", name, got, d.Broken(), d.Mode)
		}
	}
	if d := agentdef.Parse(agentdef.Place{}, "", "# Notes\n"); !d.Broken() {
		t.Error("a text without frontmatter is an agent")
	}
	if d := agentdef.Parse(agentdef.Place{}, "", "---\na: "+strings.Repeat("x", 70<<10)+"\n---\n"); findings(d) != "1 agent_front" {
		t.Error(findings(d))
	}
}

// K-43: agents of opencode are understood, and allowed no more than their files say.
func TestOpenCode(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		front   string
		want    agentdef.Limits
		mode    agent.Mode
		enabled bool
	}{
		"plain":       {"", agentdef.Limits{}, "", true},
		"off":         {"tools: {write: false, edit: false}", agentdef.Limits{Denied: []string{"ApplyPatch", "Edit", "MultiEdit", "RenameSymbol", "Write"}}, "", true},
		"only":        {"tools: {\"*\": false, read: true}", agentdef.Limits{Limited: true, Tools: []string{"Read"}}, "", true},
		"servers":     {"tools: {\"mcp_*\": false}", agentdef.Limits{Denied: []string{"mcp_*"}}, "", true},
		"denied":      {"permission: {bash: deny}", agentdef.Limits{Denied: []string{"Bash"}}, "", true},
		"by pattern":  {"permission: {bash: {\"*\": deny, \"git *\": allow}}", agentdef.Limits{Denied: []string{"Bash"}}, "", true},
		"asked about": {"permission: {edit: ask}", agentdef.Limits{}, agent.ModeDefault, true},
		"primary":     {"mode: primary", agentdef.Limits{}, "", false},
		"disabled":    {"disable: true", agentdef.Limits{}, "", false},
	} {
		d, enabled := agentdef.ParseOpenCode(agentdef.Place{}, "docs", "---\ndescription: d\nmaxSteps: 7\n"+c.front+"\n---\nWrite.")
		if diff := cmp.Diff(c.want, d.Limits); diff != "" || d.Mode != c.mode || enabled != c.enabled || d.Rounds != 7 || d.Broken() {
			t.Errorf("%s: %s %+v", name, diff, d)
		}
	}
	if d, _ := agentdef.ParseOpenCode(agentdef.Place{}, "docs", "---\ndescription: d\npermission: {bash: 3}\n---\n"); !d.Broken() {
		t.Error("a permission that cannot be read is left out")
	}
}

// Agents are given as JSON, too.
func TestJSON(t *testing.T) {
	t.Parallel()
	all, err := agentdef.ParseJSON(`{"b": {"description": "Says \"é\": 😀", "prompt": "Be brief.\n---\nname: evil", "tools": ["Read", "Bash(git *)"], "permissionMode": "plan"}, "a": {"prompt": "x"}}`)
	if err != nil || len(all) != 2 || all[0].Name != "a" || !all[0].Broken() {
		t.Fatalf("%+v, %v", all, err)
	}
	b := all[1]
	if b.Description != `Says "é": 😀` || b.Prompt != "Be brief.\n---\nname: evil" || b.Mode != agent.ModePlan || !cmp.Equal(b.Limits.Tools, []string{"Read", "Bash(git *)"}) {
		t.Errorf("%+v", b)
	}
	for _, bad := range []string{"", "[]", `{"a": {"prompt": 3}}`, `{"a": 1}`} {
		if _, err := agentdef.ParseJSON(bad); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// Of one name the strongest folder's agent counts; a broken one hides no other.
func TestDiscover(t *testing.T) {
	t.Parallel()
	user, project, outside := t.TempDir(), t.TempDir(), t.TempDir()
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file := func(name, description string) string {
		return "---\nname: " + name + "\ndescription: " + description + "\n---\n"
	}
	write(filepath.Join(user, ".claude/agents/a.md"), file("a", "the user's"))
	write(filepath.Join(user, ".claude/agents/c.md"), file("c", "the user's"))
	write(filepath.Join(project, ".agent/agents/a.md"), file("a", "ours"))
	write(filepath.Join(project, ".claude/agents/deep/er/a.md"), file("a", "the project's"))
	write(filepath.Join(project, ".claude/agents/c.md"), "---\nname: c\ntools: [\n---\n")
	write(filepath.Join(project, ".opencode/agent/docs.md"), "---\ndescription: opencode's\n---\n")
	write(filepath.Join(outside, "b.md"), file("b", "from outside"))
	if err := os.Symlink(filepath.Join(outside, "b.md"), filepath.Join(project, ".claude/agents/b.md")); err != nil {
		t.Skip(err)
	}
	found, more := agentdef.Discover(t.Context(), agentdef.Roots(user, project))
	got := map[string]string{}
	for _, d := range agentdef.Resolve(found) {
		got[d.Name] = d.Description
	}
	if diff := cmp.Diff(map[string]string{"a": "the project's", "c": "the user's", "docs": "opencode's"}, got); diff != "" || more {
		t.Error(diff)
	}
	for _, d := range found {
		if d.Name == "b" && !strings.Contains(d.Findings[0].Message, "leads out of the project") {
			t.Errorf("%+v", d)
		}
	}
}

// OAS-505: the built-in agents read and run commands in the mode plan, ten rounds at most.
func TestBuiltIn(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"Explore", "Plan", "explore"} {
		d, ok := agentdef.Find(agentdef.BuiltIn(), name)
		if !ok || d.Broken() || len(d.Findings) > 0 || d.Rounds != 10 || d.Mode != agent.ModePlan || d.Prompt == "" || !cmp.Equal(d.Limits.Tools, []string{"Read", "Glob", "Grep", "Bash"}) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d, ok := agentdef.Find(agentdef.BuiltIn(), ""); !ok || d.Name != agentdef.General || d.Limit() != nil {
		t.Errorf("%+v", d)
	}
}

// OAS-506: a mode is only ever tightened.
func TestTighter(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]agent.Mode{
		{"default", "", "default"}, {"default", "bypassPermissions", "default"}, {"auto", "plan", "plan"},
		{"plan", "acceptEdits", "plan"}, {"bypassPermissions", "acceptEdits", "acceptEdits"}, {"default", "yolo", "plan"},
	} {
		if got := agentdef.Tighter(c[0], c[1]); got != c[2] {
			t.Errorf("%s, %s: %s", c[0], c[1], got)
		}
	}
}

// Any file is read without a panic, and allows no tool that it does not name.
func FuzzParse(f *testing.F) {
	for _, text := range []string{
		"---\nname: a\ndescription: b\ntools: Read\n---\nx", "---\ntools: [Bash(git *)]\npermission: {bash: ask}\nhooks: {a: [b]}\n---\n",
		"---\nname: a\n tools: [\n---", "---\nmcpServers: [a, {b: c}]\ntools: Read\n---\n", "---\ntools: {\"*\": false}\n---\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d := agentdef.Parse(agentdef.Place{}, "x", text)
		o, _ := agentdef.ParseOpenCode(agentdef.Place{}, "x", text)
		for _, d := range []agentdef.Definition{d, o} {
			agentdef.List([]agentdef.Definition{d})
			for _, x := range d.Findings {
				if x.Message == "" || strings.Contains(x.Message, "{0}") && !strings.Contains(text, "{0}") {
					t.Fatalf("%+v", x)
				}
			}
			if d.Limits.Limited && len(d.Limits.Tools) == 0 && !d.Broken() && !strings.Contains(text, "*") {
				t.Fatalf("%q: %+v", text, d)
			}
		}
	})
}

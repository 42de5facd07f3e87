package skill_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/skill"
)

var inProject = skill.Place{Kind: skill.KindSkill, Scope: "project", Root: "/p/.agent/skills", Folder: "/p/.agent/skills/x", File: "/p/.agent/skills/x/SKILL.md"}

func parse(front string) skill.Skill {
	return skill.Parse(inProject, "x", "---\n"+front+"\n---\nBody", nil)
}

// found writes findings as "rule:line".
func found(s skill.Skill) string {
	var out []string
	for _, f := range s.Findings {
		out = append(out, fmt.Sprintf("%s:%d", f.Rule, f.Line))
	}
	return strings.Join(out, " ")
}

// OAS-801, OAS-809, COM-63: a file gives a skill its name, descriptions, aliases, tools, model,
// hint and prompt.
func TestParse(t *testing.T) {
	t.Parallel()
	s := skill.Parse(inProject, "deploy", `---
name: Deploy it
description: >
  Deploys
  the site.
when_to_use: the user wants to deploy
aliases: /ship, rollout deploy
allowed-tools: Bash(git:*), read
disallowedTools: [web_fetch]
argument-hint: [target] [options]
arguments: target options
model: fast
effort: High
license: MIT
metadata: {version: 1.0, tags: [a]}
---
Deploy $target.
`, nil)
	want := skill.Skill{
		Name: "deploy", Label: "Deploy it", Aliases: []string{"ship", "rollout"}, Place: inProject,
		Description: "Deploys the site.", WhenToUse: "the user wants to deploy",
		Usage: skill.Usage{ByUser: true, ByModel: true, Hint: "[target] [options]", Arguments: []string{"target", "options"}},
		Limits: skill.Limits{
			Limited: true, Tools: []string{"Bash(git:*)", "Read"}, Denied: []string{"WebFetch"}, Model: "fast", Effort: llm.EffortHigh,
		},
		Body: "Deploy $target.\n",
	}
	// Brackets behind brackets are not YAML, and are read all the same.
	if got := found(s); got != "READ-04:10" {
		t.Error(got)
	}
	s.Findings = nil
	if d := cmp.Diff(want, s); d != "" {
		t.Error(d)
	}
}

// A file in another form than expected never loses its limits.
func TestParseKeepsLimits(t *testing.T) {
	t.Parallel()
	file := "---\nname: x\ndescription: X.\nallowed-tools: Read\naliases: [/etc/hosts, \\\\a]\n---\nBody."
	s := skill.Parse(skill.Place{}, "x", strings.ReplaceAll(file, "\n", "\r"), nil)
	if !s.Limits.Limited || s.Body != "Body." || strings.ContainsAny(strings.Join(s.Aliases, ""), `/\`) || len(s.Aliases) != 2 {
		t.Errorf("%+v", s)
	}
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if s := skill.Parse(skill.Place{}, "x", mark+"-\x00-\x00-\x00", nil); s.Usage.ByUser || s.Usage.ByModel || len(s.Findings) != 1 {
			t.Errorf("%+v", s)
		}
	}
}

// K-46, OAS-810: allowed-tools are an approval in advance in the folders of Claude Code, and
// a limit in all others, unless tools-policy says which.
func TestToolsPolicy(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		root, front, limit, approved, findings string
	}{
		{"/p/.claude/skills", "allowed-tools: Read, Bash(git add:*)", "all", "Read|Bash(git add:*)", ""},
		{"/h/.claude/commands", "allowed-tools: Bash", "all", "Bash", ""},
		{"/p/.agent/skills", "allowed-tools: Bash(git add:*)", "Bash(git add:*)", "", ""},
		{"/p/.agents/skills", "allowed-tools: Read", "Read", "", ""},
		{"/h/.config/agents/skills", "allowed-tools: Read", "Read", "", ""},
		{"/p/.claude/skills", "allowed-tools: Read\ntools-policy: limit", "Read", "", ""},
		{"/p/.agents/skills", "allowed-tools: Read\ntools_policy: Approve", "all", "Read", ""},
		{"/p/.claude/skills", "allowed-tools: Read\ntools-policy: both", "Read", "", "READ-17:3"},
		{"/p/.claude/skills", "allowed-tools: Foo, Read", "all", "Read", "READ-06:2"},
		{"/p/.claude/skills", "allowed-tools: '*'", "all", "", ""},
		{"/p/.claude/skills", "allowed-tools: B*, Bash(git", "all", "", "READ-06:2 READ-06:2"},
		{"/p/.claude/skills", "allowed-tools: []", "all", "", ""},
		{"/p/.claude/skills", "disallowed-tools: Bash", "all", "", ""},
		{"/p/.claude/skills", "disallowed-tools: '*'", "", "", ""},
	} {
		s := skill.Parse(skill.Place{Kind: skill.KindSkill, Root: c.root}, "x", "---\n"+c.front+"\n---\nBody", nil)
		limit := "all"
		if s.Limits.Limited {
			limit = strings.Join(s.Limits.Tools, "|")
		}
		if approved := strings.Join(s.Limits.Approved, "|"); limit != c.limit || approved != c.approved || found(s) != c.findings {
			t.Errorf("%s %s: limit %s, approved %s, %s", c.root, c.front, limit, approved, found(s))
		}
		if use := s.Use("", true); strings.Join(use.Approved, "|") != c.approved {
			t.Errorf("%+v", use)
		}
	}
}

// A command is called by a person alone, and its file gives it its name.
func TestParseCommand(t *testing.T) {
	t.Parallel()
	s := skill.Parse(skill.Place{Kind: skill.KindCommand, File: "/p/.claude/commands/git/commit.md"}, "git:commit", "Commit $ARGUMENTS", nil)
	if !s.Usage.ByUser || s.Usage.ByModel || s.Name != "git:commit" || s.Body != "Commit $ARGUMENTS" || len(s.Findings) > 0 {
		t.Errorf("%+v", s)
	}
	s = skill.Parse(skill.Place{Kind: skill.KindCommand, File: "/c.md"}, "c", "---\nname: other\nuser-invocable: false\n---\nx", nil)
	if s.Label != "" || !s.Usage.ByUser {
		t.Errorf("%+v", s)
	}
}

// Who may use a skill is written in all the ways in which files write yes and no. What is neither
// leaves the skill to the person.
func TestParseBooleans(t *testing.T) {
	t.Parallel()
	for value, byModel := range map[string]bool{
		"true": false, "Yes": false, "ON": false, "1": false, "\"true\"": false, "perhaps": false,
		"false": true, "no": true, "off": true, "0": true, "": false,
	} {
		if s := parse("disable-model-invocation: " + value); s.Usage.ByModel != byModel || !s.Usage.ByUser {
			t.Errorf("%s: %+v", value, s.Usage)
		}
		s := parse("user_invocable: " + value)
		if yes := !byModel; s.Usage.ByUser != yes || !s.Usage.ByModel {
			t.Errorf("%s: %+v", value, s.Usage)
		}
	}
	if s := parse("user-invocable: no\ndisable-model-invocation: yes"); found(s) != "READ-16:1" {
		t.Error(found(s))
	}
}

// OAS-810, OAS-813: tools are named in many ways, and every way means the same names. An unknown
// name is kept and reported, and a list of nothing else allows nothing.
func TestParseTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ front, want, findings string }{
		{"description: x", "all", ""},
		{"allowed-tools: Read, Write, Bash(git:*)", "Read|Write|Bash(git:*)", ""},
		{"allowed-tools: Read Write Bash(git add *)", "Read|Write|Bash(git add *)", ""},
		{"allowed-tools: [Read, \"Bash(npm run a, b)\"]", "Read|Bash(npm run a, b)", ""},
		{"allowed-tools:\n- read\n- \"Grep, Glob\"\n- Edit Write", "Read|Grep|Glob|Edit|Write", ""},
		{"allowed-tools: \"[Read, Grep]\"", "Read|Grep", ""},
		{"allowed-tools: {bash: true, read: yes, edit: false}", "Bash|Read", ""},
		{"allowed_tools: Read", "Read", ""},
		{"allowedTools: Read", "Read", ""},
		{"allowed-tools: '*'", "all", ""},
		{"allowed-tools: *", "all", "READ-04:2"},
		{"allowed-tools: ['*', Read]", "all", ""},
		{"allowed-tools: Read, Read, read", "Read", ""},
		{"allowed-tools: AskUserQuestion, ask_user, TodoRead, todo_write, exit_plan_mode", "AskUser|TodoWrite|ExitPlanMode", ""},
		{"allowed-tools: bash, webFetch, web_search, askUser, toolSearch, sendMessage, taskCreate, notebookEdit, teamDelete", "Bash|WebFetch|WebSearch|AskUser|ToolSearch|SendMessage|TaskCreate|NotebookEdit|TeamDelete", ""},
		{"allowed-tools: ApplyPatch, readmany, list_dir, SpawnAgent, LS, search/codebase, BashOutput, KillShell", "ApplyPatch|ReadMany|ListDir|SpawnAgent|LS|Grep|TaskOutput|TaskStop", ""},
		{"allowed-tools: mcp__a__b, mcp__a__*, mcp__a, mcp__my-server__x.y", "mcp__a__b|mcp__a__*|mcp__a|mcp__my-server__x.y", ""},
		{"allowed-tools: WebFetch(domain:go.dev), Agent(x), Skill(y), Bash(${CLAUDE_SKILL_DIR}/run.sh *)", "WebFetch(domain:go.dev)|Agent(x)|Skill(y)|Bash(/p/.agent/skills/x/run.sh *)", ""},

		{"allowed-tools: Foo, Read", "Foo|Read", "READ-06:2"},
		{"allowed-tools: Foo", "Foo", "READ-06:2 READ-07:2"},
		{"allowed-tools: \"\"", "", "READ-07:2"},
		{"allowed-tools:", "", "READ-07:2"},
		{"allowed-tools: []", "", "READ-07:2"},
		{"allowed-tools: true", "true", "READ-06:2 READ-07:2"},
		{"allowed-tools: [[Read]]", "", "READ-07:2"},

		// These would allow more than was written.
		{"allowed-tools: Bash (git *), Read", "Bash(git *)|Read", ""},
		{"allowed-tools: Read Bash (git *) Grep", "Read|Bash(git *)|Grep", ""},
		{"allowed-tools: [Bash git]", "Bash git", "READ-06:2 READ-07:2"},
		{"allowed-tools: Bash git *", "", "READ-06:2 READ-07:2"},
		{"allowed-tools: Bash(git", "Bash(git", "READ-06:2 READ-07:2"},
		{"allowed-tools: Bash(git:*, Read", "Bash(git:*, Read", "READ-06:2 READ-07:2"},
		{"allowed-tools: Bash(), Read", "Bash()|Read", "READ-06:2"},
		{"allowed-tools: B*, Read", "Read", "READ-06:2"},
		{"allowed-tools: '**'", "", "READ-06:2 READ-07:2"},
		{"allowed-tools: mcp__*(x), mcp__, mcp____x", "mcp__*(x)|mcp__|mcp____x", "READ-06:2 READ-06:2 READ-06:2 READ-07:2"},
		{"x: {allowed-tools: Read}\ny: a: b", "", "READ-04:3 READ-07:3"},
		{"{allowed-tools: Read, y: [}", "", "READ-04:2 READ-07:2"},
		{"x: &b {allowed-tools: Read}\n<<: *b", "", "READ-04:2 READ-07:2"},
		{"allowed-tools: Read\nallowed-tools: '*'", "Read", "READ-11:3"},
	} {
		s := parse(c.front)
		got := strings.Join(s.Limits.Tools, "|")
		if !s.Limits.Limited {
			got = "all"
		}
		if got != c.want || found(s) != c.findings {
			t.Errorf("%s\n%s, not %s: %s", c.front, got, c.want, found(s))
		}
	}
}

// A list that denies denies too much rather than too little.
func TestParseDeniedTools(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		front, denied string
		none          bool
	}{
		{"disallowed-tools: Bash(rm *), write", "Bash(rm *)|Write", false},
		{"disallowed-tools: Bash(rm", "Bash", false},
		{"disallowed-tools: Bash (rm *)", "Bash(rm *)", false},
		{"disallowed-tools: mcp__x__*, W*, Foo", "mcp__x__*|W*|Foo", false},
		{"disallowed-tools: '*'", "", true},
		{"disallowed-tools: [" + strings.Repeat("a, b, ", 150) + "c" + many(250) + "]", "-", true},
		{"{disallowed-tools: Bash, x: [}", "", true},
	} {
		s := parse(c.front)
		if got := strings.Join(s.Limits.Denied, "|"); got != c.denied && c.denied != "-" || s.Limits.Limited != c.none || s.Limits.Tools != nil {
			t.Errorf("%s: %+v", c.front, s.Limits)
		}
	}
}

func many(n int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, ", tool%d", i)
	}
	return out.String()
}

// Keys of other programs are kept quietly; those that would do something in Claude Code and do
// nothing here are told.
func TestParseKeepsOtherKeys(t *testing.T) {
	t.Parallel()
	s := parse("version: 1\nauthor: a\ntags: [a, b]\ndependencies: {x: 1}\ntriggers:\n  - x\norigin: y\nlicense: MIT\ncompatibility: all\nshell: bash")
	if len(s.Findings) > 0 {
		t.Errorf("%+v", s.Findings)
	}
	if got := found(parse("context: fork\nhooks: {Stop: []}\neffort: huge\nmodel: inherit")); got != "READ-10:4 READ-12:2 READ-12:3" {
		t.Error(got)
	}
}

// Values of unexpected shapes are read as text.
func TestParseOddShapes(t *testing.T) {
	t.Parallel()
	s := parse("name: 12\ndescription:\n  - first\n  - second\nwhen_to_use:\n  trigger: a deploy\n  not: a test\nargument-hint: [file]\naliases: [a, 'b c', /d]\nmodel:\n  x: y")
	if s.Label != "12" || s.Description != "first, second" || s.WhenToUse != "trigger: a deploy; not: a test" || s.Usage.Hint != "[file]" || strings.Join(s.Aliases, "|") != "a|b|c|d" || len(s.Findings) > 0 {
		t.Errorf("%+v", s)
	}
}

// A name that cannot be typed is changed, and a file without frontmatter is a skill with a finding.
func TestParseNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"a b": "a-b", "a\u202eb": "a-b", "ok_1.x:y": "ok_1.x:y", "技能": "技能", "a\nb": "a-b"} {
		if s := skill.Parse(inProject, name, "---\nname: x\n---\n", nil); s.Name != want || (found(s) == "READ-13:0") != (name != want) {
			t.Errorf("%q: %q %s", name, s.Name, found(s))
		}
	}
	s := skill.Parse(inProject, "x", "# Title\n\nDoes this\nand that.\n\nMore", nil)
	if found(s) != "READ-05:1" || s.Summary() != "Does this and that." {
		t.Errorf("%s %q", found(s), s.Summary())
	}
	if s := skill.Parse(inProject, "x", strings.Repeat("x", skill.MaxFile+1), nil); !s.Broken() || s.Body != "" {
		t.Errorf("%+v", s.Findings)
	}
}

// The caller may know other tools.
func TestParseKnowsTools(t *testing.T) {
	t.Parallel()
	known := func(name string) (string, bool) { return "Own", name == "own" }
	s := skill.Parse(inProject, "x", "---\nallowed-tools: own, Read\n---\n", known)
	if strings.Join(s.Limits.Tools, "|") != "Own|Read" || found(s) != "READ-06:2" {
		t.Errorf("%+v %s", s.Limits, found(s))
	}
	for _, name := range []string{"bash", "read", "write", "edit", "glob", "grep", "webFetch", "webSearch", "askUser", "toolSearch", "agent", "sendMessage", "taskCreate", "taskList", "taskUpdate", "taskGet", "taskStop", "taskOutput", "teamCreate", "teamDelete", "notebookEdit", "skill"} {
		if _, ok := skill.KnownTool(name); !ok {
			t.Errorf("%s is not known", name)
		}
	}
}

// Frontmatter beyond its limits is not read: what was left out could have limited the skill.
func TestParseTooLong(t *testing.T) {
	t.Parallel()
	s := skill.Parse(skill.Place{Kind: skill.KindSkill}, "x", "---\n"+strings.Repeat("a: b\n", 1001)+"---\nbody", nil)
	if !s.Broken() || s.Usage.ByUser || s.Usage.ByModel || s.Body != "" {
		t.Errorf("%+v", s)
	}
}

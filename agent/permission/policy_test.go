package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/rule"
)

// world returns a workspace with links and a folder outside it.
func world(t *testing.T) (in, out func(string) string) {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in = func(name string) string { return filepath.Join(base, "work", name) }
	out = func(name string) string { return filepath.Join(base, "other", name) }
	for _, dir := range []string{in("sub"), in(".git/hooks"), in("bare/objects"), out("dir")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{in("file"), in(".env"), in("bare/HEAD"), out("file")} {
		if err := os.WriteFile(file, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		in("link"): "file", in("escape"): out("file"), in("dirlink"): out("dir"),
		in("dangling"): out("new"), in("upward"): "../other/new", in("loop"): "loop",
		in("gitlink"): ".git/hooks", out("back"): in("sub"), in("innocent"): ".env",
	} {
		if err := os.Symlink(target, name); err != nil {
			t.Fatal(err)
		}
	}
	return in, out
}

func newPolicy(t *testing.T, dir string, rules Rules) *Policy {
	t.Helper()
	p, err := New(dir, rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func reads(path string) agent.GateCall {
	return agent.GateCall{Tool: "Read", ReadOnly: true, Access: agent.Access{Reads: []string{path}}}
}

func writes(path string) agent.GateCall {
	return agent.GateCall{Tool: "Write", Access: agent.Access{Writes: []string{path}}}
}

func runs(command string) agent.GateCall {
	return agent.GateCall{Tool: "Bash", Access: agent.Access{Command: command}}
}

func runsIn(command, dir string) agent.GateCall {
	call := runs(command)
	call.Access.Dir = dir
	return call
}

// looking returns a command that was found to only read.
func looking(dir string, paths ...string) agent.GateCall {
	return agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "ls", Dir: dir, OnlyReads: true, Reads: paths}}
}

// jailed returns a command that the system confines, or that asks to leave that.
func jailed(command string, how agent.Confinement) agent.GateCall {
	return agent.GateCall{Tool: "Bash", Access: agent.Access{Command: command, Confinement: how}}
}

// visits returns a call that asks a host on the network.
func visits(tool, host string, chosen bool) agent.GateCall {
	input, _ := json.Marshal(map[string]string{"url": "https://" + host + "/"})
	return agent.GateCall{Tool: tool, ReadOnly: true, Input: input, Access: agent.Access{Web: host, WebChosen: chosen}}
}

func types(text, task string) agent.GateCall {
	return agent.GateCall{Tool: "WriteStdin", Access: agent.Access{Command: text, Task: task}}
}

// One letter for each mode, in the order of agent.Modes: default, plan,
// acceptEdits, auto, dontAsk, bypassPermissions; a allow, k ask, d deny.
const (
	free     = "aaaaaa"
	risky    = "kkkkda"
	ordinary = "kkaada"
	unjailed = "kkkkda" // a command that nothing confines
)

type modeCase struct {
	name string
	call agent.GateCall
	want string
}

func decides(t *testing.T, p *Policy, cases []modeCase) {
	t.Helper()
	for _, tt := range cases {
		got := ""
		for _, mode := range agent.Modes() {
			tt.call.Mode = mode
			verdict := p.Decide(t.Context(), tt.call)
			got += map[agent.Decision]string{agent.Allow: "a", agent.Ask: "k", agent.Deny: "d"}[verdict.Decision]
			if !strings.HasSuffix(verdict.Reason, ".") {
				t.Errorf("%s, %s: reason %q is not a sentence", tt.name, mode, verdict.Reason)
			}
		}
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
}

func TestModes(t *testing.T) { // K-12, OAS-621, OAS-622
	t.Parallel()
	in, out := world(t)
	decides(t, newPolicy(t, in(""), Rules{Read: []string{out("shared")}}), []modeCase{
		{"read inside", reads(in("file")), free},
		{"read the workspace itself", reads(in("")), free},
		{"read what is missing", reads(in("none/none")), free},
		{"read through a link inside", reads(in("link")), free},
		{"read back into the workspace", reads(out("back/x")), free},
		{"read .git", reads(in(".git/config")), free},
		{"touch nothing", agent.GateCall{Tool: "Clock", ReadOnly: true}, free},
		{"read outside", reads(out("file")), risky},
		{"read by dots", reads(in("../other/file")), risky},
		{"read a sibling with our prefix", reads(in("") + "-2/file"), risky},
		{"read through a link outside", reads(in("escape")), risky},
		{"read below a link outside", reads(in("dirlink/none/x")), risky},
		{"read a loop", reads(in("loop")), risky},
		{"write inside", writes(in("file")), ordinary},
		{"write a new file", writes(in("new/dir/file")), ordinary},
		{"write through a link inside", writes(in("link")), ordinary},
		{"write a name that no file can have", writes(in(strings.Repeat("n", 300))), ordinary},
		{"write outside", writes(out("file")), risky},
		{"write outside a name that no file can have", writes(out(strings.Repeat("n", 300))), risky},
		{"write through a link outside", writes(in("escape")), risky},
		{"write below a link outside", writes(in("dirlink/new")), risky},
		{"write where a link dangles", writes(in("dangling")), risky},
		{"write where a relative link dangles", writes(in("upward")), risky},
		{"write a hook", writes(in(".git/hooks/pre-commit")), risky},
		{"write a hook, other case", writes(in(".GIT/config")), risky},
		{"write a hook through a link", writes(in("gitlink/pre-commit")), risky},
		{"write a nested repository", writes(in("sub/.git/config")), risky},
		{"write our settings", writes(in(".atelier/settings.json")), risky},
		{"write a shell start-up file", writes(in(".bashrc")), risky},
		{"write a similar name", writes(in(".gitignore")), ordinary},
		{"read in another folder to read in", reads(out("shared/x")), free},
		{"write there", writes(out("shared/x")), risky},
		{"its own command", agent.GateCall{Tool: "TaskStop", Access: agent.Access{Own: true}}, free},
		{"a command in its own command", agent.GateCall{Tool: "WriteStdin", Access: agent.Access{Own: true, Command: "ls"}}, unjailed},
		{"run a command", runs("ls"), unjailed},
		{"a command that only reads inside", looking("", in(""), in("sub")), free},
		{"a command that reads in a folder inside", looking(in("sub"), in("sub")), free},
		{"a command that reads outside", looking("", in(""), out("file")), risky},
		{"a command that reads through a link outside", looking("", in("escape")), risky},
		{"a command that reads inside from outside", looking(out("dir"), in("")), risky},
		{"a command that reads and writes", agent.GateCall{Tool: "Bash", Access: agent.Access{Command: "x", OnlyReads: true, Writes: []string{in("file")}}}, risky},
		{"text typed that would only read", agent.GateCall{Tool: "WriteStdin", Access: agent.Access{Command: "ls", Task: "1", OnlyReads: true}}, risky},
		{"unknown effects", agent.GateCall{Tool: "mcp__x__y"}, risky},
		{"read inside and write outside", agent.GateCall{Tool: "Copy", Access: agent.Access{Reads: []string{in("file")}, Writes: []string{out("x")}}}, risky},
		{"read outside and write inside", agent.GateCall{Tool: "Copy", Access: agent.Access{Reads: []string{out("file")}, Writes: []string{in("x")}}}, risky},
		{"run a command that is confined", jailed("make", agent.Confined), unjailed},
		{"run a command that is confined and free", jailed("make", agent.ConfinedFree), "akaaaa"},
		{"a confined command that destroys the project", jailed("rm -rf .", agent.ConfinedFree), risky},
		{"a confined command that drops changes", jailed("git reset --hard", agent.ConfinedFree), risky},
		{"text typed to a confined command", agent.GateCall{Tool: "WriteStdin", Access: agent.Access{Command: "make", Task: "1", Confinement: agent.ConfinedFree}}, "akaaaa"},
		{"leave the confinement", jailed("make", agent.Unconfined), "kkkkdk"},
		{"claims to read and runs", agent.GateCall{Tool: "Odd", ReadOnly: true, Access: agent.Access{Command: "ls"}}, unjailed},
	})
}

func TestModesOnSensitiveFiles(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	decides(t, newPolicy(t, in(""), Rules{}), []modeCase{
		{"write a task of an editor", writes(in(".vscode/tasks.json")), risky},
		{"write servers for agents", writes(in(".mcp.json")), risky},
		{"write a workflow", writes(in("sub/.github/workflows/ci.yml")), risky},
		{"write the configuration of a bare repository", writes(in("bare/config")), risky},
		{"write a hook of a bare repository", writes(in("bare/hooks/post-update")), risky},
		{"make a bare repository", writes(in("sub/HEAD")), risky},
		{"read secrets", reads(in(".env")), risky},
		{"read secrets through a link", reads(in("innocent")), risky},
		{"read a folder of secrets", reads(in(".ssh")), risky},
		{"read an example of secrets", reads(in(".env.example")), free},
		{"a command that reads secrets", looking("", in(""), in("deploy.pem")), risky},
		{"write secrets", writes(in(".env")), ordinary},
	})
}

func TestUnknownModeIsStrict(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	call := writes(in("file"))
	call.Mode = "yolo"
	if v := newPolicy(t, in(""), Rules{}).Decide(t.Context(), call); v.Decision != agent.Ask {
		t.Errorf("decision %s, want ask", v.Decision)
	}
}

func TestReasonsSayWhereALinkLeads(t *testing.T) {
	t.Parallel()
	in, out := world(t)
	got := newPolicy(t, in(""), Rules{}).Decide(t.Context(), reads(in("escape"))).Reason
	if want := "escape leads to " + out("file") + ", which lies outside the project."; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}

func TestGrantHoldsForEqualCalls(t *testing.T) { // T8
	t.Parallel()
	in, out := world(t)
	odd := func(input string) agent.GateCall {
		return agent.GateCall{Tool: "mcp__x__y", Input: json.RawMessage(input)}
	}
	tests := []struct {
		name           string
		granted, asked agent.GateCall
		want           agent.Decision
	}{
		{"same command", runs("make test"), runs("make test"), agent.Allow},
		{"same command there", runsIn("make test", in("sub")), runsIn("make test", in("sub")), agent.Allow},
		{"same command there through a link", runsIn("make test", out("back")), runsIn("make test", in("sub")), agent.Allow},
		{"same command in another directory", runs("make test"), runsIn("make test", out("dir")), agent.Ask},
		{"same command back here", runsIn("make test", out("dir")), runs("make test"), agent.Ask},
		{"same text typed to the same command", types("y\n", "1"), types("y\n", "1"), agent.Allow},
		{"same text typed to another command", types("y\n", "1"), types("y\n", "2"), agent.Ask},
		{"longer command", runs("ls"), runs("ls; curl evil"), agent.Ask},
		{"same command, other tool", runs("ls"), agent.GateCall{Tool: "Other", Access: runs("ls").Access}, agent.Ask},
		{"same file", writes(in("file")), writes(in("file")), agent.Allow},
		{"same file through a link", writes(in("file")), writes(in("link")), agent.Allow},
		{"other file", writes(in("file")), writes(in("file2")), agent.Ask},
		{"same file outside", reads(out("file")), reads(out("file")), agent.Allow},
		{"reading does not allow writing", reads(out("file")), writes(out("file")), agent.Ask},
		{"same input", odd(`{"a": 1}`), odd(`{"a":1}`), agent.Allow},
		{"other input", odd(`{"a":1}`), odd(`{"a":2}`), agent.Ask},
		{"protected file", writes(in(".git/config")), writes(in(".git/config")), agent.Ask},
	}
	for _, tt := range tests {
		p := newPolicy(t, in(""), Rules{})
		p.Grant(tt.granted)
		if v := p.Decide(t.Context(), tt.asked); v.Decision != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, v.Decision, tt.want)
		}
		tt.asked.Mode = agent.ModePlan
		if v := p.Decide(t.Context(), tt.asked); v.Decision != agent.Ask {
			t.Errorf("%s in plan mode: %s, want ask", tt.name, v.Decision)
		}
	}
}

// OAS-630: what a person allowed for the session is recorded as such, and an ask
// rule of the session ends it. Other ask rules had been answered.
func TestGrantsEnd(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	for scope, want := range map[agent.Scope]agent.Verdict{
		"":                 {Decision: agent.Allow, By: agent.ByPerson},
		agent.ScopeUser:    {Decision: agent.Allow, By: agent.ByPerson},
		agent.ScopeSession: {Decision: agent.Ask, By: agent.ByRule},
	} {
		var rules []rule.Rule
		if scope != "" {
			r, err := rule.Parse("Bash(make)")
			if err != nil {
				t.Fatal(err)
			}
			r.Decision, r.Scope = agent.Ask, scope
			rules = append(rules, r)
		}
		set := rule.New(rule.Place{Project: in("")}, rules)
		p := newPolicy(t, in(""), Rules{Set: func() *rule.Set { return set }})
		p.Grant(runs("make"))
		if v := p.Decide(t.Context(), runs("make")); v.Decision != want.Decision || v.By != want.By {
			t.Errorf("with an ask rule of %q: %s by %s", scope, v.Decision, v.By)
		}
	}
}

func TestRules(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	p := newPolicy(t, in(""), Rules{Allow: []string{"Bash", "Write", "Read"}, Deny: []string{"Read"}})
	p.Grant(reads(in("file")))
	for _, mode := range agent.Modes() {
		call := reads(in("file"))
		call.Mode = mode
		if v := p.Decide(t.Context(), call); v.Decision != agent.Deny || !v.Final {
			t.Errorf("%s: a denied tool: %+v", mode, v)
		}
		command := runs("ls")
		command.Mode = mode
		want := agent.Allow
		if mode == agent.ModePlan {
			want = agent.Ask
		}
		if v := p.Decide(t.Context(), command); v.Decision != want || v.Final != (mode == agent.ModePlan) {
			t.Errorf("%s: an allowed tool: %+v, want %s", mode, v, want)
		}
	}
	if v := p.Decide(t.Context(), writes(in(".git/config"))); v.Decision != agent.Ask || !v.Final {
		t.Errorf("a protected file with an allowed tool: %+v, want ask", v)
	}
}

// K-10, K-12: a hook's allow can replace a question that only the mode asks.
func TestOnlyRulesAreFinal(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	p := newPolicy(t, in(""), Rules{})
	for mode, want := range map[agent.Mode]agent.Decision{agent.ModeDefault: agent.Ask, agent.ModeDontAsk: agent.Deny} {
		call := runs("ls")
		call.Mode = mode
		if v := p.Decide(t.Context(), call); v.Decision != want || v.Final {
			t.Errorf("%s: %+v", mode, v)
		}
	}
}

func TestWorkspaceMayBeNamedThroughALink(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, ".atelier", "work") // its parents protect nothing
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	alias := filepath.Join(base, "alias")
	if err := os.Symlink(dir, alias); err != nil {
		t.Fatal(err)
	}
	p := newPolicy(t, alias, Rules{})
	for _, path := range []string{filepath.Join(alias, "x"), filepath.Join(dir, "x")} {
		call := writes(path)
		call.Mode = agent.ModeAcceptEdits
		if v := p.Decide(t.Context(), call); v.Decision != agent.Allow || v.Reason != "This changes x." {
			t.Errorf("%s: %+v", path, v)
		}
	}
}

func TestNewNeedsAWorkspace(t *testing.T) {
	t.Parallel()
	if _, err := New(filepath.Join(t.TempDir(), "none"), Rules{}); err == nil {
		t.Error("no error")
	}
}

// No mode, rule or grant opens Atelier's own folder.
func TestOwnFolderIsClosed(t *testing.T) {
	t.Parallel()
	in, out := world(t)
	rules := Rules{Own: []string{in("data"), out("")}, Read: []string{in("data/output")}, Allow: []string{"Read", "Write", "Bash"}}
	p := newPolicy(t, in(""), rules)
	for _, mode := range agent.Modes() {
		for _, call := range []agent.GateCall{
			reads(in("data/keys.json")), reads(in("data")), writes(in("data/AGENTS.md")), reads(out("file")), reads(in("escape")),
			looking("", in(""), in("data/keys.json")),
		} {
			call.Mode = mode
			p.Grant(call)
			v := p.Decide(t.Context(), call)
			if v.Decision != agent.Deny || !v.Final || v.Code != agent.ReasonOwnFolder || !strings.Contains(v.Reason, "no tool may touch") {
				t.Errorf("%s %+v: %+v", mode, call.Access, v)
			}
		}
		call := reads(in("data/output/1"))
		call.Mode = mode
		if v := p.Decide(t.Context(), call); v.Decision != agent.Allow {
			t.Errorf("%s: the output of a command: %+v", mode, v)
		}
	}
	around := newPolicy(t, in("sub"), Rules{Own: []string{in("")}})
	if v := around.Decide(t.Context(), reads(in("sub/x"))); v.Decision != agent.Allow {
		t.Errorf("a project in the folder: %+v", v)
	}
}

// Files that may contain secrets are asked about whatever the rules allow, and
// once for the session if the person says so.
func TestSecretsAreAskedAbout(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	p := newPolicy(t, in(""), Rules{Allow: []string{"Read"}})
	v := p.Decide(t.Context(), reads(in(".env")))
	if v.Decision != agent.Ask || !v.Final || v.Code != agent.ReasonSecret {
		t.Errorf("%+v", v)
	}
	p.Grant(reads(in(".env")))
	if v := p.Decide(t.Context(), reads(in(".env"))); v.Decision != agent.Allow {
		t.Errorf("granted: %+v", v)
	}
}

// A reason's code and arguments give the same sentence.
func TestReasonsHaveCodes(t *testing.T) {
	t.Parallel()
	in, out := world(t)
	p := newPolicy(t, in(""), Rules{Deny: []string{"Odd"}})
	several := writes(in("a"))
	several.Access.Writes = append(several.Access.Writes, in("b"), in("c"))
	for _, tt := range []struct {
		call agent.GateCall
		code agent.ReasonCode
		args []string
	}{
		{agent.GateCall{Tool: "Odd"}, agent.ReasonToolOff, []string{"Odd"}},
		{reads(in("file")), agent.ReasonReads, nil},
		{reads(in(".env")), agent.ReasonSecret, []string{".env"}},
		{reads(out("file")), agent.ReasonOutside, []string{out("file")}},
		{reads(in("escape")), agent.ReasonLeadsOutside, []string{"escape", out("file")}},
		{writes(in("file")), agent.ReasonChanges, []string{"file"}},
		{several, agent.ReasonChangesMore, []string{"a", "2"}},
		{writes(in(".git/config")), agent.ReasonControls, []string{".git/config"}},
		{runs("make"), agent.ReasonCommand, nil},
		{looking("", in("")), agent.ReasonCommandReads, nil},
		{agent.GateCall{Tool: "x"}, agent.ReasonUnforeseen, []string{"x"}},
	} {
		v := p.Decide(t.Context(), tt.call)
		if v.Code != tt.code || !slices.Equal(v.Args, tt.args) || v.Reason != agent.Because(v.Decision, tt.code, tt.args...).Reason {
			t.Errorf("%+v: %+v", tt.call, v)
		}
	}
}

// The zero Policy has no workspace and no rules: it asks about files, and remembers
// what is granted.
func TestZeroPolicy(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	var p Policy
	for _, call := range []agent.GateCall{reads(in("file")), writes(in("file")), {Tool: "Bash", Access: agent.Access{Command: "ls", Dir: in("")}}} {
		call.Mode = agent.ModeDefault
		if got := p.Decide(t.Context(), call); got.Decision != agent.Ask {
			t.Errorf("%s: %+v", call.Tool, got)
		}
		p.Foretell(t.Context(), call)
		p.Grant(call)
		if got := p.Decide(t.Context(), call); got.Decision != agent.Allow {
			t.Errorf("%s, granted: %+v", call.Tool, got)
		}
	}
}

// A question about a command that seems only to read names what cannot be told.
func TestQuestionsAboutReadingCommandsNameTheReason(t *testing.T) {
	t.Parallel()
	in, _ := world(t)
	p := newPolicy(t, in(""), Rules{})
	for line, want := range map[string]agent.ReasonCode{
		"ls":                                   agent.ReasonCommandPlace, // without the analysis of the environment
		"for f in a b; do wc -l $f; done":      agent.ReasonCommandPlace,
		"while read l; do echo $l; done <file": agent.ReasonCommandUnsure,
		"cat file | tr a b; cd sub; ls":        agent.ReasonCommandUnsure,
		"touch x":                              agent.ReasonCommand,
		"mytool --list":                        agent.ReasonCommand,
	} {
		if got := p.Decide(t.Context(), runs(line)); got.Decision != agent.Ask || got.Code != want {
			t.Errorf("%s: %s %s %q", line, got.Decision, got.Code, got.Args)
		}
	}
}

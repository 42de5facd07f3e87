package hook_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/subagent"
	"atelier.dev/atelier/agent/tool"
	"github.com/google/go-cmp/cmp"
)

// seen returns how a hook with a matcher sees a call: for each run the tool and
// the file, or why it does not run.
func seen(t *testing.T, form hook.Form, matcher string, call agent.HookInput) string {
	t.Helper()
	text, _ := json.Marshal(map[string]any{"PreToolUse": []any{map[string]any{
		"matcher": matcher, "hooks": []any{map[string]any{"type": "command", "command": "x"}},
	}}})
	handlers, _ := hook.Parse(text, hook.Origin{Form: form})
	e := hook.New(hook.Options{Folder: "/p"})
	defer e.Close()
	m := e.Match(handlers[0], agent.HookCall{Data: call})
	if len(m.Inputs) == 0 {
		return string(m.Cause)
	}
	var runs []string
	for _, input := range m.Inputs {
		var got struct {
			Tool  string `json:"tool_name"`
			Input struct {
				File string `json:"file_path"`
			} `json:"tool_input"`
		}
		if err := json.Unmarshal(input, &got); err != nil {
			t.Fatal(err)
		}
		runs = append(runs, strings.TrimSpace(got.Tool+" "+got.Input.File))
	}
	return strings.Join(runs, ", ")
}

// COM-73, OAS-665: which calls a matcher selects, in both forms of settings
// files, and how a hook that knows only Claude Code's tools sees ours.
func TestMatchers(t *testing.T) {
	t.Parallel()
	edit := use("Edit", `{"file_path":"/p/a","old_string":"x","new_string":"y"}`)
	several := use("MultiEdit", `{"file_path":"/p/a","edits":[{"old_string":"x","new_string":"y"},{"old_string":"y","new_string":"z"}]}`)
	read := use("Read", `{"file_path":"/p/a"}`)
	patch := use("ApplyPatch", `{"input":"*** Begin Patch\n*** Update File: a\n-x\n+y\n*** Add File: b\n+z\n*** Delete File: c\n*** End Patch"}`)
	patch.Access.Writes = []string{"/p/a", "/p/b", "/p/c"}
	many := use("ReadMany", `{"paths":["a","b"]}`)
	many.Access.Reads = []string{"/p/a", "/p/b"}
	spawn, output, stop := use("Agent", `{"prompt":"look"}`), use("TaskOutput", `{"id":"1"}`), use("TaskStop", `{"id":"1"}`)
	list, mcp := use("ListDir", `{}`), use("mcp__db__query", `{}`)
	const no = "matcher"
	for _, c := range []struct {
		matcher      string
		call         agent.HookInput
		claude, ours string
	}{
		{matcher: "", call: edit, claude: "Edit /p/a", ours: "Edit /p/a"},
		{matcher: "", call: patch, claude: "Edit /p/a, Write /p/b, Edit /p/c", ours: "ApplyPatch"},
		{matcher: "*", call: many, claude: "Read /p/a, Read /p/b", ours: "ReadMany"},
		{matcher: "*", call: spawn, claude: "Agent", ours: "Agent"},
		{matcher: "*", call: patch, claude: "Edit /p/a, Write /p/b, Edit /p/c", ours: "ApplyPatch"},
		{matcher: ".*", call: patch, claude: "Edit /p/a, Write /p/b, Edit /p/c", ours: "ApplyPatch"},
		{matcher: "Edit", call: edit, claude: "Edit /p/a", ours: "Edit /p/a"},
		{matcher: "Edit", call: read, claude: no, ours: no},
		{matcher: "Edi", call: edit, claude: no, ours: "Edit /p/a"},
		{matcher: "edit", call: edit, claude: no, ours: no},
		{matcher: "(?i)edit", call: edit, claude: "Edit /p/a", ours: "Edit /p/a"},
		{matcher: "^Edit$", call: edit, claude: "Edit /p/a", ours: "Edit /p/a"},
		{matcher: "Edit|Write", call: patch, claude: "Edit /p/a, Write /p/b, Edit /p/c", ours: "Edit /p/a, Write /p/b, Edit /p/c"},
		{matcher: "Edit, Write", call: patch, claude: "Edit /p/a, Write /p/b, Edit /p/c", ours: no},
		{matcher: "Write", call: patch, claude: "Write /p/b", ours: "Write /p/b"},
		{matcher: "Edit", call: patch, claude: "Edit /p/a, Edit /p/b, Edit /p/c", ours: "Edit /p/a, Edit /p/b, Edit /p/c"},
		{matcher: "MultiEdit", call: patch, claude: "MultiEdit /p/a, MultiEdit /p/b, MultiEdit /p/c", ours: "MultiEdit /p/a, MultiEdit /p/b, MultiEdit /p/c"},
		{matcher: "Edit|Write", call: several, claude: "Edit /p/a, Edit /p/a", ours: "Edit /p/a, Edit /p/a"},
		{matcher: "MultiEdit", call: several, claude: "MultiEdit /p/a", ours: "MultiEdit /p/a"},
		{matcher: "", call: several, claude: "MultiEdit /p/a", ours: "MultiEdit /p/a"},
		{matcher: "Write", call: several, claude: no, ours: no},
		{matcher: "MultiEdit", call: edit, claude: "MultiEdit /p/a", ours: "MultiEdit /p/a"},
		{matcher: "Edit|Write|ApplyPatch", call: patch, claude: "ApplyPatch", ours: "ApplyPatch"},
		{matcher: "Patch", call: patch, claude: no, ours: "ApplyPatch"},
		{matcher: "Read", call: many, claude: "Read /p/a, Read /p/b", ours: "Read /p/a, Read /p/b"},
		{matcher: "^Read", call: many, claude: "Read /p/a, Read /p/b", ours: "Read /p/a, Read /p/b"},
		{matcher: "Read.*", call: many, claude: "Read /p/a, Read /p/b", ours: "ReadMany"},
		{matcher: "Read|Grep|Bash", call: many, claude: "Read /p/a, Read /p/b", ours: "Read /p/a, Read /p/b"},
		{matcher: "Task", call: spawn, claude: "Task", ours: "Task"},
		{matcher: "Agent", call: spawn, claude: "Agent", ours: "Agent"},
		{matcher: "SpawnAgent", call: spawn, claude: "SpawnAgent", ours: "SpawnAgent"},
		{matcher: "BashOutput", call: output, claude: "BashOutput", ours: "BashOutput"},
		{matcher: "Bash", call: output, claude: no, ours: "BashOutput"},
		{matcher: "^Bash.*", call: use("Bash", `{}`), claude: "Bash", ours: "Bash"},
		{matcher: "KillShell|KillBash", call: stop, claude: "KillShell", ours: "KillShell"},
		{matcher: "LS", call: list, claude: "LS", ours: "LS"},
		{matcher: "AskUserQuestion", call: use("AskUser", `{"questions":[]}`), claude: "AskUserQuestion", ours: "AskUserQuestion"},
		{matcher: "AskUser", call: use("AskUser", `{"questions":[]}`), claude: "AskUser", ours: "AskUser"},
		{matcher: "mcp__db__.*", call: mcp, claude: "mcp__db__query", ours: "mcp__db__query"},
		{matcher: "mcp__db__query", call: mcp, claude: "mcp__db__query", ours: "mcp__db__query"},
		{matcher: "mcp__db", call: mcp, claude: no, ours: "mcp__db__query"},
		{matcher: "Edit(", call: edit, claude: "bad_matcher", ours: "bad_matcher"},
	} {
		for form, want := range map[hook.Form]string{hook.FormClaude: c.claude, hook.FormAgent: c.ours} {
			if got := seen(t, form, c.matcher, c.call); got != want {
				t.Errorf("%s in a %s file: %s instead of %s", c.matcher, form, got, want)
			}
		}
	}
}

// The tools that a matcher selects are named, those that hooks know otherwise
// among them.
func TestToolsOfMatcher(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		matcher string
		form    hook.Form
		want    string
	}{
		{"^(Edit|Write)$", hook.FormAgent, "Write Edit MultiEdit ApplyPatch"},
		{"Edit", hook.FormClaude, "Edit MultiEdit ApplyPatch"},
		{"Bash", hook.FormAgent, "Bash TaskOutput TaskStop"},
		{"^Bash$", hook.FormAgent, "Bash"},
		{"Nothing", hook.FormAgent, ""},
		{"Edit(", hook.FormAgent, ""},
	} {
		h := hook.Handler{Point: agent.HookPreToolUse, Matcher: c.matcher, Origin: hook.Origin{Form: c.form}}
		if got := strings.Join(h.Tools(), " "); got != c.want {
			t.Errorf("%s in a %s file: %s instead of %s", c.matcher, c.form, got, c.want)
		}
	}
	if all := (hook.Handler{Point: agent.HookPreToolUse}).Tools(); !slices.Contains(all, "Agent") {
		t.Errorf("without a matcher: %v", all)
	}
	if none := (hook.Handler{Point: agent.HookStop}).Tools(); none != nil {
		t.Errorf("at the end of a turn: %v", none)
	}
}

// What matchers of other points look at.
func TestMatchersOfOtherPoints(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		data    agent.HookInput
		matches string
	}{
		{agent.SetupInput{Trigger: "init"}, "init"},
		{agent.SessionStartInput{Source: "resume"}, "resume"},
		{agent.SubagentStartInput{}, "general-purpose"},
		{agent.SubagentStopInput{}, "general-purpose"},
		{agent.NotificationInput{Type: "turn_done"}, "turn_done"},
		{agent.ConfigChangeInput{Source: "user_settings"}, "user_settings"},
		{agent.FileChangedInput{Path: "/p/sub/.envrc"}, ".envrc|.env"},
		{agent.PreCompactInput{Trigger: agent.CompactManual}, "manual"},
		{agent.PostCompactInput{Trigger: agent.CompactAuto}, "auto"},
		{agent.SessionEndInput{Reason: "aborted"}, "aborted"},
	} {
		for matcher, want := range map[string]bool{c.matches: true, "": true, "^" + c.matches + "$": true, "other": false} {
			handlers := command(t, hook.EventName(c.data.Point()), matcher, "x")
			e := hook.New(hook.Options{})
			if m := e.Match(handlers[0], agent.HookCall{Data: c.data}); (len(m.Inputs) == 1) != want {
				t.Errorf("%s: %q matches: %t", c.data.Point(), matcher, !want)
			}
			e.Close()
		}
	}
}

// A view has the members that Claude Code's tool would have been called with.
func TestViewsHaveTheMembersOfTheirTool(t *testing.T) {
	t.Parallel()
	patch := use("ApplyPatch", `{"input":"*** Begin Patch\n*** Update File: a\n*** Move to: d\n@@ f\n one\n-two\n+2\n*** Add File: b\n+x\n+\n+y\n*** End Patch"}`)
	patch.Access.Writes = []string{"/p/a", "/p/d", "/p/b"}
	odd := patch
	odd.Access.Writes = []string{"/p/a", "/p/b"}
	for _, c := range []struct {
		matcher string
		call    agent.PreToolUseInput
		want    []string
	}{
		{"Edit|Write", patch, []string{`{"file_path":"/p/a","new_string":"one\n2\n","old_string":"one\ntwo\n"}`, `{"file_path":"/p/d"}`, `{"content":"x\n\ny\n","file_path":"/p/b"}`}},
		{"Write", odd, []string{`{"file_path":"/p/a"}`, `{"file_path":"/p/b"}`}},
		{"MultiEdit", use("Edit", `{"file_path":"a","old_string":"<","new_string":">","replace_all":true}`), []string{`{"edits":[{"new_string":">","old_string":"<","replace_all":true}],"file_path":"a"}`}},
		{"Task", use("Agent", `{"prompt":"look","description":"a look","model":"low"}`), []string{`{"description":"a look","model":"low","prompt":"look"}`}},
		{"KillShell", use("TaskStop", `{"id":"3"}`), []string{`{"shell_id":"3"}`}},
		{"BashOutput", use("TaskOutput", `{"id":"3"}`), []string{`{"bash_id":"3"}`}},
	} {
		r := newRig(t, command(t, "PreToolUse", c.matcher, "cat >>inputs; echo >>inputs")...)
		r.fire(c.call)
		var got []string
		for line := range strings.Lines(r.read("inputs")) {
			var in struct {
				Input json.RawMessage `json:"tool_input"`
			}
			if err := json.Unmarshal([]byte(line), &in); err != nil {
				t.Fatal(err)
			}
			got = append(got, string(in.Input))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.matcher, diff)
		}
	}
}

// K-34: a hook that cannot see all that a call is about has a person asked.
func TestBlindViewsAsk(t *testing.T) {
	t.Parallel()
	files := func(n int) agent.PreToolUseInput {
		call := use("ApplyPatch", `{"input":""}`)
		for i := range n {
			call.Access.Writes = append(call.Access.Writes, fmt.Sprintf("/p/%d", i))
		}
		return call
	}
	pattern := use("ReadMany", `{"paths":["a","**/.e*"]}`)
	pattern.Access.Reads = []string{"/p/a", "/p/**/.e*", "/p/"}
	for name, c := range map[string]struct {
		call agent.PreToolUseInput
		runs int
		ask  bool
	}{
		"64 files":      {files(64), 64, false},
		"65 files":      {files(65), 64, true},
		"a pattern":     {pattern, 2, true},
		"no files":      {files(0), 1, true},
		"nothing known": {use("ReadMany", `{}`), 1, true},
	} {
		r := newRig(t, command(t, "PreToolUse", "Edit|Read", "x")...)
		r.options.Runner = said{}
		advice := r.fire(c.call)
		ran := slices.DeleteFunc(slices.Clone(r.log), func(e hook.Entry) bool { return e.Outcome != hook.OutcomeRan })
		if len(ran) != c.runs || (advice.Decision == agent.Ask && advice.Final) != c.ask {
			t.Errorf("%s: ran %d times, %+v", name, len(ran), advice)
		}
	}
}

// A hook that knows a call by another name cannot change its input: what it says
// is not an input of the tool that runs.
func TestViewsKeepTheInput(t *testing.T) {
	t.Parallel()
	patch := use("ApplyPatch", `{"input":""}`)
	patch.Access.Writes = []string{"/p/a"}
	for matcher, want := range map[string]agent.Decision{"Edit": agent.Deny, "ApplyPatch": agent.Allow} {
		r := newRig(t, command(t, "PreToolUse", matcher, "x")...)
		r.options.Runner = said{Stdout: `{"permissionDecision":"allow","updatedInput":{"file_path":"/p/b"}}`}
		advice := r.fire(patch)
		if advice.Decision != want || (advice.Input != nil) != (want == agent.Allow) {
			t.Errorf("%s: %+v", matcher, advice)
		}
		if want == agent.Deny && (!strings.Contains(advice.Reason, "another name") || r.log[0].Cause != hook.CauseView) {
			t.Errorf("%+v, %+v", advice, r.log[0])
		}
	}
}

// K-34: a hook that sees a call file by file allows it only if it allows each file,
// and sees all of them.
func TestViewsAllowTogether(t *testing.T) {
	t.Parallel()
	const line = `case $(cat) in *docs*) echo '{"permissionDecision":"allow","reason":"docs"}';; *secret*) exit 2;; esac`
	for files, want := range map[string]agent.Decision{
		"/p/docs/a": agent.Allow, "/p/docs/a /p/docs/b": agent.Allow, "/p/docs/a /p/src/b": "", "/p/src/b /p/docs/a": "", "/p/docs/a /p/secret": agent.Deny,
	} {
		for _, point := range []string{"PreToolUse", "PermissionRequest"} {
			patch := use("ApplyPatch", `{"input":""}`)
			patch.Access.Writes = strings.Fields(files)
			var data agent.HookInput = patch
			if point == "PermissionRequest" {
				data = agent.PermissionRequestInput{HookTool: patch.HookTool, Reason: "r"}
			}
			r := newRig(t, command(t, point, "Edit", line)...)
			if advice := r.fire(data); advice.Decision != want {
				t.Errorf("%s, %s: %+v", point, files, advice)
			}
		}
	}
	read := use("ReadMany", `{"paths":["docs/*"]}`)
	read.Access.Reads = []string{"/p/docs/*", "/p/docs/"}
	r := newRig(t, command(t, "PreToolUse", "Read", line)...)
	if advice := r.fire(read); advice.Decision != agent.Ask || !advice.Final {
		t.Errorf("a pattern: %+v", advice)
	}
}

// The tools that findings and views know are those that there are.
func TestKnownToolsAreReal(t *testing.T) {
	t.Parallel()
	place, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range slices.Concat(tool.Builtin(place, tool.Options{}), subagent.Tools(nil, "")) {
		name := x.Spec().Name
		handlers, findings := hook.Parse(json.RawMessage(`{"PreToolUse":[{"matcher":"^`+name+`$","hooks":[{"type":"command","command":"x"}]}]}`), hook.Origin{Form: hook.FormAgent})
		if len(handlers) != 1 || len(findings) > 0 {
			t.Errorf("%s: %+v", name, findings)
		}
	}
}

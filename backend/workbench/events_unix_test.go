//go:build unix

package workbench_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/workbench"
)

// scribbling is a settings file with a hook on each event, all of which append a
// line to one file: their event, and what they were told.
func scribbling(t *testing.T, to string) string {
	t.Helper()
	all := map[string]any{}
	for _, e := range hook.Examples() {
		group := map[string]any{"hooks": []any{map[string]any{
			"type": "command", "timeout": 300, "command": `told=$(cat); printf '%s %s\n' ` + e.Event + ` "$told" >> ` + to,
		}}}
		if e.Point == agent.HookFileChanged {
			group["matcher"] = `^seen\.txt$`
		}
		all[e.Event] = []any{group}
	}
	b, err := json.Marshal(map[string]any{"hooks": all})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// scribble is what a hook was told.
type scribble struct {
	event, session string
	told           map[string]any
}

func scribbles(t *testing.T, path string) (all []scribble) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		event, input, _ := strings.Cut(line, " ")
		s := scribble{event: event}
		if err := json.Unmarshal([]byte(input), &s.told); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		s.session, _ = s.told["session_id"].(string)
		all = append(all, s)
	}
	return all
}

// replace puts a file in its place at once.
func replace(t *testing.T, path, text string) {
	t.Helper()
	put(t, path+".new", text)
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// meet has a session meet all events but those of worktrees.
func meet(p *page, server *llmtest.Server) (id, child string) {
	p.t.Helper()
	use := func(tool string, in map[string]any) llmtest.Round {
		return llmtest.Round{Calls: []llmtest.Call{llmtest.Use(tool, in)}}
	}
	server.Script("helper", llmtest.Round{Text: "It is a lamp."})
	server.Script(model,
		use("Read", map[string]any{"file_path": "a.txt"}), use("Read", map[string]any{"file_path": "none.txt"}), run("rm a.txt"),
		use("Bash", map[string]any{"command": "touch c.txt", "workdir": "sub"}),
		use("Bash", map[string]any{"command": "touch d.txt; exit 3", "workdir": "sub", "run_in_background": true}),
		llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}})
	id = p.session("openai")
	p.send(id, "go")
	for _, decision := range []agent.Decision{agent.Deny, agent.Allow, agent.Allow} {
		request := await(p, anyOf[agent.ApprovalRequest])
		p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: decision, Scope: agent.ScopeOnce})
	}
	child, _ = agentOf(p, "Agent")
	logged(p, hooks.HookLogRequest{Session: child, Point: agent.HookTeammateIdle}, 1)
	server.Script(model, use("CloseAgent", map[string]any{"agent_id": child}), llmtest.Round{Text: strings.Repeat("word,", 1000)}, llmtest.Round{Text: "## Goal\nA lamp."})
	await(p, func(e agent.ToolCallEnd) bool { return e.Tool == "CloseAgent" })
	await(p, anyOf[agent.ProcessingEnd])
	logged(p, hooks.HookLogRequest{Session: id, Point: agent.HookTaskCompleted}, 1)
	must[backend.Empty](p, "conversation.compact", workbench.CompactRequest{Session: id})
	await(p, anyOf[agent.CompactionEnd])
	logged(p, hooks.HookLogRequest{Session: id, Point: agent.HookPostCompact}, 1)
	p.bypass(id)
	logged(p, hooks.HookLogRequest{Session: id, Point: agent.HookConfigChange}, 2)
	replace(p.t, p.folder+"/.agent/settings.local.json", `{"model": "x"}`)
	logged(p, hooks.HookLogRequest{Session: id, Point: agent.HookConfigChange}, 3)
	replace(p.t, p.folder+"/seen.txt", "1")
	logged(p, hooks.HookLogRequest{Session: id, Point: agent.HookFileChanged}, 1)
	p.close()
	return id, child
}

// beside are the events that come beside a turn, in an order of their own.
var beside = []string{"ConfigChange", "TaskCreated", "TaskCompleted", "FileChanged", "TeammateIdle"}

// sequences returns the events of each session in order, those beside its turns
// under "beside" and its id.
func sequences(all []scribble) map[string][]string {
	out := map[string][]string{}
	for _, s := range all {
		name, key := s.event, s.session
		for _, member := range []string{"tool_name", "notification_type", "source"} {
			if text, ok := s.told[member].(string); ok && s.event != "SessionStart" {
				name += " " + text
			}
		}
		if slices.Contains(beside, s.event) {
			key = "beside " + key
		}
		out[key] = append(out[key], name)
	}
	return out
}

// OAS-661, K-10: in a session that meets all events but those of worktrees, each
// hook runs as often as its event comes, in the documented order and with exactly
// the members of the documented example.
func TestEveryEvent(t *testing.T) {
	t.Parallel()
	folder, to := t.TempDir(), filepath.Join(t.TempDir(), "told")
	put(t, folder+"/.agent/settings.json", scribbling(t, to))
	put(t, folder+"/a.txt", "a")
	put(t, folder+"/sub/b.txt", "b")
	server := llmtest.Serve(t)
	p := newPage(t, folder, t.TempDir(), environment(server, "sk-test"))
	trustAll(p)
	id, child := meet(p, server)
	all := scribbles(t, to)
	call := func(tool string, between ...string) []string {
		return slices.Concat([]string{"PostSampling", "PreToolUse " + tool}, between, []string{"PostToolUse " + tool})
	}
	asked := func(tool string) []string {
		return []string{"PermissionRequest " + tool, "Notification permission_prompt"}
	}
	wantTurn := slices.Concat(
		[]string{"Setup", "SessionStart", "UserPromptSubmit"}, call("Read"), []string{"PostSampling", "PreToolUse Read", "PostToolUseFailure Read"},
		[]string{"PostSampling", "PreToolUse Bash"}, asked("Bash"), []string{"PermissionDenied Bash"},
		call("Bash", append(asked("Bash"), "CwdChanged")...), call("Bash", asked("Bash")...), call("Agent"), call("CloseAgent"),
		[]string{"PostSampling", "Stop", "Notification turn_done", "PreCompact", "PostCompact", "SessionEnd"})
	want := map[string][]string{
		id:    wantTurn,
		child: {"SubagentStart", "UserPromptSubmit", "PostSampling", "SubagentStop"},
		"beside " + id: {
			"ConfigChange session_settings", "TaskCreated", "TaskCompleted", "ConfigChange session_settings",
			"ConfigChange local_settings", "FileChanged",
		},
		"beside " + child: {"TeammateIdle"},
	}
	if diff := cmp.Diff(want, sequences(all)); diff != "" {
		t.Error(diff)
	}
	checkMembers(t, all)
}

// checkMembers compares what hooks were told with the documented examples.
func checkMembers(t *testing.T, all []scribble) {
	t.Helper()
	met := map[string]bool{}
	for _, e := range hook.Examples() {
		var example map[string]any
		if err := json.Unmarshal(e.Input, &example); err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			if s.event != e.Event {
				continue
			}
			met[e.Event] = true
			if s.told["hook_event_name"] != e.Event {
				t.Errorf("the hook of %s is told of %v", e.Event, s.told["hook_event_name"])
			}
			want := slices.Collect(maps.Keys(example))
			if s.told["agent_type"] != nil { // the session of an agent
				want = append(want, "agent_id", "agent_type", "agentId", "agentType")
			}
			slices.Sort(want)
			if diff := cmp.Diff(slices.Compact(want), slices.Sorted(maps.Keys(s.told))); diff != "" {
				t.Errorf("the members of %s: %s", e.Event, diff)
			}
		}
		if worktree := strings.HasPrefix(e.Event, "Worktree"); met[e.Event] == worktree {
			t.Errorf("%s was met: %v", e.Event, met[e.Event])
		}
	}
}

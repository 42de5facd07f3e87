//go:build unix

package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/storage"
)

// listening returns a page whose user has a hook at every point, and the folder
// where each hook writes down what it was told, a line for each time.
func listening(t *testing.T, folder string, server *llmtest.Server) (p *page, told string) {
	t.Helper()
	user, told := t.TempDir(), t.TempDir()
	all := map[string]any{}
	for _, in := range agent.HookInputs() {
		command := "cat >> " + told + "/" + string(in.Point()) + "; echo >> " + told + "/" + string(in.Point())
		all[string(in.Point())] = []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}}
	}
	b, err := json.Marshal(map[string]any{"hooks": all})
	if err != nil {
		t.Fatal(err)
	}
	put(t, user+"/.agent/settings.json", string(b))
	return openPage(t, folder, t.TempDir(), homely(server, user), func(s *storage.Store) backend.Store { return s }), told
}

// toldAt returns what the hooks of a point were told, one for each time.
func toldAt(t *testing.T, told string, point agent.HookPoint) (all []map[string]any) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(told, string(point)))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		var in map[string]any
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatal(err)
		}
		all = append(all, in)
	}
	return all
}

// pick returns members of inputs, one list for each input.
func pick(inputs []map[string]any, members ...string) (all [][]any) {
	for _, in := range inputs {
		var values []any
		for _, m := range members {
			values = append(values, in[m])
		}
		all = append(all, values)
	}
	return all
}

// OAS-661: background commands that begin and end, a change of a session's
// settings, and the setup of a folder, which precedes its first session: each is
// told once.
func TestPointsOutsideOfTurns(t *testing.T) {
	t.Parallel()
	background := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "exit 3", "run_in_background": true})}}
	p, told := listening(t, t.TempDir(), llmtest.Serve(t, background, llmtest.Round{Text: "Done."}, llmtest.Round{Text: "Done."}))
	id := p.session("compat")
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: id, Settings: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass},
	})
	p.send(id, "go")
	await(p, anyOf[agent.ProcessingEnd])
	logged(p, hooks.HookLogRequest{Point: agent.HookTaskCompleted}, 1)
	other := p.session("compat")
	p.send(other, "go")
	await(p, anyOf[agent.ProcessingEnd])
	logged(p, hooks.HookLogRequest{Point: agent.HookConfigChange}, 3) // two when the sessions were made
	for point, want := range map[agent.HookPoint][][]any{
		agent.HookSetup:         {{id, "init", nil}},
		agent.HookSessionStart:  {{id, nil, nil}, {other, nil, nil}},
		agent.HookConfigChange:  {{id, nil, nil}, {id, nil, nil}, {other, nil, nil}},
		agent.HookTaskCreated:   {{id, nil, "exit 3"}},
		agent.HookTaskCompleted: {{id, nil, "exit 3"}},
	} {
		if diff := cmp.Diff(want, pick(toldAt(t, told, point), "session_id", "trigger", "command")); diff != "" {
			t.Errorf("%s: %s", point, diff)
		}
	}
	if diff := cmp.Diff([][]any{{float64(3), false}}, pick(toldAt(t, told, agent.HookTaskCompleted), "exit_code", "stopped")); diff != "" {
		t.Error(diff)
	}
	var began []agent.HookPoint
	for _, row := range logged(p, hooks.HookLogRequest{Session: id}, 4) {
		if point := row.Place.Point; point == agent.HookSetup || point == agent.HookSessionStart {
			began = append(began, point)
		}
	}
	if diff := cmp.Diff([]agent.HookPoint{agent.HookSetup, agent.HookSessionStart}, began); diff != "" {
		t.Error(diff)
	}
}

// OAS-661: an agent that is at rest, in whose session points have the names of
// agents; the user is notified of its questions alone. Hooks are tried in the
// agent's folder.
func TestPointsOfAgents(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	folder := t.TempDir()
	put(t, folder+"/sub/a.txt", "a")
	p, told := listening(t, folder, server)
	server.Script("helper", llmtest.Round{Text: "It is a lamp."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", map[string]any{"working_dir": "sub"})}}, llmtest.Round{Text: "Done."})
	id := p.session("openai")
	p.send(id, "go")
	child, _ := agentOf(p, "Agent")
	logged(p, hooks.HookLogRequest{Point: agent.HookTeammateIdle}, 1)
	logged(p, hooks.HookLogRequest{Session: id, Point: agent.HookNotification}, 1)
	for point, want := range map[agent.HookPoint][][]any{
		agent.HookTeammateIdle:  {{child, child, id, "It is a lamp."}},
		agent.HookSubagentStart: {{child, child, id, nil}},
		agent.HookSubagentStop:  {{child, child, id, "It is a lamp."}},
		agent.HookStop:          {{id, nil, nil, "Done."}},
		agent.HookNotification:  {{id, nil, nil, nil}},
	} {
		if diff := cmp.Diff(want, pick(toldAt(t, told, point), "session_id", "agent_id", "parent_session_id", "last_assistant_message")); diff != "" {
			t.Errorf("%s: %s", point, diff)
		}
	}
	where := hooks.HookDraft{Point: agent.HookSubagentStart, Action: hooks.HookAction{Kind: hooks.KindCommand, Command: "pwd >&2"}}
	began := logged(p, hooks.HookLogRequest{Session: child, Point: agent.HookSubagentStart}, 1)[0]
	again := must[hooks.HookLogEntry](p, "hooks.replay", hooks.HookReplayRequest{Entry: began.ID, Draft: &where})
	if got := strings.TrimSpace(again.Stderr); got != p.folder+"/sub" {
		t.Errorf("it was tried in %s", got)
	}
}

// OAS-661: an agent that began stops once, also if hooks refuse its task, or if it is
// stopped with its session.
func TestEveryAgentStops(t *testing.T) {
	t.Parallel()
	for reason, hook := range map[string]string{
		"refused":     `grep -q agent_id && exit 2; exit 0`,
		"interrupted": "true",
	} {
		folder, user := t.TempDir(), t.TempDir()
		told := filepath.Join(t.TempDir(), "told")
		note := func(event string) string { return onEvent(event, "", `{ printf '`+event+` '; cat; echo; } >> `+told) }
		put(t, user+"/.agent/settings.json", onEvent("UserPromptSubmit", "", hook))
		put(t, folder+"/.agent/settings.json", note("SubagentStart"))
		put(t, folder+"/.agent/settings.local.json", note("SubagentStop"))
		server := llmtest.Serve(t)
		server.Script("helper", run("sleep 600"))
		server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}}, llmtest.Round{Text: "Done."})
		p := openPage(t, folder, t.TempDir(), homely(server, user), func(s *storage.Store) backend.Store { return s })
		trustAll(p)
		id := p.session("openai")
		p.bypass(id)
		p.send(id, "go")
		child, _ := agentOf(p, "Agent")
		if reason == "interrupted" {
			await(p, func(s agent.ToolCallStart) bool { return s.Tool == "Bash" })
		} else {
			logged(p, hooks.HookLogRequest{Session: child, Point: agent.HookSubagentStop}, 1)
		}
		p.close()
		var got []any
		for _, s := range scribbles(t, told) {
			got = append(got, s.event, s.session, s.told["reason"])
		}
		if diff := cmp.Diff([]any{"SubagentStart", child, nil, "SubagentStop", child, reason}, got); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

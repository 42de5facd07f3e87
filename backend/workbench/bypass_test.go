package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/workbench"
)

// bypass allows a session everything, as its page does.
func (p *page) bypass(session string) agent.Settings {
	p.t.Helper()
	set := agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass}
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: session, Settings: set})
	await(p, func(s agent.SettingsChange) bool { return s.Settings.Mode == agent.ModeBypass })
	return set
}

var writes = llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "a"})}}

// K-12: new sessions never begin with everything allowed, neither because a
// page says so nor because an earlier version stored it.
func TestBypassIsNeverAPreference(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	wish := backend.Preferences{NewSession: agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass}}
	if _, err := call[backend.Preferences](p, "preferences.change", workbench.PreferencesChange{After: wish}); err == nil || err.Code != backend.CodeInvalid {
		t.Errorf("set: %v", err)
	}
	b, err := json.Marshal(wish)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.store.SetSetting(t.Context(), "preferences", string(b)); err != nil {
		t.Fatal(err)
	}
	if got := must[backend.Preferences](p, "preferences.get", backend.Empty{}); got.NewSession.Mode != agent.ModeDefault || got.NewSession.Model != model {
		t.Errorf("shown: %+v", got.NewSession)
	}
	if got := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}); got.Settings.Mode != agent.ModeDefault {
		t.Errorf("created: %+v", got.Settings)
	}
}

// A session that was allowed everything asks first after a restart, from its
// first call on, and its log says so.
func TestBypassEndsWithTheProcess(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, writes, llmtest.Round{Text: "done"}, writes, llmtest.Round{Text: "done"})
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, ""))
	session := p.session("compat")
	p.bypass(session)
	p.send(session, "write")
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDone {
		t.Errorf("the call ended as %s", end.Outcome)
	}
	await(p, anyOf[agent.ProcessingEnd])
	p.close()
	if err := os.Remove(filepath.Join(folder, "a.txt")); err != nil {
		t.Fatal(err)
	}

	again := newPage(t, folder, home, environment(server, ""))
	again.send(session, "write again")
	// The first of these events tells whether an approval was requested.
	first := await(again, func(p agent.Payload) bool {
		_, asked := p.(agent.ApprovalRequest)
		_, ended := p.(agent.ToolCallEnd)
		return asked || ended
	})
	if _, asked := first.(agent.ApprovalRequest); !asked {
		t.Errorf("unasked: %+v", first)
	}
	shown := must[conversation.Snapshot](again, "conversation.open", conversation.OpenRequest{Session: session})
	if shown.Session.Settings.Mode != agent.ModeDefault {
		t.Errorf("the session shows %s", shown.Session.Settings.Mode)
	}
	if !slices.ContainsFunc(shown.Events, func(ev agent.Event) bool {
		w, ok := ev.Data.(agent.Warning)
		return ok && w.Code == "mode_reset"
	}) {
		t.Error("the log does not say that the mode ended")
	}
}

// The log says that the mode ended with the program only if it did: a user who
// leaves the mode knows it.
func TestLeavingBypassIsNotAReset(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t, llmtest.Round{Text: "done"}), ""))
	session := p.session("compat")
	set := p.bypass(session)
	set.Mode = agent.ModeDefault
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: session, Settings: set})
	await(p, func(s agent.SettingsChange) bool { return s.Settings.Mode == agent.ModeDefault })
	p.send(session, "go on")
	first := await(p, func(p agent.Payload) bool {
		_, warned := p.(agent.Warning)
		_, ended := p.(agent.ProcessingEnd)
		return warned || ended
	})
	if warning, warned := first.(agent.Warning); warned {
		t.Errorf("warned: %+v", warning)
	}
}

// Opening the folder is enough: the mode ends without a message.
func TestRecoverEndsBypass(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, ""))
	session := p.session("compat")
	p.bypass(session)
	p.close()

	again := newPage(t, folder, home, environment(server, ""))
	if err := again.bench.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	await(again, func(w agent.Warning) bool { return w.Code == "mode_reset" })
	list := must[backend.SessionPage](again, "sessions.list", backend.Empty{})
	if len(list.Sessions) != 1 || list.Sessions[0].Settings.Mode != agent.ModeDefault {
		t.Errorf("listed: %+v", list.Sessions)
	}
}

// A session that begins in this mode, such as one of the command line, keeps
// it.
func TestBypassFromTheBeginning(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, writes, llmtest.Round{Text: "done"})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	info, err := p.bench.CreateSession(t.Context(), agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass})
	if err != nil {
		t.Fatal(err)
	}
	p.send(info.ID, "write")
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeDone {
		t.Errorf("the call ended as %s", end.Outcome)
	}
}

// handedOver waits until an agent was started, and its turn and that of its
// session have ended, in any order. It returns the agent's session.
func (p *page) handedOver() (child string) {
	p.t.Helper()
	for deadline := time.After(patience); ; p.more(deadline, "the end of two turns") {
		ends := 0
		p.mu.Lock()
		for _, ev := range p.events {
			switch d := ev.Data.(type) {
			case agent.ToolCallEnd:
				if d.Tool == "Agent" && d.Details != nil && d.Details.Agent != nil {
					child = d.Details.Agent.Session
				}
			case agent.ProcessingEnd:
				ends++
			}
		}
		p.mu.Unlock()
		if child != "" && ends == 2 {
			return child
		}
	}
}

// If the mode is taken from a session, it is also taken from the agents that
// got it from there.
func TestBypassEndsForAgentsToo(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	server.Script("helper", llmtest.Round{Text: "begun"}, writes)
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Wait for me.", nil)}}, llmtest.Round{Text: "handed over"})
	session := p.session("compat")
	set := p.bypass(session)
	p.send(session, "hand it over")
	child := p.handedOver()
	if got := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: child}).Session; got.Settings.Mode != agent.ModeBypass {
		t.Errorf("the agent began with %s", got.Settings.Mode)
	}
	set.Mode = agent.ModeDefault
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{Session: session, Settings: set})
	p.send(child, "write")
	if request := await(p, anyOf[agent.ApprovalRequest]); request.Tool != "Write" {
		t.Errorf("asked for %s", request.Tool)
	}
}

package workbench_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// gate is a store that delays reads of one session's whole log.
type gate struct {
	backend.Store
	session string
	reading chan struct{} // receives when a reader waits
	open    chan struct{} // closed when readers may go on
}

func newGate(s backend.Store) *gate {
	return &gate{Store: s, reading: make(chan struct{}), open: make(chan struct{})}
}

func (g *gate) Events(ctx context.Context, r backend.EventRange) ([]agent.Event, error) {
	if r == (backend.EventRange{Session: g.session}) {
		select {
		case g.reading <- struct{}{}:
		case <-ctx.Done():
		}
		select {
		case <-g.open:
		case <-ctx.Done():
		}
	}
	return g.Store.Events(ctx, r)
}

// gated returns a page on a gate.
func gated(t *testing.T, server *llmtest.Server) (*page, *gate) {
	t.Helper()
	var g *gate
	p := newPageOn(t, environment(server, "sk-test"), func(s *storage.Store) backend.Store {
		g = newGate(s)
		return g
	})
	return p, g
}

// Stop works as soon as Send has answered, even if the session has to be
// reopened first.
func TestStopRightAfterSend(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	server.Script(model, llmtest.Round{Text: "One."})
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "first")
	await(p, anyOf[agent.ProcessingEnd])
	for range 5 {
		p.close()
		p = newPage(t, folder, home, environment(server, "sk-test"))
		server.Script(model, llmtest.Round{Text: "Unwanted."})
		p.send(id, "next")
		must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
		if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndInterrupted {
			t.Fatalf("ended as %s", end.Reason)
		}
	}
}

// Stop in one session does not wait until another one is read.
func TestStopDoesNotWaitForAnotherSession(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p, g := gated(t, server)
	long := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	g.session = long.ID
	id := p.session("compat")
	server.Script(model)
	p.send(id, "go")
	await(p, anyOf[agent.UserInput])
	configured := make(chan string, 1)
	go func() {
		configured <- p.bench.Call(context.Background(), "conversation.configure",
			fmt.Sprintf(`{"session":%q,"settings":{"provider":"compat","model":"x","mode":"default"}}`, long.ID))
	}()
	<-g.reading
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
	await(p, anyOf[agent.ProcessingEnd]) // while the other is still being read
	close(g.open)
	if reply := <-configured; strings.Contains(reply, `"error"`) {
		t.Error(reply)
	}
}

// A caller may stop waiting until a session is read; the reading continues for
// later callers.
func TestGivingUpOnALongSession(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p, g := gated(t, server)
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	g.session = info.ID
	ctx, cancel := context.WithCancel(t.Context())
	gaveUp := make(chan error, 1)
	go func() { gaveUp <- p.bench.Configure(ctx, info.ID, info.Settings) }()
	<-g.reading
	cancel()
	if err := <-gaveUp; !errors.Is(err, context.Canceled) {
		t.Errorf("gave up with %v", err)
	}
	close(g.open)
	if err := p.bench.Configure(t.Context(), info.ID, info.Settings); err != nil {
		t.Error(err)
	}
}

// A session that works is not deleted, and neither are the agents that it
// started.
func TestDeletionOfAWorkingParentDeletesNothing(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	server.Script("helper", llmtest.Round{Text: "The report."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Look.", nil)}})
	id := p.session("openai")
	p.send(id, "go")
	child, _ := agentOf(p, "Agent")
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Wait", map[string]any{"agent_id": child})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "a"})}})
	await(p, anyOf[agent.ApprovalRequest]) // the agent is at rest, its parent works
	_, err := call[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: id})
	if err == nil || err.Code != backend.CodeBusy {
		t.Errorf("deleted: %v", err)
	}
	for _, session := range []string{id, child} {
		if _, err := call[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session}); err != nil {
			t.Errorf("session %s: %v", session, err)
		}
	}
}

// LOOP-54: commands that an agent left running have ended before its parent is
// closed in the log.
func TestAgentsCommandsEndWithTheParent(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	token := rand.Text()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	server.Script("helper", llmtest.Round{Calls: []llmtest.Call{
		llmtest.Use("Bash", map[string]any{"command": "bash -c 'sleep 300; : " + token + "'", "run_in_background": true}),
	}}, llmtest.Round{Text: "It runs."})
	server.Script(model, llmtest.Round{Calls: []llmtest.Call{spawn("Serve.", nil)}})
	id := p.session("openai")
	p.send(id, "go")
	child, _ := agentOf(p, "Agent")
	p.allow(child, await(p, anyOf[agent.ApprovalRequest]))
	await(p, anyOf[agent.ProcessingEnd]) // the agent's; its parent waits for a model that does not answer
	if carrying(t, token) == 0 {
		t.Fatal("nothing runs on")
	}
	p.bench.Sessions().Find(id).Abort()
	await(p, func(e agent.SessionEnd) bool { return e.State == agent.StateProcessing })
	if n := carrying(t, token); n > 0 {
		t.Errorf("%d processes are left", n)
	}
}

// Sessions at rest do not stay in memory forever: the ones used longest ago are
// closed, and can continue later. A session that works or has a running command
// stays.
func TestSessionsAtRestLeaveMemory(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	token := rand.Text()
	p, _ := servingOn(t, server, token)
	var ids []string
	for range live.MaxResting + 5 {
		id := p.session("compat")
		server.Script(model, llmtest.Round{Text: "One."})
		p.send(id, "first")
		await(p, anyOf[agent.ProcessingEnd])
		ids = append(ids, id)
	}
	for deadline := time.After(patience); p.bench.Sessions().Len() > live.MaxResting+2; {
		p.more(deadline, "the end of sessions at rest")
	}
	if carrying(t, token) == 0 {
		t.Error("a command ended with an unused session")
	}
	server.Script(model, llmtest.Round{Text: "Two."})
	p.send(ids[0], "second")
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("ended as %s", end.Reason)
	}
	if body := asked(server, model); !strings.Contains(body[len(body)-1], "first") {
		t.Error("the session continued without its past")
	}
}

// A session of another folder is refused with that folder's path, because its
// tools would act in this folder.
func TestSessionsOfAnotherFolder(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	home := t.TempDir()
	other := newPage(t, t.TempDir(), home, environment(server, "sk-test"))
	id := other.session("compat")
	p := newPage(t, t.TempDir(), home, environment(server, "sk-test"))
	settings := agent.Settings{Provider: "compat", Model: model, Mode: agent.ModeBypass}
	for method, args := range map[string]any{
		"sessions.rename":        sessionlist.RenameRequest{Session: id, Title: "mine"},
		"sessions.remove":        workbench.SessionRef{Session: id},
		"conversation.open":      conversation.OpenRequest{Session: id},
		"conversation.history":   reading.HistoryRequest{Session: id, Before: 9},
		"conversation.event":     place.EventRef{Session: id, Seq: 1},
		"conversation.send":      conversation.SendRequest{Session: id, Text: "hi"},
		"conversation.command":   workbench.CommandRequest{Session: id, Command: "touch here"},
		"conversation.continue":  workbench.SessionRef{Session: id},
		"conversation.compact":   workbench.CompactRequest{Session: id},
		"conversation.configure": conversation.ConfigureRequest{Session: id, Settings: settings},
		"queue.add":              conversation.QueueAddRequest{Session: id, Verb: agent.FollowUp, Text: "hi"},
		"queue.run":              workbench.SessionRef{Session: id},
	} {
		if _, err := call[json.RawMessage](p, method, args); err == nil || err.Code != backend.CodeInvalid || !strings.Contains(err.Message, other.folder) {
			t.Errorf("%s: %v", method, err)
		}
	}
	if info := must[conversation.Snapshot](other, "conversation.open", conversation.OpenRequest{Session: id}); info.Session.Settings.Mode == agent.ModeBypass || info.Session.Title != "" {
		t.Errorf("the session was changed: %+v", info.Session)
	}
}

// A deleted session is gone; a running one is not deleted.
func TestDelete(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "x", Hang: true})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	p.send(session, "x")
	await(p, anyOf[agent.UserInput])
	if _, err := call[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: session}); err == nil || err.Code != backend.CodeBusy {
		t.Errorf("deleted while running: %v", err)
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: session})
	await(p, anyOf[agent.ProcessingEnd])
	for { // the lease is given back just after the last event
		if _, err := call[sessionlist.RemoveReply](p, "sessions.remove", workbench.SessionRef{Session: session}); err == nil {
			break
		} else if err.Code != backend.CodeBusy {
			t.Fatal(err)
		}
	}
	if list := must[backend.SessionPage](p, "sessions.list", backend.Empty{}); len(list.Sessions) != 0 {
		t.Errorf("still listed: %+v", list)
	}
}

// Stop also ends a turn that was requested and still waits until its session is
// read again.
func TestStopBeforeTheTurnBegins(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Unwanted."})
	p, g := gated(t, server)
	prefer(p, func(prefs *backend.Preferences) { prefs.PlainTitles = true }) // a title's job might read the new name first
	id := p.session("compat")
	p.send(id, "first")
	await(p, anyOf[agent.ProcessingEnd])
	must[backend.SessionInfo](p, "sessions.rename", sessionlist.RenameRequest{Session: id, Title: "another"})
	g.session = id
	sent := make(chan error, 1)
	go func() { sent <- p.bench.Send(context.Background(), id, "second") }()
	<-g.reading
	p.bench.Interrupt(id)
	close(g.open)
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndInterrupted {
		t.Errorf("ended as %s", end.Reason)
	}
}

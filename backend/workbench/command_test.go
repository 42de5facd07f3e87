package workbench_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/keystore"
)

func (p *page) runs(session, command string) {
	p.t.Helper()
	must[backend.Empty](p, "conversation.command", workbench.CommandRequest{Session: session, Command: command})
}

func withoutKey(string) string { return "" }

// OAS-102: the user runs a command in the session's folder, without a key and
// without an approval. The next request to a model says so.
func TestTheUserRunsACommand(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "I see."}, llmtest.Round{Text: "Again."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-secret"))
	id := p.session("compat")
	p.runs(id, "pwd; echo no >&2; exit 3")
	want := agent.LocalCommandEnd{
		Command: "pwd; echo no >&2; exit 3", Output: p.folder + "\nno\n", Outcome: agent.OutcomeDone, Result: &agent.CommandResult{ExitCode: 3},
	}
	end := await(p, anyOf[agent.LocalCommandEnd])
	end.ID, end.DurationMs = "", 0
	if diff := cmp.Diff(want, end); diff != "" {
		t.Error(diff)
	}
	opened := p.snapshot(id)
	if len(opened.Draft.Outputs) > 0 {
		t.Errorf("still running: %+v", opened.Draft)
	}
	if info := opened.Session; info.State != agent.StateIdle || info.Title != "! pwd; echo no >&2; exit 3" {
		t.Errorf("afterwards: %+v", opened.Session)
	}
	if n := len(server.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
	p.send(id, "why did it fail?")
	await(p, anyOf[agent.ProcessingEnd])
	body := server.Requests()[0].Body
	for _, told := range []string{"pwd; echo no", "exit code 3", p.folder} {
		if encoded, _ := json.Marshal(told); !bytes.Contains(body, encoded[1:len(encoded)-1]) {
			t.Errorf("the model was not told %q", told)
		}
	}
	if info := p.snapshot(id).Session; info.Title != "why did it fail?" {
		t.Errorf("called %q after the first prompt", info.Title)
	}
	if _, err := call[backend.Empty](p, "conversation.command", workbench.CommandRequest{Session: id, Command: " \n"}); err == nil || err.Code != backend.CodeInvalid {
		t.Errorf("without a command: %v", err)
	}
	if _, err := call[backend.Empty](p, "conversation.command", workbench.CommandRequest{Session: "none", Command: "ls"}); err == nil || err.Code != backend.CodeNotFound {
		t.Errorf("in no session: %v", err)
	}
}

// The user's commands run without any key, and may change anything in any mode,
// unless the workbench is read-only.
func TestTheUsersCommandsNeedNoKey(t *testing.T) {
	t.Parallel()
	for _, readOnly := range []bool{false, true} {
		home, folder := t.TempDir(), t.TempDir()
		store, err := storage.Open(t.Context(), home)
		if err != nil {
			t.Fatal(err)
		}
		p := &page{t: t, store: store, folder: folder, home: home, grown: make(chan struct{}, 1)}
		p.bench = workbench.New(workbench.Config{
			Folder: folder, Home: home, Store: store, Keys: keystore.New(home), Getenv: withoutKey, ReadOnly: readOnly,
		})
		p.bench.Subscribe(p.receive)
		t.Cleanup(p.close)
		info, err := p.bench.CreateSession(t.Context(), agent.Settings{Provider: "openai", Model: model, Mode: agent.ModePlan})
		if err != nil {
			t.Fatal(err)
		}
		p.runs(info.ID, "echo x > made")
		end := await(p, anyOf[agent.LocalCommandEnd])
		if _, err := os.Stat(filepath.Join(folder, "made")); (err == nil) == readOnly {
			t.Errorf("read-only %t: %+v, %v", readOnly, end, err)
		}
	}
}

// A user's command runs until it is stopped. A page that opens meanwhile sees
// its output, and no process is left.
func TestTheUserStopsACommand(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*page, string){
		"stop": func(p *page, id string) {
			must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: id})
		},
		"abort": func(p *page, id string) { p.bench.Sessions().Find(id).Abort() },
		"close": func(p *page, id string) { p.close() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t)
			token := rand.Text()
			folder, home := t.TempDir(), t.TempDir()
			p := newPage(t, folder, home, environment(server, ""))
			id := p.session("compat")
			p.runs(id, "bash -c 'echo ready; sleep 300; : "+token+"'")
			start := await(p, anyOf[agent.LocalCommandStart])
			for deadline := time.After(patience); p.snapshot(id).Draft.Outputs[start.ID].Text != "ready\n"; {
				p.more(deadline, "the command's output")
			}
			if carrying(t, token) == 0 {
				t.Error("nothing runs")
			}
			if state := p.snapshot(id).Session.State; state != agent.StateProcessing {
				t.Errorf("the session is %s", state)
			}
			for method, args := range map[string]any{
				"conversation.send":    conversation.SendRequest{Session: id, Text: "hello"},
				"conversation.command": workbench.CommandRequest{Session: id, Command: "ls"},
			} {
				if _, err := call[backend.Empty](p, method, args); err == nil || err.Code != backend.CodeBusy {
					t.Errorf("%s meanwhile: %v", method, err)
				}
			}
			stop(p, id)
			end := await(p, anyOf[agent.LocalCommandEnd])
			if end.Outcome != agent.OutcomeInterrupted || end.Output != "ready\n" {
				t.Errorf("ended as %+v", end)
			}
			if n := carrying(t, token); n > 0 {
				t.Errorf("%d processes are left", n)
			}
		})
	}
}

func (p *page) snapshot(session string) conversation.Snapshot {
	p.t.Helper()
	return must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session})
}

// A message that is queued behind a user's command follows it.
func TestAPromptFollowsTheUsersCommand(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "Fixed."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.runs(id, "until [ -e go ]; do sleep 0.01; done; echo broken")
	await(p, anyOf[agent.LocalCommandStart])
	must[conversation.QueueReply](p, "queue.add", conversation.QueueAddRequest{Session: id, Verb: agent.FollowUp, Text: "fix it"})
	if err := os.WriteFile(filepath.Join(p.folder, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	await(p, anyOf[agent.LocalCommandEnd])
	await(p, func(in agent.UserInput) bool { return in.Text == "fix it" })
	await(p, anyOf[agent.ProcessingEnd])
	if body := string(server.Requests()[0].Body); !strings.Contains(body, "broken") {
		t.Errorf("the model was sent %s", body)
	}
}

// A user's command that a crash cut off ends when the folder is opened.
func TestRecoverEndsTheUsersCommand(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	id := p.session("compat")
	start := agent.LocalCommandStart{ID: "c1", Command: "make"}
	if _, err := p.store.Append(t.Context(), agent.Event{Session: id, At: 1, Data: start}); err != nil {
		t.Fatal(err)
	}
	if err := p.bench.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if end := await(p, anyOf[agent.LocalCommandEnd]); end.ID != "c1" || end.Outcome != agent.OutcomeInterrupted {
		t.Errorf("%+v", end)
	}
	p.runs(id, "echo on")
	if end := await(p, anyOf[agent.LocalCommandEnd]); end.Output != "on\n" {
		t.Errorf("the next one: %+v", end)
	}
}

// A page is sent the beginning and the end of long output, and the whole on
// request. Output that exceeds the memory limit is in a file whose path is
// given.
func TestLongOutputOfTheUsersCommand(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	id := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
	p.runs(id, "seq 10000")
	const size = 48_894
	if end := await(p, anyOf[agent.LocalCommandEnd]); end.Size != size || len(end.Output) > size/2 || end.ModelOutput != nil {
		t.Errorf("%d bytes of %d, %v for the model", len(end.Output), end.Size, end.ModelOutput)
	}
	seq := p.snapshot(id).Session.Seq
	whole := must[reading.EventReply](p, "conversation.event", place.EventRef{Session: id, Seq: seq}).Event
	if end, ok := whole.Data.(agent.LocalCommandEnd); !ok || len(end.Output) != size || end.ModelOutput == nil || !strings.Contains(*end.ModelOutput, "characters were removed") {
		t.Errorf("the whole is %+v", whole.Kind())
	}
	p.runs(id, "yes line | head -n 1000000")
	if end := await(p, anyOf[agent.LocalCommandEnd]); !strings.Contains(end.Output, "[The whole output is in "+filepath.Join(p.home, "output", id)) || end.Result.Dropped == 0 {
		t.Errorf("of 5 MB: %s %+v", end.Output[max(0, len(end.Output)-200):], end.Result)
	}
}

// A command whose end could not be saved does not prevent the next one.
func TestTheUsersCommandAfterALostOne(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), withoutKey)
	id := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}).ID
	if _, err := p.store.Append(t.Context(), agent.Event{Session: id, At: 1, Data: agent.LocalCommandStart{ID: "c1", Command: "make"}}); err != nil {
		t.Fatal(err)
	}
	p.runs(id, "echo on")
	lost, next := await(p, anyOf[agent.LocalCommandEnd]), await(p, anyOf[agent.LocalCommandEnd])
	if lost.Outcome != agent.OutcomeInterrupted || next.Output != "on\n" {
		t.Errorf("%+v, then %+v", lost, next)
	}
}

package workbench_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/feed"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/projects"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/keystore"
)

// page plays a front end: it calls methods by name with JSON and folds the
// envelopes that it receives, over a real store, real tools and a real HTTP
// server in the provider's place.
type page struct {
	t      *testing.T
	bench  *workbench.Workbench
	store  *storage.Store
	folder string
	home   string

	mu     sync.Mutex
	events []agent.Event // durable ones, in the order they arrived
	grown  chan struct{} // receives when events grew
}

const model = "test-model"

// environment returns the variables that a test's workbench reads instead of
// the process's.
func environment(server *llmtest.Server, key string) func(string) string {
	return func(name string) string {
		switch name {
		case "COMPAT_BASE_URL", "OPENAI_BASE_URL":
			return server.URL
		case "COMPAT_API_KEY", "OPENAI_API_KEY":
			return key
		}
		return ""
	}
}

func newPage(t *testing.T, folder, home string, getenv func(string) string) *page {
	t.Helper()
	return openPage(t, folder, home, getenv, func(s *storage.Store) backend.Store { return s })
}

// newPageOn is newPage in folders of its own, with a wrapper around the store.
func newPageOn(t *testing.T, getenv func(string) string, around func(*storage.Store) backend.Store) *page {
	t.Helper()
	return openPage(t, t.TempDir(), t.TempDir(), getenv, around)
}

func openPage(t *testing.T, folder, home string, getenv func(string) string, around func(*storage.Store) backend.Store, changes ...func(*workbench.Config)) *page {
	t.Helper()
	store, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	folder, err = projects.Resolve(folder)
	if err != nil {
		t.Fatal(err)
	}
	p := &page{t: t, store: store, folder: folder, home: home, grown: make(chan struct{}, 1)}
	cfg := workbench.Config{
		Folder: folder, Home: home, Version: "test", Store: around(store), Keys: keystore.New(home), Getenv: getenv,
	}
	for _, change := range changes {
		if change != nil {
			change(&cfg)
		}
	}
	p.bench = workbench.New(cfg)
	p.bench.Subscribe(p.receive)
	t.Cleanup(p.close)
	return p
}

func (p *page) close() {
	if p.store != nil {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := errors.Join(p.bench.Close(ctx), p.store.Close()); err != nil {
			p.t.Error(err)
		}
		p.store = nil
	}
}

func (p *page) receive(b []byte) {
	var e feed.Envelope
	if err := json.Unmarshal(b, &e); err != nil {
		p.t.Errorf("%s: %v", b, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, ev := range e.Events {
		if ev.Durable() {
			p.events = append(p.events, ev)
		}
	}
	select {
	case p.grown <- struct{}{}:
	default:
	}
}

// call runs a method and decodes its reply; an error reply is returned.
func call[Out any](p *page, method string, args any) (Out, *backend.Error) {
	p.t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		p.t.Fatal(err)
	}
	var reply struct {
		OK    Out            `json:"ok"`
		Error *backend.Error `json:"error"`
	}
	text := p.bench.Call(p.t.Context(), method, string(b))
	if err := json.Unmarshal([]byte(text), &reply); err != nil {
		p.t.Fatalf("%s answered %s: %v", method, text, err)
	}
	return reply.OK, reply.Error
}

func must[Out any](p *page, method string, args any) Out {
	p.t.Helper()
	out, err := call[Out](p, method, args)
	if err != nil {
		p.t.Fatalf("%s: %v (%s)", method, err, err.Details)
	}
	return out
}

// session creates a session on the test's provider.
func (p *page) session(provider string) string {
	p.t.Helper()
	info := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	must[backend.SessionInfo](p, "conversation.configure", conversation.ConfigureRequest{
		Session: info.ID, Settings: agent.Settings{Provider: provider, Model: model, Mode: agent.ModeDefault},
	})
	await(p, func(s agent.SettingsChange) bool { return s.Settings.Provider == provider })
	return info.ID
}

func (p *page) send(session, text string) {
	p.t.Helper()
	must[backend.Empty](p, "conversation.send", conversation.SendRequest{Session: session, Text: text})
}

// patience is how long a test waits for an expected event. It only ends a hang:
// a working product never reaches it, however busy the machine is.
const patience = 90 * time.Second

// more waits until the page has received something since the last call.
func (p *page) more(deadline <-chan time.Time, waitingFor string) {
	p.t.Helper()
	select {
	case <-p.grown:
	case <-deadline:
		p.t.Fatalf("%s did not come within %s", waitingFor, patience)
	case <-p.t.Context().Done():
		p.t.Fatalf("the test ended before %s came", waitingFor)
	}
}

// await returns the first matching event of a type that was not awaited before.
func await[P agent.Payload](p *page, fits func(P) bool) P {
	p.t.Helper()
	deadline := time.After(patience)
	for {
		p.mu.Lock()
		for i, ev := range p.events {
			if d, ok := ev.Data.(P); ok && fits(d) {
				p.events = p.events[i+1:]
				p.mu.Unlock()
				return d
			}
		}
		p.mu.Unlock()
		p.more(deadline, fmt.Sprintf("a fitting %s", reflect.TypeFor[P]()))
	}
}

func anyOf[P agent.Payload](P) bool { return true }

// This is the main path over the real wire format of both providers: a prompt,
// an approved call, a call denied with feedback, a file on the disk, and all of
// it again after the application was closed.
func TestMainPath(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"openai", "compat"} {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			server := llmtest.Serve(t,
				llmtest.Round{Text: "I write it.", Calls: []llmtest.Call{
					llmtest.Use("Write", map[string]any{"file_path": "hello.txt", "content": "hello\n"}),
					llmtest.Use("Bash", map[string]any{"command": "rm hello.txt"}),
				}},
				llmtest.Round{Text: "It stays."},
				llmtest.Round{Text: "Still here."},
			)
			folder, home := t.TempDir(), t.TempDir()
			p := newPage(t, folder, home, environment(server, "sk-test-key-1234567890"))
			session := p.session(provider)
			p.send(session, "Write hello")

			write := await(p, anyOf[agent.ApprovalRequest])
			if write.Tool != "Write" || len(write.Changes) != 1 || !write.Changes[0].Created {
				t.Errorf("first request: %+v", write)
			}
			must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: session, Approval: write.ID, Answer: agent.Answer{Decision: agent.Allow}})
			bash := await(p, anyOf[agent.ApprovalRequest])
			if bash.Access.Command != "rm hello.txt" {
				t.Errorf("second request: %+v", bash)
			}
			if b, err := os.ReadFile(filepath.Join(folder, "hello.txt")); string(b) != "hello\n" {
				t.Errorf("file: %q, %v", b, err)
			}
			must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: session, Approval: bash.ID, Answer: agent.Answer{Decision: agent.Deny, Feedback: "Keep the file."}})
			if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
				t.Errorf("ended as %s", end.Reason)
			}
			if last := server.Requests()[1]; !strings.Contains(string(last.Body), "Keep the file.") {
				t.Error("the feedback did not reach the model")
			}
			before := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session})
			p.close()

			again := newPage(t, folder, home, environment(server, "sk-test-key-1234567890"))
			after := must[conversation.Snapshot](again, "conversation.open", conversation.OpenRequest{Session: session})
			if len(after.Events) != len(before.Events)+1 { // the closing added session_end
				t.Errorf("%d events before, %d after", len(before.Events), len(after.Events))
			}
			list := must[backend.SessionPage](again, "sessions.list", backend.Empty{})
			if len(list.Sessions) != 1 || list.Sessions[0].Title != "Write hello" {
				t.Errorf("list: %+v", list)
			}
			again.send(session, "And now?")
			if end := await(again, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
				t.Errorf("ended as %s", end.Reason)
			}
			if body := string(server.Requests()[2].Body); !strings.Contains(body, "Write hello") || !strings.Contains(body, "It stays.") {
				t.Error("the session continued without its past")
			}
		})
	}
}

// Stop ends a running command, and no process of it is left.
func TestInterruptStopsACommand(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]any{"command": "echo begun; touch waits; sleep 600"})}})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	p.send(session, "wait")
	request := await(p, anyOf[agent.ApprovalRequest])
	must[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: session, Approval: request.ID, Answer: agent.Answer{Decision: agent.Allow}})
	for deadline := time.After(patience); ; p.more(deadline, "the command's output") {
		draft := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session}).Draft
		if strings.Contains(draft.Outputs[request.CallID].Text, "begun") {
			break
		}
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: session})
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Outcome != agent.OutcomeInterrupted || !strings.Contains(end.Output, "begun") {
		t.Errorf("end: %+v", end)
	}
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndInterrupted {
		t.Errorf("ended as %s", end.Reason)
	}
}

// A request for approval survives the end of the application: it is still
// pending afterwards, and the answer continues the turn.
func TestPendingApprovalSurvivesRestart(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "a"})}},
		llmtest.Round{Text: "done"})
	folder, home := t.TempDir(), t.TempDir()
	p := newPage(t, folder, home, environment(server, ""))
	session := p.session("compat")
	p.send(session, "write")
	request := await(p, anyOf[agent.ApprovalRequest])
	p.close()

	again := newPage(t, folder, home, environment(server, ""))
	if err := again.bench.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	answer := workbench.AnswerRequest{Session: session, Approval: request.ID, Answer: agent.Answer{Decision: agent.Allow}}
	must[backend.Empty](again, "conversation.answer", answer)
	if end := await(again, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("ended as %s", end.Reason)
	}
	if _, err := os.Stat(filepath.Join(folder, "a.txt")); err != nil {
		t.Error(err)
	}
	if _, err := call[backend.Empty](again, "conversation.answer", answer); err == nil || err.Code != backend.CodeNotFound {
		t.Errorf("answered twice: %v", err)
	}
}

// Bad input gets a clear error and loses nothing.
func TestBadInput(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	for _, tt := range []struct {
		method string
		args   any
		want   backend.Code
	}{
		{"conversation.send", conversation.SendRequest{Session: "none", Text: "x"}, backend.CodeNotFound},
		{"conversation.send", conversation.SendRequest{Session: session, Text: " \n"}, backend.CodeInvalid},
		{"conversation.open", conversation.OpenRequest{Session: "../../etc"}, backend.CodeInvalid},
		{"conversation.history", reading.HistoryRequest{Session: session, After: 1, Before: 1}, backend.CodeInvalid},
		{"conversation.event", place.EventRef{Session: session, Seq: 999}, backend.CodeNotFound},
		{"conversation.answer", workbench.AnswerRequest{Session: session, Approval: "x", Answer: agent.Answer{Decision: agent.Allow}}, backend.CodeNotFound},
		{"conversation.answer", workbench.AnswerRequest{Session: session, Approval: "x", Answer: agent.Answer{Decision: "maybe"}}, backend.CodeInvalid},
		{"conversation.configure", conversation.ConfigureRequest{Session: session, Settings: agent.Settings{Provider: "compat", Model: "m", Mode: "yolo"}}, backend.CodeInvalid},
		{"conversation.configure", conversation.ConfigureRequest{Session: session, Settings: agent.Settings{Mode: agent.ModeDefault}}, backend.CodeNoModel},
		{"conversation.configure", conversation.ConfigureRequest{Session: session, Settings: agent.Settings{Provider: "compat", Model: "m", Mode: agent.ModeDefault, Budget: -1}}, backend.CodeInvalid},
		{"conversation.configure", conversation.ConfigureRequest{Session: session, Settings: agent.Settings{Provider: "compat", Model: "m", Mode: agent.ModeDefault, ThinkingTokens: -1}}, backend.CodeInvalid},
		{"conversation.configure", conversation.ConfigureRequest{Session: session, Settings: agent.Settings{Provider: "compat", Model: " ", Mode: agent.ModeDefault}}, backend.CodeNoModel},
		{"conversation.continue", workbench.SessionRef{Session: session}, backend.CodeInvalid},
		{"conversation.compact", workbench.CompactRequest{Session: session}, backend.CodeInvalid},
		{"conversation.command", workbench.CommandRequest{Session: session, Command: "\t"}, backend.CodeInvalid},
		{"queue.add", conversation.QueueAddRequest{Session: session, Verb: agent.Steer, Text: " "}, backend.CodeInvalid},
		{"queue.add", conversation.QueueAddRequest{Session: session, Verb: "shout", Text: "x"}, backend.CodeInvalid},
		{"queue.add", conversation.QueueAddRequest{Session: "none", Verb: agent.Steer, Text: "x"}, backend.CodeNotFound},
		{"queue.edit", conversation.QueueEditRequest{Session: session, Message: agent.Queued{ID: "x", Verb: agent.Steer}}, backend.CodeInvalid},
		{"queue.edit", conversation.QueueEditRequest{Session: session, Message: agent.Queued{ID: "x", Verb: agent.Steer, Text: "x"}}, backend.CodeNotFound},
		{"queue.move", conversation.QueueMoveRequest{Session: session, ID: "x"}, backend.CodeNotFound},
		{"queue.remove", conversation.QueueRemoveRequest{Session: session, ID: "x"}, backend.CodeNotFound},
		{"queue.remove", conversation.QueueRemoveRequest{Session: "none", ID: "x"}, backend.CodeNotFound},
		{"queue.run", workbench.SessionRef{Session: "none"}, backend.CodeNotFound},
		{"queue.run", workbench.SessionRef{Session: session}, backend.CodeNotFound},
		{"sessions.rename", sessionlist.RenameRequest{Session: session, Title: "\n"}, backend.CodeInvalid},
		{"sessions.rename", sessionlist.RenameRequest{Session: "none", Title: "x"}, backend.CodeNotFound},
		{"sessions.remove", workbench.SessionRef{Session: "none"}, backend.CodeNotFound},
		{"keys.set", models.SetKeyRequest{Provider: "nobody", Key: "k"}, backend.CodeNoModel},
		{"keys.set", models.SetKeyRequest{Provider: "openai", Key: "k", BaseURL: "ftp://x"}, backend.CodeInvalid},
		{"host.open_link", workbench.LinkRequest{URL: "javascript:alert(1)"}, backend.CodeInvalid},
		{"host.open_link", workbench.LinkRequest{URL: "file:///etc/passwd"}, backend.CodeInvalid},
	} {
		if _, err := call[json.RawMessage](p, tt.method, tt.args); err == nil || err.Code != tt.want || err.Message == "" {
			t.Errorf("%s %+v: %v, want %s", tt.method, tt.args, err, tt.want)
		}
	}
}

// A wrong key, and an address that does not answer, end the turn with a message
// that says what to do. The key is neither in the message nor on the disk.
func TestProviderFailures(t *testing.T) {
	t.Parallel()
	const key = "sk-test-very-secret-0123456789"
	server := llmtest.Serve(t,
		llmtest.Round{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: ` + key + `","code":"invalid_api_key"}}`},
		llmtest.Round{Text: "Better."})
	home := t.TempDir()
	p := newPage(t, t.TempDir(), home, environment(server, key))
	session := p.session("openai")
	p.send(session, "hello")
	f := await(p, anyOf[agent.Failure])
	if f.Code != "auth" || f.Kept == "" || !strings.Contains(f.Next, "Check the provider's key") || strings.Contains(f.Message+f.Details, key) {
		t.Errorf("failure: %+v", f)
	}
	await(p, anyOf[agent.ProcessingEnd])
	p.send(session, "again") // the session still works
	if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
		t.Errorf("ended as %s", end.Reason)
	}

	unreachable := newPage(t, t.TempDir(), home, func(name string) string {
		if name == "COMPAT_BASE_URL" {
			return "http://127.0.0.1:1/v1"
		}
		return ""
	})
	session = unreachable.session("compat")
	unreachable.send(session, "hello")
	if f := await(unreachable, anyOf[agent.Failure]); f.Code != "network" || !strings.Contains(f.Message, "127.0.0.1:1") {
		t.Errorf("failure: %+v", f)
	}
	await(unreachable, anyOf[agent.ProcessingEnd])
	p.close()
	unreachable.close()
	noSecretIn(t, home, key)
}

func noSecretIn(t *testing.T, dir, secret string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), secret) {
			t.Errorf("%s holds the key", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// Keys are entered and removed, and no reply contains one.
func TestKeys(t *testing.T) {
	t.Parallel()
	const key = "sk-entered-0123456789"
	p := newPage(t, t.TempDir(), t.TempDir(), func(string) string { return "" })
	source := func(list models.KeyList) backend.KeySource { return list.Keys[0].Source }
	if got := source(must[models.KeyList](p, "keys.list", backend.Empty{})); got != "" {
		t.Errorf("source %q before", got)
	}
	session := must[backend.SessionInfo](p, "sessions.create", backend.Empty{})
	if session.Settings.Provider != "demo" {
		t.Errorf("without a key a session begins with %+v", session.Settings)
	}
	reply := p.bench.Call(t.Context(), "keys.set", `{"provider":"openai","key":" `+key+` "}`)
	if strings.Contains(reply, key) {
		t.Error("the reply holds the key")
	}
	if got := source(must[models.KeyList](p, "keys.list", backend.Empty{})); got != backend.KeyFromFile && got != backend.KeyFromKeyring {
		t.Errorf("source %q after", got)
	}
	if session := must[backend.SessionInfo](p, "sessions.create", backend.Empty{}); session.Settings.Provider != "openai" {
		t.Errorf("with a key a session begins with %+v", session.Settings)
	}
	if got := source(must[models.KeyList](p, "keys.remove", models.ProviderRef{Provider: "openai"})); got != "" {
		t.Errorf("source %q after removing", got)
	}
}

// A prompt of a megabyte arrives complete and is shown cut; the whole can be
// read.
func TestLargePrompt(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Text: "long"})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, ""))
	session := p.session("compat")
	text := strings.Repeat("0123456789abcde\n", 1<<16)
	p.send(session, text)
	await(p, anyOf[agent.ProcessingEnd])
	if requests := server.Requests(); len(requests[len(requests)-1].Body) < len(text) {
		t.Error("the model was not sent all of it")
	}
	snapshot := must[conversation.Snapshot](p, "conversation.open", conversation.OpenRequest{Session: session})
	for _, ev := range snapshot.Events {
		in, ok := ev.Data.(agent.UserInput)
		if !ok {
			continue
		}
		if in.Size != int64(len(text)) || len(in.Text) > 20_000 {
			t.Errorf("shown %d bytes of %d", len(in.Text), in.Size)
		}
		whole := must[reading.EventReply](p, "conversation.event", place.EventRef{Session: session, Seq: ev.Seq})
		if whole.Event.Data.(agent.UserInput).Text != text {
			t.Error("the whole prompt is not within reach")
		}
		return
	}
	t.Error("no prompt in the session")
}

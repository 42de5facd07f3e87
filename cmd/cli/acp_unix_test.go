//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// editor is a client that speaks the Agent Client Protocol. It has neither files nor
// terminals: a call of one is a fault.
type editor struct {
	acp.Client
	t      *testing.T
	conn   *acp.ClientSideConnection
	mu     sync.Mutex
	told   []string // every update, as JSON
	asked  []acp.RequestPermissionRequest
	decide func(acp.RequestPermissionRequest) acp.RequestPermissionOutcome
}

func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	raw, err := json.Marshal(n.Update)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.told = append(e.told, string(raw))
	return err
}

func (e *editor) RequestPermission(_ context.Context, r acp.RequestPermissionRequest) (acp.RequestPermissionResponse, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, r)
	return acp.RequestPermissionResponse{Outcome: e.decide(r)}, nil
}

// heard returns what the client was told of since the last time.
func (e *editor) heard() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := strings.Join(e.told, "\n")
	e.told = nil
	return all
}

// edit starts the program for an editor.
func (p *place) edit() (e *editor, end func()) {
	p.t.Helper()
	cmd := p.command("acp")
	in, err := cmd.StdinPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		p.t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = cmd.Process.Kill() })
	e = &editor{t: p.t, decide: func(acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		return acp.NewRequestPermissionOutcomeSelected("allow")
	}}
	e.conn = acp.NewClientSideConnection(e, in, out)
	hello, err := e.conn.Initialize(p.t.Context(), acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber})
	if err != nil || hello.ProtocolVersion != 1 || !hello.AgentCapabilities.LoadSession || hello.AgentInfo.Name != "atelier" {
		p.t.Fatalf("%+v, %v", hello, err)
	}
	return e, func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			p.t.Errorf("it ended with %v", err)
		}
	}
}

func (e *editor) prompt(id acp.SessionId, blocks ...acp.ContentBlock) acp.PromptResponse {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(e.t.Context(), time.Minute)
	defer cancel()
	out, err := e.conn.Prompt(ctx, acp.PromptRequest{SessionId: id, Prompt: blocks})
	if err != nil {
		e.t.Fatal(err)
	}
	return out
}

// dotPNG is a picture of one pixel.
const dotPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg=="

// OC-05: an editor begins a session, is asked before a file is written, sees the answer, the
// call, its difference and the list of tasks, changes the mode, and lists, closes, resumes and
// loads the session.
func TestEditor(t *testing.T) {
	t.Parallel()
	todos := llmtest.Use("update_plan", map[string]any{"plan": []map[string]string{{"step": "Write it", "status": "in_progress"}}})
	p := newPlace(t,
		llmtest.Round{Text: "Hello."},
		llmtest.Round{Reasoning: "Hm.", Text: "First.", Usage: llm.Usage{Input: 90, Output: 20, Known: true}, Calls: []llmtest.Call{todos, llmtest.Use("Write", map[string]string{"file_path": "a.txt", "content": "alpha\n"})}},
		llmtest.Round{Text: "Written.", Usage: llm.Usage{Input: 100, Output: 7, Known: true}},
		llmtest.Round{Text: "Again.", Calls: []llmtest.Call{llmtest.Use("Write", map[string]string{"file_path": "b.txt", "content": "beta\n"})}},
		llmtest.Round{Text: "Not written."},
		llmtest.Round{Text: "Still here."},
	)
	if _, errs, code := p.run("run", "--model", "openai/test-model", "--naming", "spec", "Hello."); code != 0 { // now this model is the user's
		t.Fatal(errs)
	}
	e, end := p.edit()
	began, err := e.conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: p.folder, McpServers: []acp.McpServer{}})
	if err != nil || began.Modes == nil || began.Modes.CurrentModeId != "default" || len(began.ConfigOptions) < 2 {
		t.Fatalf("%+v, %v", began, err)
	}
	id := began.SessionId
	file := "file://" + filepath.Join(p.folder, "notes.md")
	out := e.prompt(id, acp.TextBlock("Write a file, as in "), acp.ResourceLinkBlock("notes.md", file))
	if out.StopReason != acp.StopReasonEndTurn || out.Usage == nil {
		t.Errorf("%+v", out)
	}
	heard := e.heard()
	for _, want := range []string{
		`"agent_message_chunk"`, `"sessionUpdate":"plan"`, `"sessionUpdate":"tool_call"`, `"kind":"edit"`, `"status":"completed"`,
		`"type":"diff"`, `"newText":"alpha\n"`, `"session_info_update"`, `"usage_update"`,
	} {
		if !strings.Contains(heard, want) {
			t.Errorf("%s is missing of %s", want, heard)
		}
	}
	if len(e.asked) != 1 || len(e.asked[0].Options) != 3 || *e.asked[0].ToolCall.Kind != acp.ToolKindEdit {
		t.Errorf("asked %+v", e.asked)
	}
	if text, err := os.ReadFile(filepath.Join(p.folder, "a.txt")); err != nil || string(text) != "alpha\n" {
		t.Errorf("%q, %v", text, err)
	}
	e.decide = func(acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		return acp.NewRequestPermissionOutcomeSelected("deny")
	}
	e.prompt(id, acp.TextBlock("And another one, as in "), acp.ImageBlock(dotPNG, "image/png"))
	if body := string(p.server.Requests()[3].Body); !strings.Contains(body, "data:image/png;base64,"+dotPNG) {
		t.Errorf("the picture is not sent: %s", body)
	}
	if heard := e.heard(); !strings.Contains(heard, `"status":"failed"`) || !strings.Contains(heard, `written."`) {
		t.Errorf("after a denial: %s", heard)
	}
	if _, err := os.Stat(filepath.Join(p.folder, "b.txt")); err == nil {
		t.Error("a denied call ran")
	}
	if _, err := e.conn.SetSessionMode(t.Context(), acp.SetSessionModeRequest{SessionId: id, ModeId: "plan"}); err != nil {
		t.Error(err)
	}
	for _, wrong := range []acp.SessionModeId{"bypassPermissions", "fast"} {
		if _, err := e.conn.SetSessionMode(t.Context(), acp.SetSessionModeRequest{SessionId: id, ModeId: wrong}); err == nil {
			t.Errorf("the mode %s was accepted", wrong)
		}
	}
	e.listed(p, id)
	e.prompt(id, acp.TextBlock("Are you there?"))
	end()
	if list, errs, _ := p.run("sessions", "list", "-C", p.folder); !strings.Contains(list, "Write a file") {
		t.Errorf("the window's list says %s%s", list, errs)
	}
}

// listed lists, closes, resumes and loads a session.
func (e *editor) listed(p *place, id acp.SessionId) {
	e.t.Helper()
	ctx := e.t.Context()
	list, err := e.conn.ListSessions(ctx, acp.ListSessionsRequest{Cwd: &p.folder})
	if err != nil || !slices.ContainsFunc(list.Sessions, func(s acp.SessionInfo) bool { return s.SessionId == id && s.Cwd == p.folder && s.Title != nil }) {
		e.t.Errorf("%+v, %v", list, err)
	}
	if _, err := e.conn.CloseSession(ctx, acp.CloseSessionRequest{SessionId: id}); err != nil {
		e.t.Error(err)
	}
	if _, err := e.conn.Prompt(ctx, acp.PromptRequest{SessionId: id, Prompt: []acp.ContentBlock{acp.TextBlock("x")}}); err == nil {
		e.t.Error("a closed session took a prompt")
	}
	e.heard()
	if again, err := e.conn.ResumeSession(ctx, acp.ResumeSessionRequest{SessionId: id, Cwd: p.folder}); err != nil || again.Modes.CurrentModeId != "plan" {
		e.t.Errorf("%+v, %v", again, err)
	}
	if heard := e.heard(); strings.Contains(heard, "alpha") {
		e.t.Errorf("resuming showed the past: %s", heard)
	}
	if _, err := e.conn.CloseSession(ctx, acp.CloseSessionRequest{SessionId: id}); err != nil {
		e.t.Error(err)
	}
	if _, err := e.conn.LoadSession(ctx, acp.LoadSessionRequest{SessionId: id, Cwd: p.folder, McpServers: []acp.McpServer{}}); err != nil {
		e.t.Error(err)
	}
	heard := e.heard()
	for _, want := range []string{`"user_message_chunk"`, "Write a file", `"newText":"alpha\n"`, "Not written."} {
		if !strings.Contains(heard, want) {
			e.t.Errorf("loading did not show %s: %s", want, heard)
		}
	}
}

// A turn that is cancelled ends as such, also while the client is asked; a turn that fails is
// an error that says why; and what names no session or no folder is refused.
func TestEditorStops(t *testing.T) {
	t.Parallel()
	p := newPlace(t, llmtest.Round{Text: "Hello."}, llmtest.Round{Text: "x", Calls: []llmtest.Call{llmtest.Use("Write", map[string]string{"file_path": "a.txt", "content": "alpha\n"})}}, llmtest.Round{Status: 401})
	if _, errs, code := p.run("run", "--model", "openai/test-model", "Hello."); code != 0 {
		t.Fatal(errs)
	}
	e, end := p.edit()
	began, err := e.conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: p.folder, McpServers: []acp.McpServer{}})
	if err != nil {
		t.Fatal(err)
	}
	e.decide = func(r acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
		go func() { _ = e.conn.Cancel(t.Context(), acp.CancelNotification{SessionId: r.SessionId}) }()
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	if out := e.prompt(began.SessionId, acp.TextBlock("Write.")); out.StopReason != acp.StopReasonCancelled {
		t.Errorf("cancelled: %+v", out)
	}
	if _, err := e.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: began.SessionId, Prompt: []acp.ContentBlock{acp.TextBlock("Go on.")}}); err == nil || !strings.Contains(err.Error(), "key") {
		t.Errorf("a turn that fails: %v", err)
	}
	for name, blocks := range map[string][]acp.ContentBlock{"an empty prompt": {acp.TextBlock(" ")}, "a picture": {acp.ImageBlock("AAAA", "image/png")}} {
		if _, err := e.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: began.SessionId, Prompt: blocks}); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	if _, err := e.conn.Prompt(t.Context(), acp.PromptRequest{SessionId: "none", Prompt: []acp.ContentBlock{acp.TextBlock("x")}}); err == nil {
		t.Error("a session that does not exist took a prompt")
	}
	for _, folder := range []string{"relative", filepath.Join(p.folder, "none")} {
		if _, err := e.conn.NewSession(t.Context(), acp.NewSessionRequest{Cwd: folder, McpServers: []acp.McpServer{}}); err == nil {
			t.Errorf("a session began in %s", folder)
		}
	}
	end()
}

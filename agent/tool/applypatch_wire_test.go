package tool_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/llm/anthropic"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/llm/openai"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/tool"
)

// asked records the requests for approval, and allows them.
type asked []agent.ApprovalRequest

func (a *asked) Approve(_ context.Context, r agent.ApprovalRequest) (agent.Answer, error) {
	*a = append(*a, r)
	return agent.Answer{Decision: agent.Allow}, nil
}

// project is a session on a folder with ApplyPatch.
type project struct {
	t       *testing.T
	dir     string
	asked   asked
	session *agent.Session
}

func newProject(t *testing.T, model agent.Model, mode agent.Mode) *project {
	t.Helper()
	p := &project{t: t, dir: t.TempDir()}
	for name, content := range map[string]string{"a.go": "package a\n\nvar x = 1\n", ".git/config": "[core]\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	local, err := env.NewLocal(p.dir)
	if err != nil {
		t.Fatal(err)
	}
	tools, err := agent.NewRegistry(tool.Builtin(local, tool.Options{ApplyPatch: true})...)
	if err != nil {
		t.Fatal(err)
	}
	gate, err := permission.New(p.dir, permission.Rules{})
	if err != nil {
		t.Fatal(err)
	}
	p.session, err = agent.New(agent.Config{
		ID: "s", Model: model, Profiles: agent.Plain("Patch.", tools), Gate: gate, Approver: &p.asked,
		Limits: agent.DefaultLimits, Reduce: tool.Truncate, Now: time.Now, NewID: func() string { return "id" },
	})
	if err != nil {
		t.Fatal(err)
	}
	p.session.Configure(agent.Settings{Provider: "p", Model: llmtest.ModelID, Mode: mode})
	return p
}

func (p *project) run() []agent.Event {
	p.t.Helper()
	var events []agent.Event
	for ev, err := range p.session.Run(p.t.Context(), "go") {
		if err != nil {
			p.t.Fatal(err)
		}
		events = append(events, ev)
	}
	return events
}

func (p *project) content(name string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

func ends(events []agent.Event) []agent.ToolCallEnd {
	var out []agent.ToolCallEnd
	for _, ev := range events {
		if end, ok := ev.Data.(agent.ToolCallEnd); ok {
			out = append(out, end)
		}
	}
	return out
}

const twoFiles = "*** Begin Patch\n*** Update File: a.go\n-var x = 1\n+var x = 2\n*** Add File: b.go\n+package a\n*** End Patch\n"

// LOOP-29, LOOP-50, LOOP-175: a model writes a freeform patch over the real
// wire format. The request for approval lists all files, both are changed, and
// the result is sent back in the form of the call.
func TestAFreeformPatchOverResponses(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Custom("ApplyPatch", twoFiles)}}, llmtest.Round{Text: "Done."})
	p := newProject(t, openai.New(openai.Config{BaseURL: server.URL, APIKey: "k"}), agent.ModeDefault)
	p.run()
	if len(p.asked) != 1 {
		t.Fatalf("asked %d times", len(p.asked))
	}
	request := p.asked[0]
	if request.Tool != "ApplyPatch" || request.Reason != "This changes a.go and 1 other file." || len(request.Changes) != 2 || len(request.Access.Writes) != 2 {
		t.Errorf("asked %+v", request)
	}
	if p.content("a.go") != "package a\n\nvar x = 2\n" || p.content("b.go") != "package a\n" {
		t.Errorf("a.go holds %q, b.go %q", p.content("a.go"), p.content("b.go"))
	}
	var last struct{ Input []json.RawMessage }
	requests := server.Requests()
	if err := json.Unmarshal(requests[1].Body, &last); err != nil || len(last.Input) != 3 {
		t.Fatalf("%v: %s", err, requests[1].Body)
	}
	const result = `{"call_id":"wire_1_0","output":"Success. Updated the following files:\nA b.go\nM a.go\n","type":"custom_tool_call_output"}`
	if diff := cmp.Diff(result, string(last.Input[2])); diff != "" {
		t.Error(diff)
	}
	if !strings.Contains(string(requests[0].Body), `{"name":"ApplyPatch","description":`) || !strings.Contains(string(requests[0].Body), `"syntax":"lark"`) {
		t.Errorf("%s", requests[0].Body)
	}
}

// LOOP-175: the same tool works over an API that knows JSON only.
func TestAPatchInJSONOverMessages(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Custom("ApplyPatch", twoFiles)}}, llmtest.Round{Text: "Done."})
	p := newProject(t, anthropic.New(anthropic.Config{BaseURL: server.Root, APIKey: "k"}), agent.ModeAcceptEdits)
	if end := ends(p.run())[0]; end.IsError || p.content("b.go") != "package a\n" || len(p.asked) != 0 {
		t.Errorf("ended with %+v, asked %d times", end, len(p.asked))
	}
}

// OAS-624, K-12: a patch with one protected file always needs consent. A patch
// that cannot be read is refused without a question.
func TestAPatchPassesTheGateAsAWhole(t *testing.T) {
	t.Parallel()
	hook := strings.Replace(twoFiles, "b.go", ".git/hooks/post-checkout", 1)
	outside := strings.Replace(twoFiles, "b.go", "../b.go", 1)
	broken := strings.Replace(twoFiles, "+package a", "package a", 1)
	for _, tt := range []struct {
		mode   agent.Mode
		patch  string
		reason string
		result string
	}{
		{agent.ModeAcceptEdits, hook, ".git/hooks/post-checkout can make other programs run code", "Success"},
		{agent.ModeDontAsk, hook, "", "can make other programs run code"},
		{agent.ModeAcceptEdits, outside, "lies outside the project", "Success"},
		{agent.ModeDefault, broken, "", "line 6 of the patch"},
	} {
		p := newProject(t, llmtest.Script(llmtest.Round{Calls: []llmtest.Call{llmtest.Custom("ApplyPatch", tt.patch)}}, llmtest.Round{}), tt.mode)
		end := ends(p.run())[0]
		if !strings.Contains(end.Output, tt.result) {
			t.Errorf("result %q, want %q", end.Output, tt.result)
		}
		if (len(p.asked) > 0) != (tt.reason != "") || tt.reason != "" && !strings.Contains(p.asked[0].Reason, tt.reason) {
			t.Errorf("asked %+v, want %q", p.asked, tt.reason)
		}
		if changed := p.content("a.go") != "package a\n\nvar x = 1\n"; changed != (tt.result == "Success") {
			t.Errorf("changed: %v; %s", changed, end.Output)
		}
	}
}

// LOOP-50: a command that is a patch is checked, shown and run as a patch.
func TestAPatchGivenToBash(t *testing.T) {
	t.Parallel()
	use := llmtest.Use("Bash", map[string]any{"command": "apply_patch <<'EOF'\n" + twoFiles + "EOF\n"})
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{use}}, llmtest.Round{})
	p := newProject(t, model, agent.ModeAcceptEdits)
	if end := ends(p.run())[0]; end.IsError || end.Tool != "ApplyPatch" || p.content("b.go") != "package a\n" || len(p.asked) != 0 {
		t.Errorf("ended with %+v, asked %d times", end, len(p.asked))
	}
	history := model.Requests()[1].Messages
	if call, result := history[1].Calls()[0], history[2].Parts[0].Result; call.Name != "Bash" || result.Name != "Bash" || result.CallID != call.ID {
		t.Errorf("the conversation has %+v and %+v", call, result)
	}
}

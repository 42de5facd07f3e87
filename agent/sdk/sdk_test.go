package sdk_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sdk"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite the expected messages")

// tool is a tool with a made-up result.
type tool struct {
	name   string
	result agent.Result
}

func (t tool) Spec() agent.Spec {
	return agent.Spec{Name: t.name, Description: "Does as it is told.", Schema: agent.SchemaOf[map[string]string]()}
}

func (t tool) Run(_ context.Context, call agent.Invocation) agent.Result {
	call.Output("working")
	return t.result
}

// freely is a gate that allows every call.
type freely struct{}

func (freely) Decide(context.Context, agent.GateCall) agent.Verdict {
	return agent.Verdict{Decision: agent.Allow}
}

func (freely) Approve(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
	return agent.Answer{Decision: agent.Allow}, nil
}

// remark is a hook that comments on calls that ran.
type remark struct{}

func (remark) Fire(_ context.Context, c agent.HookCall, report func(agent.Payload)) agent.HookAdvice {
	ran, ok := c.Data.(agent.PostToolUseInput)
	if !ok || ran.Tool != "Write" {
		return agent.HookAdvice{}
	}
	report(agent.HookStart{Point: c.Point(), Name: "format", CallID: ran.CallID})
	report(agent.HookOutput{Point: c.Point(), Name: "format", CallID: ran.CallID, Text: "formatting"})
	report(agent.HookEnd{Point: c.Point(), Name: "format", CallID: ran.CallID, Message: "It was formatted."})
	return agent.HookAdvice{Context: "It was formatted."}
}

// prices are facts with a price of one cent for every known token.
type prices struct{}

func (prices) Price(_, _ string, u llm.Usage, _ time.Time) *llm.Cost {
	if !u.Known {
		return nil
	}
	return new(llm.Cost(u.Input+u.Output) * llm.Dollar / 100)
}

func (prices) Limits(string, string) llm.ModelLimits { return llm.ModelLimits{} }

// session returns a session on a script, with tools for every kind of message.
func session(t *testing.T, rounds ...llmtest.Round) *agent.Session {
	t.Helper()
	tools, err := agent.NewRegistry(
		tool{"Write", agent.Result{Output: "Written.", Details: &agent.Details{Changes: []agent.FileChange{{Path: "a.txt", Created: true, Added: 1, Diff: "@@ -0,0 +1 @@\n+a\n"}}}}},
		tool{"Bash", agent.Result{Output: "Begun.", Details: &agent.Details{Command: &agent.CommandResult{Task: "1"}}}},
		tool{"SpawnAgent", agent.Result{Output: "Begun.", Details: &agent.Details{Agent: &agent.AgentRef{Session: "s2"}}}},
		tool{"Look", agent.Fail("There is nothing to see.")},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := agent.New(agent.Config{
		ID: "s1", Model: llmtest.Script(rounds...), Gate: freely{}, Approver: freely{}, Hooks: remark{},
		Profiles: agent.Plain("Be brief.", tools), Limits: agent.DefaultLimits, Facts: prices{},
		Now:   func() time.Time { return time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC) },
		NewID: func() string { return "id" },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Configure(agent.Settings{Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault})
	return s
}

func use(tool string) llmtest.Call { return llmtest.Use(tool, map[string]string{"what": "it"}) }

// scripted returns the events of a session with everything that a program is
// told of a sound one: tools, a hook, tasks, steering, an interrupt in its
// second turn, and then a command of the user's.
func scripted(t *testing.T) iter.Seq2[agent.Event, error] {
	t.Helper()
	used := llm.Usage{Input: 10, Output: 2, Known: true}
	s := session(t,
		llmtest.Round{Reasoning: "I write first.", Text: "Let me see.", Calls: []llmtest.Call{use("Write"), use("Look"), {Name: "Look", Arguments: `{"what":`}}, Usage: used},
		llmtest.Round{Calls: []llmtest.Call{use("Bash"), use("SpawnAgent")}, Usage: used},
		llmtest.Round{Calls: []llmtest.Call{use("Bash"), use("SpawnAgent")}, Usage: used},
		llmtest.Round{Text: "Done.", Usage: used},
		llmtest.Round{Text: "I was about to", Hang: true})
	return func(yield func(agent.Event, error) bool) {
		if !yield(s.Record(agent.SessionStart{Folder: "/project"}), nil) {
			return
		}
		for ev, err := range s.StreamInput(t.Context(), slices.Values([]string{"go", "go on"})) {
			switch ev.Data.(type) {
			case agent.HookStart:
				s.Steer("be quick")
			case agent.TextDelta:
				if ev.Turn == 2 {
					s.Interrupt()
				}
			}
			if !yield(ev, err) {
				return
			}
		}
		if !yield(s.Record(agent.PromptSuggestion{Text: "Say what you were about to do."}), nil) {
			return
		}
		for ev, err := range s.RunCommand(t.Context(), "git status", clean) {
			if !yield(ev, err) {
				return
			}
		}
		for _, ev := range s.Close(t.Context()) {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// clean is a command of the user's that prints something.
func clean(_ context.Context, _ string, output func(string)) agent.Result {
	output("nothing to commit\n")
	return agent.Result{Output: "nothing to commit\n", Details: &agent.Details{Command: &agent.CommandResult{}}}
}

func collect(t *testing.T, events iter.Seq2[agent.Event, error]) (all []sdk.Message) {
	t.Helper()
	for m, err := range sdk.Messages(events) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// pick returns the payloads of one type.
func pick[P sdk.Payload](messages []sdk.Message) (found []P) {
	for _, m := range messages {
		if p, ok := m.Data.(P); ok {
			found = append(found, p)
		}
	}
	return found
}

var callID = regexp.MustCompile(`call_[0-9A-Za-z]{26}`)

// OAS-102: a whole session is translated into the SDK's messages, each a flat
// object.
func TestMessages(t *testing.T) {
	t.Parallel()
	const golden = "testdata/session.jsonl"
	var out bytes.Buffer
	for _, m := range collect(t, scripted(t)) {
		line, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(append(line, '\n'))
	}
	names := map[string]string{}
	got := callID.ReplaceAllStringFunc(out.String(), func(id string) string {
		if names[id] == "" {
			names[id] = fmt.Sprintf("call-%d", len(names)+1)
		}
		return names[id]
	})
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
}

// COM-93, OAS-117: the stream has the session's id, the model's text and
// reasoning, each call with its arguments, each result and whether it is an
// error, the usage, and why an answer and a turn ended.
func TestStreamHasEverythingAProgramNeeds(t *testing.T) {
	t.Parallel()
	all := collect(t, scripted(t))
	if i := slices.IndexFunc(all, func(m sdk.Message) bool { return m.Session != "s1" }); i >= 0 {
		t.Errorf("%+v is of another session", all[i])
	}
	if first := pick[sdk.System](all)[0]; first.Subtype != agent.KindSessionStart {
		t.Errorf("the stream begins with %s", first.Subtype)
	}
	answers := pick[sdk.Assistant](all)
	first := sdk.Assistant{
		Provider: llmtest.Provider, Model: "m", Text: "Let me see.", Thinking: "I write first.",
		StopReason: llm.FinishToolCalls, Usage: llm.Usage{Input: 10, Output: 2, Known: true},
		Cost: new(12 * llm.Dollar / 100),
	}
	if diff := cmp.Diff(first, answers[0]); diff != "" {
		t.Error(diff)
	}
	if last := answers[len(answers)-1]; last.StopReason != llm.FinishInterrupted {
		t.Errorf("the answer that was cut ended as %s", last.StopReason)
	}
	calls, results := pick[sdk.ToolUse](all), pick[sdk.ToolResult](all)
	if c, r := calls[0], results[0]; c.Tool != "Write" || string(c.Input) != `{"what":"it"}` || r.CallID != c.CallID ||
		r.IsError || r.Content != "Written.\n\nIt was formatted." || r.Output != "Written." {
		t.Errorf("%+v %+v", c, r)
	}
	if r := results[1]; !r.IsError || r.Content != "There is nothing to see." {
		t.Errorf("%+v", r)
	}
	if c := calls[2]; string(c.Input) != `"{\"what\":"` {
		t.Errorf("arguments that are not JSON became %s", c.Input)
	}
	ends := pick[sdk.Result](all)
	if r := ends[0]; r.Status != agent.StatusSuccess || r.Text != "Done." || r.Rounds != 3 || r.Usage.Input != 40 || r.Cancelled ||
		r.TotalCost != 48*llm.Dollar/100 || r.CostUnknown != 0 || len(r.CostByModel) != 1 {
		t.Errorf("%+v", r)
	}
	if r := ends[1]; r.Status != agent.StatusCancelled || r.Text != "I " || !r.Cancelled || r.Rounds != 0 || r.Usage.Input != 0 ||
		r.TotalCost != 0 || r.CostUnknown != 1 {
		t.Errorf("%+v", r)
	}
}

// A refused key has a message of its own, and is the reason for the turn's
// failure.
func TestAuthStatus(t *testing.T) {
	t.Parallel()
	all := collect(t, session(t, llmtest.Round{Status: 401}).Run(t.Context(), "go"))
	status, ends := pick[sdk.AuthStatus](all), pick[sdk.Result](all)
	if len(status) != 1 || len(ends) != 1 || ends[0].Status != agent.StatusFailed || !cmp.Equal(*ends[0].Failure, agent.Failure(status[0])) {
		t.Errorf("%+v %+v", status, ends)
	}
}

// OAS-102: every durable event becomes messages, which name its place in the
// log.
func TestNoEventIsLost(t *testing.T) {
	t.Parallel()
	for _, p := range agent.Payloads() {
		ev := agent.Event{Session: "s", Seq: 7, Turn: 2, At: 3, Data: p}
		all := sdk.NewTranslator().Translate(ev)
		if len(all) == 0 && ev.Durable() {
			t.Errorf("%s is lost", p.Kind())
		}
		for _, m := range all {
			if m.Session != ev.Session || m.Seq != ev.Seq || m.Turn != ev.Turn || m.At != ev.At {
				t.Errorf("%s: %+v", p.Kind(), m)
			}
		}
	}
}

// OAS-102: every type has a name of its own, and some event produces it.
func TestEveryTypeOccurs(t *testing.T) {
	t.Parallel()
	occurs := map[sdk.Type]bool{}
	for _, m := range append(collect(t, scripted(t)), collect(t, session(t, llmtest.Round{Status: 401}).Run(t.Context(), "go"))...) {
		occurs[m.Data.Type()] = true
	}
	for _, p := range sdk.Payloads() {
		if !occurs[p.Type()] {
			t.Errorf("%s does not occur, or is listed twice", p.Type())
		}
		delete(occurs, p.Type())
	}
	for unlisted := range occurs {
		t.Errorf("%s is not listed", unlisted)
	}
}

// A caller that stops ranging receives nothing more. An error of the run is
// passed on.
func TestMessagesEnd(t *testing.T) {
	t.Parallel()
	for range sdk.Messages(scripted(t)) {
		break
	}
	s := session(t)
	s.Close(t.Context())
	for m, err := range sdk.Messages(s.Run(t.Context(), "go")) {
		if !errors.Is(err, agent.ErrClosed) || m.Data != nil {
			t.Errorf("%+v, %v", m, err)
		}
	}
}

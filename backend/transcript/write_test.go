package transcript_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/transcript"
	"github.com/google/go-cmp/cmp"
)

func sequence(events []agent.Event) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		for _, ev := range events {
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// scripted returns a session of random turns.
func scripted(r *rand.Rand) (info backend.SessionInfo, events []agent.Event) {
	info = backend.SessionInfo{ID: "01ABC", Folder: "/p", CreatedAt: 1_767_323_045_000, UpdatedAt: 1_767_323_046_000}
	add := func(turn int, p agent.Payload) {
		ev := agent.Event{Session: info.ID, Seq: int64(len(events) + 1), Turn: turn, At: 1_767_323_045_000 + int64(len(events)), Data: p}
		info.Apply(ev)
		events = append(events, ev)
	}
	text := func() string {
		return []string{"plain", "```\n</script><b>", "\u202e\x1b[31m", "日本 é", "\"quoted\\", "# h\n\n- x"}[r.IntN(6)]
	}
	add(0, agent.SessionStart{Folder: "/p"})
	add(0, agent.SettingsChange{Settings: agent.Settings{Provider: "p", Model: "m", Mode: agent.ModeDefault}})
	add(0, agent.SessionMarks{Tags: []string{"a", "b"}})
	add(0, agent.Briefing{})
	calls := 0
	for turn := 1; turn <= 1+r.IntN(5); turn++ {
		add(turn, agent.UserInput{Text: fmt.Sprintf("%s %d", text(), turn)})
		for range 1 + r.IntN(3) {
			parts := []llm.Part{{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: text()}}, {Kind: llm.PartText, Text: text()}}
			var made []llm.ToolCall
			for range r.IntN(3) {
				calls++
				c := llm.ToolCall{ID: fmt.Sprintf("call_%d", calls), Name: "Read", Arguments: json.RawMessage(`{"file_path":"a b"}`)}
				made = append(made, c)
				parts = append(parts, llm.Part{Kind: llm.PartToolCall, Call: &c})
			}
			add(turn, agent.TextEnd{Message: llm.Message{Role: llm.RoleAssistant, Parts: parts}, Usage: llm.Usage{Input: 3, Output: 4, Known: true}, Cost: new(llm.Cost(r.IntN(100))), Provider: "p", Model: "m"})
			for _, c := range made {
				add(turn, agent.ToolCallStart{CallID: c.ID, Tool: "Read", Input: string(c.Arguments)})
				told := text()
				add(turn, agent.ToolCallEnd{CallID: c.ID, Tool: "Read", Output: text(), ModelOutput: &told, Outcome: agent.OutcomeDone, IsError: r.IntN(2) == 0})
			}
		}
		add(turn, agent.ProcessingEnd{Reason: agent.EndDone, Rounds: 1})
		if r.IntN(4) == 0 {
			add(0, agent.Rewound{ID: fmt.Sprint("r", turn), To: 4 + int64(r.IntN(len(events)-4)), Prompt: "again"})
		}
	}
	add(0, agent.Title{Text: "A title", ByUser: true})
	return info, events
}

// The events that an import takes over, without their places.
func taken(info backend.SessionInfo, events []agent.Event) (out []string) {
	for _, ev := range events {
		switch ev.Data.(type) {
		case agent.SessionStart, agent.Briefing, agent.Imported:
			continue
		case agent.Rewound:
			continue // compared by what they take back
		}
		b, _ := json.Marshal(ev.Data)
		out = append(out, fmt.Sprint(ev.Turn, ev.At, ev.Kind(), string(b), transcript.Kept(info, ev.Seq)))
	}
	return out
}

// A session that was exported and imported again is equal to the first one: each event
// with its time, its turn and its cost, and what was taken back.
func TestNativeRoundTrip(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		info, events := scripted(rand.New(rand.NewPCG(seed, 1)))
		var out bytes.Buffer
		if err := transcript.WriteNative(&out, info, sequence(events)); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(out.Bytes()) {
			t.Fatalf("it is not JSON: %s", out.String())
		}
		got := read(t, file(t, "x.json", out.String()))
		var copied backend.SessionInfo
		for _, ev := range got {
			copied.Apply(ev)
		}
		if diff := cmp.Diff(taken(info, events), taken(copied, got)); diff != "" {
			t.Fatalf("seed %d (-exported +imported):\n%s", seed, diff)
		}
		if found := copied.Imported; found == nil || found.ID != info.ID || found.Folder != "/p" || found.Skipped != 0 || copied.Cost != (llm.Spending{}) ||
			copied.Title != "A title" || len(copied.Marks.Tags) != 2 || copied.Messages != info.Messages {
			t.Fatalf("%+v", copied)
		}
	}
}

// OAS-602, COM-95: the seeds' formats come back with every text, call and result that is
// part of the conversation.
func TestSeedFormatsRoundTrip(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(io.Writer, backend.SessionInfo, iter.Seq2[agent.Event, error]) error{
		"transcript.json": transcript.WriteOpenAgent, "messages.jsonl": transcript.WriteComate,
	} {
		for seed := range uint64(50) {
			info, events := scripted(rand.New(rand.NewPCG(seed, 2)))
			info.Rewound = nil
			var out bytes.Buffer
			if err := write(&out, info, sequence(events)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(words(events), words(read(t, file(t, name, out.String())))); diff != "" {
				t.Fatalf("%s, seed %d (-written +read):\n%s", name, seed, diff)
			}
		}
	}
}

// TestSeedFormatsKeepMetadata proves that what both formats say of a session is written,
// and that its tags come back (OAS-602, OAS-607, COM-95).
func TestSeedFormatsKeepMetadata(t *testing.T) {
	t.Parallel()
	info := backend.SessionInfo{
		ID: "01ABC", Folder: "/p", Title: "Repair it", Prompt: "please repair", Branch: "fix/it", Settings: agent.Settings{Provider: "p", Model: "m-1"},
		Marks: agent.SessionMarks{Tags: []string{"analysis", "later"}}, CreatedAt: 1_767_323_045_000, UpdatedAt: 1_767_323_046_500,
	}
	call := llm.ToolCall{ID: "c1", Name: "Read", Arguments: json.RawMessage(`{"file_path":"a"}`)}
	events := []agent.Event{
		{Seq: 1, Turn: 1, At: info.CreatedAt, Data: agent.UserInput{Text: "please repair"}},
		{Seq: 2, Turn: 1, At: info.CreatedAt, Data: agent.TextEnd{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &call}}}}},
		{Seq: 3, Turn: 1, At: info.CreatedAt, Data: agent.ToolCallEnd{CallID: "c1", Tool: "Read", Output: "x", Outcome: agent.OutcomeDone}},
	}
	var out bytes.Buffer
	if err := transcript.WriteOpenAgent(&out, info, sequence(events)); err != nil {
		t.Fatal(err)
	}
	var written struct{ Metadata map[string]any }
	if err := json.Unmarshal(out.Bytes(), &written); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"id": "01ABC", "cwd": "/p", "model": "m-1", "summary": "Repair it", "tag": "analysis,later", "firstPrompt": "please repair", "gitBranch": "fix/it",
		"createdAt": "2026-01-02T03:04:05Z", "updatedAt": "2026-01-02T03:04:06.5Z", "messageCount": 3.0,
	}
	if diff := cmp.Diff(want, written.Metadata); diff != "" {
		t.Errorf("metadata (-want +got):\n%s", diff)
	}
	var tags []string
	for _, ev := range read(t, file(t, "transcript.json", out.String())) {
		if marks, ok := ev.Data.(agent.SessionMarks); ok {
			tags = marks.Tags
		}
	}
	if diff := cmp.Diff(info.Marks.Tags, tags); diff != "" {
		t.Errorf("tags (-written +read):\n%s", diff)
	}
	state, err := json.Marshal(transcript.ComateStateOf(info))
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"session_id":"01ABC","cwd":"/p","model":"m-1","title":"Repair it","created_at":"2026-01-02T03:04:05Z","updated_at":"2026-01-02T03:04:06.5Z"}`; string(state) != want {
		t.Errorf("state.json is %s", state)
	}
	out.Reset()
	if err := transcript.WriteComate(&out, info, sequence(events)); err != nil {
		t.Fatal(err)
	}
	if want := `"tool_calls":[{"id":"c1","type":"function","function":{"name":"Read"`; !strings.Contains(out.String(), want) {
		t.Errorf("the call is written as %s", out.String())
	}
	path := file(t, "messages.jsonl", out.String())
	for text, want := range map[string][3]string{ // its id, folder and title
		string(state):             {"01ABC", "/p", "Repair it"},
		`{"session_id":"other"}`:  {"other", "", "please repair"},
		`{"title":"Only a title`:  {filepath.Base(filepath.Dir(path)), "", "please repair"},
		`[]`:                      {filepath.Base(filepath.Dir(path)), "", "please repair"},
		`{"cwd":"/q","title":""}`: {filepath.Base(filepath.Dir(path)), "/q", "please repair"},
	} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "state.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var got [3]string
		for _, ev := range read(t, path) {
			switch d := ev.Data.(type) {
			case agent.Imported:
				got[0], got[1] = d.ID, d.Folder
			case agent.Title:
				got[2] = d.Text
			}
		}
		if got != want {
			t.Errorf("with the state %s it is %q, want %q", text, got, want)
		}
	}
}

// TestTagsOfOthers proves that tags of other programs are read within limits.
func TestTagsOfOthers(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		"analysis": "analysis", "#Bug, Later on ,bug": "bug later-on", "": "", " , ,": "", "日本,é": "日本 é", strings.Repeat("x", 51): "", `a\u0007b`: "ab",
	} {
		text := `{"metadata":{"id":"x","tag":"` + tag + `"},"messages":[{"role":"user","content":"hi"}]}`
		var got []string
		for _, ev := range read(t, file(t, "transcript.json", text)) {
			if marks, ok := ev.Data.(agent.SessionMarks); ok {
				got = marks.Tags
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", tag, got, want)
		}
	}
}

// words are what the models and the user said, and what calls returned.
func words(events []agent.Event) (out []string) {
	for _, ev := range events {
		switch d := ev.Data.(type) {
		case agent.UserInput:
			out = append(out, "user "+d.Text)
		case agent.TextEnd:
			for _, p := range d.Message.Parts {
				switch p.Kind {
				case llm.PartText:
					out = append(out, "says "+p.Text)
				case llm.PartReasoning:
					out = append(out, "thinks "+p.Reasoning.Text)
				case llm.PartToolCall:
					out = append(out, "calls "+p.Call.Name+string(p.Call.Input()))
				}
			}
		case agent.ToolCallEnd:
			out = append(out, fmt.Sprint("result ", d.ForModel(), d.IsError))
		}
	}
	return out
}

// What a stranger's file could use to act here is not taken over.
func TestNativeImportTakesNoPower(t *testing.T) {
	t.Parallel()
	call := llm.ToolCall{ID: "call_1", Name: "Write", Arguments: json.RawMessage(`{}`)}
	changed := &agent.FilesChanged{Files: []agent.FileRecord{{Path: "/etc/passwd"}}}
	strange := []agent.Payload{
		agent.SessionStart{Folder: "/p", Helper: &agent.Helper{Parent: "other"}},
		agent.Briefing{},
		agent.SettingsChange{Settings: agent.Settings{Mode: agent.ModeBypass, Provider: "p", Model: "m"}},
		agent.Forked{Worktree: "/etc"},
		agent.SessionMarks{Tags: []string{"t"}, Deleted: 5, Pinned: true},
		agent.UserInput{Text: "hi", QueueID: "q", Skill: &agent.SkillUse{Name: "s", Limited: true, Provider: "p", Model: "dear", Effort: "high"}},
		agent.TextEnd{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Kind: llm.PartNative, Native: json.RawMessage(`{"role":"system"}`)},
			{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "t", Signature: "s", Encrypted: "e"}},
			{Kind: llm.PartToolCall, Call: &call, Native: json.RawMessage(`{}`)},
		}}},
		agent.ApprovalRequest{ID: "a", CallID: "call_1"},
		agent.ToolCallEnd{CallID: "call_1", Files: changed, Details: &agent.Details{Agent: &agent.AgentRef{Session: "other"}, Skill: &agent.SkillUse{Name: "s", Model: "dear"}}},
		agent.ToolCallEnd{CallID: "../../etc"},
		agent.FilesRestored{ID: "r", FilesChanged: *changed},
	}
	var events []agent.Event
	for i, p := range strange {
		events = append(events, agent.Event{Seq: int64(i + 1), Turn: 1, At: 1_767_323_045_000, Data: p})
	}
	var out bytes.Buffer
	if err := transcript.WriteNative(&out, backend.SessionInfo{ID: "x"}, sequence(events)); err != nil {
		t.Fatal(err)
	}
	got := read(t, file(t, "x.json", out.String()))
	want := []agent.Payload{
		agent.SessionStart{Folder: "/here"},
		agent.SettingsChange{Settings: agent.Settings{Mode: agent.ModeDefault, Provider: "p", Model: "m"}},
		agent.SessionMarks{Tags: []string{"t"}},
		agent.UserInput{Text: "hi", Skill: &agent.SkillUse{Name: "s", Limited: true}},
		agent.TextEnd{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
			{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "t"}}, {Kind: llm.PartToolCall, Call: &call},
		}}},
		agent.ToolCallEnd{CallID: "call_1", Details: &agent.Details{Skill: &agent.SkillUse{Name: "s"}}},
		agent.ProcessingEnd{Reason: agent.EndInterrupted},
	}
	for i, p := range want {
		if diff := cmp.Diff(p, got[i].Data); diff != "" {
			t.Errorf("event %d (-want +got):\n%s", i, diff)
		}
	}
	if last := got[len(got)-1].Data.(agent.Imported); len(got) != len(want)+1 || last.Skipped != 1 {
		t.Errorf("%d events, %d skipped", len(got), last.Skipped)
	}
}

// A large session is written and read without being held in memory.
func TestNativeIsStreamed(t *testing.T) {
	t.Parallel()
	n := 0
	source := func(yield func(agent.Event, error) bool) {
		for n = range 5_000 {
			if !yield(agent.Event{Seq: int64(n + 1), Turn: 1, At: 1, Data: agent.Warning{Message: strings.Repeat("x", 1000)}}, nil) {
				return
			}
		}
	}
	w := &peak{}
	if err := transcript.WriteNative(w, backend.SessionInfo{}, source); err != nil || n != 4_999 || w.largest > 64<<10 {
		t.Errorf("%d events, writes of %d bytes, %v", n, w.largest, err)
	}
}

// peak remembers the largest write.
type peak struct{ largest int }

func (p *peak) Write(b []byte) (int, error) {
	p.largest = max(p.largest, len(b))
	return len(b), nil
}

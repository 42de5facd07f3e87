package feed

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"github.com/google/go-cmp/cmp"
)

// watchAll subscribes and returns a function that returns the envelopes so far.
func watchAll(t *testing.T, f *Feed) func() []Envelope {
	t.Helper()
	var mu sync.Mutex
	var got []Envelope
	cancel := f.Subscribe(func(b []byte) {
		if len(b) > 64<<10 {
			t.Errorf("an envelope of %d bytes", len(b))
		}
		var e Envelope
		if err := json.Unmarshal(b, &e); err != nil {
			t.Errorf("%s: %v", b, err)
		}
		mu.Lock()
		defer mu.Unlock()
		got = append(got, e)
	})
	t.Cleanup(cancel)
	return func() []Envelope {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(got)
	}
}

func delta(text string, offset int) agent.Event {
	return agent.Event{Session: "a", Data: agent.TextDelta{Text: text, Offset: offset}}
}

// Deltas are gathered for the interval and sent as one; a durable event is sent
// at once, after them.
func TestFeedGathersDeltas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := New()
		got := watchAll(t, f)
		f.Publish(delta("Hel", 0))
		f.Publish(delta("lo", 3))
		f.Publish(agent.Event{Session: "b", Data: agent.TextDelta{Text: "other"}})
		synctest.Wait()
		if n := len(got()); n != 0 {
			t.Fatalf("%d envelopes before the interval", n)
		}
		time.Sleep(feedInterval + time.Millisecond) // fake time
		synctest.Wait()
		if n := len(got()); n != 2 {
			t.Fatalf("%d envelopes, want one a session", n)
		}
		f.Publish(delta(" you", 5))
		f.Publish(agent.Event{Session: "a", Seq: 4, Data: agent.Warning{Code: "w"}})
		want := Envelope{Session: "a", Seq: 4, Events: []agent.Event{
			delta(" you", 5), {Session: "a", Seq: 4, Data: agent.Warning{Code: "w"}},
		}}
		if diff := cmp.Diff(want, got()[2]); diff != "" {
			t.Error(diff)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := len(got()); n != 3 {
			t.Errorf("%d envelopes in the end", n)
		}
	})
}

// Deltas that continue each other are joined; those of another kind, call or
// command stay separate and in order.
func TestFeedJoinsConsecutiveDeltas(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := New()
		got := watchAll(t, f)
		for _, p := range []agent.Payload{
			agent.ReasoningDelta{Text: "H"}, agent.ReasoningDelta{Text: "m", Offset: 1}, agent.TextDelta{Text: "Look"},
			agent.ToolCallOutput{CallID: "1", Text: "a", Offset: 5}, agent.ToolCallOutput{CallID: "1", Text: "b", Offset: 6}, agent.ToolCallOutput{CallID: "2", Text: "c"},
			agent.LocalCommandOutput{ID: "1", Text: "d", Offset: 2}, agent.LocalCommandOutput{ID: "1", Text: "e", Offset: 3}, agent.LocalCommandOutput{ID: "2", Text: "f"},
		} {
			f.Publish(agent.Event{Session: "a", Data: p})
		}
		time.Sleep(feedInterval + time.Millisecond) // fake time
		synctest.Wait()
		var joined []agent.Payload
		for _, ev := range got()[0].Events {
			joined = append(joined, ev.Data)
		}
		want := []agent.Payload{
			agent.ReasoningDelta{Text: "Hm"}, agent.TextDelta{Text: "Look"},
			agent.ToolCallOutput{CallID: "1", Text: "ab", Offset: 5}, agent.ToolCallOutput{CallID: "2", Text: "c"},
			agent.LocalCommandOutput{ID: "1", Text: "de", Offset: 2}, agent.LocalCommandOutput{ID: "2", Text: "f"},
		}
		if diff := cmp.Diff(want, joined); diff != "" {
			t.Error(diff)
		}
	})
}

// Of the outlines of a growing call only the newest is sent.
func TestFeedSendsTheNewestOutline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := New()
		got := watchAll(t, f)
		var last agent.Event
		for n := range 5 {
			last = agent.Event{Session: "a", Data: agent.CallDraft{
				CallID: "c", Tool: "ApplyPatch", Bytes: n, Outline: agent.DraftedChanges{Changes: []agent.FileChange{{Path: "p", Added: n}}},
			}}
			f.Publish(last)
		}
		time.Sleep(feedInterval + time.Millisecond) // fake time
		synctest.Wait()
		if diff := cmp.Diff([]Envelope{{Session: "a", Events: []agent.Event{last}}}, got()); diff != "" {
			t.Error(diff)
		}
	})
}

// The same change of a task is sent once.
func TestFeedGathersNewsOfTasks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := New()
		got := watchAll(t, f)
		began := agent.Event{Session: "a", Data: agent.TaskChange{Task: "1"}}
		printed := agent.Event{Session: "a", Data: agent.TaskChange{Task: "1", Printed: true}}
		for _, ev := range []agent.Event{began, printed, printed, printed} {
			f.Publish(ev)
		}
		time.Sleep(feedInterval + time.Millisecond) // fake time
		synctest.Wait()
		if diff := cmp.Diff([]Envelope{{Session: "a", Events: []agent.Event{began, printed}}}, got()); diff != "" {
			t.Error(diff)
		}
	})
}

// Envelopes stay within the limit. An event that does not fit is left out, and
// the seq tells the page so.
func TestFeedLimitsEnvelopes(t *testing.T) {
	t.Parallel()
	f := New()
	got := watchAll(t, f)
	diff := strings.Repeat("+line\n", 20_000)
	f.Publish(agent.Event{Session: "a", Seq: 1, Data: agent.ApprovalRequest{ID: "r", Changes: []agent.FileChange{{Diff: diff}}}})
	if e := got()[0]; e.Seq != 1 || len(e.Events) != 0 {
		t.Errorf("envelope %d with %d events", e.Seq, len(e.Events))
	}
	for i := range 20 {
		f.Publish(agent.Event{Session: "a", Data: agent.ToolCallOutput{CallID: fmt.Sprint(i), Text: strings.Repeat("x", 8<<10)}})
	}
	f.Publish(agent.Event{Session: "a", Seq: 2, Data: agent.Warning{}})
	events := 0
	for _, e := range got()[1:] {
		events += len(e.Events)
	}
	if events != 21 {
		t.Errorf("%d events arrived, want 21", events)
	}
}

// The draft has everything streamed since the last durable message, so that a
// page that opens in between misses nothing.
func TestFeedKeepsTheDraft(t *testing.T) {
	t.Parallel()
	f := New()
	for _, p := range []agent.Payload{
		agent.TextStart{}, agent.ReasoningDelta{Text: "hm"}, agent.TextDelta{Text: "Hel"}, agent.TextDelta{Text: "lo", Offset: 3},
		agent.ToolCallOutput{CallID: "c", Text: strings.Repeat("é", outputTail)},
		agent.ToolCallOutput{CallID: "c", Text: "end", Offset: outputTail},
	} {
		f.Publish(agent.Event{Session: "a", Data: p})
	}
	d := f.Draft("a")
	if d.Text != "Hello" || d.Reasoning != "hm" {
		t.Errorf("draft %q, %q", d.Text, d.Reasoning)
	}
	o := d.Outputs["c"]
	if len(o.Text) > outputTail || !strings.HasSuffix(o.Text, "éend") || o.Offset+len([]rune(o.Text)) != outputTail+3 {
		t.Errorf("tail of %d bytes at %d", len(o.Text), o.Offset)
	}
	f.Publish(agent.Event{Session: "a", Seq: 1, Data: agent.TextEnd{}})
	f.Publish(agent.Event{Session: "a", Seq: 2, Data: agent.ToolCallEnd{CallID: "c"}})
	if d := f.Draft("a"); d.Text != "" || d.Reasoning != "" || len(d.Outputs) != 0 {
		t.Errorf("after the message: %+v", d)
	}
}

// Long texts are cut for display, whole characters only; a text that a person
// must decide about is not.
func TestForDisplay(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é", displayLimit)
	for _, p := range []agent.Payload{
		agent.UserInput{Text: long}, agent.ToolCallEnd{Output: long, ModelOutput: new("for the model only")},
		agent.LocalCommandEnd{Output: long, ModelOutput: new("for the model only")}, agent.Briefing{System: long}, agent.BriefingUpdate{Text: long},
	} {
		b, err := json.Marshal(ForDisplay(agent.Event{Data: p}))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), "for the model only") {
			t.Errorf("%s shows text that only the model is told", p.Kind())
		}
		if len(b) > displayLimit+1000 || strings.Contains(string(b), "\ufffd") || !strings.Contains(string(b), fmt.Sprintf(`"size":%d`, len(long))) {
			t.Errorf("%s: %d bytes", p.Kind(), len(b))
		}
	}
	skill := &agent.SkillUse{Name: "review", Args: long, Limited: true}
	typed := ForDisplay(agent.Event{Data: agent.UserInput{Text: "Review.", Typed: "/review " + long, Skill: skill}}).Data.(agent.UserInput)
	if len(typed.Typed) > displayLimit+100 || typed.Size != int64(len(long)+8) || typed.Skill.Args != "" || !typed.Skill.Limited || skill.Args != long {
		t.Errorf("of what was typed %d bytes are shown of %d, with %d of arguments", len(typed.Typed), typed.Size, len(typed.Skill.Args))
	}
	media := []llm.Media{{MIME: "image/png", Name: "a.png", Data: []byte(long)}}
	shown := ForDisplay(agent.Event{Data: agent.ToolCallEnd{Media: media}}).Data.(agent.ToolCallEnd)
	if len(shown.Media[0].Data) > 0 || shown.Media[0].Name != "a.png" || len(media[0].Data) == 0 {
		t.Errorf("a picture: %d bytes shown, %d kept", len(shown.Media[0].Data), len(media[0].Data))
	}
	sounds := []llm.Media{{MIME: "audio/wav", Data: []byte(long)}}
	heard := ForDisplay(agent.Event{Data: agent.ToolCallEnd{Details: &agent.Details{Server: &agent.ServerResult{Server: "bell", Sounds: sounds}}}}).Data.(agent.ToolCallEnd)
	if s := heard.Details.Server; s.Server != "bell" || len(s.Sounds) != 1 || len(s.Sounds[0].Data) > 0 || len(sounds[0].Data) == 0 {
		t.Errorf("a sound: %+v shown, %d bytes kept", s.Server, len(sounds[0].Data))
	}
	said := llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{
		{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "Hm.", Signature: "proof"}, Native: json.RawMessage(`{"a":1}`)},
		{Kind: llm.PartText, Text: "Look."},
		{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "c", Name: "Look", Arguments: json.RawMessage(`{"at":"it"}`)}},
		{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "d", Name: "Write", Arguments: json.RawMessage(`{"content":"` + long + `"}`)}},
	}}
	want := []llm.Part{
		{Kind: llm.PartReasoning, Reasoning: &llm.Reasoning{Text: "Hm."}}, said.Parts[1], said.Parts[2],
		{Kind: llm.PartToolCall, Call: &llm.ToolCall{ID: "d", Name: "Write"}},
	}
	message := ForDisplay(agent.Event{Data: agent.TextEnd{Message: said}}).Data.(agent.TextEnd).Message
	if diff := cmp.Diff(want, message.Parts); diff != "" || said.Parts[0].Native == nil || said.Parts[3].Call.Arguments == nil {
		t.Errorf("the page is sent more of a message, or the stored one is changed: %s", diff)
	}
	request := agent.ApprovalRequest{Input: long}
	if got := ForDisplay(agent.Event{Data: request}).Data; !cmp.Equal(got, agent.Payload(request)) {
		t.Error("an approval request was cut")
	}
}

func TestTitleFrom(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Fix the login":                           "Fix the login",
		"  Fix\tthe \x07login\nnow":               "Fix the login",
		"word " + strings.Repeat("verylong ", 20): "word verylong verylong verylong verylong verylong verylong…",
		"":  "",
		"修": "修",
	} {
		if got := backend.TitleFrom(in); got != want {
			t.Errorf("titleFrom(%q) = %q, want %q", in, got, want)
		}
	}
}

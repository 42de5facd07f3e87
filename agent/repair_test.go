package agent_test

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

func drawn(t *testing.T, edge int) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, edge, edge))); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// shows is a tool that gives back pictures.
func shows(media ...llm.Media) note {
	return note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: "here", Media: media}
	}}
}

// seen are the parts of the result in the last request.
func seen(t *testing.T, m *llmtest.Model) []llm.Part {
	t.Helper()
	requests := m.Requests()
	for _, msg := range requests[len(requests)-1].Messages {
		if msg.Role == llm.RoleTool {
			return msg.Parts[0].Result.Parts
		}
	}
	t.Fatal("no result was sent")
	return nil
}

// LLM-22, LLM-24: pictures reach the model in a form that it accepts. Each change
// is reported once, also in a session that is opened again.
func TestDoctorFitsPictures(t *testing.T) {
	t.Parallel()
	small := drawn(t, 40)
	roomy := llm.ModelLimits{Picture: llm.PictureLimits{Bytes: 1 << 20, Edge: 100}}
	for name, tt := range map[string]struct {
		media  llm.Media
		limits llm.ModelLimits
		mime   string // of what is sent; empty for words in its place
		told   string // empty for nothing
		change agent.PictureChange
	}{
		"fits":       {llm.Media{MIME: "image/png", Name: "a.png", Data: small}, roomy, "image/png", "", agent.PictureChange{}},
		"misnamed":   {llm.Media{MIME: "image/jpeg", Name: "a.jpg", Data: small}, roomy, "image/png", "a.jpg is sent as image/png, not as image/jpeg", agent.PictureChange{ID: agent.PictureTyped, Name: "a.jpg", Args: []string{"image/png", "image/jpeg"}}},
		"too large":  {llm.Media{MIME: "image/png", Name: "b.png", Data: drawn(t, 300)}, roomy, "image/png", "b.png is made smaller", agent.PictureChange{ID: agent.PictureSmaller, Name: "b.png"}},
		"no picture": {llm.Media{MIME: "image/svg+xml", Name: "c.svg", Data: []byte("<svg/>")}, roomy, "", "c.svg is left out, because it is not a PNG", agent.PictureChange{ID: agent.PictureOtherType, Name: "c.svg"}},
		"blind":      {llm.Media{MIME: "image/png", Data: small}, llm.ModelLimits{Blind: true, Picture: roomy.Picture}, "", "a picture is left out, because this model takes no pictures", agent.PictureChange{ID: agent.PictureUnseen}},
		"an address": {llm.Media{MIME: "image/png", URL: "https://x.example/a.png"}, roomy, "image/png", "", agent.PictureChange{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Seen."}, llmtest.Round{Text: "Still."})
			r := newRig(t, model, shows(tt.media))
			r.cfg.Facts = facts{limits: tt.limits}
			repairs := find[agent.HistoryRepaired](r.run("look"))
			if told := tt.told != ""; (len(repairs) == 1) != told || told && (repairs[0].Repair != agent.RepairPictures || !strings.Contains(repairs[0].Message, tt.told)) {
				t.Errorf("told %+v", repairs)
			} else if told {
				if diff := cmp.Diff([]agent.PictureChange{tt.change}, repairs[0].Pictures); diff != "" {
					t.Error(diff)
				}
			}
			check := func() {
				t.Helper()
				parts := seen(t, model)
				if parts[0].Text != "here" || len(parts) != 2 {
					t.Fatalf("%+v", parts)
				}
				if m := parts[1].Media; (m != nil) != (tt.mime != "") || m != nil && m.MIME != tt.mime {
					t.Errorf("%+v", parts[1])
				}
				if m := parts[1].Media; m != nil && len(m.Data) > len(tt.media.Data) {
					t.Errorf("grew from %d to %d bytes", len(tt.media.Data), len(m.Data))
				}
			}
			check()
			r.open()
			if again := find[agent.HistoryRepaired](r.run("and now?")); len(again) != 0 {
				t.Errorf("told again: %+v", again)
			}
			check()
		})
	}
}

// Request after request repeats the very parts that were changed once, or what
// was encoded would have to be encoded again.
func TestDoctorKeepsWhatItChanged(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Seen."}, llmtest.Round{Text: "Still."}, llmtest.Round{Text: "And still."})
	r := newRig(t, model, shows(llm.Media{MIME: "image/png", Data: drawn(t, 300)}))
	r.cfg.Facts = facts{limits: llm.ModelLimits{Picture: llm.PictureLimits{Bytes: 1 << 20, Edge: 100}}}
	r.run("look")
	r.run("again") // from here on the result is settled
	before := &seen(t, model)[0]
	r.run("and again")
	if after := &seen(t, model)[0]; before != after {
		t.Error("the parts were made anew")
	}
}

// A conversation that would not fit the model's window is made to, before it is
// sent: old outputs are shortened, for good, and the cards keep the whole.
func TestDoctorMakesRoom(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word ", 8000) // 40,000 bytes, about 10,000 tokens
	tool := note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: long}
	}}
	reads := llmtest.Round{Calls: []llmtest.Call{look}, Usage: llm.Usage{Input: 10, Output: 1, Known: true}}
	model := llmtest.Script(reads, llmtest.Round{Text: "Read.", Usage: full(10_100)}, llmtest.Round{Text: "Yes.", Usage: full(10_900)}, llmtest.Round{Text: "On."})
	r := newRig(t, model, tool)
	r.cfg.Facts = facts{limits: llm.ModelLimits{Window: 12_000}}
	for _, input := range []string{"read it", strings.Repeat("long ", 700)} { // 10,800 tokens, and room for an answer
		if repairs := find[agent.HistoryRepaired](r.run(input)); len(repairs) != 0 {
			t.Fatalf("it fits: %+v", repairs)
		}
	}
	events := r.run(strings.Repeat("long ", 300)) // 200 tokens too many
	repairs := find[agent.HistoryRepaired](events)
	if len(repairs) != 1 || repairs[0].Repair != agent.RepairElided || end(t, events) != agent.EndDone {
		t.Fatalf("repairs: %+v", repairs)
	}
	if fifth := 12_000 / 5 * 4; repairs[0].Bytes < fifth {
		t.Errorf("%d bytes make no room for what follows", repairs[0].Bytes)
	}
	if text := seen(t, model)[0].Text; len(text) > 1000 || !strings.Contains(text, "taken out") {
		t.Errorf("sent %d bytes", len(text))
	}
	if left := r.session.Transcript().Context; left > 3000 {
		t.Errorf("the context is still taken for %d tokens", left)
	}
	var kept int
	for _, ev := range r.log {
		if e, ok := ev.Data.(agent.ToolCallEnd); ok {
			kept = len(e.Output)
		}
	}
	if kept != len(long) {
		t.Errorf("the log holds %d bytes", kept)
	}
	r.open() // the change is in the log
	if diff := cmp.Diff(model.Requests()[3].Messages[:6], sentNext(t, r, model)[:6]); diff != "" {
		t.Errorf("opened again, another conversation is sent: %s", diff)
	}
}

// sentNext runs a turn that the script does not answer and returns what it sent.
func sentNext(t *testing.T, r *rig, m *llmtest.Model) []llm.Message {
	t.Helper()
	r.run("next")
	requests := m.Requests()
	return requests[len(requests)-1].Messages
}

// A refusal because of the conversation's length does not end the session
// either, whether or not the window is known.
func TestDoctorShortensAfterRefusal(t *testing.T) {
	t.Parallel()
	tool := note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: strings.Repeat("word ", 8000)}
	}}
	tooLong := llmtest.Round{Status: 400, Body: `{"error":{"message":"prompt is too long: 205000 tokens > 200000 maximum"}}`}
	model := llmtest.Script(llmtest.Round{Reasoning: "Hm.", Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Read."}, tooLong, llmtest.Round{Text: "On."}, tooLong)
	r := newRig(t, model, tool)
	r.run("read it")
	events := r.run("go on")
	if n := len(find[agent.HistoryRepaired](events)); n != 1 || end(t, events) != agent.EndDone {
		t.Fatalf("%d repairs", n)
	}
	if m := model.Requests()[3].Messages[1]; m.Origin != nil {
		t.Errorf("what it thought is sent with another past than it had: %+v", m.Origin)
	}
	events = r.run("go on") // nothing is left to shorten
	if n := len(find[agent.HistoryRepaired](events)); n != 0 || end(t, events) != agent.EndFailed {
		t.Fatalf("%d repairs", n)
	}
}

// LLM-28: that another model's reasoning stays behind is told when the model
// changes, once.
func TestDoctorTellsOfStrangers(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Reasoning: "Hm.", Text: "One."}, llmtest.Round{Status: 401}, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."})
	r := newRig(t, model)
	r.run("first")
	r.session.Configure(agent.Settings{Provider: llmtest.Provider, Model: "other", Mode: agent.ModeDefault})
	repairs := find[agent.HistoryRepaired](r.run("second"))
	if len(repairs) != 1 || repairs[0].Repair != agent.RepairForeign || !strings.Contains(repairs[0].Message, "other goes on where m was") {
		t.Errorf("told %+v", repairs)
	}
	for _, input := range []string{"again", "third"} {
		if repairs := find[agent.HistoryRepaired](r.run(input)); len(repairs) != 0 {
			t.Errorf("%s: told %+v", input, repairs)
		}
	}
}

// A request that was kept back for another session's refusal waits as long as
// is left and a little of its own, and does not count as a try (K-20).
func TestHeldRequestsDoNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		spread := map[int64]bool{}
		for range 3 {
			script := llmtest.Script(
				llmtest.Round{Status: 429, RetryAfter: 20 * time.Second}, // the other session's
				llmtest.Round{Status: 503}, llmtest.Round{Text: "Done."},
			)
			var limiter llm.Limiter
			client := llm.NewClient(script)
			client.Use(limiter.Around)
			_, _ = llm.Complete(client.Stream(t.Context(), llm.Request{Provider: llmtest.Provider})) // it is refused
			r := newRig(t, client)
			r.cfg.Retry = llm.RetryPolicy{Retries: 1, Base: time.Second, Max: time.Second, MaxAfter: time.Minute}
			begin := time.Now()
			events := r.run("go")
			waits := find[agent.Retrying](events)
			if len(waits) != 2 || waits[0].Attempt != 0 || waits[0].DelayMs < 20_000 || waits[1].Attempt != 1 || end(t, events) != agent.EndDone {
				t.Fatalf("waits: %+v", waits)
			}
			spread[waits[0].DelayMs] = true
			if took := time.Since(begin); took < 21*time.Second || took > 23*time.Second {
				t.Errorf("took %v", took)
			}
		}
		if len(spread) == 1 {
			t.Error("all come back in the same instant")
		}
	})
}

// A fallback that steps in now and then is told of as one, not as a new model.
func TestDoctorLeavesFallbacksAlone(t *testing.T) {
	t.Parallel()
	think := llmtest.Round{Reasoning: "Hm.", Text: "One."}
	r := newRig(t, llmtest.Script(think, llmtest.Round{Status: 503}, think, think))
	r.open()
	r.session.Configure(agent.Settings{
		Provider: llmtest.Provider, Model: "m", Mode: agent.ModeDefault, FallbackProvider: llmtest.Provider, FallbackModel: "other",
	})
	for _, input := range []string{"first", "second", "third"} {
		if repairs := find[agent.HistoryRepaired](r.run(input)); len(repairs) != 0 {
			t.Errorf("%s: told %+v", input, repairs)
		}
	}
}

// A refusal that has nothing to do with the past leaves it as it is: what a
// provider alone understands is given up only where that helped.
func TestDoctorKeepsNativeWhereARefusalConcernsAnother(t *testing.T) {
	t.Parallel()
	think := llmtest.Round{Reasoning: "Hm.", Text: "One."}
	refused := llmtest.Round{Status: 400, Body: `{"error":{"message":"max_tokens: 300000 > 128000"}}`}
	model := llmtest.Script(think, refused, refused, think)
	r := newRig(t, model)
	r.run("first")
	events := r.run("second")
	if n := len(find[agent.HistoryRepaired](events)); n != 0 || end(t, events) != agent.EndFailed {
		t.Errorf("%d repairs", n)
	}
	if m := model.Requests()[2].Messages[1]; m.Origin != nil {
		t.Errorf("the remedy was not tried: %+v", m)
	}
	events = r.run("third")
	if m := model.Requests()[3].Messages[1]; m.Origin == nil || end(t, events) != agent.EndDone {
		t.Errorf("the past was changed: %+v", m)
	}
}

// A refusal that a remedy answers is told once, and the remedy is kept.
func TestDoctorKeepsWhatHelped(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Reasoning: "Hm.", Text: "One."},
		llmtest.Round{Status: 400, Body: `{"error":{"message":"messages.1.content.0: Invalid signature in thinking block"}}`},
		llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Three."}, llmtest.Round{Text: "Four."})
	r := newRig(t, model)
	r.run("first")
	repairs := find[agent.HistoryRepaired](r.run("second"))
	if len(repairs) != 1 || repairs[0].Repair != agent.RepairNative || !strings.Contains(repairs[0].Message, "Invalid signature") {
		t.Fatalf("told %+v", repairs)
	}
	for i := range 2 {
		if again := find[agent.HistoryRepaired](r.run("third")); len(again) != 0 {
			t.Errorf("told again: %+v", again)
		}
		if m := model.Requests()[3+i].Messages[1]; m.Origin != nil {
			t.Errorf("sent as before: %+v", m)
		}
		r.open()
	}
}

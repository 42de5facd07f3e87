package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// picky refuses requests, as a server does with one thing that it will not take.
type picky struct {
	agent.Model
	refuse func(sent string, pictures int) *llm.Error
	asked  int
}

func (p *picky) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	var sent strings.Builder
	pictures := 0
	var read func([]llm.Part)
	read = func(parts []llm.Part) {
		for _, part := range parts {
			sent.WriteString(part.Text)
			if part.Media != nil {
				pictures++
				sent.WriteString("<" + part.Media.Name + ">")
			}
			if part.Result != nil {
				read(part.Result.Parts)
			}
		}
	}
	for _, m := range req.Messages {
		read(m.Parts)
	}
	p.asked++
	if e := p.refuse(sent.String(), pictures); e != nil {
		e.Provider = llmtest.Provider
		return func(yield func(llm.Event, error) bool) { yield(llm.Event{}, e) }
	}
	return p.Model.Stream(ctx, req)
}

func refusal(class llm.Class, format string, args ...any) *llm.Error {
	return &llm.Error{Class: class, Message: fmt.Sprintf(format, args...), Status: 400, Retryable: class == llm.ClassServer}
}

// anyPicture, morePictures and onePicture are what servers refuse.
func anyPicture(class llm.Class, message string) func(string, int) *llm.Error {
	return func(_ string, pictures int) *llm.Error {
		if pictures > 0 {
			return refusal(class, "%s", message)
		}
		return nil
	}
}

func morePictures(n int, format string) func(string, int) *llm.Error {
	return func(_ string, pictures int) *llm.Error {
		if pictures > n {
			return refusal(llm.ClassInvalid, format, pictures, n)
		}
		return nil
	}
}

func onePicture(name, message string) func(string, int) *llm.Error {
	return func(sent string, _ int) *llm.Error {
		if strings.Contains(sent, "<"+name+">") {
			return refusal(llm.ClassInvalid, "%s", message)
		}
		return nil
	}
}

// picturesSent counts the pictures in the results of the last request, and the lines
// in the place of others.
func picturesSent(script *llmtest.Model) (left, lines int) {
	requests := script.Requests()
	for _, m := range requests[len(requests)-1].Messages {
		if m.Role != llm.RoleTool {
			continue
		}
		for _, part := range m.Parts[0].Result.Parts {
			if part.Media != nil {
				left++
			}
			if strings.Contains(part.Text, "was left out: the provider refused it") {
				lines++
			}
		}
	}
	return left, lines
}

// K-49: whatever picture a server refuses, the session goes on without it, at once
// and later; what is accepted is kept, and told once.
func TestRefusedPicturesAreLeftOut(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		refuse func(string, int) *llm.Error
		left   int // of four pictures
	}{
		"Anthropic":          {anyPicture(llm.ClassInvalid, "messages.2.content.0.image: Could not process image"), 0},
		"llama.cpp":          {anyPicture(llm.ClassServer, "image input is not supported - hint: you may need to provide the mmproj"), 0},
		"OpenAI":             {anyPicture(llm.ClassInvalid, "Invalid image."), 0},
		"Gemini":             {anyPicture(llm.ClassInvalid, "Unable to process input image. Please retry"), 0},
		"OpenRouter":         {anyPicture(llm.ClassNotFound, "No endpoints found that support image input"), 0},
		"DeepSeek":           {anyPicture(llm.ClassInvalid, "unknown variant `image_url`, expected `text`"), 0},
		"a filter":           {anyPicture(llm.ClassContentFilter, "Your input image may contain content that is not allowed"), 0},
		"without a word":     {anyPicture(llm.ClassInvalid, "Bad request"), 0},
		"content as text":    {anyPicture(llm.ClassInvalid, "messages[2].content: Input should be a valid string"), 0},
		"too many":           {morePictures(3, "Too much media: 0 document pages + %d images > %d"), 3},
		"at most two":        {morePictures(2, "%[2]d given: At most %[2]d image(s) may be provided"), 2},
		"too many, unnamed":  {morePictures(3, "too many images: %d (%d)"), 3},
		"one that was named": {onePicture("b", "messages.6.content.0.image.source.base64: At least one of the image dimensions exceed max allowed size"), 3},
		"the newest":         {onePicture("d", "Could not process image"), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var rounds []llmtest.Round
			for range 4 {
				rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Seen."})
			}
			script := llmtest.Script(append(rounds, llmtest.Round{Text: "Hello."}, llmtest.Round{Text: "Still."})...)
			p := &picky{Model: script, refuse: func(string, int) *llm.Error { return nil }}
			shown := 0
			r := newRig(t, p, note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
				shown++
				return agent.Result{Output: "here", Media: []llm.Media{{MIME: "image/png", Name: string(rune('a' + shown - 1)), Data: drawn(t, 10+shown)}}}
			}})
			for range 3 {
				r.run("look")
			}
			p.refuse = tt.refuse // another model, or a limit that is reached now
			for _, input := range []string{"look", "hello"} {
				if events := r.run(input); end(t, events) != agent.EndDone {
					t.Fatalf("%s: %+v", input, find[agent.Failure](events))
				}
			}
			repairs := find[agent.HistoryRepaired](r.log)
			if len(repairs) == 0 {
				t.Fatal("nothing was said")
			}
			asked := p.asked
			r.open()
			if events := r.run("hello again"); end(t, events) != agent.EndDone || p.asked != asked+1 || len(find[agent.HistoryRepaired](events)) > 0 {
				t.Errorf("what was repaired is not kept: asked %d times", p.asked-asked)
			}
			left, lines := picturesSent(script)
			if left != tt.left || lines != 4-tt.left {
				t.Errorf("%d pictures are sent and %d lines of text, want %d", left, lines, tt.left)
			}
		})
	}
}

// K-49: whatever else a server refuses, the work goes on without it if a tool gave
// it, and the next message is answered if the user or the model wrote it.
func TestWhateverIsRefusedTheSessionGoesOn(t *testing.T) {
	t.Parallel()
	const poison = "POISON"
	for name, tt := range map[string]struct {
		class         llm.Class
		input, output string
		answer        string // of the model, which is refused later
		first         agent.EndReason
	}{
		"a document":        {llm.ClassInvalid, "go", poison, "", agent.EndDone},
		"a filtered page":   {llm.ClassContentFilter, "go", poison, "", agent.EndDone},
		"an unknown form":   {llm.ClassUnsupported, "go", poison, "", agent.EndDone},
		"the user's text":   {llm.ClassInvalid, poison, "fine", "", agent.EndFailed},
		"a filtered prompt": {llm.ClassContentFilter, poison, "fine", "", agent.EndFailed},
		"its own answer":    {llm.ClassInvalid, "go", "fine", poison, agent.EndDone},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := llmtest.Script(llmtest.Round{Text: "Ready."}, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Done." + tt.answer}, llmtest.Round{Text: "Hello."}, llmtest.Round{Text: "Still."})
			if tt.first == agent.EndFailed {
				script = llmtest.Script(llmtest.Round{Text: "Ready."}, llmtest.Round{Text: "Hello."}, llmtest.Round{Text: "Still."})
			}
			p := &picky{Model: script, refuse: func(sent string, _ int) *llm.Error {
				if strings.Contains(sent, poison) {
					return refusal(tt.class, "this cannot be taken")
				}
				return nil
			}}
			r := newRig(t, p, note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
				return agent.Result{Output: tt.output}
			}})
			r.run("begin")
			if got := end(t, r.run(tt.input)); got != tt.first {
				t.Fatalf("ended as %s", got)
			}
			events := r.run("hello")
			if end(t, events) != agent.EndDone {
				t.Fatalf("%+v", find[agent.Failure](events))
			}
			if n := len(find[agent.HistoryRepaired](r.log)); n == 0 {
				t.Error("nothing was said")
			}
			asked := p.asked
			if r.open(); end(t, r.run("more")) != agent.EndDone || p.asked != asked+1 {
				t.Error("what was repaired is not kept")
			}
			requests := script.Requests()
			if first := requests[len(requests)-1].Messages[0].Text(); first != "begin" {
				t.Errorf("more than necessary was left out: %q", first)
			}
		})
	}
}

// K-49: a text that no window can hold is sent without its middle, and the next
// message is answered, whether or not the window is known.
func TestTextsBeyondTheWindowAreCut(t *testing.T) {
	t.Parallel()
	const window = 40_000 // in bytes, for the server below
	for name, tt := range map[string]struct {
		limits llm.ModelLimits
		input  string
		output string
	}{
		"the user's, window known":    {llm.ModelLimits{Window: window / 4}, strings.Repeat("log line\n", 40_000), "fine"},
		"the user's, window unknown":  {llm.ModelLimits{}, strings.Repeat("log line\n", 40_000), "fine"},
		"without spaces":              {llm.ModelLimits{}, strings.Repeat("x", 300_000), "fine"},
		"in another script":           {llm.ModelLimits{}, strings.Repeat("日志", 50_000), "fine"},
		"an output, window known":     {llm.ModelLimits{Window: window / 4}, "go", strings.Repeat("word ", 60_000)},
		"an output, window unknown":   {llm.ModelLimits{}, "go", strings.Repeat("word ", 60_000)},
		"both, and the window is not": {llm.ModelLimits{Window: window}, strings.Repeat("a b ", 30_000), strings.Repeat("word ", 30_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			script := llmtest.Script(llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Read."}, llmtest.Round{Text: "Hello."}, llmtest.Round{Text: "Again."})
			p := &picky{Model: script, refuse: func(sent string, _ int) *llm.Error {
				if len(sent) > window {
					return refusal(llm.ClassContextOverflow, "prompt is too long: %d tokens > %d maximum", len(sent)/4, window/4)
				}
				return nil
			}}
			r := newRig(t, p, note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
				return agent.Result{Output: tt.output}
			}})
			r.cfg.Facts = facts{limits: tt.limits}
			for _, input := range []string{tt.input, "hello"} {
				if events := r.run(input); end(t, events) != agent.EndDone {
					t.Fatalf("%.20s: %+v", input, find[agent.Failure](events))
				}
			}
			cuts := 0
			for _, h := range find[agent.HistoryRepaired](r.log) {
				if h.Repair == agent.RepairCut {
					cuts++
				}
			}
			if cuts == 0 || tt.limits.Window == 0 && cuts > 2 {
				t.Errorf("said %d times", cuts)
			}
			asked := p.asked
			if r.open(); end(t, r.run("more")) != agent.EndDone || p.asked != asked+1 {
				t.Error("what was repaired is not kept")
			}
			requests := script.Requests()
			all, _ := json.Marshal(requests[len(requests)-1].Messages)
			if !strings.Contains(string(all), "bytes were taken out here") || len(all) < 2000 {
				t.Errorf("sent %.300s", all)
			}
		})
	}
}

// A refusal costs at most five requests more, whatever it is about, also in a long
// conversation, and one of too long a text another one, for old outputs; and where something can be left out that helps, one of them helps.
func TestRepairsAreBounded(t *testing.T) {
	t.Parallel()
	const poison = "POISON"
	const most = 7
	for name, tt := range map[string]struct {
		class  llm.Class
		text   string
		poison int // the prompt that is refused from the last turn on; -1 means everything is
	}{
		"everything":              {llm.ClassInvalid, "bad request", -1},
		"everything is filtered":  {llm.ClassContentFilter, "no", -1},
		"everything is too long":  {llm.ClassContextOverflow, "prompt is too long: 1 tokens > 1 maximum", -1},
		"all pictures, one named": {llm.ClassInvalid, "messages.2.content.0.image: Could not process image", -1},
		"the first prompt":        {llm.ClassInvalid, "bad request", 0},
		"a prompt in the middle":  {llm.ClassContentFilter, "no", 17},
		"a prompt near the end":   {llm.ClassUnsupported, "what is this", 28},
		"the newest but one":      {llm.ClassInvalid, "bad request", 29},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const turns = 30
			var rounds []llmtest.Round
			for range turns {
				rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: strings.Repeat("Seen. ", 1000), Reasoning: "Hm."})
			}
			p := &picky{Model: llmtest.Script(append(rounds, llmtest.Round{Text: "Hello."})...), refuse: func(string, int) *llm.Error { return nil }}
			r := newRig(t, p, note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
				return agent.Result{Output: "here", Media: []llm.Media{{MIME: "image/png", Name: "a", Data: drawn(t, 10)}}}
			}})
			for i := range turns {
				input := "go"
				if i == tt.poison {
					input = poison
				}
				r.run(input)
			}
			p.refuse = func(sent string, _ int) *llm.Error {
				if tt.poison < 0 || strings.Contains(sent, poison) {
					return refusal(tt.class, "%s", tt.text)
				}
				return nil
			}
			before := p.asked
			want := agent.EndFailed
			if tt.poison >= 0 {
				want = agent.EndDone
			}
			if got := end(t, r.run("hello")); got != want || p.asked-before > most || tt.class != llm.ClassContextOverflow && p.asked-before == most {
				t.Errorf("ended as %s after %d requests", got, p.asked-before)
			}
		})
	}
}

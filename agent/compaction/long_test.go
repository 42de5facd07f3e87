package compaction_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/compaction"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// reader answers each request, counts it as a provider would, at four bytes a
// token, and remembers the longest one. A request with a cap asks for a
// summary.
type reader struct {
	answer    string
	longest   int64
	read      int64 // of all requests
	summaries int
	tallies   bool
}

func (r *reader) Stream(ctx context.Context, req llm.Request) iter.Seq2[llm.Event, error] {
	size := len(req.System)
	for _, m := range req.Messages {
		size += len(m.Text())
	}
	tokens := int64(size / 4)
	r.read += tokens
	round := llmtest.Round{Text: r.answer}
	if req.MaxOutput > 0 {
		r.summaries++
		round.Text = fmt.Sprintf("## Goal\nA long talk, summary %d.", r.summaries)
	} else {
		r.longest = max(r.longest, tokens)
	}
	if r.tallies {
		round.Usage = llm.Usage{Input: tokens, Output: int64(len(round.Text) / 4), Known: true}
	}
	return llmtest.Script(round).Stream(ctx, req)
}

// K-08: a conversation of 900,000 tokens is compacted again and again, whether
// the model is known or not, and whether its provider counts tokens or not.
func TestLongConversation(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		facts   agent.ModelFacts
		tallies bool
		window  int64
	}{
		"nothing known":            {nil, true, 128_000},
		"nothing known or counted": {nil, false, 128_000},
		"a known window":           {catalogue.Facts{Of: window(32_000)}, true, 32_000},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := &reader{answer: strings.Repeat("as I said, ", 2_000), tallies: tt.tallies} // 5,500 tokens
			tools, err := agent.NewRegistry()
			if err != nil {
				t.Fatal(err)
			}
			session, err := agent.New(agent.Config{
				Model: model, Gate: agent.AllowAll, Profiles: agent.Plain("You talk.", tools),
				Compactor: &compaction.Service{Model: model}, Facts: tt.facts,
			})
			if err != nil {
				t.Fatal(err)
			}
			session.Configure(agent.Settings{Model: "m"})
			compactions := 0
			for i := 0; i < 80; i++ {
				for ev, err := range session.Run(t.Context(), strings.Repeat("tell me more ", 1_750)) { // 5,700 tokens
					if err != nil {
						t.Fatal(err)
					}
					switch d := ev.Data.(type) {
					case agent.CompactionEnd:
						if compactions++; d.Outcome != agent.OutcomeDone {
							t.Errorf("%+v", d)
						}
					case agent.ProcessingEnd:
						if d.Reason != agent.EndDone {
							t.Fatalf("turn %d: %s", i, d.Reason)
						}
					}
				}
			}
			if least := int(900_000 / tt.window); compactions < least || model.summaries != compactions {
				t.Errorf("%d compactions, %d summaries, of %d tokens at the least %d", compactions, model.summaries, tt.window, least)
			}
			if model.longest > tt.window || model.read < 900_000 {
				t.Errorf("a request has %d tokens of %d; %d in all", model.longest, tt.window, model.read)
			}
		})
	}
}

// window returns the facts about a model with a window.
func window(tokens int64) func(string, string) catalogue.Model {
	return func(string, string) catalogue.Model {
		return catalogue.Model{Limits: catalogue.Limits{ContextWindow: tokens}}
	}
}

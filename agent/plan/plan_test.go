package plan_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/plan"
)

// OAS-330: what the person approved is kept as a document and is what the model is told.
// That a model calls its own plan approved counts for nothing.
func TestApproved(t *testing.T) {
	t.Parallel()
	exit := plan.Tools()[1]
	for reply, want := range map[string]struct{ told, kept string }{
		``:                                {"The user approved the plan. Carry it out now.", `{"plan":"# A\n\nb"}`},
		`{"comments":"Go."}`:              {"The user approved the plan. Carry it out now. They said: Go.", `{"plan":"# A\n\nb"}`},
		`{"plan":"# A\n\nb\n"}`:           {"The user approved the plan. Carry it out now.", `{"plan":"# A\n\nb"}`},
		`{"plan":"# C"}`:                  {"The user edited the plan and approved it. Their version:\n\n# C\n\nCarry it out now.", `{"plan":"# C","edited":true}`},
		`{"plan":"# C","comments":"Go."}`: {"The user edited the plan and approved it. Their version:\n\n# C\n\nCarry it out now. They said: Go.", `{"plan":"# C","edited":true}`},
	} {
		input, err := exit.Spec().Bindings["anthropic"][0].Input(json.RawMessage(`{"plan":"# A\n\nb","approved":true}`))
		if err != nil {
			t.Fatal(err)
		}
		got := exit.Run(t.Context(), agent.Invocation{Input: input, Reply: reply})
		if got.IsError || got.Output != want.told || string(got.Details.Kept.State) != want.kept {
			t.Errorf("%s: %q, kept %s", reply, got.Output, got.Details.Kept.State)
		}
	}
	if got := exit.Run(t.Context(), agent.Invocation{Input: json.RawMessage(`{"plan":"p"}`), Reply: "{"}); !got.IsError {
		t.Errorf("an answer that cannot be read: %q", got.Output)
	}
}

// A plan that nobody can read is refused before anybody is asked.
func TestPlansAreChecked(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"# Plan\n\n\t- 做":            "",
		"":                           "the plan is empty",
		" \n\t":                      "the plan is empty",
		"a\x1b[2Jb":                  "U+001B",
		"a\x00":                      "U+0000",
		"\ufffd":                     "not valid text",
		strings.Repeat("a", 100_000): "100000 characters",
	} {
		raw, err := json.Marshal(plan.Input{Plan: text})
		if err != nil {
			t.Fatal(err)
		}
		err = plan.Tools()[1].(agent.Validator).Validate(raw)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	if _, err := plan.Tools()[1].Spec().Bindings["gemini"][0].Input(json.RawMessage(`{"plan_filename":"plan.md"}`)); err == nil {
		t.Error("a name of a file passed for a plan")
	}
}

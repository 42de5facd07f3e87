package agent_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
)

// rewind takes back what follows an event, as a host does, and opens the session again.
func (r *rig) rewind(id string, to int64) {
	r.t.Helper()
	r.store(r.session.Record(agent.Rewound{ID: id, To: to}))
	r.open()
}

// before returns the place before a prompt.
func (r *rig) before(prompt string) int64 {
	r.t.Helper()
	for _, ev := range r.log {
		if in, ok := ev.Data.(agent.UserInput); ok && in.Text == prompt {
			return ev.Seq - 1
		}
	}
	r.t.Fatalf("nothing says %q", prompt)
	return 0
}

// prompts returns what a model is told that the user wrote.
func prompts(s *agent.Session) (texts []string) {
	for _, e := range s.Transcript().Exchanges() {
		texts = append(texts, e.Input)
	}
	return texts
}

// OC-09: models are not told of what was taken back. Costs stay, turns keep counting,
// and settings stay; and all of it can come back.
func TestRewind(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(
		llmtest.Round{Text: "One.", Usage: full(100)}, llmtest.Round{Calls: []llmtest.Call{look}, Usage: full(200)},
		llmtest.Round{Text: "Two.", Usage: full(300)}, llmtest.Round{Text: "Three.", Usage: full(400)},
		llmtest.Round{Text: "Other.", Usage: full(500)}, llmtest.Round{Text: "More.", Usage: full(600)})
	r := newRig(t, model)
	for _, input := range []string{"first", "second", "third"} {
		r.run(input)
	}
	spent, whole := r.session.Transcript().Usage, prompts(r.session)
	set := r.session.Transcript().Settings
	set.Effort = "high"
	r.session.Configure(set)
	r.rewind("r1", r.before("third"))
	r.rewind("r2", r.before("second"))
	tr := r.session.Transcript()
	if diff := cmp.Diff([]string{"first"}, prompts(r.session)); diff != "" || tr.Usage != spent || tr.Turn != 3 || tr.State != agent.StateIdle || tr.Context != 100 {
		t.Errorf("%s %+v", diff, tr)
	}
	r.store(r.session.Record(agent.RewindUndone{ID: "r2"}))
	r.open()
	if diff := cmp.Diff([]string{"first", "second"}, prompts(r.session)); diff != "" {
		t.Error(diff)
	}
	r.store(r.session.Record(agent.RewindUndone{ID: "r1"}))
	r.open()
	if diff := cmp.Diff(whole, prompts(r.session)); diff != "" || r.session.Transcript().Context != 400 {
		t.Errorf("%s %d", diff, r.session.Transcript().Context)
	}
	r.rewind("r3", r.before("second"))
	input := find[agent.UserInput](r.run("instead"))
	if len(input) != 1 || r.session.Transcript().Turn != 4 {
		t.Errorf("turn %d of %v", r.session.Transcript().Turn, input)
	}
	told := sent(model)
	for text, want := range map[string]bool{"first": true, "One.": true, "second": false, "Two.": false, "third": false, "instead": true} {
		if strings.Contains(told, text) != want {
			t.Errorf("the model is told %q: %t, want %t, in %q", text, !want, want, told)
		}
	}
	r.rewind("r4", r.before("first"))
	if len(prompts(r.session)) > 0 {
		t.Errorf("%q is left", prompts(r.session))
	}
	r.run("anew")
	if told := sent(model); strings.Contains(told, "first") || !strings.Contains(told, "anew") {
		t.Errorf("the model is told %q", told)
	}
	want := llm.Usage{Input: 2100, Known: true}
	if got := r.session.Transcript().Usage; got != want {
		t.Errorf("spent %+v, want %+v", got, want)
	}
}

// A rewind to before a compaction brings the conversation back that it had shortened.
func TestRewindBeforeACompaction(t *testing.T) {
	t.Parallel()
	r, model := compactRig(t, &compactor{}, llmtest.Round{Text: "One."}, llmtest.Round{Text: "Two."}, llmtest.Round{Text: "Other."})
	r.run("first")
	r.run("second")
	r.compact("")
	if !strings.Contains(r.session.Transcript().Exchanges()[0].Input, "first") || len(find[agent.CompactionEnd](r.log)) != 1 {
		t.Fatalf("%v", prompts(r.session))
	}
	r.rewind("r1", r.before("second"))
	r.run("instead")
	if told := sent(model); strings.Contains(told, "In short.") || !strings.Contains(told, "One.") || strings.Contains(told, "second") {
		t.Errorf("the model is told %q", told)
	}
}

// A log without places has nothing to take back.
func TestTakenBackWithoutPlaces(t *testing.T) {
	t.Parallel()
	events := []agent.Event{{Data: agent.UserInput{}}, {Data: agent.Rewound{ID: "a"}}}
	if got := agent.NotTakenBack(events); len(got) != 2 {
		t.Errorf("%d events stand", len(got))
	}
}

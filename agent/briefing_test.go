package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// renewing are profiles that tell the mode, and a weather that changes by
// itself.
type renewing struct {
	agent.Profiles
	weather string
	asked   []agent.BriefingInput
}

func (p *renewing) Brief(_ context.Context, now agent.BriefingInput) agent.Briefing {
	return agent.Briefing{System: "Briefed.", Told: agent.BriefingState{"mode": string(now.Mode), "weather": p.weather}}
}

func (p *renewing) Renew(_ context.Context, now agent.BriefingInput, told agent.BriefingState) agent.BriefingUpdate {
	p.asked = append(p.asked, now)
	update := agent.BriefingUpdate{Told: agent.BriefingState{}}
	for about, state := range map[string]string{"mode": string(now.Mode), "weather": p.weather} {
		if told[about] != state {
			update.Told[about] = state
			update.Text += fmt.Sprintf("The %s is %s now.", about, state)
		}
	}
	return update
}

// updates are what a session was told of changes.
func updates(events []agent.Event) []string {
	var texts []string
	for _, u := range find[agent.BriefingUpdate](events) {
		texts = append(texts, u.Text)
	}
	return texts
}

// K-45: what has changed is told once, at the next input, as an item at the end;
// the system prompt stays. It is known to a reopened session.
func TestBriefingIsRenewed(t *testing.T) {
	t.Parallel()
	model := llmtest.Script(llmtest.Round{Text: "1"}, llmtest.Round{Text: "2"}, llmtest.Round{Text: "3"}, llmtest.Round{Text: "4"})
	r := newRig(t, model)
	profiles := &renewing{Profiles: r.cfg.Profiles, weather: "fine"}
	r.cfg.Profiles = profiles
	r.run("one")
	profiles.weather = "foul"
	r.run("two")
	r.open()
	r.run("three")
	profiles.weather = "fine"
	r.run("four")
	want := []string{"The weather is foul now.", "The weather is fine now."}
	if diff := cmp.Diff(want, updates(r.log)); diff != "" {
		t.Error(diff)
	}
	requests := model.Requests()
	for i, req := range requests {
		if req.System != "Briefed." {
			t.Errorf("request %d: %q", i, req.System)
		}
	}
	last := requests[3].Messages
	if got := last[len(last)-1].Text(); got != want[1] || last[len(last)-2].Text() != "four" {
		t.Errorf("the end is %q", got)
	}
}

// The permission mode is told when it changes, also in the midst of a turn, and
// not twice.
func TestModeIsTold(t *testing.T) {
	t.Parallel()
	var r *rig
	switches := note{name: "Switch", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		set := r.session.Transcript().Settings
		set.Mode = agent.ModePlan
		r.session.Configure(set)
		return agent.Result{Output: "switched"}
	}}
	model := llmtest.Script(
		llmtest.Round{Calls: []llmtest.Call{use("Switch", "a")}}, llmtest.Round{Calls: []llmtest.Call{look}}, llmtest.Round{Text: "Done."})
	r = newRig(t, model, switches, note{name: "Look", readOnly: true})
	r.cfg.Profiles = &renewing{Profiles: r.cfg.Profiles}
	events := r.run("go")
	if diff := cmp.Diff([]string{"The mode is plan now."}, updates(events)); diff != "" {
		t.Error(diff)
	}
	if got := sent(model); !strings.Contains(got, "The mode is plan now.") {
		t.Error(got)
	}
}

// A profile is told which files calls were about since it was asked last, and
// when a turn begins. Right after the briefing, which describes everything, it is
// asked only for what the briefing lacks.
func TestSituation(t *testing.T) {
	t.Parallel()
	touch := accessing{note{name: "Touch"}}
	model := llmtest.Script(llmtest.Round{Text: "0"},
		llmtest.Round{Calls: []llmtest.Call{use("Touch", "/p/a"), use("Touch", "/p/b")}}, llmtest.Round{Calls: []llmtest.Call{use("Touch", "/p/c")}}, llmtest.Round{Text: "Done."})
	r := newRig(t, model, touch)
	profiles := &renewing{Profiles: r.cfg.Profiles}
	r.cfg.Profiles = profiles
	r.run("hello")
	r.run("go")
	var got []string
	for _, s := range profiles.asked {
		got = append(got, fmt.Sprintf("%t %v %s %s", s.AtInput, s.Worked, s.Mode, s.Model))
	}
	want := []string{"false [] default m", "true [] default m", "false [/p/a /p/b] default m", "false [/p/c] default m"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// accessing is a note about the file that its text names.
type accessing struct{ note }

func (a accessing) Access(_ context.Context, input json.RawMessage) agent.Access {
	return agent.Access{Writes: []string{filepath.Clean(textOf(input))}}
}

// A compaction takes updates out of the conversation: what they told is told
// again.
func TestUpdatesAfterCompaction(t *testing.T) {
	t.Parallel()
	rounds := []llmtest.Round{{Text: "1"}, {Text: long(2000), Usage: full(4000)}, {Text: "3"}, {Text: "4"}}
	r := newRig(t, llmtest.Script(rounds...))
	profiles := &renewing{Profiles: r.cfg.Profiles, weather: "fine"}
	r.cfg.Profiles, r.cfg.Compactor = profiles, &compactor{}
	r.run("one")
	profiles.weather = "foul"
	r.run("two")
	if ends := find[agent.CompactionEnd](r.compact("")); len(ends) != 1 || ends[0].Outcome != agent.OutcomeDone {
		t.Fatalf("%+v", ends)
	}
	r.run("three")
	r.run("four")
	if diff := cmp.Diff([]string{"The weather is foul now.", "The weather is foul now."}, updates(r.log)); diff != "" {
		t.Error(diff)
	}
}

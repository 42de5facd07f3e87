package agent_test

import (
	"context"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"github.com/google/go-cmp/cmp"
)

// ruled is a compactor with rules.
type ruled struct {
	*compactor
	rules contextir.Rules
}

func (r ruled) Rules() contextir.Rules { return r.rules }

// looker is a rig whose model looks eight times, with results of so many tokens.
func looker(t *testing.T, tokens int, rounds ...llmtest.Round) (*rig, *llmtest.Model, *compactor) {
	t.Helper()
	var script []llmtest.Round
	for range 8 {
		script = append(script, llmtest.Round{Calls: []llmtest.Call{look}, Usage: full(100)})
	}
	script[7].Usage = full(7900)
	c := &compactor{}
	r, model := compactRig(t, c, append(append(script, llmtest.Round{Text: "Done."}), rounds...)...)
	r.use(note{name: "Look", readOnly: true, run: func(context.Context, agent.Invocation) agent.Result {
		return agent.Result{Output: long(tokens)}
	}})
	return r, model, c
}

// COM-13, COM-14, COM-15: a session compacts by the rules of its compactor, the type of the
// lowest priority first, and stops where that suffices. Its log says which rules were applied.
func TestCompactionByRules(t *testing.T) {
	t.Parallel()
	r, model, c := looker(t, 1000)
	r.cfg.Compactor = ruled{c, contextir.Rules{
		contextir.ToolResult:       {Strategy: contextir.StrategyTruncate, Keep: 2},
		contextir.AssistantMessage: {Strategy: contextir.StrategyDrop},
	}}
	events := r.run("look around")
	ends := find[agent.CompactionEnd](events)
	if len(ends) != 1 || ends[0].Outcome != agent.OutcomeDone || ends[0].Summary != "" || len(c.asked) > 0 {
		t.Fatalf("%+v, asked %d times", ends, len(c.asked))
	}
	if diff := cmp.Diff([]contextir.Step{{Type: contextir.ToolResult, Strategy: contextir.StrategyTruncate, Keep: 2}}, ends[0].Steps); diff != "" {
		t.Error(diff)
	}
	said := sent(model)
	if whole := strings.Count(said, long(1000)); whole != 2 || ends[0].ToolBlocks != 6 {
		t.Errorf("%d results are whole, and %d blocks are said to be gone", whole, ends[0].ToolBlocks)
	}
	r.open()
	r.run("And?")
	if again := sent(model); !strings.HasPrefix(again, said) {
		t.Error("opened again, it is another conversation")
	}
}

// COM-16: what a skill said is gone after a summary, so that the model is told which are in
// use. One that has ended is not named.
func TestSummaryNamesTheSkillsInUse(t *testing.T) {
	t.Parallel()
	c := &compactor{}
	r, model := compactRig(t, c,
		llmtest.Round{Calls: []llmtest.Call{use("Skill", "outer Look,Skill")}}, llmtest.Round{Calls: []llmtest.Call{use("Skill", "inner Look,Skill")}},
		llmtest.Round{Calls: []llmtest.Call{use("Skill", "end inner")}}, llmtest.Round{Text: long(2000), Usage: full(7900)}, llmtest.Round{Text: "Yes."})
	r.use(note{name: "Look", readOnly: true}, newSkills())
	r.run("begin")
	r.compact("")
	r.open()
	r.run("on")
	said := sent(model)
	if !strings.Contains(said, "skill outer is still in use") || strings.Contains(said, "skill inner") {
		t.Error(said)
	}
}

// COM-20: what a compaction shortens is kept as a file, if the host keeps files, and the
// model is told how to read it. The log has the paths.
func TestCompactionOffloads(t *testing.T) {
	t.Parallel()
	r, model, c := looker(t, 1000)
	r.cfg.Compactor = ruled{c, contextir.Rules{contextir.ToolResult: {Strategy: contextir.StrategyOffload, Keep: 2}}}
	kept := map[string]string{}
	r.cfg.Offload = func(_ context.Context, item, text string) string {
		if item == "tool_result:1:2" { // the disk is full
			return ""
		}
		kept["/files/"+item] = text
		return "/files/" + item
	}
	end := find[agent.CompactionEnd](r.run("look around"))
	if len(end) != 1 || end[0].Outcome != agent.OutcomeDone || len(end[0].Steps) != 1 || end[0].ToolBlocks != 6 {
		t.Fatalf("%+v", end)
	}
	want := map[string]string{"tool_result:1:1": "/files/tool_result:1:1", "tool_result:1:3": "/files/tool_result:1:3", "tool_result:1:4": "/files/tool_result:1:4", "tool_result:1:5": "/files/tool_result:1:5", "tool_result:1:6": "/files/tool_result:1:6"}
	if diff := cmp.Diff(want, end[0].Steps[0].Files); diff != "" {
		t.Error(diff)
	}
	for path, text := range kept {
		if text != long(1000) {
			t.Errorf("%s has %d bytes", path, len(text))
		}
	}
	said := sent(model)
	for part, n := range map[string]int{"[Content offloaded to /files/tool_result:1:": 5, "Run the tool again": 1, long(1000): 2} {
		if got := strings.Count(said, part); got != n {
			t.Errorf("%d times %.40q, want %d", got, part, n)
		}
	}
	files := 0
	for it := range r.session.Transcript().Conversation().Items() {
		if it.File() != "" {
			files++
		}
	}
	r.cfg.Offload = nil
	r.open()
	r.run("And?")
	if again := sent(model); !strings.HasPrefix(again, said) || files != 5 {
		t.Errorf("opened again, it is another conversation; %d items have files", files)
	}
}

// COM-24, COM-27: results that take more than they may are shortened before the next request,
// long before the window is full. It is not done again for every new one.
func TestCompactionOfATypeOverItsLimit(t *testing.T) {
	t.Parallel()
	r, model, c := looker(t, 1000)
	c.threshold = 100_000
	r.cfg.Facts = facts{limits: llm.ModelLimits{Window: 200_000}}
	r.cfg.Compactor = ruled{c, contextir.Rules{contextir.ToolResult: {Strategy: contextir.StrategyOffload, Keep: 2, Limit: 4500}}}
	events := r.run("look around")
	starts, ends := find[agent.CompactionStart](events), find[agent.CompactionEnd](events)
	if len(ends) != 2 || len(c.asked) > 0 {
		t.Fatalf("%d compactions, asked %d times", len(ends), len(c.asked))
	}
	for i, end := range ends {
		if end.Outcome != agent.OutcomeDone || starts[i].Trigger != agent.CompactLimit || end.After >= end.Before || len(end.Steps) != 1 || end.ToolBlocks < 2 {
			t.Errorf("%+v", end)
		}
	}
	said := sent(model)
	r.open()
	r.run("And?")
	if again := sent(model); !strings.HasPrefix(again, said) {
		t.Error("opened again, it is another conversation")
	}
}

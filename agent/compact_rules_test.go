package agent_test

import (
	"context"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm/llmtest"
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
	if steps := ends[0].Steps; len(steps) != 1 || steps[0] != (contextir.Step{Type: contextir.ToolResult, Strategy: contextir.StrategyTruncate, Keep: 2}) {
		t.Errorf("%+v", steps)
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

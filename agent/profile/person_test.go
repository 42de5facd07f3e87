package profile_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/profile"
	"github.com/google/go-cmp/cmp"
)

// spoken are the tools that a person has to do with, as the models of one vendor call
// them.
type spoken struct {
	ask, list, enter, exit llmtest.Call
	// answer is in the result of ask.
	answer string
}

func (s spoken) all() []llmtest.Call { return []llmtest.Call{s.ask, s.list, s.enter, s.exit} }

var speech = map[string]spoken{
	"anthropic": {
		ask: llmtest.Use("AskUserQuestion", object{"questions": []any{object{
			"question": "Which store?", "header": "Store", "multiSelect": true,
			"options": []any{object{"label": "SQLite", "description": "one file", "preview": "CREATE TABLE t(x);"}, object{"label": "Files"}},
		}}}),
		list:   llmtest.Use("TodoWrite", object{"todos": []any{object{"content": "Look", "status": "completed", "activeForm": "Looking"}, object{"content": "Build", "status": "in_progress", "activeForm": "Building"}}}),
		enter:  llmtest.Use("EnterPlanMode", object{}),
		exit:   llmtest.Use("ExitPlanMode", object{"plan": "# Plan\n\nBuild it."}),
		answer: "- SQLite\n- in their own words: but small",
	},
	"openai": {
		ask: llmtest.Use("request_user_input", object{"questions": []any{object{
			"id": "store", "header": "Store", "question": "Which store?",
			"options": []any{object{"label": "SQLite", "description": "one file"}, object{"label": "Files", "description": "many"}},
		}}}),
		list:   llmtest.Use("update_plan", object{"explanation": "begun", "plan": []any{object{"step": "Look", "status": "completed"}, object{"step": "Build", "status": "in_progress"}}}),
		enter:  llmtest.Use("enter_plan_mode", object{"reason": "it is large"}),
		exit:   llmtest.Use("exit_plan_mode", object{"plan": "# Plan\n\nBuild it."}),
		answer: `{"answers":{"store":{"answers":["SQLite","in their own words: but small"]}}}`,
	},
	"gemini": {
		ask: llmtest.Use("ask_user", object{"questions": []any{object{
			"question": "Which store?", "header": "Store", "type": "choice",
			"options": []any{object{"label": "SQLite", "description": "one file"}, object{"label": "Files", "description": "many"}},
		}}}),
		list:   llmtest.Use("write_todos", object{"todos": []any{object{"description": "Look", "status": "completed"}, object{"description": "Build", "status": "in_progress"}}}),
		enter:  llmtest.Use("enter_plan_mode", object{"reason": "it is large"}),
		exit:   llmtest.Use("exit_plan_mode", object{"plan": "# Plan\n\nBuild it."}),
		answer: "- SQLite\n- in their own words: but small",
	},
	"compat": { // in the form of the Open Agent SDK
		ask:    llmtest.Use("AskUser", object{"question": "Which store?", "options": []any{"SQLite", "Files"}}),
		list:   llmtest.Use("todo_write", object{"todos": []any{object{"content": "Look", "done": true}, object{"content": "Build", "status": "in-progress"}}}),
		enter:  llmtest.Use("EnterPlanMode", object{}),
		exit:   llmtest.Use("ExitPlanMode", object{"plan": "# Plan\n\nBuild it.", "approved": true}),
		answer: "- SQLite\n- in their own words: but small",
	},
}

type object = map[string]any

// OAS-307, OAS-328, OAS-329, OAS-330, K-04, K-18: in every wire format a model asks,
// keeps its list and has a plan approved under the names that it knows. What the person
// answers reaches it, and no gate that allows everything answers for them.
func TestToolsOfThePerson(t *testing.T) {
	t.Parallel()
	for provider, says := range speech {
		t.Run(provider, func(t *testing.T) {
			t.Parallel()
			rounds := make([]llmtest.Round, 0, 5)
			for _, call := range says.all() {
				rounds = append(rounds, llmtest.Round{Calls: []llmtest.Call{call}})
			}
			p := newPlace(t, provider, profile.NamingNative, nil, append(rounds, llmtest.Round{Text: "done"})...)
			var asked []string
			approver := agent.ApproverFunc(func(_ context.Context, r agent.ApprovalRequest) (agent.Answer, error) {
				asked = append(asked, r.Tool)
				reply := map[string]string{
					"AskUser":      `{"answers":[{"chosen":["SQLite"],"text":"but small"}]}`,
					"ExitPlanMode": `{"plan":"# Plan\n\nBuild it small.","comments":"Go."}`,
				}[r.Tool]
				return agent.Answer{Decision: agent.Allow, Reply: reply}, nil
			})
			session, err := agent.New(agent.Config{
				Model: adapters[provider](p.server), Profiles: p.profiles, Gate: allow{}, Approver: approver, Limits: agent.DefaultLimits,
			})
			if err != nil {
				t.Fatal(err)
			}
			p.session = session
			p.session.Record(agent.SettingsChange{Settings: agent.Settings{Provider: provider, Model: "test-model", Mode: agent.ModeBypass}})
			ends := map[string]agent.ToolCallEnd{}
			for _, ev := range p.run("Go.") {
				if end, ok := ev.Data.(agent.ToolCallEnd); ok {
					ends[end.Tool] = end
				}
			}
			if diff := cmp.Diff([]string{"AskUser", "EnterPlanMode", "ExitPlanMode"}, asked); diff != "" {
				t.Errorf("asked (-want +got):\n%s", diff)
			}
			for tool, want := range map[string]string{
				"AskUser": says.answer, "TodoWrite": "[x] 1. Look\n[>] 2. Build\n", "EnterPlanMode": "You are in plan mode now.",
				"ExitPlanMode": "Build it small.\n\nCarry it out now. They said: Go.",
			} {
				if end := ends[tool]; end.IsError || !strings.Contains(end.ForModel(), want) {
					t.Errorf("%s: %q, want %q in it", tool, end.ForModel(), want)
				}
			}
			sent := p.server.Requests()
			var last any
			if err := json.Unmarshal(sent[len(sent)-1].Body, &last); err != nil {
				t.Fatal(err)
			}
			if text := encoded(t, last); !strings.Contains(text, "They said: Go.") {
				t.Errorf("the model is not told what the person answered: %s", text)
			}
		})
	}
}

// Without anybody to ask, each question is refused in words that say what to do instead.
func TestToolsOfThePersonAlone(t *testing.T) {
	t.Parallel()
	says := speech["anthropic"]
	p := newPlace(t, "anthropic", profile.NamingNative, nil, llmtest.Round{Calls: []llmtest.Call{says.ask, says.enter, says.exit}}, llmtest.Round{Text: "done"})
	got := map[string]string{}
	for _, ev := range p.run("Go.") {
		if end, ok := ev.Data.(agent.ToolCallEnd); ok && end.IsError {
			got[end.Tool] = end.ForModel()
		}
	}
	for tool, want := range map[string]string{"AskUser": "Decide yourself", "EnterPlanMode": "go on with the task", "ExitPlanMode": "Give it as your answer"} {
		if !strings.Contains(got[tool], want) {
			t.Errorf("%s: %q, want %q in it", tool, got[tool], want)
		}
	}
}

package demo_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/demo"
	"atelier.dev/atelier/agent/llm/llmtest"
)

var allTools = []string{"Glob", "Read", "Grep", "Write", "Edit", "Bash"}

// reply is a tool's answer to one call of the tour.
type reply struct {
	text    string
	isError bool
}

// play answers the tour's calls until its end. Replies are by tool, in order; a
// tool without replies answers "ok".
func play(t *testing.T, prompt string, tools []string, replies map[string][]reply) (calls []string, said string) {
	t.Helper()
	req := llm.Request{Provider: demo.Provider, Model: demo.Model, Messages: []llm.Message{
		llm.Text(llm.RoleUser, "an earlier prompt"), llm.Text(llm.RoleAssistant, "an earlier answer"),
		llm.Text(llm.RoleUser, prompt),
	}}
	for _, name := range tools {
		req.Tools = append(req.Tools, llm.ToolSpec{Name: name})
	}
	for range 20 {
		events, answer, err := llmtest.Collect(demo.New(demo.Config{Pace: -1}).Stream(t.Context(), req))
		if err != nil {
			t.Fatal(err)
		}
		llmtest.Check(t, events)
		if answer.Usage != (llm.Usage{}) {
			t.Errorf("usage %+v: a script counts no tokens", answer.Usage)
		}
		said += answer.Message.Text() + "\n"
		req.Messages = append(req.Messages, answer.Message)
		made := answer.Message.Calls()
		if len(made) == 0 {
			return calls, said
		}
		results := llm.Message{Role: llm.RoleTool}
		for _, c := range made {
			calls = append(calls, c.Name+" "+string(c.Arguments))
			r := reply{text: "ok"}
			if queue := replies[c.Name]; len(queue) > 0 {
				r, replies[c.Name] = queue[0], queue[1:]
			}
			results.Parts = append(results.Parts, llm.Part{Kind: llm.PartToolResult, Result: &llm.ToolResult{
				CallID: c.ID, Name: c.Name, IsError: r.isError, Parts: []llm.Part{{Kind: llm.PartText, Text: r.text}},
			}})
		}
		req.Messages = append(req.Messages, results)
	}
	t.Fatalf("the tour does not end: %q", calls)
	return nil, ""
}

func names(calls []string) string {
	var out []string
	for _, c := range calls {
		name, _, _ := strings.Cut(c, " ")
		out = append(out, name)
	}
	return strings.Join(out, " ")
}

func TestTour(t *testing.T) {
	t.Parallel()
	calls, said := play(t, "Show me around", allTools, map[string][]reply{
		"Glob": {{text: "main.go\nREADME.md\ndocs/"}},
		"Read": {{text: "     1\t# The Lighthouse project\n     2\tversion 2"}},
	})
	if got := names(calls); got != "Glob Read Grep Write Edit Bash" {
		t.Errorf("tools %s", got)
	}
	if diff := cmp.Diff([]string{`Glob {"pattern":"*"}`, `Read {"file_path":"README.md","limit":40}`, `Grep {"pattern":"Lighthouse"}`}, calls[:3]); diff != "" {
		t.Error(diff)
	}
	var write struct {
		Path    string `json:"file_path"`
		Content string `json:"content"`
	}
	var edit struct {
		Old string `json:"old_string"`
	}
	arguments := func(i int) []byte { return []byte(calls[i][strings.Index(calls[i], "{"):]) }
	if err := errors.Join(json.Unmarshal(arguments(3), &write), json.Unmarshal(arguments(4), &edit)); err != nil {
		t.Fatal(err)
	}
	if write.Path != "atelier-tour/hello.sh" || strings.Count(write.Content, edit.Old) != 1 {
		t.Errorf("%q must stand once in %q of %s", edit.Old, write.Content, write.Path)
	}
	for _, want := range []string{"Files found: 3", "script", "no model", "Settings", "OPENAI_API_KEY", "can be deleted"} {
		if !strings.Contains(said, want) {
			t.Errorf("the tour does not say %q:\n%s", want, said)
		}
	}
}

func TestTourGoesOn(t *testing.T) {
	t.Parallel()
	denied := reply{"The user denied this call and said: not in this folder", true}
	failed := reply{"The file exists and was not read.", true}
	tests := map[string]struct {
		prompt  string
		tools   []string
		replies map[string][]reply
		calls   string
		says    []string
		not     string
	}{
		"write denied": {
			"take the TOUR", allTools, map[string][]reply{"Write": {denied}},
			"Glob Read Grep Write", []string{"“not in this folder”"}, "can be deleted",
		},
		"left from an earlier tour": {
			"Show me around!", allTools, map[string][]reply{"Write": {failed}},
			"Glob Read Grep Write Read Write Edit Bash", []string{"The file exists and was not read", "can be deleted"}, "You denied",
		},
		"disk full": {
			"Show me around", allTools, map[string][]reply{"Write": {failed}, "Read": {{"x", false}, {"no such file", true}}},
			"Glob Read Grep Write Read", []string{"no such file"}, "can be deleted",
		},
		"empty folder": {
			"tour", allTools, map[string][]reply{"Glob": {{"No files found", false}}},
			"Glob Grep Write Edit Bash", []string{"The folder is empty", "TODO"}, "",
		},
		"read-only tools": {"tour", []string{"Glob", "Grep"}, nil, "Glob Grep", []string{"no model"}, "can be deleted"},
		"no tools":        {"tour", nil, nil, "", []string{"no model"}, ""},
		"edit and run denied": {
			"tour", allTools, map[string][]reply{"Edit": {{"The user denied this call.", true}}, "Bash": {denied}},
			"Glob Read Grep Write Edit Bash", []string{"You denied that, so it did not happen", "can be deleted"}, "",
		},
		"Chinese": {"带我看看", allTools, nil, "Glob Read Grep Write Edit Bash", []string{"脚本", "没有模型", "OPENAI_API_KEY", "可以删除"}, "The "},
		"another prompt": {
			"fix the bug", allTools, nil, "", []string{"a script, not a model", "OPENAI_API_KEY", "Show me around"}, "",
		},
		"another prompt, in Chinese": {"修复这个问题", allTools, nil, "", []string{"不是模型", "OPENAI_API_KEY", "带我看看"}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			calls, said := play(t, tt.prompt, tt.tools, tt.replies)
			if got := names(calls); got != tt.calls {
				t.Errorf("tools %q, want %q", got, tt.calls)
			}
			for _, want := range tt.says {
				if !strings.Contains(said, want) {
					t.Errorf("does not say %q:\n%s", want, said)
				}
			}
			if tt.not != "" && strings.Contains(said, tt.not) {
				t.Errorf("says %q:\n%s", tt.not, said)
			}
		})
	}
}

func TestPaceAndAbort(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		words := 0
		var last error
		req := llm.Request{Model: demo.Model, Messages: []llm.Message{llm.Text(llm.RoleUser, "hello")}}
		for ev, err := range demo.New(demo.Config{}).Stream(ctx, req) {
			last = err
			if ev.Type == llm.EventTextDelta {
				if words++; words == 3 {
					cancel()
				}
			}
		}
		var e *llm.Error
		if !errors.As(last, &e) || e.Class != llm.ClassAbort || words != 3 {
			t.Errorf("after %d words: %v", words, last)
		}
	})
}

func TestOtherModel(t *testing.T) {
	t.Parallel()
	_, _, err := llmtest.Collect(demo.New(demo.Config{}).Stream(t.Context(), llm.Request{Model: "gpt"}))
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != llm.ClassNotFound {
		t.Errorf("got %v", err)
	}
}

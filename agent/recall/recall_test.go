package recall_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/recall"
)

// logged returns a log of the payloads, each in a turn that its inputs begin.
func logged(payloads ...agent.Payload) recall.Log {
	return func(_ context.Context, apply func(agent.Event, bool)) error {
		turn := 0
		for i, p := range payloads {
			if _, ok := p.(agent.UserInput); ok {
				turn++
			}
			apply(agent.Event{Seq: int64(i + 1), Turn: turn, Data: p}, false)
		}
		return nil
	}
}

func ask(t *testing.T, log recall.Log, in map[string]any) agent.Result {
	t.Helper()
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return recall.Tool(log).Run(t.Context(), agent.Invocation{Input: raw})
}

func says(text string) agent.TextEnd {
	return agent.TextEnd{Message: llm.Text(llm.RoleAssistant, text)}
}

// What a summary replaced and what was shortened is found as it was; what the user took
// out is not, and neither are summaries and earlier searches.
func TestRecall(t *testing.T) {
	t.Parallel()
	call := llm.ToolCall{ID: "c1", Name: "Read", Arguments: []byte(`{"path":"auth.go"}`)}
	again := llm.ToolCall{ID: "c2", Name: "Recall", Arguments: []byte(`{}`)}
	long := strings.Repeat("x ", 20_000) + "EADDRINUSE on port 8443" + strings.Repeat(" y", 20_000)
	log := logged(
		agent.UserInput{Text: "Mend the login on port 8443."},
		agent.TextEnd{Message: llm.Message{Role: llm.RoleAssistant, Parts: []llm.Part{{Kind: llm.PartToolCall, Call: &call}, {Kind: llm.PartToolCall, Call: &again}}}},
		agent.ToolCallEnd{CallID: "c1", Tool: "Read", Output: long},
		agent.ToolCallEnd{CallID: "c2", Tool: "Recall", Output: "EADDRINUSE was found before"},
		says("The password is 8443-secret."),
		agent.HistoryRepaired{Repair: agent.RepairElided, Bytes: 1 << 20},
		agent.CompactionEnd{Trigger: agent.CompactAuto, Outcome: agent.OutcomeDone, Summary: "port 8443, in short"},
		agent.ContextMarked{Mark: contextir.MarkDrop, Items: []string{"assistant_message:1:2"}},
		agent.UserInput{Text: "Go on."},
	)
	got := ask(t, log, map[string]any{"query": "port EADDRINUSE"})
	first, _, _ := strings.Cut(strings.SplitN(got.Output, "[", 2)[1], "]")
	if got.IsError || first != "tool_result:1:1" || !strings.Contains(got.Output, "EADDRINUSE on port 8443") || !strings.Contains(got.Output, "[user_message:1:1]") {
		t.Errorf("found %s", got.Output)
	}
	if strings.Contains(got.Output, "secret") || strings.Contains(got.Output, "in short") || strings.Contains(got.Output, "found before") || len(got.Output) > 4000 {
		t.Errorf("found %s", got.Output)
	}
	var whole strings.Builder
	for skip := 0; ; {
		got := ask(t, log, map[string]any{"id": first, "skip": skip})
		text, rest, more := strings.Cut(got.Output, "\n[")
		whole.WriteString(text)
		if !more {
			break
		}
		if _, err := fmt.Sscanf(rest[strings.Index(rest, "skip"):], "skip %d]", &skip); err != nil {
			t.Fatal(err)
		}
	}
	if whole.String() != long {
		t.Errorf("read %d bytes of %d", whole.Len(), len(long))
	}
	for _, in := range []map[string]any{{}, {"query": "a", "id": "b"}, {"query": "  ()"}, {"id": "assistant_message:1:2"}, {"id": "none"}} {
		if got := ask(t, log, in); !got.IsError {
			t.Errorf("%v: %s", in, got.Output)
		}
	}
	broken := func(context.Context, func(agent.Event, bool)) error { return errors.New("the disk is gone") }
	if got := ask(t, broken, map[string]any{"query": "a"}); !got.IsError || !strings.Contains(got.Output, "the disk is gone") {
		t.Errorf("%+v", got)
	}
}

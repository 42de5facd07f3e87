package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/sdk"
)

// message has the members of a line of --output messages that tests read.
type message struct {
	Type    sdk.Type     `json:"type"`
	Session string       `json:"session_id"`
	Task    string       `json:"task_id"`
	Status  agent.Status `json:"status"`
	Text    string       `json:"text"`
}

func messages(t *testing.T, out string) []message {
	t.Helper()
	var all []message
	for line := range strings.Lines(out) {
		var m message
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		all = append(all, m)
	}
	return all
}

// inOrder checks that got contains the wanted values in their order.
func inOrder[T comparable](t *testing.T, got []T, want ...T) {
	t.Helper()
	rest := got
	for _, w := range want {
		i := slices.Index(rest, w)
		if i < 0 {
			t.Fatalf("no %v in its place among %v", w, got)
		}
		rest = rest[i+1:]
	}
}

// OAS-102: a turn that could not begin gives a result message.
func TestRunMessagesOfFailure(t *testing.T) {
	t.Parallel()
	out, _, code := newPlace(t).run("run", "--session", "nope", "--output", "messages", "x")
	if all := messages(t, out); code != 1 || len(all) != 1 || all[0].Type != sdk.TypeResult || all[0].Status != agent.StatusFailed {
		t.Errorf("exit %d: %s", code, out)
	}
}

// LOOP-48: a run continues when an agent that it started ends, and the agent's
// text is not the run's answer.
func TestRunOutlastsItsAgents(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.server.Script("helper", llmtest.Round{Text: "I helped."}, llmtest.Round{Text: "I helped again."}, llmtest.Round{Text: "And again."})
	use := func(tool string, input map[string]string) llmtest.Round {
		return llmtest.Round{Calls: []llmtest.Call{llmtest.Use(tool, input)}}
	}
	p.server.Script("m", use("SpawnAgent", map[string]string{"task": "Help.", "model": "helper"}))
	cmd, lines := p.start("run", "--model", "openai/m", "--output", "messages", "go")
	var session, helper string
	results := map[string]message{}
	for lines.Scan() {
		m := messages(t, lines.Text())[0]
		switch m.Type {
		case sdk.TypeTaskStarted:
			session, helper = m.Session, m.Task
			p.server.Script("m", use("Wait", map[string]string{"agent_id": helper}), llmtest.Round{Text: "It is done."})
		case sdk.TypeResult:
			results[m.Session] = m
		}
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 0 || results[session].Text != "It is done." || results[helper].Text != "I helped." {
		t.Fatalf("exit %d: %+v", code, results)
	}
	for output, want := range map[string]string{"text": "Done again.\n", "json": `"text":"Done again."`} {
		p.server.Script("m", use("SendInput", map[string]string{"agent_id": helper, "message": "Again."}),
			use("Wait", map[string]string{"agent_id": helper}), llmtest.Round{Text: "Done again."})
		out, errs, code := p.run("run", "--session", session, "--output", output, "again")
		if code != 0 || !strings.Contains(out, want) || strings.Contains(out, "helped") || strings.Contains(out, helper) {
			t.Errorf("%s: exit %d: %s%s", output, code, out, errs)
		}
	}
}

package workbench_test

import (
	"bytes"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/workbench"
)

// Two sessions that work in one folder at the same time are told of each other, once,
// and so is the user; a session whose turn is over is no company.
func TestSessionsInOneFolderKnowOfEachOther(t *testing.T) {
	t.Parallel()
	const told = "Another session works in this folder"
	server := llmtest.Serve(t)
	write := llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Write", map[string]any{"file_path": "a.txt", "content": "a"})}}
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	first, second, third := p.session("compat"), p.session("compat"), p.session("compat")
	warned := func(session string) (n int) {
		for _, ev := range logOf(p, session) {
			if w, ok := ev.Data.(agent.Warning); ok && w.ID == agent.WarnCompany {
				n++
			}
		}
		return n
	}
	last := func() []byte {
		requests := server.Requests()
		return requests[len(requests)-1].Body
	}

	server.Add(llmtest.Round{Text: "Alone."})
	p.send(third, "hello") // and is over
	await(p, anyOf[agent.ProcessingEnd])
	server.Add(write)
	p.send(first, "write it")
	request := await(p, anyOf[agent.ApprovalRequest])
	if bytes.Contains(last(), []byte(told)) || warned(first) != 0 {
		t.Error("a session at rest was taken for company")
	}

	server.Add(llmtest.Round{Text: "Careful."}, llmtest.Round{Text: "Still."})
	for range 2 {
		p.send(second, "go on")
		await(p, anyOf[agent.ProcessingEnd])
	}
	if n := bytes.Count(last(), []byte(told)); n != 1 || warned(second) != 1 {
		t.Errorf("the second was told %d times, the user %d times", n, warned(second))
	}

	server.Add(write)
	p.send(second, "write as well")
	await(p, anyOf[agent.ApprovalRequest])
	server.Add(llmtest.Round{Text: "Written."})
	p.allow(first, request)
	await(p, anyOf[agent.ProcessingEnd])
	if n := bytes.Count(last(), []byte(told)); n != 1 || warned(first) != 1 {
		t.Errorf("the first was told %d times in the middle of its turn, the user %d times", n, warned(first))
	}
	if warned(third) != 0 {
		t.Error("one that does nothing was told")
	}
	must[backend.Empty](p, "conversation.interrupt", workbench.SessionRef{Session: second})
}

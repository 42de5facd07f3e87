package workbench_test

import (
	"encoding/json"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/agent/plan"
	"atelier.dev/atelier/agent/todo"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/reading"
	"atelier.dev/atelier/backend/workbench"
)

func presents(text string) llmtest.Round {
	return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("exit_plan_mode", args{"plan": text})}}
}

// OAS-329, OAS-330, K-18: only the user's answers lead into plan mode and out of it, each
// only into the modes that are meant, also after the program was started again; and the
// plan as they approved it is found in the log.
func TestPlanIsApproved(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("enter_plan_mode", args{})}}, write("early.txt"), presents("# Way\n\nOne."), llmtest.Round{Text: "Done."})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"))
	id := p.session("compat")
	p.send(id, "go")
	mode := func() agent.Mode {
		return must[backend.SessionInfo](p, "sessions.get", workbench.SessionRef{Session: id}).Settings.Mode
	}
	refuses := func(request agent.ApprovalRequest, modes ...agent.Mode) {
		for _, m := range modes {
			_, err := call[backend.Empty](p, "conversation.answer", workbench.AnswerRequest{Session: id, Approval: request.ID, Answer: agent.Answer{Decision: agent.Allow, Mode: m}})
			if err == nil || err.ID != backend.ProblemAnswerInvalid {
				t.Errorf("%s leads to %s: %v", request.Tool, m, err)
			}
		}
	}
	enter := await(p, anyOf[agent.ApprovalRequest])
	refuses(enter, agent.ModeAcceptEdits, agent.ModeAuto, agent.ModeBypass, agent.ModeDefault)
	p.answer(backend.Approval{Session: id, Request: enter}, agent.Answer{Decision: agent.Allow, Mode: agent.ModePlan})

	early := await(p, anyOf[agent.ApprovalRequest]) // plan mode is enforced where tools run
	if early.Tool != "Write" || !early.EachTime || mode() != agent.ModePlan {
		t.Errorf("asked %+v in mode %s", early, mode())
	}
	p.answer(backend.Approval{Session: id, Request: early}, agent.Answer{Decision: agent.Deny})

	exit := await(p, anyOf[agent.ApprovalRequest])
	refuses(exit, agent.ModeBypass, agent.ModeDontAsk, agent.ModePlan)
	folder, home := p.folder, p.home
	p.close()
	p = newPage(t, folder, home, environment(llmtest.Serve(t, llmtest.Round{Text: "Done."}), "sk-test"))
	waits := p.waiting()
	if len(waits) != 1 || waits[0].Request.ID != exit.ID || !strings.Contains(waits[0].Request.Input, "One.") {
		t.Fatalf("waits: %+v", waits)
	}
	p.answer(waits[0], agent.Answer{Decision: agent.Allow, Mode: agent.ModeAcceptEdits, Reply: `{"plan":"# Way\n\nOne, slowly."}`})
	end := await(p, anyOf[agent.ToolCallEnd])
	var doc plan.Document
	if end.Details == nil || end.Details.Kept == nil || json.Unmarshal(end.Details.Kept.State, &doc) != nil || doc.Plan != "# Way\n\nOne, slowly." || !doc.Edited {
		t.Errorf("kept %+v", end.Details)
	}
	await(p, anyOf[agent.ProcessingEnd])
	if mode() != agent.ModeAcceptEdits {
		t.Errorf("the mode is %s", mode())
	}
	if found := must[reading.FindReply](p, "conversation.find", reading.FindRequest{Session: id, Text: "slowly"}); len(found.Hits) == 0 {
		t.Error("the approved plan is not found")
	}
}

// OAS-328: the list of tasks goes on after the program was started again, and the
// session's row says what it is at and where the list is.
func TestListOfTasksGoesOn(t *testing.T) {
	t.Parallel()
	list := func(in args) llmtest.Round {
		return llmtest.Round{Calls: []llmtest.Call{llmtest.Use("TodoWrite", in)}}
	}
	begun := list(args{"todos": []any{args{"content": "Look", "status": "in_progress", "activeForm": "Looking"}, args{"content": "Mend", "status": "pending"}}})
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t, begun, llmtest.Round{Text: "So far."}), "sk-test"))
	id := p.session("compat")
	p.send(id, "go")
	await(p, anyOf[agent.ProcessingEnd])
	kept := func() backend.KeptAt {
		all := must[backend.SessionInfo](p, "sessions.get", workbench.SessionRef{Session: id}).Kept
		if len(all) == 0 {
			t.Fatal("nothing is kept")
		}
		return all[len(all)-1]
	}
	if k := kept(); k.Tool != todo.Name || k.Line != "Looking" {
		t.Errorf("kept %+v", k)
	}
	folder, home := p.folder, p.home
	p.close()
	p = newPage(t, folder, home, environment(llmtest.Serve(t, list(args{"action": "toggle", "id": "1"}), llmtest.Round{Text: "Done."}), "sk-test"))
	p.send(id, "on")
	await(p, anyOf[agent.ProcessingEnd])
	k := kept()
	event := must[reading.EventReply](p, "conversation.event", place.EventRef{Session: id, Seq: k.Seq}).Event
	end, ok := event.Data.(agent.ToolCallEnd)
	if !ok || end.Output != "[x] 1. Look\n[ ] 2. Mend\n" || k.Line != "Mend" {
		t.Errorf("%+v: %+v", k, event.Data)
	}
}

// OAS-307: a question in the form of the Open Agent SDK waits for the user, and what they
// choose reaches the model.
func TestQuestionIsAnswered(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t, llmtest.Round{Calls: []llmtest.Call{llmtest.Use("ask_user", args{
		"question": "Which?", "options": []any{"a", "b"},
	})}}, llmtest.Round{Text: "Done."}), "sk-test"))
	id := p.session("compat")
	p.send(id, "go")
	request := await(p, anyOf[agent.ApprovalRequest])
	if request.Tool != "AskUser" || request.ReasonCode != agent.ReasonQuestion {
		t.Errorf("asked %+v", request)
	}
	p.answer(backend.Approval{Session: id, Request: request}, agent.Answer{Decision: agent.Allow, Reply: `{"answers":[{"chosen":["b"]}]}`})
	if end := await(p, anyOf[agent.ToolCallEnd]); end.Output != "The user answered.\n\nWhich?\n- b\n" {
		t.Errorf("%q", end.Output)
	}
}

//go:build unix

package workbench_test

import (
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/schedules"
)

// OAS-323, OAS-324, OAS-325, OAS-333: a task that a model sets is listed for the user, runs
// in its session as a turn of its own when it is told to, and goes when it is deleted; in
// every wire format.
func TestScheduledTaskRuns(t *testing.T) {
	t.Parallel()
	onEveryWire(t, func(t *testing.T, w wire, p *page, server *llmtest.Server) {
		name := func(claude, snake string) string {
			if w.provider == "anthropic" {
				return claude
			}
			return snake
		}
		server.Script(w.model,
			llmtest.Round{Calls: []llmtest.Call{llmtest.Use(name("CronCreate", "cron_create"), args{"schedule": "0 9 * * 1-5", "command": "Look at the build.", "name": "build"})}},
			llmtest.Round{Calls: []llmtest.Call{llmtest.Use(name("CronList", "cron_list"), args{})}},
			llmtest.Round{Text: "Set."},
			llmtest.Round{Text: "The build is fine."},
			llmtest.Round{Calls: []llmtest.Call{llmtest.Use(name("CronDelete", "cron_delete"), args{"id": "task-1"})}},
			llmtest.Round{Text: "Deleted."})
		if err := p.bench.Recover(t.Context()); err != nil { // as a host that stays open
			t.Fatal(err)
		}
		id := w.inMode(p, agent.ModeDefault)
		p.send(id, "look every morning")
		asked := await(p, anyOf[agent.ApprovalRequest]) // a model is not free to spend later
		if asked.Tool != "CronCreate" {
			t.Errorf("asked %+v", asked)
		}
		p.answer(backend.Approval{Session: id, Request: asked}, agent.Answer{Decision: agent.Allow})
		if end := await(p, anyOf[agent.ToolCallEnd]); end.IsError || !strings.Contains(end.Output, "task-1 is set") {
			t.Fatalf("%+v", end)
		}
		if end := await(p, anyOf[agent.ToolCallEnd]); end.IsError || !strings.Contains(end.Output, "task-1 [this session's] build") {
			t.Errorf("%+v", end)
		}
		await(p, anyOf[agent.ProcessingEnd])
		list := must[schedules.SchedulesReply](p, "schedules.change", schedules.ScheduleChange{ID: "task-1", Action: schedules.ActRun})
		if len(list.Tasks) != 1 || list.Tasks[0].Schedule != "0 9 * * 1-5" {
			t.Errorf("listed %+v", list)
		}
		if in := await(p, func(in agent.UserInput) bool { return in.Text != "look every morning" }); !strings.Contains(in.Text, "Scheduled: build") || !strings.Contains(in.Text, "Look at the build.") {
			t.Errorf("it was told %q", in.Text)
		}
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "The build is fine." })
		for deadline := time.After(patience); ; p.more(deadline, "the end of the task") {
			list = must[schedules.SchedulesReply](p, "schedules.list", backend.Empty{})
			if len(list.Runs) == 1 && list.Runs[0].Outcome == schedules.Done {
				break
			}
		}
		if list.Tasks[0].Next == 0 {
			t.Errorf("it is not planned again: %+v", list)
		}
		p.send(id, "no more")
		await(p, func(e agent.TextEnd) bool { return e.Message.Text() == "Deleted." })
		if list = must[schedules.SchedulesReply](p, "schedules.list", backend.Empty{}); len(list.Tasks) != 0 {
			t.Errorf("left %+v", list.Tasks)
		}
	})
}

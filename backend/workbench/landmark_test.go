package workbench_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend/reading"
)

// landmarks goes from landmark to landmark, as often as the log has some.
func landmarks(p *page, session string, of reading.Landmark, from int64, back bool) (seqs []int64, calls int) {
	for {
		reply := must[reading.LandmarkReply](p, "conversation.landmark", reading.LandmarkRequest{
			Session: session, Landmark: of, From: from, Back: back,
		})
		calls++
		switch {
		case reply.Seq > 0:
			seqs = append(seqs, reply.Seq)
			from = reply.Seq
		case reply.Next > 0:
			from = reply.Next
		default:
			return seqs, calls
		}
	}
}

// Prompts and errors are found in both directions; what the model corrects
// itself, what was denied and what the loop injected are not among them.
func TestLandmarks(t *testing.T) {
	t.Parallel()
	failed := &agent.Details{Command: &agent.CommandResult{ExitCode: 1}}
	payloads := []struct {
		is   reading.Landmark
		data agent.Payload
	}{
		{reading.LandmarkPrompt, agent.UserInput{Text: "first"}},
		{"", agent.ToolCallEnd{CallID: "slip", Outcome: agent.OutcomeFailed, IsError: true}},
		{"", agent.ToolCallEnd{CallID: "denied", Outcome: agent.OutcomeDenied}},
		{"", agent.ToolCallEnd{CallID: "stopped", Outcome: agent.OutcomeInterrupted, Details: failed}},
		{"", agent.ToolCallEnd{CallID: "fine", Outcome: agent.OutcomeDone, Details: &agent.Details{Command: &agent.CommandResult{}}}},
		{reading.LandmarkError, agent.ToolCallEnd{CallID: "tests", Outcome: agent.OutcomeDone, Details: failed}},
		{reading.LandmarkError, agent.ToolCallEnd{CallID: "edit", Outcome: agent.OutcomeFailed, Details: &agent.Details{}}},
		{reading.LandmarkPrompt, agent.SteeringInjected{Text: "mine"}},
		{"", agent.SteeringInjected{Text: "the loop's", ByLoop: true}},
		{reading.LandmarkError, agent.Failure{Message: "No key."}},
		{"", agent.LocalCommandEnd{ID: "true", Outcome: agent.OutcomeDone, Result: &agent.CommandResult{}}},
		{reading.LandmarkError, agent.LocalCommandEnd{ID: "false", Outcome: agent.OutcomeDone, Result: failed.Command}},
		{"", agent.CompactionEnd{Outcome: agent.OutcomeDone}},
		{reading.LandmarkError, agent.CompactionEnd{Outcome: agent.OutcomeFailed}},
		{reading.LandmarkPrompt, agent.UserInput{Text: "last"}},
	}
	var data []agent.Payload
	for _, each := range payloads {
		data = append(data, each.data)
	}
	p, session := written(t, data...)
	info, err := p.store.Session(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []reading.Landmark{reading.LandmarkPrompt, reading.LandmarkError} {
		var want, reversed []int64
		for i, each := range payloads {
			if seq := info.Seq - int64(len(payloads)-1-i); each.is == of {
				want = append(want, seq)
				reversed = append([]int64{seq}, reversed...)
			}
		}
		if got, _ := landmarks(p, session, of, 0, false); !cmp.Equal(got, want) {
			t.Errorf("%s: found %v, want %v", of, got, want)
		}
		if got, _ := landmarks(p, session, of, info.Seq+100, true); !cmp.Equal(got, reversed) {
			t.Errorf("%s, back: found %v, want %v", of, got, reversed)
		}
	}
	one := must[reading.LandmarkReply](p, "conversation.landmark", reading.LandmarkRequest{Session: session, Landmark: reading.LandmarkError})
	want := reading.LandmarkReply{Seq: info.Seq - 9, Kind: agent.KindToolCallEnd, Of: "tests"}
	if diff := cmp.Diff(want, one); diff != "" {
		t.Error(diff)
	}
}

// A search of a long log is divided, and misses nothing at the places where it
// goes on.
func TestLandmarksOfALongLog(t *testing.T) {
	t.Parallel()
	var payloads []agent.Payload
	for i := range 12_000 {
		if i%4000 == 0 {
			payloads = append(payloads, agent.UserInput{Text: fmt.Sprint(i)})
		} else {
			payloads = append(payloads, agent.Title{Text: "again"})
		}
	}
	p, session := written(t, payloads...)
	for _, back := range []bool{false, true} {
		from := int64(0)
		if back {
			from = 1 << 40
		}
		if got, _ := landmarks(p, session, reading.LandmarkPrompt, from, back); len(got) != 3 {
			t.Errorf("back %t: found prompts %v", back, got)
		}
		if got, calls := landmarks(p, session, reading.LandmarkError, from, back); len(got) != 0 || calls < 2 {
			t.Errorf("back %t: found errors %v in %d calls", back, got, calls)
		}
	}
	if _, err := call[reading.LandmarkReply](p, "conversation.landmark", reading.LandmarkRequest{Session: "other"}); err == nil {
		t.Error("a session that does not exist was searched")
	}
}

// A call is found by its id, and the newest one if an id came twice.
func TestLandmarkOfCall(t *testing.T) {
	t.Parallel()
	p, session := written(t,
		agent.UserInput{Text: "Go"},
		agent.ToolCallStart{CallID: "a", Tool: "Read"}, agent.ToolCallEnd{CallID: "a", Outcome: agent.OutcomeDone},
		agent.ToolCallStart{CallID: "b", Tool: "Read"}, agent.ToolCallEnd{CallID: "b", Outcome: agent.OutcomeDenied},
		agent.ToolCallStart{CallID: "a", Tool: "Bash"}, agent.ToolCallEnd{CallID: "a", Outcome: agent.OutcomeDone},
	)
	all, _ := landmarks(p, session, reading.LandmarkCall, 0, false)
	if len(all) != 3 {
		t.Fatalf("%d calls were found", len(all))
	}
	for of, want := range map[string]int64{"a": all[2], "b": all[1], "c": 0} {
		got := must[reading.LandmarkReply](p, "conversation.landmark", reading.LandmarkRequest{
			Session: session, Landmark: reading.LandmarkCall, Of: of, From: 1 << 40, Back: true,
		})
		if got.Seq != want {
			t.Errorf("%s: found %d, want %d", of, got.Seq, want)
		}
	}
}

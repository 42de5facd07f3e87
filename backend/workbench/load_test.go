package workbench_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend/workbench"
)

// OAS-603: some messages of a session are loaded: the newest, or those after a number of
// them, however far they are apart in the log.
func TestLoad(t *testing.T) {
	t.Parallel()
	p := newPage(t, t.TempDir(), t.TempDir(), environment(llmtest.Serve(t), ""))
	session := p.session("compat")
	const turns = 60
	var events []agent.Event
	add := func(turn int, data agent.Payload) {
		events = append(events, agent.Event{Session: session, Turn: turn, Data: data})
	}
	for turn := 1; turn <= turns; turn++ {
		add(turn, agent.UserInput{Text: fmt.Sprintf("q%d", turn)})
		for call := range 5 {
			add(turn, agent.ToolCallEnd{CallID: fmt.Sprintf("c%d-%d", turn, call), Tool: "Read"})
		}
		add(turn, agent.TextEnd{Message: llm.Text(llm.RoleAssistant, fmt.Sprintf("a%d", turn))})
	}
	if _, err := p.store.Append(t.Context(), events...); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		limit, offset int // no offset: -1
		from, to      int // the messages, counted from 0
	}{
		{0, -1, 2*turns - 50, 2 * turns}, {3, -1, 2*turns - 3, 2 * turns}, {5000, -1, 0, 2 * turns},
		{0, 0, 0, 50}, {4, 7, 7, 11}, {100, 2*turns - 1, 2*turns - 1, 2 * turns}, {4, 2 * turns, 2 * turns, 2 * turns}, {4, -7, 0, 4},
	} {
		in := workbench.LoadRequest{Session: session, Limit: tt.limit}
		if tt.offset != -1 {
			in.Offset = &tt.offset
		}
		reply, err := p.bench.Load(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, ev := range reply.Messages {
			switch d := ev.Data.(type) {
			case agent.UserInput:
				got = append(got, d.Text)
			case agent.TextEnd:
				got = append(got, d.Message.Text())
			}
		}
		for i := tt.from; i < tt.to; i++ {
			want = append(want, fmt.Sprintf("%c%d", "qa"[i%2], i/2+1))
		}
		if diff := cmp.Diff(want, got); diff != "" || reply.Offset != tt.from || reply.Total != 2*turns {
			t.Errorf("%+v: %d of %d: %s", tt, reply.Offset, reply.Total, diff)
		}
	}
	if _, err := p.bench.Load(t.Context(), workbench.LoadRequest{Session: "unknown"}); err == nil {
		t.Error("an unknown session was loaded")
	}
}

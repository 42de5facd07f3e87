package contextinfo_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextinfo"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
)

// COM-26: programs hear what happens to a context, in order, once it is folded in, until they
// stop listening.
func TestSubscribe(t *testing.T) {
	t.Parallel()
	log := &contextinfo.Log{}
	var heard []string
	stop := log.Subscribe(func(c contextinfo.Change) {
		heard = append(heard, fmt.Sprint(c.Kind, " ", c.Seq, " ", c.Items, " ", c.Before-c.After, " of ", log.Transcript().Conversation().Len()))
	})
	var others int
	log.Subscribe(func(contextinfo.Change) { others++ })
	seq := int64(0)
	apply := func(payloads ...agent.Payload) {
		for _, p := range payloads {
			seq++
			log.Apply(agent.Event{Seq: seq, Turn: 1, At: seq, Data: p}, false)
		}
	}
	apply(
		agent.UserInput{Text: "Mend it."},
		answer("p", "Done.", llm.Usage{Input: 10, Output: 1}),
		agent.ContextMarked{Mark: contextir.MarkPin, Items: []string{"user_message:1:1"}},
		agent.Title{Text: "t"},
		agent.CompactionEnd{Outcome: agent.OutcomeFailed, Before: 9, After: 9},
		agent.CompactionEnd{Outcome: agent.OutcomeDone, Trigger: agent.CompactManual, Before: 90, After: 20, Summary: "It is mended."},
	)
	stop()
	apply(agent.UserInput{Text: "More."})
	want := []string{
		"added 1 [user_message:1:1] 0 of 1", "added 2 [assistant_message:1:1] 0 of 2",
		"marked 3 [user_message:1:1] 0 of 2", "compacted 6 [] 70 of 2",
	}
	if diff := cmp.Diff(want, heard); diff != "" || others != 5 {
		t.Errorf("the other heard %d: %s", others, diff)
	}
}

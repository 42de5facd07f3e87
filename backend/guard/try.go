package guard

import (
	"cmp"
	"encoding/json"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/internal/text"
)

// Limits of a trial.
const (
	maxTried    = 2_000  // calls
	maxLooked   = 40_000 // events
	maxExamples = 5
	maxText     = 160 // characters of an example
)

// Trial is a dry run of rules over past calls, the newest first.
type Trial struct {
	reply  TryReply
	wants  agent.Decision
	set    *rule.Set
	place  rule.Place
	access func(tool string, input json.RawMessage) agent.Access
	asked  map[string]agent.ApprovalRequest
	looked int
}

// Try begins a dry run of a rule, or of several together. Access says what a call of a tool would touch.
func (g *Guard) Try(in TryRequest, access func(tool string, input json.RawMessage) agent.Access) (*Trial, error) {
	rules, err := Drafts(in.Rule, in.Decision)
	if err != nil {
		return nil, err
	}
	words := Words(rules[0])
	for _, r := range rules {
		words.TooWide = words.TooWide || r.TooWide()
	}
	return &Trial{
		reply: TryReply{Words: words}, wants: in.Decision, set: rule.New(g.Place(), rules), place: g.Place(), access: access,
		asked: map[string]agent.ApprovalRequest{},
	}, nil
}

// Done reports whether enough calls have been looked at.
func (t *Trial) Done() bool { return t.reply.Calls >= maxTried || t.looked >= maxLooked }

// Add looks at a stretch of a session's log, before the one that was added last.
func (t *Trial) Add(events []agent.Event) {
	for _, ev := range slices.Backward(events) {
		if t.Done() {
			return
		}
		t.looked++
		switch e := ev.Data.(type) {
		case agent.ApprovalRequest:
			t.asked[e.CallID] = e
		case agent.ToolCallStart:
			t.call(ev, e)
			delete(t.asked, e.CallID)
		}
	}
}

// Next begins with another session.
func (t *Trial) Next() { clear(t.asked) }

func (t *Trial) call(ev agent.Event, e agent.ToolCallStart) {
	t.reply.Calls++
	call := agent.GateCall{Tool: e.Tool, Input: json.RawMessage(e.Input)}
	req, asked := t.asked[e.CallID]
	if asked {
		call.Tool, call.Access = req.Tool, req.Access
	} else {
		call.Access = t.access(e.Tool, call.Input)
	}
	if t.set.Judge(call, nil).Decision != t.wants {
		return
	}
	outside := rule.Outside(call, t.place)
	t.reply.Matched++
	if asked {
		t.reply.Asked++
	}
	if outside {
		t.reply.Outside++
	}
	text := call.Access.Command
	for _, path := range slices.Concat(call.Access.Writes, call.Access.Reads) {
		text = cmp.Or(text, path)
	}
	t.reply.Examples = append(t.reply.Examples, TriedCall{
		Session: ev.Session, CallID: e.CallID, Tool: call.Tool, Text: cut(cmp.Or(text, e.Input)), At: ev.At, Asked: asked, Outside: outside,
	})
	slices.SortStableFunc(t.reply.Examples, func(a, b TriedCall) int {
		return cmp.Compare(weight(b), weight(a))
	})
	t.reply.Examples = t.reply.Examples[:min(maxExamples, len(t.reply.Examples))]
}

func weight(c TriedCall) int {
	if c.Outside {
		return 1
	}
	return 0
}

func cut(s string) string { return text.Shorten(s, maxText) }

// Reply returns what was found so far.
func (t *Trial) Reply() TryReply { return t.reply }

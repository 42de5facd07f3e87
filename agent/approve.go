package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"atelier.dev/atelier/internal/text"
)

// maxAsks limits how often a person is asked about one call whose effect
// changes while they decide.
const maxAsks = 3

// changedSince begins the reason of such a question.
const changedSince = "What this call does has changed since you were asked. "

// judge asks the gate about a call, and the program that uses the library.
func (t *turn) judge(c *ready) GateCall { return t.opine(c, t.gate(c)) }

// gate asks the gate about a call. A tool that cannot say what it would touch is
// not trusted.
func (t *turn) gate(c *ready) GateCall {
	gc := GateCall{Tool: c.spec.Name, ReadOnly: c.spec.ReadOnly, Input: c.call.Arguments, Mode: t.session.Latest().Mode}
	access, broken := c.access(t.ctx)
	if broken != "" {
		c.judged = Verdict{Decision: Deny, Reason: broken, Final: true}
		return gc
	}
	gc.Access = access.In(gc.Mode)
	defer func() { c.outside = gc.Access.outside(c.judged) }()
	c.hosts = gc.Access.Hosts
	if v, outside := t.outsideSkill(c, gc); outside {
		c.judged = v
		return gc
	}
	c.judged = c.posed(t.approvedBySkill(gc, t.session.cfg.Gate.Decide(t.ctx, gc)), gc.Mode)
	return gc
}

// decide combines the gate's verdict with the hooks' advice: hooks cannot lift
// a final verdict (K-10). An open question stays a question, because hooks saw
// the call before it was asked.
func (t *turn) decide(c *ready) (GateCall, Verdict) {
	if open := t.session.transcript.openCall(c.call.ID); open != nil && open.request != nil {
		c.call.Arguments = json.RawMessage(open.request.Input)
		gc := t.judge(c)
		if c.judged.Decision == Deny && c.judged.Rule == nil {
			return gc, c.judged
		}
		return gc, open.request.verdict()
	}
	gc := t.judge(c)
	if c.judged.Decision == Deny && c.judged.Final {
		return gc, c.judged
	}
	advice, asked := t.consult(c)
	if asked { // meanwhile the rules and the mode may have changed, and hooks may have changed the call
		gc = t.judge(c.forgetAccess())
	}
	return gc, advice.insist(weigh(c.judged, advice))
}

// authorise decides whether a call may run: it asks the gate, the hooks and, if
// they require it, a person. It returns the text for the model when the call is
// denied. Nobody is asked about a call that must fail; c.doomed says why then.
func (r *round) authorise(c *ready) (denial string, denied bool) {
	gc, verdict := r.decide(c)
	if cause := context.Cause(r.ctx); cause != nil && !errors.Is(cause, ErrSuspended) {
		return "", true // nothing depends on an answer that was cut short
	}
	r.workedOn(gc.Access)
	c.authority = verdict.authority(gc.Mode)
	switch verdict.Decision {
	case Allow:
		return "", false
	case Deny:
		return c.refusal(verdict), true
	}
	r.flush() // what they read may be what the call needs
	if _, err := r.preview(c); err != nil {
		c.doomed = strings.TrimSuffix(err.Error(), ".") + "."
		return c.doomed, true
	}
	if gc, verdict = r.petition(c, gc, verdict); verdict.Decision == Allow || verdict.Decision == Deny {
		c.authority = verdict.authority(gc.Mode)
		return "This call is not allowed: " + verdict.Reason, verdict.Decision == Deny
	}
	for asked := range maxAsks {
		req, reply, err := r.askPerson(c, gc, verdict, asked > 0)
		answer := reply.Answer
		c.authority = verdict.authority(gc.Mode)
		c.authority.Decision, c.authority.Approval = cmp.Or(answer.Decision, Deny), req.ID
		switch {
		case reply.Rule != nil:
			c.authority.By, c.authority.Rule, c.authority.Approval = ByRule, reply.Rule, ""
		case err == nil:
			c.authority.By = ByPerson
		}
		switch {
		case err != nil:
			return c.unheard("This call needs a person's approval, and nobody could be asked: " + err.Error()), true
		case answer.Decision != Allow && reply.Rule != nil:
			return "This call is not allowed: " + c.judged.Reason, true
		case answer.Decision != Allow:
			return c.declined(answer.Feedback), true
		}
		c.reply = answer.Reply
		before := c.judged
		gc = r.judge(c.forgetAccess())
		switch {
		case c.judged.Decision == Deny:
			c.authority = c.judged.authority(gc.Mode)
			return "This call was approved, but is not allowed any more: " + c.judged.Reason, true
		case c.judged.Decision == Allow && (verdict.By != ByHook || r.unchanged(c, req)), c.judged.Reason == before.Reason && r.unchanged(c, req):
			return "", false
		case before.Code == ReasonHosts && len(gc.Access.Hosts) == 0 && !c.judged.Final && r.unchanged(c, req):
			return "", false // the answer was also about the command
		case c.judged.Decision != Allow: // else a hook still wants a person to look
			verdict = c.judged
		}
		verdict.Reason = changedSince + strings.TrimPrefix(verdict.Reason, changedSince)
	}
	return "This call did not run: what it does kept changing while the user was asked about it. Look at the files again.", true
}

// verdict is the verdict that led to the request.
func (r ApprovalRequest) verdict() Verdict {
	return Verdict{
		Decision: Ask, Reason: r.Reason, Code: r.ReasonCode, Args: r.ReasonArgs, Rule: r.Rule, By: r.By,
		Final: r.Final, EachTime: r.EachTime,
	}
}

// askPerson requests an approval and records the answer. If the approval was
// requested before the session was reopened, it keeps waiting for that one,
// unless a rule decides about it by now.
func (t *turn) askPerson(c *ready, gc GateCall, why Verdict, renewed bool) (ApprovalRequest, ApprovalAnswer, error) {
	s := t.session
	var req ApprovalRequest
	var rule *RuleRef
	if open := s.transcript.openCall(c.call.ID); open != nil && open.request != nil {
		req = *open.request
		rule = t.ruled(c, req)
	} else {
		req = ApprovalRequest{
			ID: s.cfg.NewID(), CallID: c.call.ID, Tool: c.spec.Name,
			Input: string(c.call.Arguments), Access: gc.Access,
			AskReasons: AskReasons{why.Reason, why.Code, why.Args, why.Rule, cmp.Or(why.By, ByMode), gc.Mode, why.Final, why.EachTime},
			Renewed:    renewed, Claim: claim(gc), Origin: c.spec.Origin,
		}
		req.Changes, _ = t.preview(c)
		req.Outlook = outlook(t.ctx, s.cfg.Gate, gc, req.Changes)
		t.emit(req)
		t.notify(NotificationInput{Type: NotifyApproval, Title: "Approval needed", Message: strings.TrimSpace(c.spec.named() + ": " + req.Reason)})
	}
	t.settle()
	var answer Answer
	var err error
	for rule == nil {
		answer, err = s.cfg.Approver.Approve(t.ctx, req)
		if cause := context.Cause(t.ctx); cause != nil {
			if errors.Is(cause, ErrSuspended) {
				t.stopped = true // the turn stays open at this request
			}
			return req, ApprovalAnswer{}, cause
		}
		if err != nil {
			answer = Answer{Decision: Deny, Feedback: err.Error()}
		}
		if answer.Decision != Ask {
			break
		}
		rule = t.ruled(c, req)
	}
	if rule != nil {
		answer = Answer{Decision: rule.Decision}
	}
	reply := ApprovalAnswer{ID: req.ID, CallID: req.CallID, Answer: answer, Rule: rule}
	t.emit(reply)
	return req, reply, err
}

// ruled judges a call that waits for a person again. It returns the rule that
// decides about it by now, and nil if the call is still the person's to decide:
// no rule lifts what a hook asks, or allows other changes than were shown.
func (t *turn) ruled(c *ready, req ApprovalRequest) *RuleRef {
	before := c.judged
	t.judge(c.forgetAccess())
	rule := c.judged.Rule
	isPersons := rule == nil || c.judged.Decision == Ask
	if !isPersons && c.judged.Decision == Allow {
		isPersons = req.By == ByHook || !t.unchanged(c, req)
	}
	if isPersons {
		c.judged = before // which the person was told
		return nil
	}
	return &RuleRef{Text: rule.Text, Decision: c.judged.Decision, Scope: rule.Scope}
}

// maxClaim limits what is shown of a model's description, in characters.
const maxClaim = 300

// claim returns what a model says about its own command line.
func claim(gc GateCall) string {
	var in struct {
		Description string `json:"description"`
	}
	if gc.Access.Command == "" || json.Unmarshal(gc.Input, &in) != nil {
		return ""
	}
	return text.Shorten(strings.Join(strings.Fields(in.Description), " "), maxClaim)
}

// preview returns what a call would change, and an error if it would fail. It has no
// changes if they are unknown.
func (t *turn) preview(c *ready) (changes []FileChange, err error) {
	p, can := c.tool.(Previewer)
	if !can {
		return nil, nil
	}
	if broken := protect(c.spec.Name, func() { changes, err = p.Preview(t.ctx, c.call.Arguments) }); broken != "" {
		return nil, nil // it may still run
	}
	return changes, err
}

// unchanged reports whether a call would still change exactly what a person was
// shown. A call that would now fail changes nothing.
func (t *turn) unchanged(c *ready, req ApprovalRequest) bool {
	changes, err := t.preview(c)
	return err != nil || slices.Equal(changes, req.Changes)
}

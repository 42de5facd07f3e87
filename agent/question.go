package agent

// Question makes each call of a tool a question to a person (K-18). Where the gate
// would let the call run, the person is asked: no rule, hook, mode or earlier answer
// stands for them. A yes runs the call with what they answered ([Invocation.Reply]).
type Question struct {
	// Reason says what the person is asked for.
	Reason ReasonCode
	// Declined tells the model that the person did not want to answer. What they said
	// follows it.
	Declined string
	// Unheard tells the model that nobody can be asked, and what to do instead.
	Unheard string
	// Unless is a mode in which there is nothing to ask: the call runs at once. Empty means
	// none.
	Unless Mode
}

// posed returns the verdict on a call that is a question: the question, unless the gate
// denied the call or the mode asks nothing.
func (c *ready) posed(v Verdict, mode Mode) Verdict {
	q := c.spec.Question
	if q == nil || v.Decision == Deny || q.Unless != "" && q.Unless == mode {
		return v
	}
	asked := Because(Ask, q.Reason)
	if mode == ModeDontAsk {
		asked = Because(Deny, ReasonAsksNothing)
	}
	asked.Final, asked.EachTime = true, true
	return asked
}

// refusal is what the model is told of a call that a verdict denies.
func (c *ready) refusal(v Verdict) string {
	plain := "This call is not allowed: " + v.Reason
	if v.Code == ReasonAsksNothing {
		return c.unheard(plain)
	}
	return plain
}

// unheard is what the model is told if a call needs a person and there is none.
func (c *ready) unheard(why string) string {
	if q := c.spec.Question; q != nil {
		return q.Unheard
	}
	return why
}

// declined is what the model is told if a person said no.
func (c *ready) declined(feedback string) string {
	said, plain := "The user denied this call and said: ", "The user denied this call. Do not repeat it; ask what to do instead if that is unclear."
	if q := c.spec.Question; q != nil {
		said, plain = q.Declined+" They said: ", q.Declined
	}
	if feedback != "" {
		return said + feedback
	}
	return plain
}

package agent

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/tokens"
	"atelier.dev/atelier/agent/picture"
)

// The doctor mends what a provider would refuse before it is sent, and what one
// did refuse before it is sent again, so that no request makes a session
// unusable. Each change is told in a [HistoryRepaired]. Calls without a result,
// results without a call and empty messages never get this far: lowering the
// conversation answers the first and leaves out the others.

// prescribe returns the conversation as it can be sent to a model, with remedies
// that are being tried.
func (t *turn) prescribe(who llm.Origin, remedies []HistoryRepaired) []llm.Message {
	limits := t.session.cfg.Facts.Limits(who.Provider, who.Model)
	t.noteStranger(who)
	t.makeRoom(who, limits)
	past := &t.session.transcript.conversation
	if len(remedies) > 0 {
		past = past.Clone()
		for _, r := range remedies {
			r.mend(past)
		}
	}
	messages := past.Lower()
	if !past.Pictures() {
		return messages
	}
	return t.fitPictures(who, limits, messages)
}

// ofItems matches how a provider says that it does not know a part of the
// conversation, where otherwise it would not know the model.
var ofItems = regexp.MustCompile(`(?i)\bitems?\b`)

// remedy is what is tried next after a provider refused the conversation for
// what it holds, or nil. The refusal may concern something else, so it is
// recorded, and kept, only once the provider has accepted the conversation with
// it: what the provider alone understands is of use to the model.
func (t *turn) remedy(err error, tried []HistoryRepaired) *HistoryRepaired {
	var e *llm.Error
	if !errors.As(err, &e) || e.Retryable || e.Class != llm.ClassInvalid && !(e.Class == llm.ClassNotFound && ofItems.MatchString(e.Message)) {
		return nil
	}
	was := func(r Repair) bool {
		return slices.ContainsFunc(tried, func(h HistoryRepaired) bool { return h.Repair == r })
	}
	past, why := &t.session.transcript.conversation, "The provider refused the conversation: "+sentence(e.Message)
	switch {
	case past.Malformed() && !was(RepairCalls):
		return &HistoryRepaired{Repair: RepairCalls, Message: why + " It is sent with malformed tool calls as text; everything else is unchanged."}
	case past.Native() && !was(RepairNative):
		return &HistoryRepaired{Repair: RepairNative, Message: why + " It is sent without the provider's own notes on earlier answers; what was said is unchanged."}
	}
	return nil
}

// mend makes the change to a conversation that a refusal called for.
func (d HistoryRepaired) mend(c *contextir.Conversation) {
	if d.Repair == RepairCalls {
		c.CleanCalls()
		return
	}
	c.DropNative()
}

// repair shortens the conversation after a provider refused it as too long: a
// summary takes the place of as much as it can (K-08), else old outputs are cut.
// It reports whether there is anything new to ask.
func (t *turn) repair(who llm.Origin, err error) bool {
	var e *llm.Error
	if !errors.As(err, &e) || e.Class != llm.ClassContextOverflow {
		return false
	}
	if t.compactAfter(who) {
		return true
	}
	if t.ctx.Err() != nil {
		return false // whoever stopped it wants nothing changed
	}
	all, _ := t.session.transcript.conversation.Elidable(0)
	return t.elide(who, max(t.excess(t.session.cfg.Facts.Limits(who.Provider, who.Model).Window), all/2))
}

// noteStranger says what another model's conversation loses on its way to who:
// what only its maker understands, which the adapters leave out (LLM-28).
func (t *turn) noteStranger(who llm.Origin) {
	tr := &t.session.transcript
	last := tr.past.by
	if who.Model != tr.Settings.Model || who.Provider != tr.Settings.Provider {
		return // a fallback, which is told of as such
	}
	if last == nil || *last == who || tr.past.repairs[who.Provider+"/"+who.Model] || !tr.conversation.Native() {
		return
	}
	t.emit(HistoryRepaired{Repair: RepairForeign, Subject: who.Provider + "/" + who.Model, Message: fmt.Sprintf(
		"%s goes on where %s was: it is sent all that was said and done, but not what the other thought.", who.Model, last.Model)})
}

// windowReserve is the share of a window that is made free beyond what is
// needed, so that room need not be made again for every request.
const windowReserve = 5

// makeRoom takes old outputs out of a conversation that would not fit.
func (t *turn) makeRoom(who llm.Origin, limits llm.ModelLimits) {
	if excess := t.excess(limits.Window); excess > 0 {
		t.elide(who, excess)
	}
}

// excess is by how many bytes the next request is too long for a window, and
// what makes room behind that; 0 for one that fits, or whose window is not
// known.
func (t *turn) excess(window int64) int {
	tr := &t.session.transcript
	if window == 0 || tr.Context+int64(tr.tally.added)/densest+outputReserve <= window {
		return 0
	}
	set := tr.Settings
	next := int64(tokens.CountMessages(set.Provider, set.Model, tr.conversation.Since(tr.tally.items), tokens.Patience)) + tr.Context + outputReserve
	if next <= window {
		return 0
	}
	return int(next-window+window/windowReserve) * bytesPerToken
}

// densest is how many bytes a token has at the least, over a longer text.
const densest = 2

// elide shortens old outputs by about so many bytes. It reports whether there
// were any.
func (t *turn) elide(who llm.Origin, bytes int) bool {
	tr := &t.session.transcript
	all, _ := tr.conversation.Elidable(0)
	if bytes = min(bytes, all); bytes == 0 {
		return false
	}
	t.emit(HistoryRepaired{Repair: RepairElided, Bytes: bytes, Message: fmt.Sprintf(
		"The conversation is longer than %s can read. The oldest tool outputs are sent shortened from here on; they stay whole in the cards above.", who.Model)})
	return true
}

// fitted are the messages that were changed for their pictures, by their first
// part, so that a request repeats the very parts of the one before.
type fitted struct {
	limits llm.ModelLimits
	parts  map[*llm.Part][]llm.Part
}

// fitPictures makes pictures what a model takes.
func (t *turn) fitPictures(who llm.Origin, limits llm.ModelLimits, messages []llm.Message) []llm.Message {
	f := &t.session.fitted
	if f.parts == nil || f.limits != limits {
		*f = fitted{limits: limits, parts: map[*llm.Part][]llm.Part{}}
	}
	messages = slices.Clone(messages)
	var changes []string
	for i := range messages {
		m := &messages[i]
		if m.Role == llm.RoleAssistant || len(m.Parts) == 0 {
			continue
		}
		parts, known := f.parts[&m.Parts[0]]
		if !known {
			var told []string
			parts, told = fitParts(m.Parts, limits)
			f.parts[&m.Parts[0]] = parts
			changes = append(changes, told...)
		}
		m.Parts = parts
	}
	if subject := strings.Join(changes, "; "); len(changes) > 0 && !t.session.transcript.past.repairs[subject] {
		t.emit(HistoryRepaired{Repair: RepairPictures, Subject: subject, Message: fmt.Sprintf("Sent otherwise to %s: %s.", who.Model, subject)})
	}
	return messages
}

// fitParts returns parts with their pictures changed, or parts itself, and says
// what was done.
func fitParts(parts []llm.Part, limits llm.ModelLimits) (out []llm.Part, told []string) {
	out = parts
	for i, p := range parts {
		var said []string
		switch {
		case p.Kind == llm.PartMedia && isPicture(p.Media):
			p, said = fitPicture(p, limits)
		case p.Kind == llm.PartToolResult:
			r := *p.Result
			r.Parts, said = fitParts(r.Parts, limits)
			p.Result = &r
		}
		if len(said) > 0 {
			if len(told) == 0 {
				out = slices.Clone(parts)
			}
			out[i] = p
			told = append(told, said...)
		}
	}
	return out, told
}

func isPicture(m *llm.Media) bool { return m != nil && strings.HasPrefix(m.MIME, "image/") }

func fitPicture(p llm.Part, limits llm.ModelLimits) (llm.Part, []string) {
	m := *p.Media
	name := cmp.Or(m.Name, "a picture")
	without := func(why string) (llm.Part, []string) {
		return llm.Part{Kind: llm.PartText, Text: fmt.Sprintf("[%s was left out: %s]", name, why)}, []string{name + " is left out, " + why}
	}
	switch {
	case limits.Blind:
		return without("this model takes no pictures")
	case m.URL != "":
		return p, nil
	}
	data, kind, err := picture.Fit(m.Data, limits.Picture)
	switch {
	case err != nil:
		return without("it is " + err.Error())
	case len(data) != len(m.Data):
		m.Data, m.MIME = data, kind
		return llm.Part{Kind: llm.PartMedia, Media: &m}, []string{name + " is made smaller"}
	case kind != m.MIME:
		told := fmt.Sprintf("%s is sent as %s, not as %s", name, kind, m.MIME)
		m.MIME = kind
		return llm.Part{Kind: llm.PartMedia, Media: &m}, []string{told}
	}
	return p, nil
}

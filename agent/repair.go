package agent

import (
	"errors"
	"regexp"
	"strconv"
	"sync"

	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/tokens"
)

// This file repairs a conversation that a provider would refuse, or has
// refused, so that no request makes a session unusable. A [HistoryRepaired]
// reports each change. Lowering the conversation already answers calls without
// a result, and leaves out empty messages and results without a call.

// HistoryRepaired says that the conversation is sent in another form than the
// log has, because the model would refuse it or did. Message tells the user so.
//
// [Repaired] returns one. Repair and Args say the same in the form that can be
// worded in another language; older logs have no Args.
type HistoryRepaired struct {
	Message string   `json:"message"`
	Args    []string `json:"args,omitempty"`
	// Repair is empty for [RepairNative].
	Repair Repair `json:"repair,omitempty"`
	// Bytes is how much was to be cut.
	Bytes int `json:"bytes,omitempty"`
	// From and To are the attachments that are left out, counted from 0 in the
	// whole conversation; or From is the first item that is.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Subject is what the change was about, so that it is reported once.
	Subject string `json:"subject,omitempty"`
	// Pictures are the changes of a [RepairPictures]; older logs have none.
	Pictures []PictureChange `json:"pictures,omitempty"`
}

// Repair is the kind of a [HistoryRepaired].
type Repair string

// The repairs.
const (
	RepairNative   Repair = "native"   // a provider's own bytes are removed from earlier answers
	RepairElided   Repair = "elided"   // old outputs are shortened permanently
	RepairPictures Repair = "pictures" // pictures are sent in another form
	RepairForeign  Repair = "foreign"  // another model's reasoning is not sent
	RepairCalls    Repair = "calls"    // malformed calls are sent as text
	// What a provider refuses, or cannot read as a whole, is left out permanently.
	RepairCut         Repair = "cut"         // the longest texts are sent shortened
	RepairAttachments Repair = "attachments" // pictures and the like
	RepairItems       Repair = "items"       // messages and results
)

// maxRemedies limits the repairs that are tried for one answer, each of which costs a
// request. The last one leaves out all that can be.
const maxRemedies = 5

// maxAlike limits repairs of a kind that are tried in parts; the next one takes all.
const maxAlike = 2

// sendable returns the conversation in a form that a model accepts, with remedies
// that are being tried.
func (t *turn) sendable(model llm.Origin, remedies []HistoryRepaired) []llm.Message {
	limits := t.session.cfg.Facts.Limits(model.Provider, model.Model)
	t.noteForeign(model)
	t.makeRoom(model, limits)
	past := t.remedied(remedies)
	messages := past.Lower()
	if !past.Pictures() {
		return messages
	}
	return t.fitPictures(model, limits, messages)
}

// remedied returns the conversation with remedies that are being tried.
func (t *turn) remedied(remedies []HistoryRepaired) *contextir.Conversation {
	past := &t.session.transcript.conversation
	if len(remedies) > 0 {
		past = past.Clone()
		for _, r := range remedies {
			r.apply(past)
		}
	}
	return past
}

var (
	// ofItems matches a provider's complaint about an unknown part of the
	// conversation, as opposed to an unknown model.
	ofItems = lazily(`(?i)\bitems?\b`)
	// ofAttachments matches one about pictures and other attachments.
	ofAttachments = lazily(`(?i)\b(image|picture|photo|media|vision|visual|multi-?modal|mmproj|pixel|(base64|document|file|pdf|attachment|audio)s?\b)`)
	// ofNumbers finds how many of them a provider takes.
	ofNumbers = lazily(`(?i)\d+ (?:images?|pictures?|media)[^.\d]{0,20}> ?(\d+)|` +
		`(?:at most|maximum(?: of)?|max|up to|more than|limit(?: of| is)?|only) (\d+) (?:images?|pictures?|media)\b`)
	// ofOptions matches one about a request's other members, which has nothing to do
	// with the conversation.
	ofOptions = lazily(`(?i)max_(completion_|output_)?tokens|maxOutputTokens|temperature|top_[pk]\b|reasoning[_.]effort|budget_tokens|` +
		`tool_choice|tools[.\[]\d|(input_)?schema|response_format|\bmodel\b.{0,60}\b(exist|found|support|unknown|available)`)
	// ofMessage finds the message that a provider complains about.
	ofMessage = lazily(`\bmessages[.\[](\d+)\b`)
)

// lazily compiles an expression when it is first needed.
func lazily(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// remedy returns the next repair to try after a provider refused the content of
// the conversation, or nil. The refusal may have another cause, so a repair is
// recorded and kept only once the provider has accepted the conversation with
// it: the model benefits from everything that can be sent. Each repair leaves less
// to repair, from the mildest to the last: everything before the newest message of
// the user is left out (K-49).
func (t *turn) remedy(model llm.Origin, err error, tried []HistoryRepaired) *HistoryRepaired {
	var e *llm.Error
	if !errors.As(err, &e) || len(tried) >= maxRemedies || e.Class == llm.ClassContextOverflow && t.session.window.cramped() {
		return nil
	}
	past := t.remedied(tried)
	attachments, unread := past.Attached()
	named := attachments > 0 && ofAttachments().MatchString(e.Message)
	switch {
	case len(tried) == maxRemedies-1 && concernsContent(e) && !ofOptions().MatchString(e.Message):
		return leaveOut(past, e, tried)
	case named && concernsContent(e):
		return detach(past, e, attachments, unread, count(tried, RepairAttachments) >= maxAlike)
	case e.Class == llm.ClassContextOverflow:
		if n := past.Cuttable(); n > 0 {
			cut := Repaired(RepairCut, model.Model)
			cut.Bytes = max(min(n, t.excess(t.session.cfg.Facts.Limits(model.Provider, model.Model).Window)), (n+1)/2)
			if count(tried, RepairCut) > maxAlike {
				cut.Bytes = n
			}
			return &cut
		}
	case e.Retryable || !concernsContent(e):
		return nil
	case past.Malformed():
		return new(Repaired(RepairCalls, reasonOf(e)))
	case past.Native():
		return new(Repaired(RepairNative, reasonOf(e)))
	}
	switch {
	case attachments > 0:
		return detach(past, e, attachments, unread, count(tried, RepairAttachments) >= maxAlike)
	case ofOptions().MatchString(e.Message), e.Class == llm.ClassContextOverflow && past.Bytes() < worthLeaving:
		return nil
	}
	return leaveOut(past, e, tried)
}

// worthLeaving is the size in bytes from which messages without a long text may be
// what makes a conversation too long.
const worthLeaving = 20_000

// accepted returns remedies as they are recorded: texts that were cut again and
// again are cut once.
func accepted(remedies []HistoryRepaired) (out []HistoryRepaired) {
	for _, r := range remedies {
		if last := len(out) - 1; last >= 0 && r.Repair == RepairCut && out[last].Repair == RepairCut {
			out[last].Bytes += r.Bytes + cutSpare
			continue
		}
		out = append(out, r)
	}
	return out
}

// cutSpare is what several cuts take beyond one, in bytes: the lines in the place of
// what was cut.
const cutSpare = 1000

// concernsContent reports whether a failure may be due to the conversation. A
// server without a model for pictures says so with an error of its own.
func concernsContent(e *llm.Error) bool {
	switch e.Class {
	case llm.ClassInvalid, llm.ClassContentFilter, llm.ClassContextOverflow, llm.ClassUnsupported:
		return true
	case llm.ClassNotFound:
		return ofItems().MatchString(e.Message) || ofAttachments().MatchString(e.Message)
	case llm.ClassServer:
		return ofAttachments().MatchString(e.Message)
	}
	return false
}

// detach leaves out attachments: those beyond the number or in the message that
// the provider names, else those that it has not accepted before, else all. whole
// leaves all out at once.
func detach(past *contextir.Conversation, e *llm.Error, all, unread int, whole bool) *HistoryRepaired {
	from, to := 0, all
	if 0 < unread && unread < all {
		from = all - unread
	}
	if m := ofMessage().FindStringSubmatch(e.Message); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			if first, end := past.AttachedTo(n); first < end {
				from, to = first, end
			}
		}
	}
	if m := ofNumbers().FindStringSubmatch(e.Message); m != nil {
		if most, err := strconv.Atoi(m[1] + m[2]); err == nil && most < all {
			from, to = 0, all-most
		}
	}
	if whole {
		from, to = 0, all
	}
	told := Repaired(RepairAttachments, reasonOf(e), strconv.Itoa(to-from))
	told.From, told.To = from, to
	return &told
}

// count counts the repairs of a kind.
func count(tried []HistoryRepaired, kind Repair) (n int) {
	for _, h := range tried {
		if h.Repair == kind {
			n++
		}
	}
	return n
}

// leaveOut leaves out messages: those that no answer has seen, then the newest
// exchange, then half of what is before, and at last everything.
func leaveOut(past *contextir.Conversation, e *llm.Error, tried []HistoryRepaired) *HistoryRepaired {
	from, other := past.Unread()
	for _, h := range tried {
		if h.Repair == RepairItems {
			from, other = h.From, false
		}
	}
	switch {
	case from == 0 && !other:
		return nil
	case len(tried) == maxRemedies-1:
		from = 0
	case other:
	case count(tried, RepairItems) < 2:
		from = past.Exchange(from)
	default:
		from /= 2
	}
	told := Repaired(RepairItems, reasonOf(e))
	told.From = from
	return &told
}

// apply applies the repair to a conversation.
func (d HistoryRepaired) apply(c *contextir.Conversation) {
	switch d.Repair {
	case RepairCalls:
		c.CleanCalls()
	case RepairCut:
		c.Cut(d.Bytes)
	case RepairAttachments:
		c.Detach(d.From, d.To)
	case RepairItems:
		c.LeaveOut(d.From)
	default:
		c.DropNative()
	}
}

// repair shortens the conversation after a provider refused it as too long: it
// compacts it (K-08), or cuts old outputs. It reports whether there is anything
// new to send.
func (t *turn) repair(model llm.Origin, err error) bool {
	if !overflows(err) {
		return false
	}
	if w := &t.session.window; w.model == model && !t.overflowed {
		if t.measure(); w.cramped() {
			return false
		}
	}
	if t.compactAfter(model) {
		return true
	}
	if t.ctx.Err() != nil {
		return false // the user stopped it and expects no change
	}
	if t.elided {
		return false // what more is tried is kept only if it helps
	}
	t.elided = true
	all, _ := t.session.transcript.conversation.Elidable(0)
	return t.elide(model, max(t.excess(t.session.cfg.Facts.Limits(model.Provider, model.Model).Window), all/2))
}

// noteForeign reports what a conversation with another model loses for who:
// data that only the other provider understands. Adapters leave it out (LLM-28).
func (t *turn) noteForeign(model llm.Origin) {
	tr := &t.session.transcript
	last := tr.past.by
	if model.Model != tr.Settings.Model || model.Provider != tr.Settings.Provider {
		return // a fallback, which is announced as such
	}
	if last == nil || *last == model || tr.past.repairs[model.Provider+"/"+model.Model] || !tr.conversation.Native() {
		return
	}
	told := Repaired(RepairForeign, model.Model, last.Model)
	told.Subject = model.Provider + "/" + model.Model
	t.emit(told)
}

// windowReserve is the extra share of a window that is freed, as a divisor, so
// that not every request needs the repair.
const windowReserve = 5

// maxCuts limits how often texts are cut before one request.
const maxCuts = 4

// makeRoom cuts old outputs from a conversation that does not fit the window, and
// then the longest texts, whoever wrote them.
func (t *turn) makeRoom(model llm.Origin, limits llm.ModelLimits) {
	excess := t.excess(limits.Window)
	if excess > 0 && t.elide(model, excess) {
		excess = t.excess(limits.Window)
	}
	for n := 0; n < maxCuts && excess > 0; n++ {
		excess = min(excess, t.session.transcript.conversation.Cuttable())
		if excess == 0 {
			return
		}
		told := Repaired(RepairCut, model.Model)
		told.Bytes = excess
		t.emit(told)
		excess = t.excess(limits.Window)
	}
}

// excess returns how many bytes must go so that the next request fits the
// window with some reserve. It returns 0 if the request fits or the window is
// unknown.
func (t *turn) excess(window int64) int {
	tr := &t.session.transcript
	if window == 0 || t.session.window.cramped() || tr.Context+int64(tr.tally.added)/densest+outputReserve <= window {
		return 0
	}
	set := tr.Settings
	next := int64(tokens.Bounded(set.Provider, set.Model).Messages(tr.conversation.Since(tr.tally.items))) + tr.Context + outputReserve
	if next <= window {
		return 0
	}
	return int(next-window+window/windowReserve) * bytesPerToken
}

// densest is the smallest number of bytes per token in a longer text.
const densest = 2

// elide cuts about the given number of bytes from old outputs. It reports
// whether there were any.
func (t *turn) elide(model llm.Origin, bytes int) bool {
	tr := &t.session.transcript
	all, _ := tr.conversation.Elidable(0)
	if bytes = min(bytes, all); bytes == 0 {
		return false
	}
	told := Repaired(RepairElided, model.Model)
	told.Bytes = bytes
	t.emit(told)
	return true
}

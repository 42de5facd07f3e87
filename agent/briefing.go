package agent

import (
	"context"
	"maps"

	"atelier.dev/atelier/agent/llm"
)

// BriefingInput is what a model is briefed about, as far as the session knows it.
type BriefingInput struct {
	Provider, Model string
	// Mode is the permission mode that holds now.
	Mode Mode
	// Worked lists the files and folders that calls touched since the last
	// description, as absolute paths.
	Worked []string
	// AtInput says that a turn begins or continues. In the middle of a turn
	// only Mode and Worked need checking.
	AtInput bool
}

// BriefingState records what a model was told about changeable facts, under names that
// the profile chooses. A value is the text itself or a digest of it.
type BriefingState = map[string]string

// ToldBranch is the name of the git branch in a [BriefingState]. Hosts show it, so every
// profile uses it.
const ToldBranch = "branch"

// Note is something that a model is told, and told again when it changes.
type Note struct {
	About string // a name that no other note has
	Now   string // the text itself, or a digest of it; the log keeps it
	Text  string // what it quotes has no tags; see [EscapeTags]
	// Gone is what the model is told when the note is not among the others any
	// more.
	Gone string
	// Early says that the note is part of the briefing, if it is there by then.
	Early bool
	// Warning tells the user the same when the model is told it in the middle of a
	// conversation; its zero value is none.
	Warning Warning
}

// BriefingRenewer is implemented by profiles that notice when an earlier statement to
// the model no longer holds. It is called from the session's goroutine before a
// request, with everything the model has been told so far.
type BriefingRenewer interface {
	// Renew returns what has changed. An empty text means that nothing has
	// changed.
	Renew(ctx context.Context, now BriefingInput, told BriefingState) BriefingUpdate
}

// Briefing is the text that a model gets first, once in a session.
type Briefing struct {
	// Profile names the profile that the model was shown; see [Profile].
	Profile  string `json:"profile"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// System is the system prompt.
	System string `json:"system"`
	// Size is the full length of System in bytes if it was cut for display; 0
	// means that System is complete.
	Size int64 `json:"size,omitempty"`
	// Documents are the files that were read for it.
	Documents []Document `json:"documents,omitempty"`
	// Told is what a [BriefingRenewer] compares with later.
	Told BriefingState `json:"told,omitempty"`
}

// BriefingUpdate tells a model what has changed since its [Briefing]. It is an
// item at the end of the conversation, so that the beginning of each request
// stays the same.
type BriefingUpdate struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// Text is a [Reminder].
	Text string `json:"text"`
	// Size is the full length of Text in bytes if it was cut for display; 0
	// means that Text is complete.
	Size int64 `json:"size,omitempty"`
	// Documents are the files that were read for it.
	Documents []Document `json:"documents,omitempty"`
	// Told holds the changed values. An empty value means that the fact no
	// longer exists.
	Told BriefingState `json:"told,omitempty"`
	// Warnings tell the user of it. They are events of their own.
	Warnings []Warning `json:"-"`
}

// Kind implements [Payload].
func (Briefing) Kind() Kind       { return KindBriefing }
func (BriefingUpdate) Kind() Kind { return KindBriefingUpdate }

// situation describes a model's situation and clears the list of touched files.
func (t *turn) situation(model llm.Origin) BriefingInput {
	now := BriefingInput{
		Provider: model.Provider, Model: model.Model, Mode: t.session.Latest().Mode,
		Worked: t.worked, AtInput: !t.described,
	}
	t.worked, t.described = nil, true
	return now
}

// briefing returns the model's briefing, and creates it if there is none yet.
func (t *turn) briefing(model llm.Origin) Briefing {
	s := t.session
	if b, ok := s.transcript.past.briefed[model]; ok {
		return b
	}
	t.settle()
	b := s.cfg.Profiles.Brief(t.ctx, t.situation(model))
	b.Profile, b.Provider, b.Model = s.cfg.Profiles.Profile(model.Provider, model.Model).ID, model.Provider, model.Model
	if t.ctx.Err() == nil { // otherwise it may be incomplete, and it is permanent
		t.emit(b)
	}
	return b
}

// renewBriefing tells the model what has changed since it was last told. A model
// that was told nothing gets its briefing first, then the changes that the
// briefing lacks.
func (t *turn) renewBriefing() {
	s := t.session
	now := s.transcript.effective()
	model := llm.Origin{Provider: now.Provider, Model: now.Model}
	renewer, ok := s.cfg.Profiles.(BriefingRenewer)
	if !ok {
		return
	}
	t.briefing(model)
	update := renewer.Renew(t.ctx, t.situation(model), s.transcript.past.told[model])
	if update.Text == "" || t.ctx.Err() != nil {
		return
	}
	update.Provider, update.Model = model.Provider, model.Model
	t.emit(update)
	for _, w := range update.Warnings {
		t.emit(w)
	}
}

// maxWorked bounds the paths that are remembered between two requests.
const maxWorked = 100

// workedOn remembers the files that a call touches.
func (t *turn) workedOn(a Access) {
	for _, paths := range [][]string{a.Writes, a.Reads, {a.Dir}} {
		for _, path := range paths {
			if path != "" && len(t.worked) < maxWorked {
				t.worked = append(t.worked, path)
			}
		}
	}
}

// applyBriefing folds in a briefing.
func (t *Transcript) applyBriefing(b Briefing) {
	model := llm.Origin{Provider: b.Provider, Model: b.Model}
	if t.past.briefed == nil {
		t.past.briefed = map[llm.Origin]Briefing{}
	}
	t.past.briefed[model] = b
	t.tell(model, b.Told)
}

// applyUpdate folds in an update of the briefing.
func (t *Transcript) applyUpdate(u BriefingUpdate) {
	t.tell(llm.Origin{Provider: u.Provider, Model: u.Model}, u.Told)
	t.remind(u.Text)
}

// tell adds to what a model has been told.
func (t *Transcript) tell(model llm.Origin, what BriefingState) {
	if t.past.told == nil {
		t.past.told = map[llm.Origin]BriefingState{}
	}
	if t.past.told[model] == nil {
		t.past.told[model] = BriefingState{}
	}
	maps.Copy(t.past.told[model], what)
}

// forgetUpdates records that a summary has replaced the updates in the
// conversation. Remaining differences from the briefing will be reported again.
func (t *Transcript) forgetUpdates() {
	t.past.told = nil
	for model, b := range t.past.briefed {
		t.tell(model, b.Told)
	}
}

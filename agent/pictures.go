package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/picture"
)

// fitted holds the messages of the newest request whose pictures were looked at,
// by their first part, so that a request repeats the same parts as the one before.
type fitted struct {
	limits llm.ModelLimits
	parts  map[*llm.Part][]llm.Part
}

// mayHavePictures reports whether a message is looked at.
func mayHavePictures(m llm.Message) bool { return m.Role != llm.RoleAssistant && len(m.Parts) > 0 }

// keep forgets all but the given messages.
func (f *fitted) keep(messages []llm.Message) {
	kept := map[*llm.Part][]llm.Part{}
	for _, m := range messages {
		if mayHavePictures(m) {
			kept[&m.Parts[0]] = f.parts[&m.Parts[0]]
		}
	}
	f.parts = kept
}

// fitPictures converts pictures to a form that the model accepts.
func (t *turn) fitPictures(model llm.Origin, limits llm.ModelLimits, all []llm.Message) []llm.Message {
	f := &t.session.fitted
	if f.parts == nil || f.limits != limits {
		*f = fitted{limits: limits, parts: map[*llm.Part][]llm.Part{}}
	}
	messages := slices.Clone(all)
	looked := 0
	var changes []PictureChange
	for i := range messages {
		m := &messages[i]
		if !mayHavePictures(*m) {
			continue
		}
		looked++
		parts, known := f.parts[&m.Parts[0]]
		if !known {
			var told []PictureChange
			parts, told = fitParts(m.Parts, limits)
			f.parts[&m.Parts[0]] = parts
			changes = append(changes, told...)
		}
		m.Parts = parts
	}
	if len(f.parts) > looked { // some messages are gone: a summary stands for them, or they were taken back
		f.keep(all)
	}
	if subject := inWords(changes); len(changes) > 0 && !t.session.transcript.past.repairs[subject] {
		told := Repaired(RepairPictures, model.Model, subject)
		told.Subject, told.Pictures = subject, changes
		t.emit(told)
	}
	return messages
}

// fitParts returns parts with converted pictures, or parts itself, and says
// what was done.
func fitParts(parts []llm.Part, limits llm.ModelLimits) (out []llm.Part, told []PictureChange) {
	out = parts
	for i, p := range parts {
		var said []PictureChange
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

// fitPicture returns a picture as the model accepts it, or a text in its place.
func fitPicture(p llm.Part, limits llm.ModelLimits) (llm.Part, []PictureChange) {
	m := *p.Media
	changed := func(id PictureChangeID, args ...string) []PictureChange {
		return []PictureChange{{ID: id, Name: m.Name, Args: args}}
	}
	without := func(id PictureChangeID, why string, args ...string) (llm.Part, []PictureChange) {
		text := fmt.Sprintf("[%s was left out: %s]", cmp.Or(m.Name, unnamedPicture), why)
		return llm.Part{Kind: llm.PartText, Text: text}, changed(id, args...)
	}
	switch {
	case limits.Blind:
		return without(PictureUnseen, "this model takes no pictures")
	case m.URL != "":
		return p, nil
	}
	data, kind, err := picture.Fit(m.Data, limits.Picture)
	switch {
	case errors.Is(err, picture.ErrType):
		return without(PictureOtherType, "it is "+err.Error())
	case errors.Is(err, picture.ErrLarge):
		return without(PictureTooLarge, "it is "+err.Error())
	case err != nil:
		return without(PictureBroken, "it is "+err.Error())
	case len(data) != len(m.Data):
		m.Data, m.MIME = data, kind
		return llm.Part{Kind: llm.PartMedia, Media: &m}, changed(PictureSmaller)
	case kind != m.MIME:
		told := changed(PictureTyped, kind, m.MIME)
		m.MIME = kind
		return llm.Part{Kind: llm.PartMedia, Media: &m}, told
	}
	return p, nil
}

// PictureChange says how a picture is sent otherwise than it is in the log.
type PictureChange struct {
	ID   PictureChangeID `json:"id"`
	Name string          `json:"name,omitempty"` // of the picture, if it has one
	Args []string        `json:"args,omitempty"`
}

// PictureChangeID identifies a change of a picture, for translation. Stored
// events carry ids, so an id never changes its meaning.
type PictureChangeID string

// The changes. Comments name the arguments of their phrases.
const (
	PictureUnseen    PictureChangeID = "unseen"     //
	PictureOtherType PictureChangeID = "other_type" //
	PictureBroken    PictureChangeID = "broken"     //
	PictureTooLarge  PictureChangeID = "too_large"  //
	PictureSmaller   PictureChangeID = "smaller"    //
	PictureTyped     PictureChangeID = "typed"      // the actual type, the declared one
)

// pictureChanges are the English phrases; the picture's name stands before them.
var pictureChanges = map[PictureChangeID]string{
	PictureUnseen:    "is left out, because this model takes no pictures",
	PictureOtherType: "is left out, because it is not a PNG, JPEG, GIF or WebP picture",
	PictureBroken:    "is left out, because it is broken",
	PictureTooLarge:  "is left out, because it is too large to be made smaller",
	PictureSmaller:   "is made smaller",
	PictureTyped:     "is sent as {0}, not as {1}",
}

const unnamedPicture = "a picture"

// String returns the change in English.
func (c PictureChange) String() string {
	return cmp.Or(c.Name, unnamedPicture) + " " + Fill(pictureChanges[c.ID], c.Args)
}

// inWords returns the changes in English.
func inWords(changes []PictureChange) string {
	var phrases []string
	for _, c := range changes {
		phrases = append(phrases, c.String())
	}
	return strings.Join(phrases, "; ")
}

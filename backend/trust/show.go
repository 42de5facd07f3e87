package trust

import (
	"context"
	"maps"
	"slices"

	"atelier.dev/atelier/agent/changes"
)

// Shown is an item as it stands now. The seal stands for exactly that.
type Shown struct {
	Status
	Seal  string
	Texts []Text // the definition first
}

// Text is the definition, or a file that is pinned with it.
type Text struct {
	Path string // empty for the definition
	// Text is what it is now. It is empty if it is not there, or if Omitted says
	// why it is left out.
	Text string
	// Diff is the difference from what was accepted, unified and without headers;
	// empty if nothing was, or nothing changed.
	Diff    string
	Omitted Omission
}

// Omission says why a text is not shown.
type Omission string

// The omissions.
const (
	OmittedBinary  Omission = "binary"
	OmittedLong    Omission = "long"
	OmittedMissing Omission = "missing" // there is no such file, so that nothing runs yet
	OmittedOutside Omission = "outside"
	OmittedSpecial Omission = "special" // it cannot be read
)

// Show shows what would run: its contents and, if something else was accepted, the
// difference.
func (t *Trust) Show(ctx context.Context, id string) (Shown, error) {
	item, err := t.item(id)
	if err != nil {
		return Shown{}, err
	}
	before, err := t.record(ctx, item)
	if err != nil {
		return Shown{}, err
	}
	accepted, err := t.contents(ctx, before)
	if err != nil {
		return Shown{}, err
	}
	now := t.snapshot(item, "")
	out := Shown{Status: t.status(item, before, now), Seal: now.seal()}
	if before.Refused {
		out.Seal += refusedSeal
	}
	left := maxContents
	add := func(path, text string, omitted Omission) {
		old, known := accepted[path]
		delete(accepted, path)
		shown := Text{Path: quote(path), Omitted: omitted}
		switch {
		case omitted == "" && !isText(text):
			shown.Omitted = OmittedBinary
		case omitted == "" && len(text) > left:
			shown.Omitted = OmittedLong
		case omitted == "":
			left -= len(text)
			shown.Text = text
			if known && old != text || !known && accepted != nil {
				shown.Diff = changes.Unified(old, text, 3)
			}
		}
		out.Texts = append(out.Texts, shown)
	}
	add("", item.Definition, "")
	for _, f := range now.files {
		if f.State == fileFolder {
			continue // its files are there
		}
		add(f.Path, string(f.text), map[fileState]Omission{
			fileMissing: OmittedMissing, fileOutside: OmittedOutside, fileSpecial: OmittedSpecial, fileLarge: OmittedLong,
		}[f.State])
	}
	for _, path := range slices.Sorted(maps.Keys(accepted)) {
		out.Texts = append(out.Texts, Text{Path: quote(path), Diff: changes.Unified(accepted[path], "", 3), Omitted: OmittedMissing})
	}
	return out, nil
}

package journal

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
)

const (
	// maxListed limits the files that the event of a step lists. The records of the others
	// are objects, each with at most maxPart bytes.
	maxListed = 2000
	maxPart   = 2 << 20
)

// Limited orders the files that were changed, and keeps apart those that an event does
// not list; nil means that nothing changed. [Journal.Complete] is the way back.
func (j *Journal) Limited(ctx context.Context, out agent.FilesChanged) *agent.FilesChanged {
	return limited(ctx, j.store, out)
}

func limited(ctx context.Context, store *objects.Store, out agent.FilesChanged) *agent.FilesChanged {
	slices.SortFunc(out.Files, func(a, b agent.FileRecord) int { return cmp.Compare(a.Path, b.Path) })
	if len(out.Files) > maxListed {
		rest := out.Files[maxListed:]
		out.Files, out.More = slices.Clone(out.Files[:maxListed]), out.More+len(rest)
		out.Lists = append(slices.Clone(out.Lists), keepLists(ctx, store, rest)...)
	}
	if len(out.Files) == 0 && !out.Unwatched {
		return nil
	}
	return &out
}

// keepLists keeps records, and returns the objects with them; those that could not be kept
// are missing.
func keepLists(ctx context.Context, store *objects.Store, records []agent.FileRecord) (lists []agent.FileVersion) {
	var part []byte
	flush := func() {
		if len(part) == 0 {
			return
		}
		if v := store.Keep(ctx, agent.PlainFile, part); v.Unkept == "" {
			lists = append(lists, v)
		}
		part = nil
	}
	for _, r := range records {
		line, err := json.Marshal(r)
		if err != nil {
			continue // it has strings and numbers only
		}
		if len(part)+len(line) >= maxPart {
			flush()
		}
		part = append(append(part, line...), '\n')
	}
	flush()
	return lists
}

// Complete returns what was changed with the files that the event does not list, as far
// as the journal still has them; More counts the others. It accepts nil.
func (j *Journal) Complete(ctx context.Context, changed *agent.FilesChanged) *agent.FilesChanged {
	if changed == nil || len(changed.Lists) == 0 {
		return changed
	}
	out := *changed
	out.Files, out.Lists = slices.Clone(out.Files), nil
	for _, v := range changed.Lists {
		text, err := j.store.Contents(ctx, v)
		if err != nil {
			slog.Warn("the journal does not have a list of files", "err", err)
			continue
		}
		for line := range bytes.Lines(text) {
			var r agent.FileRecord
			if json.Unmarshal(line, &r) == nil && out.More > 0 {
				out.Files = append(out.Files, r)
				out.More--
			}
		}
	}
	return &out
}

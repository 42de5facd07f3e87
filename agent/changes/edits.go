package changes

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
)

// edited is a file that a session's edits are about.
type edited struct {
	path, from string // as the tools named them; from is where the file was first, if it was moved
	edits      []Edit
}

// gather sorts edits by file, in the order in which the files were first
// edited. A moved file takes its edits along. A file that only the user put
// back is left out.
func gather(edits []Edit) []*edited {
	var all []*edited
	now := map[string]*edited{} // by present path
	for _, e := range edits {
		f := now[e.Path]
		if f == nil {
			f = &edited{path: e.Path}
			all = append(all, f)
			now[e.Path] = f
		}
		f.edits = append(f.edits, e)
		if e.MovedTo == "" || e.MovedTo == e.Path {
			continue
		}
		if f.from == "" {
			f.from = e.Path
		}
		if over := now[e.MovedTo]; over != nil && over != f { // it was moved over another one, whose edits come first
			f.edits = append(slices.Clone(over.edits), f.edits...)
			all = slices.DeleteFunc(all, func(o *edited) bool { return o == over })
		}
		delete(now, e.Path)
		now[e.MovedTo] = f
		f.path = e.MovedTo
	}
	for _, f := range all {
		if f.from == f.path {
			f.from = ""
		}
	}
	return slices.DeleteFunc(all, func(f *edited) bool {
		return !slices.ContainsFunc(f.edits, func(e Edit) bool { return !e.ByUser })
	})
}

// existed reports whether the file was there before the first edit, and stays
// whether it is there after the last.
func (e *edited) existed() bool { return !e.edits[0].Created }
func (e *edited) stays() bool   { return !e.edits[len(e.edits)-1].Deleted }

// unshown reports whether one of the edits cannot be shown.
func (e *edited) unshown() bool {
	return slices.ContainsFunc(e.edits, func(e Edit) bool { return e.Unshown })
}

// why says why the edits of a file cannot be shown: it is binary, or else too large.
func (f *Folder) why(ctx context.Context, e *edited) (binary, large bool) {
	_, binary, _, _ = f.contentOf(ctx, e.path)
	binary = binary || slices.ContainsFunc(e.edits, func(e Edit) bool { return e.Binary })
	return binary, !binary
}

// compose returns the content before the edits, given the present one. It
// reports false if the edits cannot all be taken out of it.
func (e *edited) compose(present string) (before string, ok bool) {
	text := present
	for _, change := range slices.Backward(e.edits) {
		if change.Unshown {
			return "", false
		}
		if change.Diff == "" {
			if change.Added+change.Removed > 0 { // it was too large to compare
				return "", false
			}
			continue
		}
		hunks, ok := parseHunks(change.Diff)
		if !ok {
			return "", false
		}
		var err error
		if text, err = reverse(text, hunks, true); err != nil {
			return "", false
		}
	}
	if !e.existed() && text != "" {
		return "", false
	}
	return text, true
}

// listEdits lists the files of a session's edits.
func (f *Folder) listEdits(ctx context.Context, edits []Edit, l *Listing) {
	for _, e := range gather(edits) {
		if ctx.Err() != nil {
			return
		}
		file, changed := f.summary(ctx, e)
		if !changed {
			continue
		}
		l.Added += file.Added
		l.Removed += file.Removed
		if len(l.Files) == MaxFiles {
			l.More++
			continue
		}
		l.Files = append(l.Files, file)
	}
}

// summary describes a file of the edits. It reports false if nothing is left of
// them.
func (f *Folder) summary(ctx context.Context, e *edited) (File, bool) {
	file := File{Path: Quote(filepath.ToSlash(e.path)), From: Quote(filepath.ToSlash(e.from)), State: Modified, Staged: StagedNone}
	switch {
	case !e.existed():
		file.State, file.From = Added, ""
	case !e.stays():
		file.State = Deleted
	case e.from != "":
		file.State = Renamed
	}
	if d, composed := f.net(ctx, e, Shape{}); composed {
		file.Added, file.Removed, file.Large, file.Binary = d.Added, d.Removed, d.Large, d.Binary
		return file, !d.Vanished && (file.Added+file.Removed > 0 || d.Large || file.From != "" || e.existed() != e.stays())
	}
	for _, change := range e.edits {
		file.Added += change.Added
		file.Removed += change.Removed
	}
	if e.unshown() {
		file.Binary, file.Large = f.why(ctx, e)
	}
	return file, true
}

// net returns the difference that the edits make in the present content. It
// reports false if they do not add up to one.
func (f *Folder) net(ctx context.Context, e *edited, shape Shape) (d Diff, composed bool) {
	text, binary, large, err := f.contentOf(ctx, e.path)
	gone := errors.Is(err, fs.ErrNotExist)
	if gone && !e.existed() { // nothing is left
		return Diff{Vanished: e.stays()}, true
	}
	if binary || large || err != nil && !gone || gone == e.stays() {
		return Diff{Vanished: gone && e.stays()}, false
	}
	before, ok := e.compose(text)
	if !ok || len(before) > MaxDiff {
		return Diff{}, false
	}
	d.Diff = Unified(before, text, shape.context())
	if shape.IgnoreSpace {
		d.Diff = unifiedIgnoringSpace(before, text, shape.context())
	}
	d.Added, d.Removed = countOf(d.Diff)
	if len(d.Diff) > MaxDiff || d.Added+d.Removed > MaxDiffLines {
		d.Diff, d.Large = "", true
	}
	return d, true
}

// diffEdits returns the change of one file of the edits.
func (f *Folder) diffEdits(ctx context.Context, edits []Edit, name string, shape Shape) (Diff, error) {
	e := f.find(edits, name)
	if e == nil {
		return Diff{}, &Error{Kind: Changed, Path: name}
	}
	seen, err := f.seen(ctx, e.path)
	if err != nil {
		return Diff{}, err
	}
	d, composed := f.net(ctx, e, shape)
	d.Path, d.Seen = name, seen
	if composed {
		return d, nil
	}
	if e.unshown() {
		d.Binary, d.Large = f.why(ctx, e)
		return d, nil
	}
	size := 0
	for _, change := range e.edits {
		d.Added += change.Added
		d.Removed += change.Removed
		if size += len(change.Diff); size > MaxDiff {
			d.Large = true
			change.Diff = ""
		}
		d.Edits = append(d.Edits, change.FileChange)
	}
	return d, nil
}

// find returns the file of the edits that is shown under a name.
func (f *Folder) find(edits []Edit, name string) *edited {
	for _, e := range gather(edits) {
		if Quote(filepath.ToSlash(e.path)) == name {
			return e
		}
	}
	return nil
}

package changes

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// Part is what is put back of a file's change.
type Part struct {
	Path, From string // as [File] has them
	// Hunk is a hunk of the diff as it was shown; empty means the whole file.
	Hunk string
	// Seen is that of the [Diff] that was shown. The whole file needs it.
	Seen string
}

// PutBack takes a change out of a file again. Later work of others is never lost: the new side of a hunk must stand
// in the file, at its place or once elsewhere, and a whole file must be what
// was shown. Otherwise nothing is touched.
func (f *Folder) PutBack(ctx context.Context, q Query, p Part) error {
	if f.tree == nil {
		return &Error{Kind: ReadOnly}
	}
	name, err := f.inside(p.Path)
	if err != nil {
		return err
	}
	if err := f.writable(ctx, name); err != nil {
		return err
	}
	staged, changed, err := f.staged(ctx, name)
	if err != nil {
		return err
	}
	if staged && changed && q.Staged == StagedAll { // the working tree has more than what was shown
		return &Error{Kind: NotPossible, Path: p.Path}
	}
	err = f.putBack(ctx, q, p, name, staged && changed)
	if err == nil && p.Hunk != "" && staged && !changed {
		err = f.Stage(ctx, []string{p.Path}) // what is committed is what is shown
	}
	return err
}

// staged reports whether something of a file is staged, and whether the file has changed
// since.
func (f *Folder) staged(ctx context.Context, name string) (staged, changed bool, err error) {
	r, err := f.open(ctx)
	if err != nil {
		return false, false, nil // without git nothing is; who needs git is told why there is none
	}
	quiet := append(slices.Clone(drawn), "--quiet")
	for _, side := range []struct {
		args []string
		to   *bool
	}{{[]string{"--cached"}, &staged}, {nil, &changed}} {
		result, err := r.run(ctx, r.programs, call{args: slices.Concat(quiet, side.args, []string{"--", name})})
		if err != nil {
			return false, false, err
		}
		*side.to = result.ExitCode == 1
	}
	if staged && !changed {
		err = r.unlocked(ctx) // as long as nothing is written
	}
	return staged, changed, err
}

// putBack does the work of PutBack; with isPart, back to what is staged.
func (f *Folder) putBack(ctx context.Context, q Query, p Part, name string, isPart bool) error {
	b := putBack{Folder: f, name: name, shown: p.Path, seen: p.Seen}
	if q.Scope == ScopeSession || q.Scope == ScopeTurn {
		e := f.find(q.Edits, p.Path)
		if e == nil {
			return &Error{Kind: Changed, Path: p.Path}
		}
		b.created = !e.existed()
		if p.Hunk == "" {
			return b.edits(ctx, e)
		}
		return b.hunk(ctx, p.Hunk)
	}
	r, err := f.open(ctx)
	if err != nil {
		return err
	}
	tree, _, err := r.against(ctx, q)
	if err != nil {
		return err
	}
	if isPart && q.Staged == StagedNone {
		tree = ""
	}
	old := name
	if p.From != "" {
		if old, err = f.inside(p.From); err != nil {
			return err
		}
	}
	entry, err := r.entry(ctx, tree, old)
	if err != nil {
		return err
	}
	b.created, b.mode = entry.mode == "", entry.mode
	if p.Hunk != "" {
		return b.hunk(ctx, p.Hunk)
	}
	return b.whole(ctx, r, tree, old, entry)
}

// writable refuses a name below a symbolic link: what is there is not the
// file's own.
func (f *Folder) writable(_ context.Context, name string) error {
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		info, err := f.tree.Lstat(dir)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return &Error{Kind: NotPossible, Path: Quote(name)}
		}
	}
	return nil
}

// putBack puts back the change of one file.
type putBack struct {
	*Folder
	name, shown, seen string
	created           bool   // the change created the file
	mode              string // of the file before the change, as git writes it; empty if it is not known yet
}

// refuse returns a refusal about the file.
func (b putBack) refuse(kind Refusal) error { return &Error{Kind: kind, Path: b.shown} }

// about returns an error of [reverse] as one about the file.
func (b putBack) about(err error) error {
	var refused *Error
	if errors.As(err, &refused) {
		return b.refuse(refused.Kind)
	}
	return err
}

// hunk puts back a hunk.
func (b putBack) hunk(ctx context.Context, text string) error {
	hunks, ok := parseHunks(text)
	if !ok || len(hunks) != 1 {
		return b.refuse(HunkInvalid)
	}
	now, err := b.present(ctx)
	if err != nil {
		return err
	}
	if now.seen != absent && !now.file {
		return b.refuse(NotPossible)
	}
	whole := len(hunks[0].side('+')) == 0
	if now.seen == absent && !whole {
		return b.refuse(Vanished)
	}
	if whole && now.file && len(now.data) > 0 { // the file was deleted, and now there is another one
		return b.refuse(Occupied)
	}
	text, err = reverse(string(now.data), hunks, false)
	if err != nil {
		return b.about(err)
	}
	b.seen = now.seen
	if text == "" && b.created && len(hunks[0].side('-')) == 0 {
		return b.remove(ctx, now)
	}
	return b.write(ctx, now, text)
}

// edits puts back all edits of a session's file.
func (b putBack) edits(ctx context.Context, e *edited) error {
	now, err := b.present(ctx)
	switch {
	case err != nil:
		return err
	case b.seen == unknown || now.seen != b.seen:
		return b.refuse(Changed)
	case e.stays() && now.seen == absent:
		return b.refuse(Vanished)
	case !e.stays() && now.seen != absent:
		return b.refuse(Occupied)
	case now.seen != absent && !now.file:
		return b.refuse(NotPossible)
	}
	before, ok := e.compose(string(now.data))
	if !ok || now.file && isBinary(now.data) {
		return b.refuse(Changed)
	}
	switch {
	case b.created && now.file:
		return b.remove(ctx, now)
	case b.created:
		return b.refuse(Vanished)
	case e.from == "":
		return b.write(ctx, now, before)
	}
	from, err := b.inside(Quote(filepath.ToSlash(e.from)))
	if err != nil {
		return err
	}
	return b.moveBack(ctx, now, from, before)
}

// write gives the file its old content.
func (b putBack) write(ctx context.Context, now present, text string) error {
	if now.seen == absent && b.mode == "" {
		b.mode = b.modeOf(ctx, b.name)
	}
	return b.replace(ctx, b.name, now, []byte(text), b.mode == modeExecutable)
}

// remove removes a file that the change created.
func (b putBack) remove(ctx context.Context, now present) error {
	return b.discard(ctx, b.name, now.seen)
}

// moveBack gives a file its old content under its old name.
func (b putBack) moveBack(ctx context.Context, now present, from, before string) error {
	old := now
	old.seen = absent
	if err := b.replace(ctx, from, old, []byte(before), false); err != nil {
		return err
	}
	if err := b.discard(ctx, b.name, now.seen); err != nil {
		return errors.Join(err, b.tree.Remove(from))
	}
	return nil
}

// change describes what a put-back did.
func change(name, before, after string, created, deleted bool) agent.FileChange {
	c := agent.FileChange{Path: filepath.FromSlash(name), Created: created, Deleted: deleted}
	if len(before) <= MaxDiff && len(after) <= MaxDiff && !isBinary([]byte(before)) && !isBinary([]byte(after)) {
		c.Diff = Unified(before, after, 3)
		c.Added, c.Removed = countOf(c.Diff)
	}
	return c
}

// present is what stands under a name.
type present struct {
	seen string
	file bool // a regular file; data is its content
	data []byte
	info fs.FileInfo
}

func (b putBack) present(ctx context.Context) (present, error) {
	var p present
	var err error
	if p.info, err = b.tree.Lstat(b.name); err == nil && p.info.Mode().IsRegular() {
		if p.info.Size() > env.MaxWhole {
			return p, b.refuse(TooLarge)
		}
		if p.data, err = b.env.ReadFile(ctx, b.name); err == nil {
			p.file, p.seen = true, seenFile(p.info.Mode(), p.data)
			return p, nil
		}
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return p, b.unreadable(b.name, err)
	}
	p.seen, err = b.Folder.seen(ctx, b.name)
	return p, err
}

package undo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/internal/merge"
	"atelier.dev/atelier/agent/undo/disk"
)

// The limits of a plan. A diff beyond one of them is left out, not cut.
const (
	maxDiff  = 1 << 20 // bytes of one file's diff
	maxDiffs = 4 << 20 // bytes of all diffs
	maxMerge = 8 << 20 // bytes of a text that is merged
	maxShown = 20      // conflicts of a file that are shown
	maxPaths = 1000    // paths of a restoration of all files that are listed
	lines    = 3       // of context around a change
)

// Contents keeps the contents of versions: the journal.
type Contents interface {
	// Contents returns the contents of a version that is kept.
	Contents(context.Context, agent.FileVersion) ([]byte, error)
	// Keep keeps contents. If they could not be kept, the version says why.
	Keep(context.Context, agent.FileKind, []byte) agent.FileVersion
}

// Step is what one step changed, and what of it is to be taken out.
type Step struct {
	agent.StepRef
	agent.FilesChanged
	// RanCommand says that the step may have changed files that are not recorded, because
	// git ignores them.
	RanCommand bool
}

// Choice is what of a file is restored, and in what state the file was shown.
type Choice struct {
	Path string
	// Seal is that of the [File] that was shown.
	Seal string
	// Rest restores the parts of the file that have no conflict.
	Rest bool
	// Hunks are the hunks of the diff that are restored, counted from 0; none means
	// all.
	Hunks []int
}

// Plan is what taking steps out of the files would do.
type Plan struct {
	Files []File
	// More counts changes that were not recorded, and cannot be taken out. Unwatched
	// says that others may have been missed.
	More      int
	Unwatched bool
	// Commands says that some steps ran commands.
	Commands bool
}

// Idle reports whether the plan has files, all of which are what they would be.
func (p *Plan) Idle() bool {
	return len(p.Files) > 0 && p.More == 0 && !slices.ContainsFunc(p.Files, func(f File) bool { return f.Reason != "" || f.Restorable() })
}

// File is what would be done to one file.
type File struct {
	Path         string
	Before, Then agent.FileVersion // as it is, and as it would be
	Difference
	// Reason says why the file stays as it is; empty if it can be restored. Conflicts
	// are the first of Places places in it that were changed since. Then and Diff are
	// what restoring the rest would do.
	Reason    agent.ConflictReason
	Conflicts []merge.Conflict
	Places    int
	// Seal identifies all that was shown of the file.
	Seal string
}

// Difference is what a restoration would change in a file.
type Difference struct {
	Diff           string // empty if Binary or Large is set
	Added, Removed int
	Hunks          int // of the diff, if they can be chosen one by one
	Binary, Large  bool
}

// Restorable reports whether anything of the file can be restored.
func (f *File) Restorable() bool {
	return !disk.Same(f.Before, f.Then) && (f.Reason == "" || f.Places > 0)
}

// ErrStale says that a file is not as it was shown any more, or was never shown.
// Nothing was done.
var ErrStale = errors.New("a file has changed since it was shown")

// Folder is where the files are. It is safe for concurrent use.
type Folder struct {
	disk     *disk.Disk
	contents Contents
}

// New returns a folder whose files are read and replaced on a disk.
func New(d *disk.Disk, c Contents) *Folder { return &Folder{disk: d, contents: c} }

// Plan says what taking out steps would do to the files, and changes nothing. The
// steps are in the order in which they are taken out, the newest first. paths limits
// the plan to some files; none means all.
func (f *Folder) Plan(ctx context.Context, steps []Step, paths ...string) (Plan, error) {
	var p Plan
	for _, s := range steps {
		p.More += s.More
		p.Unwatched = p.Unwatched || s.Unwatched
		p.Commands = p.Commands || s.RanCommand
	}
	room := maxDiffs
	b := f.batch(steps)
	for _, records := range b.files {
		if len(paths) > 0 && !slices.Contains(paths, records[0].Path) {
			continue
		}
		o, err := b.outcome(ctx, records)
		if err != nil {
			return p, err
		}
		if room -= len(o.file.Diff); room < 0 {
			o.file.Diff, o.file.Large = "", true
		}
		p.Files = append(p.Files, o.file)
	}
	return p, nil
}

// Prepare returns the restoration of what was chosen of some steps, and keeps all
// contents that it needs. Nothing is written yet. It fails with [ErrStale] if what was
// shown of a file does not hold any more.
func (f *Folder) Prepare(ctx context.Context, steps []Step, choices []Choice) (agent.FilesRestored, error) {
	r := agent.FilesRestored{}
	chosen := make(map[string]Choice, len(choices))
	for _, c := range choices {
		chosen[c.Path] = c
	}
	b := f.batch(steps)
	for _, records := range b.files {
		c, ok := chosen[records[0].Path]
		if !ok {
			continue
		}
		delete(chosen, c.Path)
		o, err := b.outcome(ctx, records)
		switch {
		case err != nil:
			return r, err
		case o.file.Seal != c.Seal:
			return r, fmt.Errorf("prepare to restore %s: %w", c.Path, ErrStale)
		}
		if err := f.prepare(ctx, &r, o, c); err != nil {
			return r, err
		}
	}
	if len(chosen) > 0 {
		return r, fmt.Errorf("prepare to restore files: %w", ErrStale)
	}
	if len(r.Paths) == len(b.files) && len(r.Paths) > maxPaths {
		r.Paths = nil // all
	}
	return r, nil
}

// prepare adds one file to a restoration.
func (f *Folder) prepare(ctx context.Context, r *agent.FilesRestored, o outcome, c Choice) error {
	r.Paths = append(r.Paths, c.Path)
	if o.file.Reason != "" {
		if !c.Rest || !o.file.Restorable() {
			r.Conflicts = append(r.Conflicts, agent.RestoreConflict{Path: c.Path, Reason: o.file.Reason})
			return nil
		}
		r.Conflicts = append(r.Conflicts, agent.RestoreConflict{Path: c.Path, Reason: o.file.Reason, Hunks: o.file.Places})
	}
	then := o.then
	if len(c.Hunks) > 0 {
		text, ok := merge.Pick(string(o.now.Data), string(o.then.Data), lines, c.Hunks)
		if !ok || o.file.Hunks == 0 {
			return fmt.Errorf("prepare to restore %s: %w", c.Path, ErrStale)
		}
		if text != string(o.then.Data) {
			then.Data, then.Kind, then.Mode = []byte(text), o.now.Kind, o.now.Mode
			r.Partly = append(r.Partly, c.Path)
		}
	}
	if o.now.Is(then.Version()) {
		return nil
	}
	record := agent.FileRecord{Path: c.Path}
	for _, side := range []struct {
		content disk.Content
		version *agent.FileVersion
	}{{o.now, &record.Before}, {then, &record.After}} {
		if side.content.Kind != "" {
			*side.version = f.keep(ctx, side.content)
		}
		if side.version.Unkept != "" { // the restoration could not be undone
			r.Conflicts = append(r.Conflicts, agent.RestoreConflict{Path: c.Path, Reason: agent.ConflictUnkept})
			return nil
		}
	}
	r.Files = append(r.Files, record)
	return nil
}

// keep keeps content, and makes sure that it can be read: what was kept long ago may be
// damaged by now, which only reading it finds out.
func (f *Folder) keep(ctx context.Context, c disk.Content) agent.FileVersion {
	v := f.contents.Keep(ctx, c.Kind, c.Data)
	if v.Unkept == "" {
		if _, err := f.contents.Contents(ctx, v); err != nil {
			v = f.contents.Keep(ctx, c.Kind, c.Data) // anew: the damaged one is gone
		}
	}
	v.Private, v.Mode = c.Private, c.Mode
	return v
}

// Recorded changes files with do and returns what that changed, with the contents kept.
func (f *Folder) Recorded(ctx context.Context, paths []string, do func() error) (agent.FilesChanged, error) {
	var changed agent.FilesChanged
	versions := func() ([]agent.FileVersion, error) {
		var all []agent.FileVersion
		for _, path := range paths {
			c, err := f.disk.Read(changes.Unquote(path))
			switch {
			case err != nil:
				return nil, fmt.Errorf("record a change of %s: %w", path, err)
			case c.Large:
				all = append(all, agent.FileVersion{Kind: c.Kind, Unkept: agent.UnkeptLarge})
			case c.Kind == "":
				all = append(all, agent.FileVersion{})
			default:
				all = append(all, f.keep(ctx, c))
			}
		}
		return all, nil
	}
	before, err := versions()
	if err == nil {
		err = do()
	}
	if err != nil {
		return changed, err
	}
	after, err := versions()
	if err != nil {
		return changed, err
	}
	for i, path := range paths {
		if before[i] != after[i] {
			changed.Files = append(changed.Files, agent.FileRecord{Path: path, Before: before[i], After: after[i]})
		}
	}
	return changed, nil
}

// outcome is what would be done to a file, with the contents.
type outcome struct {
	file      File
	now, then disk.Content
}

// outcome plans one file of all that are planned.
func (b *batch) outcome(ctx context.Context, records []agent.FileRecord) (outcome, error) {
	if err := ctx.Err(); err != nil {
		return outcome{}, fmt.Errorf("plan a restoration: %w", context.Cause(ctx))
	}
	o := outcome{file: File{Path: records[0].Path}}
	var reading error
	o.now, reading = b.read(o.file.Path, b.cases)
	if behind := errors.Is(reading, disk.ErrBehindLink); behind || o.now.Other {
		free, err := b.freed(ctx, o.file.Path, behind, o.now.Vacant)
		if err != nil {
			return o, err
		}
		if free {
			o.now, reading = disk.Content{}, nil
		}
	}
	if reading != nil {
		o.file.Reason = agent.ConflictRefused
		o.seal()
		return o, nil
	}
	o.then = o.now
	for _, r := range chained(records) {
		next, conflicts, reason, err := b.reverse(ctx, o.then, r)
		if err != nil {
			return o, err
		}
		if reason != "" {
			o.file.Reason = reason
		}
		if reason != "" && conflicts == nil { // none of the file can be restored
			o.then, o.file.Conflicts = o.now, nil
			break
		}
		o.then, o.file.Conflicts = next, append(o.file.Conflicts, conflicts...)
	}
	if o.now.Linked && o.then.Kind != "" && !o.now.Is(o.then.Version()) {
		o.file.Reason, o.file.Conflicts, o.then = agent.ConflictLinked, nil, o.now
	}
	o.file.Places = len(o.file.Conflicts)
	o.file.Conflicts = o.file.Conflicts[:min(o.file.Places, maxShown)]
	o.describe()
	o.seal()
	return o, nil
}

// describe shows what the outcome is.
func (o *outcome) describe() {
	if !o.now.Other && !o.now.Large {
		o.file.Before, o.file.Then = o.now.Version(), o.then.Version()
	}
	switch {
	case o.now.Is(o.file.Then) || o.now.Other || o.now.Large:
		return
	case !isText(o.now) || !isText(o.then):
		o.file.Binary = true
		return
	}
	o.file.Diff = changes.Unified(string(o.now.Data), string(o.then.Data), lines)
	for _, e := range merge.Hunks(string(o.now.Data), string(o.then.Data), lines) {
		for _, e := range e {
			o.file.Added += countLines(e.New)
			o.file.Removed += countLines(string(o.now.Data[e.Start:e.End]))
		}
		o.file.Hunks++
	}
	if len(o.file.Diff) > maxDiff {
		o.file.Diff, o.file.Large = "", true
	}
	if o.now.Kind == "" || o.then.Kind == "" || o.file.Large || !shown(o.now) || !shown(o.then) {
		o.file.Hunks = 0 // there are no parts to choose from
	}
}

// seal identifies what is shown.
func (o *outcome) seal() {
	text, err := json.Marshal([]any{o.file.Path, o.file.Before, o.file.Then, o.file.Reason, o.file.Conflicts, o.now.Other, o.now.Large})
	if err != nil {
		panic(err) // it is all text and numbers
	}
	sum := sha256.Sum256(text)
	o.file.Seal = hex.EncodeToString(sum[:16])
}

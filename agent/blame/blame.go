package blame

import (
	"context"
	"errors"
	"slices"

	"atelier.dev/atelier/agent"
)

// The limits of an answer.
const (
	MaxSteps = 500      // versions that are followed, the newest
	MaxSize  = 2 << 20  // bytes of a version; larger ones count as not kept
	MaxLines = 50_000   // lines of a version, as well
	maxBytes = 48 << 20 // of all versions; older ones are left out
)

// ErrTooLarge says that the file has more than [MaxSize] bytes or [MaxLines] lines.
var ErrTooLarge = errors.New("the file is too large to compare its versions")

// Step is one recorded change of the file.
type Step struct {
	// ID is that of the call or the user's command or, if the step restored
	// files, of the [agent.FilesRestored].
	ID            string
	Before, After agent.FileVersion
	// Undone are the ids of the steps that this one took out, the newest first;
	// Redone is the id of the restoration that this one took out.
	Undone []string
	Redone string
}

// Contents returns what stood in a version. It fails if that was not kept.
type Contents func(context.Context, agent.FileVersion) ([]byte, error)

// Author says who wrote a line: the place of a step in the list, or one of these.
type Author int32

// The authors that are not steps.
const (
	Earlier Author = -1 // the line is older than the first step
	Outside Author = -2 // it was changed between two steps, or after the last one
	Unknown Author = -3 // the versions that would tell were not kept
)

// Line says who wrote one line of a file.
type Line struct {
	Author Author
	// Unsure says that versions in between were not kept: the line may also be from
	// an earlier step, or from outside.
	Unsure bool
}

// Answer is who wrote the lines of a file.
type Answer struct {
	Lines []Line
	// Skipped counts the oldest steps, which were not followed because there are
	// too many. Their lines are [Earlier].
	Skipped int
}

// Of tells who wrote the lines of a file that now reads as present. The steps are
// in their order, the oldest first.
func Of(ctx context.Context, steps []Step, present []byte, contents Contents) (Answer, error) {
	now, ok := textOf(present)
	if !ok {
		return Answer{}, ErrTooLarge
	}
	skipped := len(steps) - kept(steps)
	f := follower{steps: steps, contents: contents, known: map[string]*version{}, before: map[string]*version{}, now: now}
	for i := skipped; i < len(steps); i++ {
		if err := ctx.Err(); err != nil {
			return Answer{}, context.Cause(ctx)
		}
		f.follow(ctx, i)
	}
	last := agent.FileVersion{Hash: now.key, Size: int64(len(present)), Kind: agent.PlainFile}
	if f.at == nil { // nothing is recorded
		f.begin(ctx, last)
	}
	f.outside(ctx, last)
	if err := ctx.Err(); err != nil { // contents that were not read in time count as not kept
		return Answer{}, context.Cause(ctx)
	}
	return Answer{Lines: f.at.authors, Skipped: skipped}, nil
}

// kept returns how many of the newest steps are followed.
func kept(steps []Step) (n int) {
	size := int64(0)
	for i, s := range slices.Backward(steps) {
		size += min(s.After.Size, MaxSize)
		if i == 0 || key(steps[i-1].After) != key(s.Before) {
			size += min(s.Before.Size, MaxSize)
		}
		if n == MaxSteps || size > maxBytes {
			break
		}
		n++
	}
	return n
}

// version is a version of the file with the authors of its lines.
type version struct {
	text
	authors []Line
}

// follower goes through the versions of a file.
type follower struct {
	steps    []Step
	contents Contents
	now      text // the present contents, which may be those of a version that was not kept
	// at is the newest version whose contents are known, and key is that of the newest
	// version of all. since are the authors of the versions after at.
	at    *version
	key   string
	since []Author
	// known has the versions whose contents are known, by their keys; before has those
	// that stood before a step, by its id.
	known, before map[string]*version
}

// key identifies what stood in a version.
func key(v agent.FileVersion) string {
	if v.Kind == agent.SymbolicLink {
		return "link " + v.Hash
	}
	return v.Hash
}

// follow takes a step.
func (f *follower) follow(ctx context.Context, i int) {
	step := f.steps[i]
	if f.at == nil {
		f.begin(ctx, step.Before)
	} else {
		f.outside(ctx, step.Before)
	}
	if len(f.since) == 0 {
		f.before[step.ID] = f.at
	}
	from, all := f.restored(step)
	author := Author(i)
	if !all { // what is in none of the others may have come back from a missing one
		author = Unknown
	}
	f.advance(ctx, step.After, author, from)
}

// begin takes the oldest version.
func (f *follower) begin(ctx context.Context, v agent.FileVersion) {
	f.at, f.key = &version{}, key(v)
	t, ok := f.read(ctx, v)
	if !ok {
		f.since = []Author{Unknown}
		return
	}
	f.at = &version{t, slices.Repeat([]Line{{Author: Earlier}}, len(t.lines))}
	f.known[t.key] = f.at
}

// outside takes the version that stands after a change that no step made. If that
// is one that stood there before, as after a change of branches and back, its lines have
// their authors again.
func (f *follower) outside(ctx context.Context, v agent.FileVersion) {
	if key(v) == f.key && len(f.since) == 0 {
		return
	}
	if key(v) == f.key { // it was not kept, but may be what stands there now
		if t, ok := f.read(ctx, v); ok {
			f.arrive(t, f.since[len(f.since)-1], nil)
		}
		return
	}
	var same []*version
	if known := f.known[key(v)]; known != nil {
		same = []*version{known}
	}
	f.advance(ctx, v, Outside, same)
}

// restored returns the versions that a restoration brought lines back from. If one
// of them is what stands there now, the last such counts. It reports false if some
// are not known.
func (f *follower) restored(step Step) (from []*version, all bool) {
	ids := slices.Clone(step.Undone)
	if step.Redone != "" {
		ids = append(ids, step.Redone)
	}
	if len(ids) == 0 {
		return nil, true
	}
	if v := f.known[key(step.After)]; v != nil {
		from = append(from, v)
	}
	all = true
	for _, id := range ids {
		if v := f.before[id]; v != nil {
			from = append(from, v)
		} else if slices.ContainsFunc(f.steps, func(s Step) bool { return s.ID == id }) {
			all = false
		} // else it did not change this file
	}
	return from, all
}

// advance takes the next version. from are versions that its lines may come from.
func (f *follower) advance(ctx context.Context, v agent.FileVersion, author Author, from []*version) {
	f.key = key(v)
	t, ok := f.read(ctx, v)
	if !ok {
		f.since = append(f.since, author)
		return
	}
	f.arrive(t, author, from)
}

// arrive makes a text the newest version whose contents are known.
func (f *follower) arrive(t text, author Author, from []*version) {
	next := &version{text: t}
	for i := len(from) - 1; i >= 0 && next.authors == nil; i-- {
		if from[i].key == t.key {
			next.authors = from[i].authors
		}
	}
	if next.authors == nil {
		next.authors = f.authorsOf(t, f.newcomer(author), from)
	}
	f.at, f.since = next, nil
	f.known[t.key] = next
}

// newcomer says who wrote the lines that the newest version does not have.
func (f *follower) newcomer(author Author) Line {
	if slices.Contains(f.since, Unknown) {
		return Line{Author: Unknown}
	}
	for _, other := range f.since {
		if other != author {
			return Line{Author: max(author, slices.Max(f.since)), Unsure: true}
		}
	}
	return Line{Author: author}
}

// authorsOf returns the authors of the lines of the next version.
func (f *follower) authorsOf(t text, fresh Line, from []*version) []Line {
	authors := make([]Line, len(t.lines))
	isNew := make([]bool, len(t.lines))
	for i := range authors {
		authors[i], isNew[i] = fresh, true
	}
	for old, new := range same(f.at.text, t) {
		authors[new], isNew[new] = f.at.authors[old], false
	}
	for _, v := range from {
		if !slices.Contains(isNew, true) {
			break
		}
		for old, new := range same(v.text, t) {
			if isNew[new] {
				authors[new], isNew[new] = v.authors[old], false
			}
		}
	}
	return authors
}

// read returns the contents of a version if they are known.
func (f *follower) read(ctx context.Context, v agent.FileVersion) (text, bool) {
	switch {
	case !v.Exists() || v.Kind == agent.SymbolicLink:
		return text{key: key(v)}, true
	case key(v) == f.now.key:
		return f.now, true
	case f.known[key(v)] != nil:
		return f.known[key(v)].text, true
	case v.Unkept != "" || v.Size > MaxSize:
		return text{}, false
	}
	data, err := f.contents(ctx, v)
	if err != nil {
		return text{}, false
	}
	t, ok := textOf(data)
	return t, ok && t.key == key(v)
}

// Source returns the old path of a file that a step renamed: one that the step
// removed while it made path with the same contents. It reports false if there is
// none, or several.
func Source(path string, files []agent.FileRecord) (from string, ok bool) {
	at := slices.IndexFunc(files, func(r agent.FileRecord) bool { return r.Path == path })
	if at < 0 || files[at].Before.Exists() || !files[at].After.Exists() {
		return "", false
	}
	for _, r := range files {
		if r.Before.Exists() && !r.After.Exists() && r.Before.Hash == files[at].After.Hash && r.Before.Kind != agent.SymbolicLink {
			if ok {
				return "", false
			}
			from, ok = r.Path, true
		}
	}
	return from, ok
}

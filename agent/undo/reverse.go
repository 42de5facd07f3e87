package undo

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/internal/merge"
	"atelier.dev/atelier/agent/undo/disk"
)

// byPath gathers the records of each file, in the order of the steps.
func byPath(steps []Step) [][]agent.FileRecord {
	var all [][]agent.FileRecord
	at := map[string]int{}
	for _, s := range steps {
		for _, r := range slices.Backward(s.Files) {
			i, ok := at[r.Path]
			if !ok {
				i = len(all)
				at[r.Path], all = i, append(all, nil)
			}
			all[i] = append(all[i], r)
		}
	}
	slices.SortFunc(all, func(a, b []agent.FileRecord) int { return strings.Compare(a[0].Path, b[0].Path) })
	return all
}

// batch is files that are planned together, ordered by path.
type batch struct {
	*Folder
	files [][]agent.FileRecord // what is taken out of each, the newest first
	fates map[string]fate      // of those that were asked for
	cases cases
}

// fate is what a plan does to a file.
type fate struct{ exists, goes bool }

func (f *Folder) batch(steps []Step) *batch {
	b := &batch{Folder: f, files: byPath(steps), fates: map[string]fate{}, cases: cases{}}
	for _, records := range b.files {
		b.cases.add(records[0].Path)
	}
	return b
}

// cases counts paths that differ in their case only.
type cases map[string]int

func (c cases) add(path string) { c[strings.ToLower(path)]++ }

// read returns what stands under a path. Of paths that differ in their case only, each
// is read as it is written: where the file system ignores case, a file that got one name
// instead of the other would else be found under both.
func (f *Folder) read(path string, among cases) (disk.Content, error) {
	name := changes.Unquote(path)
	c, err := f.disk.Read(name)
	if err == nil && (c.Kind != "" || c.Other) && among[strings.ToLower(path)] > 1 && !f.disk.Lists(name) {
		return disk.Content{}, nil
	}
	return c, err
}

// fate returns what the plan does to a file. A name can be in the way of many others, so
// each is planned once.
func (b *batch) fate(ctx context.Context, records []agent.FileRecord) (fate, error) {
	path := records[0].Path
	if known, ok := b.fates[path]; ok {
		return known, nil
	}
	o, err := b.outcome(ctx, records)
	if err != nil {
		return fate{}, err
	}
	b.fates[path] = fate{exists: o.file.Before.Exists(), goes: !o.file.Then.Exists() && o.file.Reason == ""}
	return b.fates[path], nil
}

// freed reports whether a name that a directory has, or that a link leads away from,
// becomes free because the plan removes what is in the way: all that is planned below
// the directory, or the link. Restoring the file fails if anything else is in the
// directory. A vacant one is free.
func (b *batch) freed(ctx context.Context, path string, behindLink, vacant bool) (bool, error) {
	name, free := changes.Unquote(path), vacant
	for _, records := range b.files {
		other := changes.Unquote(records[0].Path)
		if behindLink {
			if !strings.HasPrefix(name, other+"/") {
				continue
			}
			if now, err := b.disk.Read(other); err != nil || now.Kind != agent.SymbolicLink {
				continue
			}
		} else if !strings.HasPrefix(other, name+"/") {
			continue
		}
		fate, err := b.fate(ctx, records)
		switch {
		case err != nil:
			return false, err
		case !fate.goes:
			return false, nil
		case fate.exists:
			free = true
		}
	}
	return free, nil
}

// chained joins the records of a file, the newest first, where one step began with
// what the one before it had left. So neither a step without kept contents nor a
// change that the next step overwrote is an obstacle.
func chained(records []agent.FileRecord) []agent.FileRecord {
	var out []agent.FileRecord
	for _, r := range records {
		if n := len(out); n > 0 && disk.Same(out[n-1].Before, r.After) {
			out[n-1].Before = r.Before
			continue
		}
		out = append(out, r)
	}
	return out
}

// reverse returns a file's content without the change that a record describes. If
// both changed the same lines, it also returns these places, where the content is as
// it was. A reason without places means that the content stays as it is.
func (f *Folder) reverse(ctx context.Context, now disk.Content, r agent.FileRecord) (disk.Content, []merge.Conflict, agent.ConflictReason, error) {
	base, to := r.After, r.Before
	switch {
	case now.Is(to):
		return now, nil, "", nil
	case now.Other:
		return now, nil, agent.ConflictOccupied, nil
	case to.Unkept != "":
		return now, nil, agent.ConflictUnkept, nil
	case !now.Large && disk.Alike(now.Version(), base):
		then, reason, err := f.load(ctx, to)
		if reason != "" {
			then = now
		} else if isFile(now.Kind) && isFile(then.Kind) && !now.Is(base) { // somebody else's permissions stay
			then.Mode, then.Private = now.Mode, now.Private
			then = then.Agreed()
		}
		return then, nil, reason, err
	case base.Unkept != "":
		return now, nil, agent.ConflictUnkept, nil
	case !base.Exists():
		return now, nil, agent.ConflictOccupied, nil
	case now.Kind == "":
		return now, nil, agent.ConflictVanished, nil
	case now.Large || !isText(now):
		return now, nil, agent.ConflictBinary, nil
	case !to.Exists() || !isFile(now.Kind) || !isFile(base.Kind) || !isFile(to.Kind):
		return now, nil, agent.ConflictChanged, nil
	}
	return f.merge(ctx, now, base, to)
}

// merge is reverse for a text that was changed since.
func (f *Folder) merge(ctx context.Context, now disk.Content, base, to agent.FileVersion) (disk.Content, []merge.Conflict, agent.ConflictReason, error) {
	was, reason, err := f.load(ctx, base)
	if reason != "" || err != nil {
		return now, nil, reason, err
	}
	old, reason, err := f.load(ctx, to)
	if reason != "" || err != nil {
		return now, nil, reason, err
	}
	if !isText(was) || !isText(old) || max(len(was.Data), len(old.Data), len(now.Data)) > maxMerge {
		return now, nil, agent.ConflictBinary, nil
	}
	merged := merge.Texts(string(was.Data), string(now.Data), string(old.Data))
	then := disk.Content{Kind: now.Kind, Data: []byte(merged.Text), Private: now.Private, Mode: now.Mode}
	if now.Kind == base.Kind && (now.Mode == base.Mode || base.Mode == 0) { // nobody changed the mode since
		then.Kind = to.Kind
		if base.Mode != 0 && to.Mode != 0 {
			then.Mode, then.Private = to.Mode, to.Private
		}
		then = then.Agreed()
	}
	if len(merged.Conflicts) > 0 {
		return then, merged.Conflicts, agent.ConflictChanged, nil
	}
	return then, nil, "", nil
}

// load returns the content of a version, or the reason why there is none.
func (f *Folder) load(ctx context.Context, v agent.FileVersion) (disk.Content, agent.ConflictReason, error) {
	if !v.Exists() {
		return disk.Content{}, "", nil
	}
	data, err := f.contents.Contents(ctx, v)
	c := disk.Content{Kind: v.Kind, Data: data, Private: v.Private, Mode: v.Mode}
	switch {
	case ctx.Err() != nil:
		return c, "", errors.Join(context.Cause(ctx), err)
	case err != nil || !c.Is(v):
		return c, agent.ConflictUnkept, nil
	}
	return c, "", nil
}

func isFile(k agent.FileKind) bool { return k == agent.PlainFile || k == agent.ExecutableFile }

// isText reports whether content is nothing or text, as git decides it. The target of
// a link is.
func isText(c disk.Content) bool {
	return bytes.IndexByte(c.Data[:min(len(c.Data), 8000)], 0) < 0
}

// shown reports whether a diff shows the content as it is.
func shown(c disk.Content) bool { return utf8.Valid(c.Data) && isFile(c.Kind) }

// countLines counts the lines of a text, also a last one without an end.
func countLines(text string) int {
	n := strings.Count(text, "\n")
	if text != "" && !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

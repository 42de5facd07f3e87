package workbench

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"slices"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/journal/objects"
	"atelier.dev/atelier/agent/undo/disk"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/branch"
)

// The limits of a comparison. Items beyond a limit are mentioned, not shown.
const (
	maxCompared      = 500      // files that differ
	maxComparedBytes = 64 << 20 // of all files that are read
)

// side is one of two branches that are compared.
type side struct {
	info backend.SessionInfo
	work branch.Work
	disk *disk.Disk // of the folder where it works; nil if that is gone
}

// comparison is two branches since they parted. Files are compared with what the
// first branch made of them.
type comparison struct {
	bench    *Workbench
	ours     side
	theirs   side
	from     string
	seq      int64
	contents *objects.Store
	cleanUp  []func()
}

// compareOf reads two branches. Whoever calls it closes the comparison.
func (w *Workbench) compareOf(ctx context.Context, ours, theirs string) (c *comparison, err error) {
	c = &comparison{bench: w, contents: w.journal.Objects()}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.ours.info, err = w.session(ctx, ours); err != nil {
		return c, err
	}
	if c.theirs.info, err = w.session(ctx, theirs); err != nil {
		return c, err
	}
	all, err := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	if err != nil {
		return c, err
	}
	c.from, c.seq = branch.Common(func(id string) (backend.SessionInfo, bool) {
		i := slices.IndexFunc(all, func(info backend.SessionInfo) bool { return info.ID == id })
		if i < 0 {
			return backend.SessionInfo{}, false
		}
		return all[i], true
	}, c.ours.info, c.theirs.info)
	for _, s := range []*side{&c.ours, &c.theirs} {
		if err := c.read(ctx, s); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (c *comparison) close() {
	for _, clean := range c.cleanUp {
		clean()
	}
}

// read folds what a branch and its agents did since it parted, and opens its folder.
func (c *comparison) read(ctx context.Context, s *side) error {
	w := c.bench
	var parted int64
	if err := w.eachEvent(ctx, s.info, c.seq, func(ev agent.Event) {
		if parted == 0 {
			parted = ev.At
		}
		s.work.Apply(ev)
	}); err != nil {
		return err
	}
	messages, end := s.work.Info.Messages, s.work.Info.LastEnd
	helpers, err := w.cfg.Store.Helpers(ctx, s.info.ID)
	if err != nil {
		return err
	}
	for _, helper := range helpers {
		if helper.CreatedAt < parted {
			continue
		}
		if err := w.eachEvent(ctx, helper, 0, s.work.Apply); err != nil {
			return err
		}
	}
	s.work.Info.Messages, s.work.Info.LastEnd = messages, end
	local, err := env.NewLocal(w.folderOf(s.info))
	if err != nil {
		return nil // its worktree is gone; what is recorded can be compared
	}
	c.cleanUp = append(c.cleanUp, func() { _ = local.Cleanup(context.WithoutCancel(ctx)) })
	place := env.Environment(local)
	if w.cfg.ReadOnly {
		place = env.ReadOnly(local)
	}
	s.disk, _ = disk.Of(place)
	if s.info.Worktree != "" {
		s.list(ctx, changes.Of(place))
	}
	return nil
}

// list adds the files that git knows to be changed in a worktree. Without git, the log
// names those that tools changed.
func (s *side) list(ctx context.Context, folder *changes.Folder) {
	for _, scope := range []changes.ChangeScope{changes.ScopeBranch, changes.ScopeUncommitted} {
		listing, err := folder.List(ctx, changes.Query{Scope: scope})
		if err != nil {
			continue
		}
		for _, file := range listing.Files {
			s.work.Touch(file.Path)
			if file.From != "" {
				s.work.Touch(file.From)
			}
		}
	}
}

// eachEvent passes the events of a session after a place, a bounded part of the log at
// a time.
func (w *Workbench) eachEvent(ctx context.Context, info backend.SessionInfo, after int64, do func(agent.Event)) error {
	for ; after < info.Seq; after += maxPage {
		before := min(after+maxPage, info.Seq) + 1
		events, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: info.ID, After: after, Before: before, Limit: maxPage})
		if err != nil {
			return err
		}
		for _, ev := range events {
			do(ev)
		}
	}
	return nil
}

// version is what a branch made of a file.
type version struct {
	disk.Content
	// known says that the content is what the branch made. Otherwise edits are all that
	// is known.
	known bool
	edits []agent.FileChange
}

// at returns what a branch made of a file. Branches in different folders have it there.
// If they share one, only what was recorded tells; a file that a branch did not touch is
// as the other one found it.
func (c *comparison) at(ctx context.Context, s, other *side, path string) version {
	f, parallel := s.work.Files[path], other.work.Files[path]
	shared := s.info.Worktree == other.info.Worktree
	switch {
	case f != nil && f.Last != nil && (shared || s.info.Worktree == ""): // others work there as well
		return c.recorded(ctx, *f.Last)
	case !shared:
		return s.now(path)
	case f != nil:
		return version{edits: f.Edits}
	case parallel != nil && parallel.First != nil:
		return c.recorded(ctx, *parallel.First)
	}
	return version{}
}

// now returns a file as it is.
func (s *side) now(path string) version {
	if s.disk == nil {
		return version{}
	}
	content, err := s.disk.Read(changes.Unquote(path))
	return version{Content: content, known: err == nil && !content.Other && !content.Large}
}

// recorded returns a file as the journal has it.
func (c *comparison) recorded(ctx context.Context, v agent.FileVersion) version {
	if !v.Exists() && v.Unkept == "" {
		return version{known: true}
	}
	data, err := c.contents.Contents(ctx, v)
	return version{Content: disk.Content{Kind: v.Kind, Data: data, Private: v.Private}, known: err == nil}
}

// paths returns the files that one of the branches touched, in order.
func (c *comparison) paths() []string {
	all := maps.Clone(c.ours.work.Files)
	if all == nil {
		all = map[string]*branch.File{}
	}
	maps.Copy(all, c.theirs.work.Files)
	return slices.Sorted(maps.Keys(all))
}

// pair is what two branches made of a file.
type pair struct{ ours, theirs version }

func (c *comparison) pair(ctx context.Context, path string) pair {
	return pair{c.at(ctx, &c.ours, &c.theirs, path), c.at(ctx, &c.theirs, &c.ours, path)}
}

func (p pair) same() bool {
	return p.ours.known && p.theirs.known && p.ours.Kind == p.theirs.Kind && bytes.Equal(p.ours.Data, p.theirs.Data)
}

// diff describes the difference, from ours to theirs.
func (p pair) diff() (d FileDifference) {
	switch {
	case !p.ours.known || !p.theirs.known:
		d.Unknown = true
		return d
	case !isPlainText(p.ours.Content) || !isPlainText(p.theirs.Content):
		d.Binary = true
	default:
		d.Diff = changes.Unified(string(p.ours.Data), string(p.theirs.Data), 3)
		if d.Large = len(d.Diff) > changes.MaxDiff; d.Large {
			d.Diff = ""
		}
		for line := range bytes.Lines([]byte(d.Diff)) {
			switch line[0] {
			case '+':
				d.Added++
			case '-':
				d.Removed++
			}
		}
	}
	d.State = changes.Modified
	if p.ours.Kind == "" {
		d.State = changes.Added
	} else if p.theirs.Kind == "" {
		d.State = changes.Deleted
	}
	return d
}

// isPlainText reports whether a diff shows a content as it is.
func isPlainText(c disk.Content) bool {
	return c.Kind != agent.SymbolicLink && utf8.Valid(c.Data) && bytes.IndexByte(c.Data, 0) < 0
}

// compareBranches answers sessions.compare.
func (w *Workbench) compareBranches(ctx context.Context, in CompareRequest) (CompareReply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, changesTime, errSlow)
	defer cancel()
	c, err := w.compareOf(ctx, in.Session, in.With)
	if err != nil {
		return CompareReply{}, slowError(ctx, err)
	}
	defer c.close()
	reply := CompareReply{Ours: c.ours.facts(), Theirs: c.theirs.facts()}
	if c.from != "" {
		reply.Parted = &EventRef{Session: c.from, Seq: c.seq}
	}
	room := maxComparedBytes
	for _, path := range c.paths() {
		if ctx.Err() != nil {
			return CompareReply{}, context.Cause(ctx)
		}
		p := c.pair(ctx, path)
		room -= len(p.ours.Data) + len(p.theirs.Data)
		switch {
		case p.same():
		case len(reply.Files) >= maxCompared || room < 0:
			reply.More++
		default:
			d := p.diff()
			d.Path, d.Diff = path, ""
			reply.Files = append(reply.Files, d)
		}
	}
	return reply, nil
}

// slowError returns the reason if the time of an answer is over.
func slowError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
		return cause
	}
	return err
}

func (s *side) facts() BranchFacts {
	i := s.work.Info
	return BranchFacts{
		Session: s.info.ID, Cost: i.Cost, Messages: i.Messages, Lines: i.Lines, WorkedMs: s.work.WorkedMs,
		LastEnd: i.LastEnd, More: s.work.More, Unwatched: s.work.Unwatched,
	}
}

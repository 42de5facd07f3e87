package branch

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/journal/objects"
	"atelier.dev/atelier/agent/undo/disk"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/filelog"
	"atelier.dev/atelier/backend/place"
)

// The limits of a comparison. Items beyond a limit are mentioned, not shown.
const (
	maxCompared      = 500      // files that differ
	maxComparedBytes = 64 << 20 // of all files that are read
)

// side is one of two branches that are compared.
type side struct {
	info backend.SessionInfo
	work Work
	disk *disk.Disk // of the folder where it works; nil if that is gone
}

// comparison is two branches since they parted. Files are compared with what the
// first branch made of them.
type comparison struct {
	branches *Branches
	ours     side
	theirs   side
	from     string
	seq      int64
	contents *objects.Store
	cleanUp  []func()
}

// compareOf reads two branches. Whoever calls it closes the comparison.
func (b *Branches) compareOf(ctx context.Context, ours, theirs string) (c *comparison, err error) {
	c = &comparison{branches: b, contents: b.cfg.Journal.Objects()}
	defer func() {
		if err != nil {
			c.close()
		}
	}()
	if c.ours.info, err = b.cfg.Project.Session(ctx, ours); err != nil {
		return c, err
	}
	if c.theirs.info, err = b.cfg.Project.Session(ctx, theirs); err != nil {
		return c, err
	}
	all, err := b.cfg.Store.Sessions(ctx, b.cfg.Project.Dir)
	if err != nil {
		return c, err
	}
	c.from, c.seq = Common(func(id string) (backend.SessionInfo, bool) {
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
	b := c.branches
	if err := b.fold(ctx, &s.work, s.info, c.seq); err != nil {
		return err
	}
	local, err := env.NewLocal(b.cfg.Project.Folder(s.info))
	if err != nil {
		return nil // its worktree is gone; what is recorded can be compared
	}
	c.cleanUp = append(c.cleanUp, func() { _ = local.Cleanup(context.WithoutCancel(ctx)) })
	where := env.Environment(local)
	if b.cfg.ReadOnly {
		where = env.ReadOnly(local)
	}
	s.disk, _ = disk.Of(where)
	if s.info.Worktree != "" {
		s.list(ctx, changes.Of(where))
	}
	return nil
}

// fold folds what a session and its agents did after a place in its log.
func (b *Branches) fold(ctx context.Context, w *Work, info backend.SessionInfo, after int64) error {
	var parted int64
	if err := filelog.Each(ctx, b.cfg.Store, info, after, func(ev agent.Event) {
		if parted == 0 {
			parted = ev.At
		}
		w.Apply(ev)
	}); err != nil {
		return err
	}
	messages, end, test := w.Info.Messages, w.Info.LastEnd, w.Test
	helpers, err := b.cfg.Store.Helpers(ctx, info.ID)
	if err != nil {
		return err
	}
	for _, helper := range helpers {
		if helper.CreatedAt < parted {
			continue
		}
		if err := filelog.Each(ctx, b.cfg.Store, helper, 0, w.Apply); err != nil {
			return err
		}
	}
	w.Info.Messages, w.Info.LastEnd, w.Test = messages, end, test
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
		all = map[string]*File{}
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

// compare answers sessions.compare.
func (b *Branches) compare(ctx context.Context, in CompareRequest) (CompareReply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, errSlow)
	defer cancel()
	c, err := b.compareOf(ctx, in.Session, in.With)
	if err != nil {
		return CompareReply{}, slowError(ctx, err)
	}
	defer c.close()
	reply := CompareReply{Ours: c.ours.facts(), Theirs: c.theirs.facts()}
	if c.from != "" {
		reply.Parted = &place.EventRef{Session: c.from, Seq: c.seq}
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

func (s *side) facts() BranchFacts {
	i := s.work.Info
	return BranchFacts{
		Session: s.info.ID, Cost: i.Cost, Messages: i.Messages, Lines: i.Lines, WorkedMs: s.work.WorkedMs,
		LastEnd: i.LastEnd, More: s.work.More, Unwatched: s.work.Unwatched,
	}
}

package branch

import (
	"context"
	"errors"
	"path/filepath"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/undo"
	"atelier.dev/atelier/agent/undo/disk"
	"atelier.dev/atelier/agent/worktree"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/undoing"
)

// MergeRequest is for sessions.merge_plan: what merging a run into the folder of a session
// would do.
type MergeRequest struct {
	Session string `json:"session"`
	Run     string `json:"run"`
}

// MergePlan answers sessions.merge_plan.
type MergePlan struct {
	Files []undoing.UndoFile `json:"files,omitempty"`
	// Left are files that are not merged, because they cannot be read as they are or were,
	// or are repositories of their own. More counts others.
	Left []string `json:"left,omitempty"`
	More int      `json:"more,omitempty"`
}

// MergeFiles is for sessions.merge: it merges what was chosen of a plan.
type MergeFiles struct {
	Session string               `json:"session"`
	Run     string               `json:"run"`
	Files   []undoing.UndoChoice `json:"files,omitempty"`
}

// merging is a run that is merged into the folder of a session. Undoing its step there takes
// over what the run changed since it left: undoing merges three ways, so that what others
// changed meanwhile stays.
type merging struct {
	step undo.Step
	left []string
	more int
}

// mergingOf reads what a run changed.
func (b *Branches) mergingOf(ctx context.Context, target, run backend.SessionInfo) (m merging, err error) {
	tree := b.tree(run)
	if tree.Name == "" || tree.Name == b.tree(target).Name {
		return m, backend.Problem(backend.ProblemMergeNoTree)
	}
	changed, err := worktree.ChangesOf(ctx, tree, b.cfg.Project.Folder(target))
	if err != nil {
		return m, backend.Problem(backend.ProblemMergeNoTree).Detailed(err.Error()).Because(err)
	}
	local, err := env.NewLocal(changed.Folder())
	if err != nil {
		return m, backend.Problem(backend.ProblemMergeNoTree).Because(err)
	}
	defer func() { _ = local.Cleanup(context.WithoutCancel(ctx)) }()
	files, err := disk.Of(local)
	if err != nil {
		return m, err
	}
	m.more, m.step.Session = changed.More, run.ID
	room := maxComparedBytes
	for _, f := range changed.Files {
		name := changes.Quote(f.Path)
		record, size, err := b.record(ctx, &changed, files, f)
		if ctx.Err() != nil {
			return m, context.Cause(ctx)
		}
		switch room -= size; {
		case err != nil:
			m.left = append(m.left, name)
		case room < 0:
			m.more++
		case !disk.Same(record.Before, record.After):
			m.step.Files = append(m.step.Files, record)
		}
	}
	return m, nil
}

// errApart says that a file cannot be merged.
var errApart = errors.New("it is not a file that can be merged")

// record returns a file as a step that, undone, takes it over: after the step is what it was
// when the run left, before the step what the run made of it.
func (b *Branches) record(ctx context.Context, changed *worktree.Changes, files *disk.Disk, f worktree.Changed) (r agent.FileRecord, size int, err error) {
	r.Path = changes.Quote(f.Path)
	if f.Submodule {
		return r, 0, errApart
	}
	was, err := changed.Content(ctx, f)
	if err != nil {
		return r, 0, err
	}
	now, err := files.Read(filepath.FromSlash(f.Path))
	if err != nil || now.Other && !now.Vacant || now.Large {
		return r, 0, errors.Join(err, errApart)
	}
	contents := b.cfg.Journal.Objects()
	if f.Blob != "" {
		kind := agent.PlainFile
		switch {
		case f.Link:
			kind = agent.SymbolicLink
		case f.Program:
			kind = agent.ExecutableFile
		}
		r.After = contents.Keep(ctx, kind, was)
	}
	if now.Kind != "" {
		r.Before = contents.Keep(ctx, now.Kind, now.Data)
		r.Before.Private = now.Private
	}
	return r, len(was) + len(now.Data), nil
}

// both returns the session into whose folder something is merged, and the run.
func (b *Branches) both(ctx context.Context, session, run string) (target, from backend.SessionInfo, err error) {
	if target, err = b.cfg.Project.Session(ctx, session); err == nil {
		from, err = b.cfg.Project.Session(ctx, run)
	}
	return target, from, err
}

// mergePlan answers sessions.merge_plan.
func (b *Branches) mergePlan(ctx context.Context, in MergeRequest) (MergePlan, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, errSlow)
	defer cancel()
	if b.cfg.ReadOnly {
		return MergePlan{}, backend.Problem(backend.ProblemTakeReadOnly)
	}
	target, run, err := b.both(ctx, in.Session, in.Run)
	if err != nil {
		return MergePlan{}, err
	}
	m, err := b.mergingOf(ctx, target, run)
	if err != nil {
		return MergePlan{}, slowError(ctx, err)
	}
	folder, done, err := b.cfg.Undo.Files(target)
	if err != nil {
		return MergePlan{}, err
	}
	defer done()
	plan, err := folder.Plan(ctx, []undo.Step{m.step})
	if err != nil {
		return MergePlan{}, slowError(ctx, err)
	}
	reply := MergePlan{Left: m.left, More: m.more}
	for _, f := range plan.Files {
		reply.Files = append(reply.Files, undoing.Shown(f))
	}
	return reply, nil
}

// merge answers sessions.merge. What it did is a step of the session, which can be undone.
func (b *Branches) merge(ctx context.Context, in MergeFiles) (agent.FilesRestored, error) {
	var none, done agent.FilesRestored
	if b.cfg.ReadOnly {
		return none, backend.Problem(backend.ProblemTakeReadOnly)
	}
	_, run, err := b.both(ctx, in.Session, in.Run)
	if err != nil {
		return none, err
	}
	if _, err := b.cfg.Host.AtRest(ctx, run.ID); err != nil {
		return none, undoing.Busy(err)
	}
	err = b.cfg.Undo.Exclusively(ctx, in.Session, func(ctx context.Context, target backend.SessionInfo, record func(agent.Payload) error) (err error) {
		done, err = b.mergeInto(ctx, target, run, in.Files, record)
		return err
	})
	if err != nil { // it may be under way still
		return none, err
	}
	return done, nil
}

// mergeInto merges files as they were shown.
func (b *Branches) mergeInto(ctx context.Context, target, run backend.SessionInfo, files []undoing.UndoChoice, record func(agent.Payload) error) (agent.FilesRestored, error) {
	var none agent.FilesRestored
	m, err := b.mergingOf(ctx, target, run)
	if err != nil {
		return none, err
	}
	folder, done, err := b.cfg.Undo.Files(target)
	if err != nil {
		return none, err
	}
	defer done()
	var choices []undo.Choice
	for _, c := range files {
		choices = append(choices, undo.Choice(c))
	}
	ready, err := folder.Prepare(ctx, []undo.Step{m.step}, choices)
	if errors.Is(err, undo.ErrStale) {
		return none, backend.Problem(backend.ProblemMergeStale)
	}
	if err != nil {
		return none, err
	}
	ready.ID, ready.Taken = undoing.NewID(), run.ID
	return b.cfg.Undo.Carry(ctx, target, folder, ready, record)
}

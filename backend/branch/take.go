package branch

import (
	"context"
	"errors"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/undo"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/undoing"
)

// taking returns a step whose undoing in our folder takes a file over from the other
//
//	Undoing merges three ways, so that other changes of the file stay. taking
//
// reports false unless both versions are known.
func (c *comparison) taking(ctx context.Context, path string) (*undo.Folder, undo.Step, bool) {
	p := c.pair(ctx, path)
	if !p.ours.known || !p.theirs.known || c.ours.disk == nil || p.same() {
		return nil, undo.Step{}, false
	}
	record := agent.FileRecord{Path: path}
	if p.ours.Kind != "" {
		record.After = c.contents.Keep(ctx, p.ours.Kind, p.ours.Data)
	}
	if p.theirs.Kind != "" {
		record.Before = c.contents.Keep(ctx, p.theirs.Kind, p.theirs.Data)
	}
	step := undo.Step{StepRef: agent.StepRef{Session: c.theirs.info.ID}, FilesChanged: agent.FilesChanged{Files: []agent.FileRecord{record}}}
	return undo.New(c.ours.disk, c.contents), step, true
}

// compareFile answers sessions.compare_file.
func (b *Branches) compareFile(ctx context.Context, in CompareFileRequest) (CompareFileReply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, maxTime, errSlow)
	defer cancel()
	c, err := b.compareOf(ctx, in.Session, in.With)
	if err != nil {
		return CompareFileReply{}, slowError(ctx, err)
	}
	defer c.close()
	p := c.pair(ctx, in.Path)
	reply := CompareFileReply{FileDifference: p.diff(), OurEdits: p.ours.edits, TheirEdits: p.theirs.edits}
	reply.Path = in.Path
	folder, step, ok := c.taking(ctx, in.Path)
	if !ok || b.cfg.ReadOnly {
		return reply, nil
	}
	plan, err := folder.Plan(ctx, []undo.Step{step})
	if err != nil || len(plan.Files) != 1 {
		return reply, slowError(ctx, err)
	}
	f := plan.Files[0]
	reply.Take = &TakePlan{
		Seal: f.Seal, Diff: f.Diff, Hunks: f.Hunks, Reason: f.Reason, Places: f.Places, Possible: f.Restorable(),
	}
	return reply, nil
}

// take answers sessions.take.
func (b *Branches) take(ctx context.Context, in TakeRequest) (agent.FilesRestored, error) {
	var none, taken agent.FilesRestored
	if b.cfg.ReadOnly {
		return none, backend.Problem(backend.ProblemTakeReadOnly)
	}
	err := b.cfg.Undo.Exclusively(ctx, in.Session, func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) (err error) {
		taken, err = b.takeOver(ctx, info, in, record)
		return err
	})
	if err != nil { // it may be under way still
		return none, err
	}
	return taken, nil
}

// takeOver takes over a file as it was shown.
func (b *Branches) takeOver(ctx context.Context, info backend.SessionInfo, in TakeRequest, record func(agent.Payload) error) (agent.FilesRestored, error) {
	var none agent.FilesRestored
	c, err := b.compareOf(ctx, in.Session, in.With)
	if err != nil {
		return none, err
	}
	defer c.close()
	folder, step, ok := c.taking(ctx, in.Path)
	if !ok {
		return none, backend.Problem(backend.ProblemTakeStale, in.Path)
	}
	choice := undo.Choice{Path: in.Path, Seal: in.Seal, Hunks: in.Hunks, Rest: in.Rest}
	ready, err := folder.Prepare(ctx, []undo.Step{step}, []undo.Choice{choice})
	if errors.Is(err, undo.ErrStale) {
		return none, backend.Problem(backend.ProblemTakeStale, in.Path)
	}
	if err != nil {
		return none, err
	}
	ready.ID, ready.Taken = undoing.NewID(), in.With
	done, err := b.cfg.Undo.Carry(ctx, info, folder, ready, record)
	if err == nil && len(done.Files) == 0 {
		err = backend.Problem(backend.ProblemTakeConflict, in.Path)
	}
	return done, err
}

// CompareRequest is for sessions.compare: what the branch With made is compared with
// what Session made.
type CompareRequest struct {
	Session string `json:"session"`
	With    string `json:"with"`
}

// CompareReply answers sessions.compare.
type CompareReply struct {
	Ours   BranchFacts `json:"ours"`
	Theirs BranchFacts `json:"theirs"`
	// Parted is the last event that both have; nil if they have nothing in common.
	Parted *place.EventRef `json:"parted,omitempty"`
	// Files are those that differ, by path, without their diffs; More counts others.
	Files []FileDifference `json:"files,omitempty"`
	More  int              `json:"more,omitempty"`
}

// BranchFacts are what a branch did since it parted from another one.
type BranchFacts struct {
	Session  string          `json:"session"`
	Cost     llm.Spending    `json:"cost"` // agents included
	Messages int             `json:"messages"`
	Lines    backend.Lines   `json:"lines"`
	WorkedMs int64           `json:"worked_ms"`
	LastEnd  agent.EndReason `json:"last_end,omitempty"`
	// More counts changes of files that were not recorded. Unwatched says that others
	// may have been missed.
	More      int  `json:"more,omitempty"`
	Unwatched bool `json:"unwatched,omitempty"`
}

// FileDifference is what two branches made of a file.
type FileDifference struct {
	Path    string            `json:"path"`
	State   changes.FileState `json:"state,omitempty"`
	Diff    string            `json:"diff,omitempty"` // empty if Binary, Large or Unknown is set
	Added   int               `json:"added"`
	Removed int               `json:"removed"`
	Binary  bool              `json:"binary,omitempty"`
	Large   bool              `json:"large,omitempty"`
	// Unknown says that the contents of one branch were not recorded, so that they
	// cannot be compared.
	Unknown bool `json:"unknown,omitempty"`
}

// CompareFileRequest is for sessions.compare_file.
type CompareFileRequest struct {
	Session string `json:"session"`
	With    string `json:"with"`
	Path    string `json:"path"`
}

// CompareFileReply answers sessions.compare_file.
type CompareFileReply struct {
	FileDifference
	// OurEdits and TheirEdits are what tools changed, if the contents are not known.
	OurEdits   []agent.FileChange `json:"our_edits,omitempty"`
	TheirEdits []agent.FileChange `json:"their_edits,omitempty"`
	// Take is what taking over the file of the other branch would do; nil if it is not
	// possible.
	Take *TakePlan `json:"take,omitempty"`
}

// TakePlan is what taking over a file would change in the folder of the session.
type TakePlan struct {
	Seal string `json:"seal"`
	// Diff is from the file as it is now. It may differ from what the branches made,
	// because somebody may have changed the file since.
	Diff  string `json:"diff,omitempty"`
	Hunks int    `json:"hunks"` // of the diff, if they can be chosen one by one
	// Reason says why the file would stay as it is, at Places places of it.
	Reason   agent.ConflictReason `json:"reason,omitempty"`
	Places   int                  `json:"places,omitempty"`
	Possible bool                 `json:"possible"`
}

// TakeRequest is for sessions.take: it takes over a file of the branch With as it was
// shown.
type TakeRequest struct {
	Session string `json:"session"`
	With    string `json:"with"`
	Path    string `json:"path"`
	Seal    string `json:"seal"`
	// Hunks are those of the plan's diff that are taken, counted from 0; none means all.
	Hunks []int `json:"hunks,omitempty"`
	// Rest takes the parts that have no conflict.
	Rest bool `json:"rest,omitempty"`
}

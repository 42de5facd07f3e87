package undoing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/undo"
	"atelier.dev/atelier/agent/undo/disk"
	"atelier.dev/atelier/backend"
)

// preview says what undoing or redoing would do to the files, and changes nothing.
func (u *Undo) preview(ctx context.Context, in UndoPreviewRequest) (UndoPreview, error) {
	info, err := u.cfg.Project.Session(ctx, in.Session)
	if err != nil {
		return UndoPreview{}, err
	}
	if info, err = u.Settled(ctx, info); err != nil {
		return UndoPreview{}, err
	}
	past, err := u.undoable(ctx, info)
	if err != nil {
		return UndoPreview{}, err
	}
	folder, done, err := u.look(info)
	if err != nil {
		return UndoPreview{}, err
	}
	defer done()
	plan, target, err := past.plan(ctx, folder, in)
	if err != nil {
		return UndoPreview{}, err
	}
	reply := UndoPreview{Target: target, More: plan.More, Unwatched: plan.Unwatched, Commands: plan.Commands}
	for _, f := range plan.Files {
		reply.Files = append(reply.Files, Shown(f))
	}
	return reply, nil
}

// maxPassed limits how many targets are passed that leave nothing to do.
const maxPassed = 100

// plan plans what a preview asks for. If the newest is asked for and all of its files are
// what they would be, because somebody restored them by hand, the next older is planned.
func (past *undoable) plan(ctx context.Context, folder *undo.Folder, in UndoPreviewRequest) (undo.Plan, UndoTarget, error) {
	steps, target, err := past.steps(in.Target)
	if err != nil {
		return undo.Plan{}, target, err
	}
	plan, err := folder.Plan(ctx, steps, in.Paths...)
	first, named := plan, target
	for range maxPassed {
		if err != nil || !in.Target.isNewest() || !plan.Idle() {
			return plan, target, err
		}
		past.Pass(steps)
		if steps, target, err = past.steps(in.Target); err != nil {
			break // there is no older one
		}
		plan, err = folder.Plan(ctx, steps, in.Paths...)
	}
	return first, named, nil
}

// Shown returns a planned file as it is shown.
func Shown(f undo.File) UndoFile {
	out := UndoFile{
		Path: f.Path, Seal: f.Seal, Restorable: f.Restorable(), Reason: f.Reason, Places: f.Places,
		UndoDifference: UndoDifference{Diff: f.Diff, Added: f.Added, Removed: f.Removed, Hunks: f.Hunks, Binary: f.Binary, Large: f.Large},
	}
	switch {
	case disk.Same(f.Before, f.Then):
		out.Effect = UndoNothing
	case !f.Then.Exists():
		out.Effect = UndoRemoves
	case !f.Before.Exists():
		out.Effect = UndoBringsBack
	case f.Before.Hash == f.Then.Hash:
		out.Effect = UndoMode
	default:
		out.Effect = UndoChanges
	}
	for _, c := range f.Conflicts {
		out.Conflicts = append(out.Conflicts, UndoConflict{Was: c.Base, Now: c.Ours, Would: c.Theirs})
	}
	return out
}

// look is Files for a preview, which changes nothing: a project folder that is gone stays so, and
// looks empty.
func (u *Undo) look(info backend.SessionInfo) (*undo.Folder, func(), error) {
	if _, err := os.Stat(u.cfg.Project.Dir); !errors.Is(err, fs.ErrNotExist) || u.cfg.Project.Folder(info) != u.cfg.Project.Dir || u.cfg.ReadOnly {
		return u.Files(info)
	}
	empty, err := os.MkdirTemp("", "atelier-preview-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for a preview: %w", err)
	}
	folder, done, err := u.open(empty)
	if err != nil {
		return nil, nil, errors.Join(err, os.Remove(empty))
	}
	return folder, func() { done(); _ = os.Remove(empty) }, nil
}

// Files returns the files of a session's folder.
func (u *Undo) Files(info backend.SessionInfo) (*undo.Folder, func(), error) {
	if u.cfg.ReadOnly {
		return nil, nil, backend.Problem(backend.ProblemChangesReadOnly)
	}
	return u.open(u.cfg.Project.Folder(info))
}

func (u *Undo) open(dir string) (*undo.Folder, func(), error) {
	local, err := env.NewLocal(dir)
	if err != nil {
		return nil, nil, backend.Problem(backend.ProblemFolderUnread, dir).Because(err)
	}
	done := func() { _ = local.Cleanup(context.Background()) }
	files, err := disk.Of(local)
	if err != nil {
		done()
		return nil, nil, err
	}
	return undo.New(files, u.cfg.Journal.Objects()), done, nil
}

// apply undoes or redoes what was chosen of a preview.
func (u *Undo) apply(ctx context.Context, in UndoApplyRequest) (UndoReply, error) {
	var reply UndoReply
	err := u.Exclusively(ctx, in.Session, func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) (err error) {
		reply.Restored, err = u.restore(ctx, info, in.Target, in.Files, record)
		return err
	})
	if err != nil { // it may be under way still
		return UndoReply{}, err
	}
	return reply, nil
}

// restore undoes or redoes in files what was chosen of a preview.
func (u *Undo) restore(ctx context.Context, info backend.SessionInfo, target UndoTarget, files []UndoChoice, record func(agent.Payload) error) (agent.FilesRestored, error) {
	var none agent.FilesRestored
	past, err := u.undoable(ctx, info)
	if err != nil {
		return none, err
	}
	steps, target, err := past.steps(target)
	if err != nil {
		return none, err
	}
	folder, done, err := u.Files(info)
	if err != nil {
		return none, err
	}
	defer done()
	choices := make([]undo.Choice, 0, len(files))
	for _, f := range files {
		choices = append(choices, undo.Choice(f))
	}
	r, err := folder.Prepare(ctx, steps, choices)
	switch {
	case errors.Is(err, undo.ErrStale):
		return none, backend.Problem(backend.ProblemUndoStale).Because(err)
	case err != nil:
		return none, err
	}
	r.ID, r.Redone = NewID(), target.Restoration
	if r.Redone == "" {
		for _, s := range steps {
			r.Undone = append(r.Undone, s.StepRef)
		}
	}
	return u.Carry(ctx, info, folder, r, record)
}

// UndoTarget says what is undone or redone. The zero value is the newest turn with
// changes that stand, and otherwise one of these is set.
type UndoTarget struct {
	Turn  int `json:"turn,omitempty"`
	Since int `json:"since,omitempty"` // this turn and all after it
	// Newest is the turn that a rewind takes back, and all after it, whether it
	// changed files or not.
	Newest bool `json:"newest,omitempty"`
	// Step is one step; without a call, the newest whose changes stand.
	Step *agent.StepRef `json:"step,omitempty"`
	// Redo undoes a restoration: the newest, or the one that is named.
	Redo        bool   `json:"redo,omitempty"`
	Restoration string `json:"restoration,omitempty"`
}

// UndoPreviewRequest is for undo.preview. Paths limits it to some files; none means
// all.
type UndoPreviewRequest struct {
	Session string     `json:"session"`
	Target  UndoTarget `json:"target"`
	Paths   []string   `json:"paths,omitempty"`
}

// isNewest reports whether the target is the newest that can be undone or redone.
func (t UndoTarget) isNewest() bool {
	return t.Turn == 0 && t.Since == 0 && !t.Newest && t.Restoration == "" && (t.Step == nil || t.Step.Call == "")
}

// UndoPreview is what would be done to the files, ordered by path.
type UndoPreview struct {
	Target UndoTarget `json:"target"` // what was meant, for undo.apply
	Files  []UndoFile `json:"files,omitempty"`
	// More counts changes that were not recorded, and cannot be undone. Unwatched says
	// that others may have been missed.
	More      int  `json:"more,omitempty"`
	Unwatched bool `json:"unwatched,omitempty"`
	// Commands says that commands are undone. What they did to files that git ignores is
	// not recorded.
	Commands bool `json:"commands,omitempty"`
}

// UndoEffect says what happens to a file.
type UndoEffect string

// The effects.
const (
	UndoNothing    UndoEffect = "nothing" // it is what it would be
	UndoChanges    UndoEffect = "changes"
	UndoMode       UndoEffect = "mode" // only whether it is executable
	UndoRemoves    UndoEffect = "removes"
	UndoBringsBack UndoEffect = "brings_back"
)

// UndoFile is what would be done to one file. If Reason is set, the file stays as it is
// unless the user restores the rest of it, which the difference shows.
type UndoFile struct {
	Path   string     `json:"path"`
	Effect UndoEffect `json:"effect"`
	UndoDifference
	// Restorable says that something of the file can be restored.
	Restorable bool                 `json:"restorable,omitempty"`
	Reason     agent.ConflictReason `json:"reason,omitempty"`
	// Conflicts are the first of Places places that were changed since.
	Conflicts []UndoConflict `json:"conflicts,omitempty"`
	Places    int            `json:"places,omitempty"`
	Seal      string         `json:"seal"`
}

// UndoDifference is the change of one file.
type UndoDifference struct {
	Diff    string `json:"diff,omitempty"` // without file headers; empty if Binary or Large
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
	Hunks   int    `json:"hunks,omitempty"` // that can be chosen one by one
	Binary  bool   `json:"binary,omitempty"`
	Large   bool   `json:"large,omitempty"`
}

// UndoConflict is a place in a file: what the step left, what stands there now, and
// what would.
type UndoConflict struct {
	Was   string `json:"was"`
	Now   string `json:"now"`
	Would string `json:"would"`
}

// UndoApplyRequest is for undo.apply, with the target of the preview.
type UndoApplyRequest struct {
	Session string       `json:"session"`
	Target  UndoTarget   `json:"target"`
	Files   []UndoChoice `json:"files,omitempty"`
}

// UndoChoice is a file that is restored. Rest restores what of it has no conflict;
// Hunks are those of the difference, counted from 0, and none means all.
type UndoChoice struct {
	Path  string `json:"path"`
	Seal  string `json:"seal"`
	Rest  bool   `json:"rest,omitempty"`
	Hunks []int  `json:"hunks,omitempty"`
}

// UndoReply says what was done. It is in the log, too.
type UndoReply struct {
	Restored agent.FilesRestored `json:"restored"`
}

package undoing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/moby/sys/atomicwriter"
	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/undo"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// NewID returns an id for a restoration.
func NewID() string { return ulid.Make().String() }

// Action is done with a session at rest. record stores an event.
type Action func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error

// Exclusively does something with a session at rest. Nothing else happens in the
// session meanwhile, neither here nor in another process. A project folder that was removed is
// made again, empty, so that its files can come back: no session opens without one.
func (u *Undo) Exclusively(ctx context.Context, session string, do Action) error {
	if !u.cfg.ReadOnly && os.Mkdir(u.cfg.Project.Dir, 0o777) == nil {
		slog.Info("made the project's folder again", "folder", u.cfg.Project.Dir)
	}
	return u.ExclusivelyIn(ctx, session, func(*agent.Session) Action { return do })
}

// ExclusivelyIn is [Undo.Exclusively] for an action that needs the session itself.
func (u *Undo) ExclusivelyIn(ctx context.Context, session string, in func(*agent.Session) Action) error {
	if err := u.atRest(ctx, session); err != nil {
		return err
	}
	l, release, err := u.cfg.Sessions.Open(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	done := make(chan error, 1)
	err = l.Start(func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) { done <- u.alone(ctx, session, s, yield, in(s)) }
	})
	if err != nil {
		return Busy(err)
	}
	if err := l.Wait(ctx); err != nil {
		return err
	}
	select {
	case err := <-done:
		return err
	default: // the session could not be opened again
		return backend.Problem(backend.ProblemUndoUnsaved)
	}
}

// atRest ends what a crash left open in a session, and returns an error if it works.
func (u *Undo) atRest(ctx context.Context, session string) error {
	info, err := u.cfg.Project.Session(ctx, session)
	if err != nil {
		return err
	}
	return Busy(u.cfg.Sessions.AtRest(ctx, info))
}

// alone does something with a session if none of its agents works. A restoration that
// a crash cut off is settled first.
func (u *Undo) alone(ctx context.Context, session string, s *agent.Session, yield func(agent.Event, error) bool, do Action) error {
	for _, l := range u.cfg.Sessions.StartedBy(session) {
		if l.Busy() {
			return backend.Problem(backend.ProblemUndoWorking)
		}
	}
	record := func(p agent.Payload) error {
		if !yield(s.Record(p), nil) {
			return backend.Problem(backend.ProblemUndoUnsaved)
		}
		return nil
	}
	for _, ev := range s.Besides() {
		if !yield(ev, nil) {
			return backend.Problem(backend.ProblemUndoUnsaved)
		}
	}
	info, err := u.cfg.Project.Session(ctx, session)
	if err != nil {
		return err
	}
	if u.isUnsettled(session) {
		if err := u.settle(ctx, info, record); err != nil {
			return err
		}
		if info, err = u.cfg.Project.Session(ctx, session); err != nil {
			return err
		}
	}
	return do(ctx, info, record)
}

// Busy says in the words of undoing that a session works.
func Busy(err error) error {
	if errors.Is(err, live.ErrWorking) {
		return backend.Problem(backend.ProblemUndoWorking)
	}
	return err
}

// Carry carries out a restoration and records it, unless nothing was taken over. The
// plan is stored first, so that a crash leaves no unrecorded change.
func (u *Undo) Carry(ctx context.Context, info backend.SessionInfo, folder *undo.Folder, r agent.FilesRestored, record func(agent.Payload) error) (agent.FilesRestored, error) {
	if err := u.intend(info.ID, r); err != nil {
		return r, backend.Problem(backend.ProblemUndoUnsaved).Because(err)
	}
	u.cfg.Journal.Apart(ctx, u.cfg.Project.Folder(info), r.Files, func() { r = folder.Carry(ctx, r) })
	if len(r.Files) > 0 || r.Taken == "" {
		if err := record(u.inLog(ctx, r)); err != nil {
			return r, err
		}
	}
	return r, os.Remove(u.intent(info.ID))
}

// inLog returns a restoration as the log has it: without the records of files that are
// too many for an event, which the journal keeps.
func (u *Undo) inLog(ctx context.Context, r agent.FilesRestored) agent.FilesRestored {
	if short := u.cfg.Journal.Limited(ctx, r.FilesChanged); short != nil {
		r.FilesChanged = *short
	}
	return r
}

// intent is the file that says what is being restored in a session.
func (u *Undo) intent(session string) string {
	return filepath.Join(u.cfg.Home, "restoring", session+".json")
}

// intend stores what is going to be restored.
func (u *Undo) intend(session string, r agent.FilesRestored) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write down a restoration: %w", err)
	}
	name := u.intent(session)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write down a restoration: %w", err)
	}
	if err := atomicwriter.WriteFile(name, text, 0o600); err != nil {
		return fmt.Errorf("write down a restoration: %w", err)
	}
	return nil
}

// isUnsettled reports whether a crash may have cut off a restoration in a session.
func (u *Undo) isUnsettled(session string) bool {
	_, err := os.Lstat(u.intent(session))
	return !u.cfg.ReadOnly && err == nil
}

// Settled returns a session after a restoration that a crash cut off was settled. A
// session that works, here or elsewhere, and one that cannot be settled now, stays as
// it is: whatever restores files next settles it first.
func (u *Undo) Settled(ctx context.Context, info backend.SessionInfo) (backend.SessionInfo, error) {
	l := u.cfg.Sessions.Find(info.ID)
	if !u.isUnsettled(info.ID) && (l == nil || !l.HasBesides()) {
		return info, nil
	}
	nothing := func(context.Context, backend.SessionInfo, func(agent.Payload) error) error { return nil }
	if err := u.Exclusively(ctx, info.ID, nothing); err != nil && backend.AsError(err).Code != backend.CodeBusy {
		slog.Warn("could not settle a restoration that was cut off", "session", info.ID, "err", err)
	}
	return u.cfg.Project.Session(ctx, info.ID)
}

// settle records what a restoration did that a crash cut off.
func (u *Undo) settle(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
	text, err := os.ReadFile(u.intent(info.ID))
	if errors.Is(err, fs.ErrNotExist) { // somebody else settled it
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what was being restored: %w", err)
	}
	var r agent.FilesRestored
	if err := json.Unmarshal(text, &r); err != nil || r.ID == "" { // it was never complete, so nothing was done
		return os.Remove(u.intent(info.ID))
	}
	past, err := u.undoable(ctx, info)
	if err != nil {
		return err
	}
	if past.Knows(r.ID) {
		return os.Remove(u.intent(info.ID))
	}
	folder, done, err := u.Files(info)
	if err != nil {
		return err
	}
	defer done()
	if r = folder.Recover(r); len(r.Files) > 0 {
		if err := record(u.inLog(ctx, r)); err != nil {
			return err
		}
	}
	return os.Remove(u.intent(info.ID))
}

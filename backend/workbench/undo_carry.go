package workbench

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

func newRestoration() string { return ulid.Make().String() }

// action is done with a session at rest. record stores an event.
type action func(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error

// exclusively does something with a session at rest. Nothing else happens in the
// session meanwhile, neither here nor in another process.
func (w *Workbench) exclusively(ctx context.Context, session string, do action) error {
	if _, err := w.atRest(ctx, session); err != nil {
		return undoBusy(err)
	}
	l, release, err := w.sessions.Open(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	done := make(chan error, 1)
	err = l.Start(func(s *agent.Session, ctx context.Context) iter.Seq2[agent.Event, error] {
		return func(yield func(agent.Event, error) bool) { done <- w.alone(ctx, session, s, yield, do) }
	})
	if err != nil {
		return undoBusy(err)
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

// alone does something with a session if none of its agents works. A restoration that
// a crash cut off is settled first.
func (w *Workbench) alone(ctx context.Context, session string, s *agent.Session, yield func(agent.Event, error) bool, do action) error {
	for _, l := range w.sessions.StartedBy(session) {
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
	info, err := w.session(ctx, session)
	if err != nil {
		return err
	}
	if w.isUnsettled(session) {
		if err := w.settle(ctx, info, record); err != nil {
			return err
		}
		if info, err = w.session(ctx, session); err != nil {
			return err
		}
	}
	return do(ctx, info, record)
}

// undoBusy says in the words of undoing that a session works.
func undoBusy(err error) error {
	if errors.Is(err, live.ErrWorking) {
		return backend.Problem(backend.ProblemUndoWorking)
	}
	return err
}

// carry carries out a restoration and records it, unless nothing was taken over. The
// plan is stored first, so that a crash leaves no unrecorded change.
func (w *Workbench) carry(ctx context.Context, info backend.SessionInfo, folder *undo.Folder, r agent.FilesRestored, record func(agent.Payload) error) (agent.FilesRestored, error) {
	if err := w.intend(info.ID, r); err != nil {
		return r, backend.Problem(backend.ProblemUndoUnsaved).Because(err)
	}
	w.journal.Apart(ctx, w.folderOf(info), r.Files, func() { r = folder.Carry(ctx, r) })
	if len(r.Files) > 0 || r.Taken == "" {
		if err := record(w.inLog(ctx, r)); err != nil {
			return r, err
		}
	}
	return r, os.Remove(w.intent(info.ID))
}

// inLog returns a restoration as the log has it: without the records of files that are
// too many for an event, which the journal keeps.
func (w *Workbench) inLog(ctx context.Context, r agent.FilesRestored) agent.FilesRestored {
	if short := w.journal.Limited(ctx, r.FilesChanged); short != nil {
		r.FilesChanged = *short
	}
	return r
}

// intent is the file that says what is being restored in a session.
func (w *Workbench) intent(session string) string {
	return filepath.Join(w.cfg.Home, "restoring", session+".json")
}

// intend stores what is going to be restored.
func (w *Workbench) intend(session string, r agent.FilesRestored) error {
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write down a restoration: %w", err)
	}
	name := w.intent(session)
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("write down a restoration: %w", err)
	}
	if err := atomicwriter.WriteFile(name, text, 0o600); err != nil {
		return fmt.Errorf("write down a restoration: %w", err)
	}
	return nil
}

// isUnsettled reports whether a crash may have cut off a restoration in a session.
func (w *Workbench) isUnsettled(session string) bool {
	_, err := os.Lstat(w.intent(session))
	return !w.cfg.ReadOnly && err == nil
}

// settled returns a session after a restoration that a crash cut off was settled. A
// session that works, here or elsewhere, and one that cannot be settled now, stays as
// it is: whatever restores files next settles it first.
func (w *Workbench) settled(ctx context.Context, info backend.SessionInfo) (backend.SessionInfo, error) {
	l := w.sessions.Find(info.ID)
	if !w.isUnsettled(info.ID) && (l == nil || !l.HasBesides()) {
		return info, nil
	}
	nothing := func(context.Context, backend.SessionInfo, func(agent.Payload) error) error { return nil }
	if err := w.exclusively(ctx, info.ID, nothing); err != nil && backend.AsError(err).Code != backend.CodeBusy {
		slog.Warn("could not settle a restoration that was cut off", "session", info.ID, "err", err)
	}
	return w.session(ctx, info.ID)
}

// settle records what a restoration did that a crash cut off.
func (w *Workbench) settle(ctx context.Context, info backend.SessionInfo, record func(agent.Payload) error) error {
	text, err := os.ReadFile(w.intent(info.ID))
	if errors.Is(err, fs.ErrNotExist) { // somebody else settled it
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what was being restored: %w", err)
	}
	var r agent.FilesRestored
	if err := json.Unmarshal(text, &r); err != nil || r.ID == "" { // it was never complete, so nothing was done
		return os.Remove(w.intent(info.ID))
	}
	u, err := w.undoable(ctx, info)
	if err != nil {
		return err
	}
	if u.Knows(r.ID) {
		return os.Remove(w.intent(info.ID))
	}
	folder, done, err := w.restorable(info)
	if err != nil {
		return err
	}
	defer done()
	if r = folder.Recover(r); len(r.Files) > 0 {
		if err := record(w.inLog(ctx, r)); err != nil {
			return err
		}
	}
	return os.Remove(w.intent(info.ID))
}

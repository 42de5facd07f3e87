// Package absence tells what sessions did without asking while nobody looked at a folder's pages.
//
// Pages say when they are looked at. Once nobody did for three minutes, what was done since is
// gathered from the ledger when somebody looks again, and kept until it is put away.
package absence

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/audit"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/place"
)

// An absence counts once nobody has looked at a page for the time absent. While
// somebody looks, the time is stored now and then, so that it is nearly right
// after a kill.
const (
	absent      = 3 * time.Minute
	looksStored = 5 * time.Minute
	maxAbsences = 20
)

// Store keeps when somebody looked, and says what sessions cost.
type Store interface {
	Setting(ctx context.Context, key string) (string, error)
	SetSetting(ctx context.Context, key, value string) error
	Sessions(ctx context.Context, folder string) ([]backend.SessionInfo, error)
	CostsBetween(ctx context.Context, folder string, from, to int64) (map[string]llm.Spending, error)
}

// Watch knows when the pages of a folder were looked at. It is safe for concurrent use.
type Watch struct {
	folder string
	store  Store
	audit  func([]backend.SessionInfo) (audit.Reader, error)
	// held is full while a call uses known, which is nil until it was read.
	held  chan struct{}
	known *away
}

// New returns the watch of a folder. read returns what reads the ledger of sessions.
func New(folder string, store Store, read func([]backend.SessionInfo) (audit.Reader, error)) *Watch {
	return &Watch{folder: folder, store: store, audit: read, held: make(chan struct{}, 1)}
}

// Register adds the methods of the page.
func (w *Watch) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "away.look", w.look)
	dispatch.Handle(d, "away.leave", w.leave)
	dispatch.Handle(d, "away.dismiss", w.dismiss)
}

// setting is the key of a folder's [away] among the settings.
func (w *Watch) setting() string { return "away:" + w.folder }

// away is what is known of the times when nobody looked at the folder's pages.
type away struct {
	// Seen is when somebody looked last; 0 if nobody ever did.
	Seen int64 `json:"seen"`
	// Absences are what was done meanwhile and not put away yet, one a session.
	Absences []Absence `json:"absences,omitempty"`

	stored int64 // the Seen that is stored
}

// look notes that a page is looked at, and returns what was done while none was.
// Pages call it when they come to the front, and every half minute there.
func (w *Watch) look(ctx context.Context, in LookRequest) (LookReply, error) {
	return w.withAway(ctx, func(a *away) (store bool, err error) {
		from := a.see(in.At)
		if from == 0 || a.Seen-from < absent.Milliseconds() {
			return a.Seen < a.stored || a.Seen-a.stored >= looksStored.Milliseconds(), nil
		}
		return true, w.addAbsences(ctx, a, from, a.Seen)
	})
}

// see notes that somebody looked at a time, and returns when somebody had looked last. A
// time that is well ahead was told by a clock that has been put right since: it does not
// count, or nobody would have been absent until then.
func (a *away) see(at int64) (before int64) {
	if a.Seen-at > absent.Milliseconds() {
		a.Seen = at
	}
	before, a.Seen = a.Seen, max(a.Seen, at)
	return before
}

// leave notes that a page is no longer looked at.
func (w *Watch) leave(ctx context.Context, in LookRequest) (LookReply, error) {
	return w.withAway(ctx, func(a *away) (store bool, err error) {
		a.see(in.At)
		return true, nil
	})
}

// dismiss puts away what was done in a session.
func (w *Watch) dismiss(ctx context.Context, in place.SessionRef) (LookReply, error) {
	return w.withAway(ctx, func(a *away) (store bool, err error) {
		a.Absences = slices.DeleteFunc(a.Absences, func(each Absence) bool { return each.Session == in.Session })
		return true, nil
	})
}

// withAway reads what is known, lets work change it and stores it if work says so.
// One call works at a time, so that pages agree.
func (w *Watch) withAway(ctx context.Context, work func(*away) (store bool, err error)) (LookReply, error) {
	select {
	case w.held <- struct{}{}:
		defer func() { <-w.held }()
	case <-ctx.Done():
		return LookReply{}, context.Cause(ctx)
	}
	if w.known == nil {
		w.known = w.storedAway(ctx)
	}
	store, err := work(w.known)
	if err != nil {
		return LookReply{}, err
	}
	if store {
		if err := w.storeAway(ctx); err != nil {
			return LookReply{}, err
		}
	}
	return LookReply{Absences: slices.Clone(w.known.Absences)}, nil
}

// storedAway reads what an earlier process stored. Damaged records are dropped.
func (w *Watch) storedAway(ctx context.Context) *away {
	var a away
	text, err := w.store.Setting(ctx, w.setting())
	if err == nil && text != "" {
		err = json.Unmarshal([]byte(text), &a)
	}
	if err != nil {
		slog.Warn("could not read when somebody last looked at the project", "err", err)
		return &away{}
	}
	a.stored = a.Seen
	return &a
}

func (w *Watch) storeAway(ctx context.Context) error {
	b, err := json.Marshal(w.known)
	if err != nil {
		return err
	}
	if err := w.store.SetSetting(ctx, w.setting(), string(b)); err != nil {
		return err
	}
	w.known.stored = w.known.Seen
	return nil
}

// Close stores the time of the last look when the program ends.
func (w *Watch) Close(ctx context.Context) error {
	select {
	case w.held <- struct{}{}:
		defer func() { <-w.held }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if w.known == nil || w.known.stored == w.known.Seen {
		return nil
	}
	return w.storeAway(ctx)
}

// addAbsences adds what was done without asking between two times. It replaces
// what was known of the same sessions.
func (w *Watch) addAbsences(ctx context.Context, a *away, from, to int64) error {
	sessions, err := w.store.Sessions(ctx, w.folder)
	if err != nil {
		return err
	}
	parents := map[string]string{}
	for _, info := range sessions {
		if info.Helper != nil {
			parents[info.ID] = info.Helper.Parent
		}
	}
	familyOf := func(session string) string {
		if parent := parents[session]; parent != "" {
			return parent
		}
		return session
	}
	reader, err := w.audit(sessions)
	if err != nil {
		return err
	}
	digests, err := reader.Digests(ctx, from, to, familyOf)
	if err != nil {
		return err
	}
	costs, err := w.store.CostsBetween(ctx, w.folder, from, to)
	if err != nil {
		return err
	}
	for _, d := range digests {
		for session, spent := range costs {
			if familyOf(session) == d.Session {
				d.Cost.Cost += spent.Cost
				d.Cost.Unknown += spent.Unknown
			}
		}
		a.Absences = slices.DeleteFunc(a.Absences, func(each Absence) bool { return each.Session == d.Session })
		a.Absences = append(a.Absences, Absence{From: from, To: to, Digest: d})
	}
	a.Absences = slices.Clone(a.Absences[max(0, len(a.Absences)-maxAbsences):])
	return nil
}

// LookRequest is for away.look and away.leave. At is the page's clock.
type LookRequest struct {
	At int64 `json:"at"`
}

// LookReply lists what was done while nobody looked and is not put away yet.
type LookReply struct {
	Absences []Absence `json:"absences,omitempty"`
}

// Absence is what a session did without asking while nobody looked.
type Absence struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
	audit.Digest
}

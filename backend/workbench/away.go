package workbench

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"time"

	"atelier.dev/atelier/backend/audit"
)

// An absence counts once nobody has looked at a page for the time absent. While
// somebody looks, the time is stored now and then, so that it is nearly right
// after a kill.
const (
	absent      = 3 * time.Minute
	looksStored = 5 * time.Minute
	maxAbsences = 20
)

// awaySetting is the key of a folder's [away] among the settings.
func (w *Workbench) awaySetting() string { return "away:" + w.cfg.Folder }

// away is what is known of the times when nobody looked at the folder's pages.
type away struct {
	// Seen is when somebody looked last; 0 if nobody ever did.
	Seen int64 `json:"seen"`
	// Absences are what was done meanwhile and not put away yet, one a session.
	Absences []Absence `json:"absences,omitempty"`

	stored int64 // the Seen that is stored
}

// looks is what a workbench knows of them. Its users hold the place in held;
// known is nil until it was read.
type looks struct {
	held  chan struct{}
	known *away
}

// look notes that a page is looked at, and returns what was done while none was.
// Pages call it when they come to the front, and every half minute there.
func (w *Workbench) look(ctx context.Context, in LookRequest) (LookReply, error) {
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

// lookAway notes that a page is no longer looked at.
func (w *Workbench) lookAway(ctx context.Context, in LookRequest) (LookReply, error) {
	return w.withAway(ctx, func(a *away) (store bool, err error) {
		a.see(in.At)
		return true, nil
	})
}

// dismissAbsence puts away what was done in a session.
func (w *Workbench) dismissAbsence(ctx context.Context, in SessionRef) (LookReply, error) {
	return w.withAway(ctx, func(a *away) (store bool, err error) {
		a.Absences = slices.DeleteFunc(a.Absences, func(each Absence) bool { return each.Session == in.Session })
		return true, nil
	})
}

// withAway reads what is known, lets work change it and stores it if work says so.
// One call works at a time, so that pages agree.
func (w *Workbench) withAway(ctx context.Context, work func(*away) (store bool, err error)) (LookReply, error) {
	select {
	case w.looks.held <- struct{}{}:
		defer func() { <-w.looks.held }()
	case <-ctx.Done():
		return LookReply{}, context.Cause(ctx)
	}
	if w.looks.known == nil {
		w.looks.known = w.storedAway(ctx)
	}
	store, err := work(w.looks.known)
	if err != nil {
		return LookReply{}, err
	}
	if store {
		if err := w.storeAway(ctx); err != nil {
			return LookReply{}, err
		}
	}
	return LookReply{Absences: slices.Clone(w.looks.known.Absences)}, nil
}

// storedAway reads what an earlier process stored. Damaged records are dropped.
func (w *Workbench) storedAway(ctx context.Context) *away {
	var a away
	text, err := w.cfg.Store.Setting(ctx, w.awaySetting())
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

func (w *Workbench) storeAway(ctx context.Context) error {
	b, err := json.Marshal(w.looks.known)
	if err != nil {
		return err
	}
	if err := w.cfg.Store.SetSetting(ctx, w.awaySetting(), string(b)); err != nil {
		return err
	}
	w.looks.known.stored = w.looks.known.Seen
	return nil
}

// endLooking stores the time of the last look when the program ends.
func (w *Workbench) endLooking(ctx context.Context) error {
	select {
	case w.looks.held <- struct{}{}:
		defer func() { <-w.looks.held }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if w.looks.known == nil || w.looks.known.stored == w.looks.known.Seen {
		return nil
	}
	return w.storeAway(ctx)
}

// addAbsences adds what was done without asking between two times. It replaces
// what was known of the same sessions.
func (w *Workbench) addAbsences(ctx context.Context, a *away, from, to int64) error {
	sessions, err := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
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
	reader, err := w.auditor(sessions)
	if err != nil {
		return err
	}
	digests, err := reader.Digests(ctx, from, to, familyOf)
	if err != nil {
		return err
	}
	costs, err := w.cfg.Store.CostsBetween(ctx, w.cfg.Folder, from, to)
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

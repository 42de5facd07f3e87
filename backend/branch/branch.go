package branch

import (
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/filelog"
	"atelier.dev/atelier/internal/text"
)

// maxAncestors limits how far back the origins of a fork are followed.
const maxAncestors = 1000

// event is an event of a session. The logs of its forks have it under the same number.
type event struct {
	session string
	seq     int64
}

// Common returns the last event that the logs of two sessions share, and the session
// that it comes from; 0 and an empty id if they share none. It follows the origins of
// forks with find, and stops at a session that find does not know.
func Common(find func(id string) (backend.SessionInfo, bool), a, b backend.SessionInfo) (session string, seq int64) {
	others := ancestors(find, b)
	for _, p := range ancestors(find, a) {
		at := slices.IndexFunc(others, func(o event) bool { return o.session == p.session })
		if at >= 0 {
			return p.session, min(p.seq, others[at].seq)
		}
	}
	return "", 0
}

// ancestors returns a session and those that it was forked from, each with the last
// event that it shares with the session.
func ancestors(find func(id string) (backend.SessionInfo, bool), info backend.SessionInfo) []event {
	chain := []event{{info.ID, info.Seq}}
	for ok := true; ok && info.Origin != nil && len(chain) < maxAncestors; {
		next := event{info.Origin.Session, min(chain[len(chain)-1].seq, info.Origin.Seq)}
		if slices.ContainsFunc(chain, func(p event) bool { return p.session == next.session }) {
			break
		}
		chain = append(chain, next)
		info, ok = find(next.session)
	}
	return chain
}

// The limits of what is remembered of a branch.
const (
	maxFiles = 5000
	maxEdits = 200 // of a file
)

// Work is the fold of a part of a log, and of the logs of the agents that were started
// in it.
type Work struct {
	// Info has the cost, the lines and the messages of this part.
	Info backend.SessionInfo
	// WorkedMs is how long turns ran.
	WorkedMs int64
	Files    map[string]*File
	// More counts changes of files that are not known. Unwatched says that others may
	// have been missed.
	More      int
	Unwatched bool
	// Test is the last command that the user ran in this part; nil if there was none.
	Test  *Test
	began map[string]int64 // the open turns of sessions
}

// File is what a branch did to a file.
type File struct {
	// First and Last are what stood there before the first step and after the last one;
	// nil if that was not recorded.
	First, Last *agent.FileVersion
	// Edits are what tools said of their changes, in order, as far as they are not
	// recorded.
	Edits []agent.FileChange
}

// Apply folds in an event.
func (w *Work) Apply(ev agent.Event) {
	switch ev.Data.(type) {
	case agent.Forked, agent.SessionStart:
		return // what was copied counts here
	case agent.UserInput, agent.TurnContinued:
		if w.began == nil {
			w.began = map[string]int64{}
		}
		w.began[ev.Session] = ev.At
	case agent.ProcessingEnd:
		if began, ok := w.began[ev.Session]; ok {
			w.WorkedMs += max(0, ev.At-began)
			delete(w.began, ev.Session)
		}
	}
	w.test(ev)
	recorded, told := filelog.Changed(ev)
	w.take(recorded)
	if recorded == nil {
		for _, change := range told {
			w.edit(change)
		}
	}
	w.Info.Apply(ev)
}

// Test is a command that the user ran where a branch works.
type Test struct {
	Command string `json:"command"`
	// Ran is false if it did not come to its own end.
	Ran      bool   `json:"ran,omitempty"`
	ExitCode int    `json:"exit_code"`
	TookMs   int64  `json:"took_ms"`
	Output   string `json:"output,omitempty"` // its end
	// Stale says that files were changed since.
	Stale bool `json:"stale,omitempty"`
}

// maxTestOutput limits what is shown of a command's output, in bytes.
const maxTestOutput = 4000

// test notes a command of the user, or that files were changed since.
func (w *Work) test(ev agent.Event) {
	end, ok := ev.Data.(agent.LocalCommandEnd)
	if !ok {
		recorded, told := filelog.Changed(ev)
		if w.Test != nil && (recorded != nil && len(recorded.Files) > 0 || len(told) > 0) {
			w.Test.Stale = true
		}
		return
	}
	w.Test = &Test{Command: end.Command, TookMs: end.DurationMs, Output: text.Tail(end.Output, maxTestOutput)}
	if end.Result != nil {
		w.Test.Ran, w.Test.ExitCode = true, end.Result.ExitCode
	}
}

func (w *Work) take(changed *agent.FilesChanged) {
	if changed == nil {
		return
	}
	w.More += changed.More
	w.Unwatched = w.Unwatched || changed.Unwatched
	for _, record := range changed.Files {
		f := w.file(record.Path)
		if f == nil {
			continue
		}
		if f.Last == nil && len(f.Edits) == 0 {
			f.First = &record.Before
		}
		f.Last, f.Edits = &record.After, nil
	}
}

func (w *Work) edit(change agent.FileChange) {
	paths := []string{change.Path}
	if change.MovedTo != "" {
		paths = append(paths, change.MovedTo)
	}
	for _, path := range paths {
		f := w.file(path)
		if f == nil || len(f.Edits) >= maxEdits || f.Last != nil && isEmpty(change) {
			continue
		}
		f.Edits, f.Last = append(f.Edits, change), nil
	}
}

// isEmpty reports whether a tool wrote what was there before.
func isEmpty(c agent.FileChange) bool {
	return c.MovedTo == "" && !c.Created && !c.Deleted && c.Added == 0 && c.Removed == 0
}

// Touch notes that a file may have changed.
func (w *Work) Touch(path string) { w.file(path) }

// file returns what is known of a file; nil if there are too many.
func (w *Work) file(path string) *File {
	if f := w.Files[path]; f != nil {
		return f
	}
	if len(w.Files) >= maxFiles {
		w.More++
		return nil
	}
	if w.Files == nil {
		w.Files = map[string]*File{}
	}
	f := &File{}
	w.Files[path] = f
	return f
}

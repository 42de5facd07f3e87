package filelog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
	"atelier.dev/atelier/agent/journal"
	"atelier.dev/atelier/backend"
)

// maxLogs limits how many sessions' logs are kept in memory.
const maxLogs = 16

// maxRecorded limits the bytes of contents that are read from the journal at a time for one
// session's edits. A file counts as at least leastRecorded. What is beyond is listed
// without its lines.
const (
	maxRecorded   = 8 << 20
	leastRecorded = 4 << 10
)

// errUnread says that the contents of a version are not read.
var errUnread = errors.New("not read from the journal")

// Logs keeps what logs say of changed files, so that each part of a log is read once. It
// is safe for concurrent use.
type Logs struct {
	log     Reader
	journal *journal.Journal

	mu        sync.Mutex
	bySession map[string]log
}

// New returns logs that are read from a store, and contents that are read from a journal.
func New(reader Reader, j *journal.Journal) *Logs {
	return &Logs{log: reader, journal: j, bySession: map[string]log{}}
}

// log is the part of a session's log that is about files, up to a place.
type log struct {
	seq    int64
	turn   int   // the newest
	began  int64 // when it began
	events []agent.Event
	turns  []int // the newest turn at each event
	// edits are those of the first edited events. The contents that they were compared from
	// stay as they are.
	edits  []Edit
	edited int
}

// Edit is what one call changed, or the user reverted, undid or redid. More counts files that are
// not in Changes.
type Edit struct {
	At      int64
	Seq     int64 // its place in the log
	Turn    int
	Changes []changes.Edit
	More    int
}

// Edits are those of a session. Turn is its newest one, which began at Began.
type Edits struct {
	All   []Edit
	Turn  int
	Began int64
}

// Events returns what a session's log says of files, of its turns and of rewinds, in order. The
// events lack what is not needed for that.
func (l *Logs) Events(ctx context.Context, info backend.SessionInfo) ([]agent.Event, error) {
	log, err := l.read(ctx, info)
	if err != nil {
		return nil, err
	}
	l.keep(info.ID, log)
	return log.events, nil
}

// Edits returns the edits of a session itself: what was copied into its log was changed by another
// one. What commands changed is compared from the journal. What was undone or redone counts, so
// that the edits still add up to what is in the files.
func (l *Logs) Edits(ctx context.Context, info backend.SessionInfo) (Edits, error) {
	log, err := l.read(ctx, info)
	if err != nil {
		return Edits{}, err
	}
	contents := l.contents(ctx)
	for i, ev := range log.events[log.edited:] {
		e := editOf(ev, contents)
		if e.Turn = log.turns[log.edited+i]; len(e.Changes) > 0 && ev.Seq > info.CopiedThrough() {
			log.edits = append(log.edits, e)
		}
	}
	if err := ctx.Err(); err != nil { // contents may be missing for that alone
		return Edits{}, fmt.Errorf("read what commands changed: %w", err)
	}
	log.edited = len(log.events)
	l.keep(info.ID, log)
	return Edits{log.edits, log.turn, log.began}, nil
}

// read returns a session's log, of which only what was added since the last time is read.
func (l *Logs) read(ctx context.Context, info backend.SessionInfo) (log, error) {
	l.mu.Lock()
	known := l.bySession[info.ID]
	l.mu.Unlock()
	known.events, known.turns, known.edits = slices.Clip(known.events), slices.Clip(known.turns), slices.Clip(known.edits) // an append copies them
	err := Each(ctx, l.log, info, known.seq, known.add)
	known.seq = max(known.seq, info.Seq)
	return known, err
}

func (l *log) add(ev agent.Event) {
	if ev.Turn > l.turn {
		l.turn, l.began = ev.Turn, ev.At
	}
	if ev, ok := essence(ev); ok {
		l.events, l.turns = append(l.events, ev), append(l.turns, l.turn)
	}
}

// keep keeps a session's log, unless another request has read as far.
func (l *Logs) keep(session string, log log) {
	l.mu.Lock()
	defer l.mu.Unlock()
	known, ok := l.bySession[session]
	if ok && known.seq >= log.seq && known.edited >= log.edited {
		return
	}
	for id := range l.bySession { // any other
		if ok || len(l.bySession) < maxLogs {
			break
		}
		delete(l.bySession, id)
	}
	l.bySession[session] = log
}

// contents returns what reads versions from the journal, in bounds.
func (l *Logs) contents(ctx context.Context) func(agent.FileVersion) ([]byte, error) {
	room := int64(maxRecorded)
	return func(v agent.FileVersion) ([]byte, error) {
		switch {
		case !v.Exists():
			return nil, nil
		case v.Unkept != "" || v.Size > changes.MaxDiff || v.Kind == agent.SymbolicLink || room <= 0:
			return nil, errUnread
		}
		room -= max(v.Size, leastRecorded)
		return l.journal.Objects().Contents(ctx, v)
	}
}

// editOf returns what an event changed. Of a call that says what it changed, such as an edit,
// the journal is not asked, unless hooks changed files as well. The user's own commands are not
// the session's edits.
func editOf(ev agent.Event, contents func(agent.FileVersion) ([]byte, error)) Edit {
	e := Edit{At: ev.At, Seq: ev.Seq}
	recorded, told := Changed(ev)
	if end, ok := ev.Data.(agent.ToolCallEnd); ok && end.Outcome == agent.OutcomeDenied {
		return e
	}
	if _, ok := ev.Data.(agent.LocalCommandEnd); ok {
		return e
	}
	switch {
	case len(told) > 0 && (recorded == nil || !recorded.Hooked):
		for _, change := range told {
			e.Changes = append(e.Changes, changes.Edit{FileChange: change})
		}
	case recorded != nil:
		for _, record := range recorded.Files {
			e.Changes = append(e.Changes, changes.OfRecord(record, contents))
		}
		e.More = recorded.More
	}
	if d, ok := ev.Data.(agent.FilesRestored); ok {
		for i := range e.Changes {
			e.Changes[i].ByUser = d.Taken == "" // what was taken from another branch is new here
		}
	}
	return e
}

package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

const (
	// waiting limits how many entries wait to be written. Beyond it they are lost,
	// and counted.
	waiting = 1024
	// batch limits how many entries are written at once, gather how long the first
	// of them waits for others.
	batch  = 256
	gather = 200 * time.Millisecond
	// writing limits the time of a write.
	writing = 10 * time.Second
	// brief limits each text that lists show, in bytes.
	brief = 4 << 10
)

// logWriter writes entries from a goroutine of its own, so that no hook waits for the
// disk.
type logWriter struct {
	store   backend.HookLog
	written func(session string)
	entries chan *hook.Entry // pointers, because the queue is almost always empty
	end     func()           // makes run write what is left and end
	ending  chan struct{}
	ended   chan struct{}
	lost    atomic.Int64
}

func newLogWriter(store backend.HookLog, written func(session string)) *logWriter {
	l := &logWriter{store: store, written: written, entries: make(chan *hook.Entry, waiting), ending: make(chan struct{}), ended: make(chan struct{})}
	l.end = sync.OnceFunc(func() { close(l.ending) })
	go l.run()
	return l
}

// add enters an entry, without waiting.
func (l *logWriter) add(e hook.Entry) {
	select {
	case l.entries <- &e:
	default:
		l.lost.Add(1)
	}
}

func (l *logWriter) close(ctx context.Context) error {
	l.end()
	select {
	case <-l.ended:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// run writes entries until the logWriter is closed.
func (l *logWriter) run() {
	defer close(l.ended)
	for {
		select {
		case e := <-l.entries:
			l.write(l.gathered(e))
		case <-l.ending:
			for len(l.entries) > 0 {
				l.write(l.gathered(<-l.entries))
			}
			return
		}
	}
}

// gathered returns the entries to write together.
func (l *logWriter) gathered(first *hook.Entry) []*hook.Entry {
	all := []*hook.Entry{first}
	timer := time.NewTimer(gather)
	defer timer.Stop()
	ending := l.ending
	for len(all) < batch {
		select {
		case e := <-l.entries:
			all = append(all, e)
			continue
		default:
		}
		select {
		case e := <-l.entries:
			all = append(all, e)
		case <-timer.C:
			return all
		case <-ending:
			return all
		}
	}
	return all
}

func (l *logWriter) write(all []*hook.Entry) {
	records := make([]backend.HookRecord, 0, len(all))
	for _, e := range all {
		r, err := record(*e)
		if err != nil {
			slog.Error("could not encode what a hook did", "hook", e.Hook.Name, "err", err)
			l.lost.Add(1)
			continue
		}
		records = append(records, r)
	}
	ctx, cancel := context.WithTimeout(context.Background(), writing)
	defer cancel()
	if err := l.store.AddHookRecords(ctx, records...); err != nil {
		slog.Warn("could not log hooks", "entries", len(records), "err", err)
		l.lost.Add(int64(len(records)))
		return
	}
	told := map[string]bool{}
	for _, r := range records {
		if !told[r.Session] {
			told[r.Session] = true
			l.written(r.Session)
		}
	}
}

// said is what an entry keeps beside its row.
type said struct {
	Input  string   `json:"input,omitempty"`
	Stdout string   `json:"stdout,omitempty"`
	Stderr string   `json:"stderr,omitempty"`
	Cut    []string `json:"cut,omitempty"`
}

func record(e hook.Entry) (backend.HookRecord, error) {
	shown := entry(e)
	row, err := json.Marshal(shown.HookLogRow)
	if err != nil {
		return backend.HookRecord{}, err
	}
	body, err := json.Marshal(said{shown.Input, shown.Stdout, shown.Stderr, shown.Cut})
	return backend.HookRecord{
		Session: e.Session, At: shown.At, Hook: e.Hook.ID, Point: e.About.Point, Tool: e.About.Tool, CallID: e.About.CallID,
		Outcome: string(e.Outcome), Row: row, Body: body,
	}, err
}

// entry returns an entry as pages have it.
func entry(e hook.Entry) HookLogEntry {
	out := HookLogEntry{HookLogRow: HookLogRow{
		At: e.At.UnixMilli(), Place: HookPlace{e.Session, e.About.Point, e.About.Tool, e.About.CallID, e.About.File},
		Hook:    HookRef{e.Hook.ID, short(e.Hook.Name), short(e.Hook.Matcher), origin(e.Hook.Origin)},
		Outcome: HookOutcome(e.Outcome), Cause: HookCause(e.Cause), Detail: short(e.Detail),
		DurationMs: e.Duration.Milliseconds(), Effect: effect(e.Effect),
	}}
	out.Input = e.Input
	if e.InputCut > 0 {
		out.Cut = append(out.Cut, "input")
	}
	if x := e.Exit; x != nil {
		out.ExitCode = &x.Code
		out.Stdout, out.Stderr = x.Stdout, x.Stderr
		out.Cut = append(out.Cut, x.CutOf...)
	}
	return out
}

func short(s string) string { return text.Clip(s, brief) }

func effect(a hook.Answer) HookEffect {
	out := HookEffect{
		Decision: a.Decision, Reason: short(a.Reason), Input: short(string(a.Input)), Context: short(a.Context),
		Stopped: a.Stopped, Stop: short(a.Stop), Said: short(a.Said), Message: short(a.Message), Title: short(a.Title),
	}
	if a.Output != nil {
		out.Output = short(*a.Output)
	}
	if n := a.Notice; n != nil {
		out.Notice = &agent.HookNotice{Title: short(n.Title), Body: short(n.Body), Level: n.Level}
	}
	if u := a.Update; u != nil {
		out.Rule = &HookRule{short(u.Tool), u.Behavior}
	}
	return out
}

func origin(o hook.Origin) HookOrigin {
	return HookOrigin{agent.Scope(o.Scope), o.File, o.Line, HookForm(o.Form)}
}

// maxLog limits how many entries a page gets at once.
const maxLog = 200

// Log lists what was considered.
func (h *Hooks) Log(ctx context.Context, in HookLogRequest) (HookLogReply, error) {
	limit := maxLog
	if in.Limit > 0 {
		limit = min(limit, in.Limit)
	}
	records, err := h.cfg.Store.HookRecords(ctx, backend.HookRange{
		Folder: h.cfg.Folder, Session: in.Session, Hook: in.Hook, Point: in.Point, Tool: in.Tool, CallID: in.CallID,
		Outcome: string(in.Outcome), Before: max(0, in.Before), Limit: limit + 1,
	})
	if err != nil {
		return HookLogReply{}, err
	}
	reply := HookLogReply{
		More: len(records) > limit, Kept: backend.HookRecordsKept, KeptInAll: backend.HookRecordsInAll, Lost: int(h.log.lost.Load()),
	}
	for _, r := range records[:min(limit, len(records))] {
		if row, ok := rowOf(r); ok {
			reply.Entries = append(reply.Entries, row)
		}
	}
	return reply, nil
}

func rowOf(r backend.HookRecord) (HookLogRow, bool) {
	var row HookLogRow
	if err := json.Unmarshal(r.Row, &row); err != nil {
		slog.Warn("an entry of the log of hooks cannot be read", "id", r.ID, "err", err)
		return row, false
	}
	row.ID = r.ID
	return row, true
}

// Entry returns an entry of the log in full.
func (h *Hooks) Entry(ctx context.Context, in HookEntryRequest) (HookLogEntry, error) {
	r, err := h.cfg.Store.HookRecord(ctx, h.cfg.Folder, in.ID)
	if err != nil {
		return HookLogEntry{}, err
	}
	row, ok := rowOf(r)
	var rest said
	if !ok || json.Unmarshal(r.Body, &rest) != nil {
		return HookLogEntry{}, errEntry
	}
	return HookLogEntry{HookLogRow: row, Input: rest.Input, Stdout: rest.Stdout, Stderr: rest.Stderr, Cut: rest.Cut}, nil
}

// last returns the newest run of each hook, by id.
func (h *Hooks) last(ctx context.Context, session string, ids []string) (map[string]*HookLast, error) {
	records, err := h.cfg.Store.LastHookRecords(ctx, h.cfg.Folder, session, ids)
	if err != nil {
		return nil, err
	}
	out := map[string]*HookLast{}
	for id, r := range records {
		out[id] = &HookLast{Entry: r.ID, At: r.At, Outcome: cmp.Or(HookOutcome(r.Outcome), OutcomeRan), Session: r.Session}
	}
	return out, nil
}

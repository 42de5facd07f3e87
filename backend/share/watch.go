package share

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/redact"
	"atelier.dev/atelier/backend/transcript"
	"atelier.dev/atelier/backend/transcript/export"
	"atelier.dev/atelier/backend/transcript/reader"
)

const (
	// maxQueued limits the events that wait for the owner of a share. What does not fit is
	// read from the log.
	maxQueued = 1_024
	// draftInterval is how long streamed text is gathered.
	draftInterval = 60 * time.Millisecond
	// maxDraft limits streamed text that is shown before it is stored, in bytes.
	maxDraft = 64 << 10
	// logPage is how many events are read at once.
	logPage = 200
)

// watcher turns the events of one session into a board. Its goroutine owns everything but
// the queue and the board.
type watcher struct {
	cfg   Config
	in    ShareRequest
	board *board

	queue chan agent.Event
	lost  atomic.Bool // an event did not fit the queue

	redactor *redact.Redactor
	stream   *export.Stream
	seq      int64
	info     backend.SessionInfo
	drafts   [2]draft
	cost     llm.Cost
}

// draft is a text that is being streamed. It is broken if a part of it is missing.
type draft struct {
	text   strings.Builder
	units  int
	broken bool
}

func newWatcher(cfg Config, in ShareRequest) *watcher {
	return &watcher{cfg: cfg, in: in, board: newBoard(), queue: make(chan agent.Event, maxQueued)}
}

// offer queues an event without waiting.
func (w *watcher) offer(ev agent.Event) {
	select {
	case w.queue <- ev:
	default:
		w.lost.Store(true)
	}
}

// own follows the session until ctx ends. An error means that the session cannot be read.
func (w *watcher) own(ctx context.Context) error {
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	waits := false // the timer runs
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-timer.C:
			waits = false
			w.showDrafts()
		case ev := <-w.queue:
			if err := w.take(ctx, ev); err != nil {
				return err
			}
			if !waits && !ev.Durable() {
				waits = true
				timer.Reset(draftInterval)
			}
		}
	}
}

// take follows one event.
func (w *watcher) take(ctx context.Context, ev agent.Event) error {
	if w.lost.Swap(false) {
		w.drafts[0].broken, w.drafts[1].broken = true, true
		return w.catchUp(ctx)
	}
	switch d := ev.Data.(type) {
	case agent.TextStart:
		w.endDrafts()
	case agent.TextDelta:
		w.drafts[0].add(d.Text, d.Offset)
	case agent.ReasoningDelta:
		w.drafts[1].add(d.Text, d.Offset)
	case agent.Rewound, agent.RewindUndone:
		return w.rebuild(ctx)
	}
	switch {
	case !ev.Durable() || ev.Seq <= w.seq:
		return nil
	case ev.Seq > w.seq+1:
		return w.catchUp(ctx)
	}
	w.apply(ev)
	return nil
}

// rebuild reads the whole session: once to learn its secrets, and once to show it.
func (w *watcher) rebuild(ctx context.Context) error {
	info, err := w.cfg.Session(ctx, w.in.Session)
	if err != nil {
		return err
	}
	keys, err := w.cfg.Keys(ctx)
	if err != nil {
		return fmt.Errorf("look for keys: %w", err)
	}
	w.info, w.redactor, w.stream = info, redact.New(w.in.Redact, keys, w.cfg.User), export.NewStream(w.in.Language)
	w.seq, w.cost = 0, 0
	w.endDrafts()
	w.board.restart()
	if err := w.redactor.Scan(0, info); err != nil {
		return err
	}
	if err := w.read(ctx, 0, func(ev agent.Event) error { return w.redactor.Scan(ev.Seq, ev.Data) }); err != nil {
		return err
	}
	w.title(info.Title)
	return w.catchUp(ctx)
}

// catchUp shows what the log has beyond what was shown.
func (w *watcher) catchUp(ctx context.Context) error {
	return w.read(ctx, w.seq, func(ev agent.Event) error {
		w.apply(ev)
		return nil
	})
}

// read passes the events of the log after a place to do.
func (w *watcher) read(ctx context.Context, after int64, do func(agent.Event) error) error {
	for {
		events, err := w.cfg.Log.Events(ctx, backend.EventRange{Session: w.in.Session, After: after, Limit: logPage})
		if err != nil || len(events) == 0 {
			return err
		}
		for _, ev := range events {
			if err := do(ev); err != nil {
				return err
			}
			after = ev.Seq
		}
	}
}

// apply shows one event of the log.
func (w *watcher) apply(ev agent.Event) {
	w.seq = max(w.seq, ev.Seq)
	w.follow(ev)
	if !transcript.Kept(w.info, ev.Seq) || w.leftOut(&ev) {
		return
	}
	clean, err := w.cleaned(ev)
	if err != nil { // nothing of it is shown
		slog.Error("an event was not shown to the viewers of a share", "session", w.in.Session, "seq", ev.Seq, "err", err)
		return
	}
	key := ""
	switch d := ev.Data.(type) {
	case agent.ToolCallStart:
		w.board.put(d.CallID, w.stream.Add(clean), true)
		return
	case agent.ToolCallEnd:
		key = d.CallID
	}
	w.board.put(key, w.stream.Add(clean), false)
}

func (w *watcher) cleaned(ev agent.Event) (agent.Event, error) {
	if err := w.redactor.Scan(ev.Seq, ev.Data); err != nil {
		return agent.Event{}, err
	}
	return w.redactor.Event(ev)
}

// leftOut takes out of an event what the user does not want shown, and reports whether
// nothing is left of it.
func (w *watcher) leftOut(ev *agent.Event) bool {
	one := func(yield func(agent.Event, error) bool) { yield(*ev, nil) }
	for kept := range transcript.Without(one, w.in.NoOutput, w.in.NoReasoning) {
		*ev = kept
		return false
	}
	return true
}

// follow tells viewers what the session does.
func (w *watcher) follow(ev agent.Event) {
	switch d := ev.Data.(type) {
	case agent.Title:
		w.title(d.Text)
	case agent.UserInput, agent.TurnContinued:
		w.endDrafts()
		w.board.tell(func(s *state) { s.Working, s.Waiting = true, false })
	case agent.TextEnd:
		w.endDrafts()
		if w.in.Costs && d.Cost != nil {
			w.cost += *d.Cost
			w.board.tell(func(s *state) { s.Cost = reader.Dollars(w.cost) })
		}
	case agent.ApprovalRequest:
		w.board.tell(func(s *state) { s.Waiting = true })
	case agent.ApprovalAnswer:
		w.board.tell(func(s *state) { s.Waiting = false })
	case agent.ProcessingEnd:
		w.endDrafts()
		w.board.tell(func(s *state) { s.Working, s.Waiting = d.Next, false })
	}
}

func (w *watcher) title(text string) {
	w.redactor.ScanText(0, "", text)
	text = w.redactor.Text("", text)
	w.board.tell(func(s *state) { s.Title = text })
}

func (w *watcher) endDrafts() {
	w.drafts = [2]draft{}
	w.board.draft([2]string{})
}

// showDrafts shows what is streamed, as far as it cannot become a secret any more.
func (w *watcher) showDrafts() {
	var shown [2]string
	for i := range w.drafts {
		if d := &w.drafts[i]; !d.broken && (i == 0 || !w.in.NoReasoning) {
			text := d.text.String()
			shown[i] = w.redactor.Text("", text[:w.redactor.Settled(text)])
		}
	}
	w.board.draft(shown)
}

// add appends a part that belongs at offset.
func (d *draft) add(text string, offset int) {
	if offset == 0 {
		*d = draft{}
	}
	if d.broken = d.broken || offset != d.units || d.text.Len()+len(text) > maxDraft; d.broken {
		return
	}
	d.text.WriteString(text)
	d.units += units(text)
}

package backend

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/generate"
)

const asideTimeout = 30 * time.Second

// aside is a job beside the conversation: one question to the provider's small
// model, whose answer may become an event.
type aside struct {
	purpose      agent.Purpose
	instructions string
	material     string
	// event makes an event of the answer; nil where the answer is of no use.
	event func(answer string) agent.Payload
	// wanted says whether the event still is once it is there.
	wanted func(*agent.Transcript) bool
}

// outcome is what an aside came to.
type outcome struct {
	requests []agent.SideRequest
	event    agent.Payload // nil where there is none
	wanted   func(*agent.Transcript) bool
}

// beside are the jobs next to a conversation. What they come to waits for the
// session's owner, who alone records events.
type beside struct {
	jobs    sync.WaitGroup
	news    chan struct{} // some job is over; holds one
	mu      sync.Mutex    // guards what follows
	running int
	over    []outcome
}

// begin begins a job.
func (b *beside) begin(job func() outcome) {
	b.mu.Lock()
	b.running++
	b.mu.Unlock()
	b.jobs.Go(func() { b.end(job()) })
}

// underWay reports whether a job runs, or has come to something that was not
// taken yet.
func (b *beside) underWay() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running > 0 || len(b.over) > 0
}

func (b *beside) end(o outcome) {
	b.mu.Lock()
	b.running--
	b.over = append(b.over, o)
	b.mu.Unlock()
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// take returns what was not taken yet.
func (b *beside) take() []outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	over := b.over
	b.over = nil
	return over
}

// putBack takes back what could not be recorded.
func (b *beside) putBack(over []outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = append(over, b.over...)
}

// smallModel says which model does a session's small jobs; false where none
// does. That is a model of its own: they are not worth a large one's time or
// money.
func (w *Workbench) smallModel(ctx context.Context, set agent.Settings) (llm.Origin, bool) {
	low := w.atLevel(ctx, set, catalogue.LevelLow)
	return llm.Origin{Provider: low.Provider, Model: low.Model}, low.Provider != set.Provider || low.Model != set.Model
}

// ask does an aside.
func (w *Workbench) ask(ctx context.Context, by llm.Origin, a aside) outcome {
	ctx, cancel := context.WithTimeout(ctx, asideTimeout)
	defer cancel()
	got, err := generate.Text(ctx, w.providers, generate.Call{
		Request: llm.Request{Provider: by.Provider, Model: by.Model, System: a.instructions, Effort: llm.EffortMinimal},
		Prompt:  a.material,
	})
	o := outcome{wanted: a.wanted}
	for _, usage := range got.Charged() {
		o.requests = append(o.requests, agent.SideRequest{
			Purpose: a.purpose, Provider: by.Provider, Model: by.Model,
			Usage: usage, Cost: w.providers.Price(by.Provider, by.Model, usage, time.Now()),
		})
	}
	if err != nil {
		slog.Info("ask beside a session", "purpose", a.purpose, "provider", by.Provider, "model", by.Model, "err", err)
		return o
	}
	o.event = a.event(got.Text())
	return o
}

// beginAsides begins what follows a turn that ended by itself, where somebody
// is there to see it. An agent has no asides: it is called after its task, and
// its next prompt is its parent's to write.
func (l *live) beginAsides(ctx context.Context) error {
	if l.bench.cfg.Unattended {
		return nil
	}
	prefs, err := l.bench.storedPreferences(ctx)
	if err != nil {
		return err
	}
	if err := l.refresh(ctx); err != nil {
		return fmt.Errorf("read the session again: %w", err)
	}
	info, err := l.bench.cfg.Store.Session(ctx, l.id)
	if err != nil {
		return fmt.Errorf("read the session's row: %w", err)
	}
	session := l.session.Load()
	t := session.Transcript()
	if info.Helper != nil || t.LastEnd != agent.EndDone {
		return nil
	}
	asides := asidesAfter(session, prefs)
	if len(asides) == 0 {
		return nil
	}
	by, ok := l.bench.smallModel(ctx, t.Settings)
	if !ok {
		return nil
	}
	for _, a := range asides {
		if !session.Affords(by, len(a.instructions)+len(a.material)) {
			continue
		}
		l.beside.begin(func() outcome { return l.bench.ask(ctx, by, a) })
	}
	return nil
}

// asidesAfter returns what is to be asked after a turn. No prompt is suggested
// where what is queued follows at once.
func asidesAfter(session *agent.Session, prefs Preferences) (asides []aside) {
	t := session.Transcript()
	if !prefs.PlainTitles && t.Turn == 1 && !t.Title.ByUser {
		asides = append(asides, naming(t))
	}
	if prefs.SuggestPrompts && !session.Queue().Has(agent.FollowUp) {
		asides = append(asides, suggesting(t))
	}
	return asides
}

// recordAsides records what asides came to: their requests, and the event where
// that is wanted still, which is stored together with the last of them.
func (l *live) recordAsides(ctx context.Context) {
	session := l.session.Load()
	all := l.beside.take()
	for n, o := range all {
		wanted := o.event != nil && o.wanted(session.Transcript())
		for i, r := range o.requests {
			request := session.Record(r)
			request.More = wanted && i == len(o.requests)-1
			if !l.record(ctx, request) {
				all[n].requests = o.requests[i:] // what is recorded stays so
				l.beside.putBack(all[n:])
				return
			}
		}
		if wanted && !l.record(ctx, session.Record(o.event)) {
			all[n].requests = o.requests[len(o.requests)-1:] // which goes with the event
			l.beside.putBack(all[n:])
			return
		}
	}
}

// said is one side's words as material for an aside.
func said(by, text string) string { return "<" + by + ">\n" + text + "\n</" + by + ">\n" }

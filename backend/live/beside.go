package live

import (
	"context"
	"fmt"
	"sync"

	"atelier.dev/atelier/agent"
)

// Job runs beside a conversation, on its own goroutine. It ends with its
// context.
type Job func(context.Context) Outcome

// Outcome is the result of a job.
type Outcome struct {
	Requests []agent.SideRequest // what it asked models
	Event    agent.Payload       // nil where there is none
	// Wanted reports whether the event is still wanted when it is about to be
	// recorded.
	Wanted func(*agent.Transcript) bool
}

// beside holds the jobs of a conversation. Their results wait for the session's
// owner, because only the owner records events.
type beside struct {
	jobs    sync.WaitGroup
	news    chan struct{} // signals that a job has ended; holds one
	mu      sync.Mutex    // guards what follows
	running int
	over    []Outcome
}

// begin starts a job.
func (b *beside) begin(job func() Outcome) {
	b.mu.Lock()
	b.running++
	b.mu.Unlock()
	b.jobs.Go(func() { b.end(job()) })
}

// underWay reports whether a job runs or has a result that was not taken yet.
func (b *beside) underWay() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.running > 0 || len(b.over) > 0
}

func (b *beside) end(o Outcome) {
	b.mu.Lock()
	b.running--
	b.over = append(b.over, o)
	b.mu.Unlock()
	select {
	case b.news <- struct{}{}:
	default:
	}
}

// take returns and removes the results.
func (b *beside) take() []Outcome {
	b.mu.Lock()
	defer b.mu.Unlock()
	over := b.over
	b.over = nil
	return over
}

// putBack returns results that could not be recorded.
func (b *beside) putBack(over []Outcome) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = append(over, b.over...)
}

// beginJobs starts the jobs after a turn that ended by itself.
func (l *Session) beginJobs(ctx context.Context) error {
	if l.all.cfg.Beside == nil || l.session.Load().Transcript().LastEnd != agent.EndDone {
		return nil
	}
	if err := l.refresh(ctx); err != nil {
		return fmt.Errorf("read the session again: %w", err)
	}
	info, err := l.all.cfg.Log.Session(ctx, l.id)
	if err != nil {
		return fmt.Errorf("read the session's row: %w", err)
	}
	jobs, err := l.all.cfg.Beside(ctx, info, l.session.Load())
	for _, job := range jobs {
		l.beside.begin(func() Outcome { return job(ctx) })
	}
	return err
}

// recordJobs records the results of jobs: their requests, and the event if it
// is still wanted, which is stored together with the last request.
func (l *Session) recordJobs(ctx context.Context) {
	session := l.session.Load()
	all := l.beside.take()
	for n, o := range all {
		wanted := o.Event != nil && o.Wanted(session.Transcript())
		for i, r := range o.Requests {
			request := session.Record(r)
			request.More = wanted && i == len(o.Requests)-1
			if !l.record(ctx, request) {
				all[n].Requests = o.Requests[i:] // what is recorded stays so
				l.beside.putBack(all[n:])
				return
			}
		}
		if wanted && !l.record(ctx, session.Record(o.Event)) {
			all[n].Requests = o.Requests[len(o.Requests)-1:] // which goes with the event
			l.beside.putBack(all[n:])
			return
		}
	}
}

// AwaitJobs waits until no job of the session runs.
func (l *Session) AwaitJobs() { l.beside.jobs.Wait() }

package live

import (
	"context"
	"fmt"
	"log/slog"
	"sync"

	"atelier.dev/atelier/agent"
)

// Job is a side job: it runs while the conversation goes on, on its own
// goroutine. It ends with its context.
type Job func(context.Context) Outcome

// Outcome is the result of a job.
type Outcome struct {
	Requests []agent.SideRequest // what it asked models
	Event    agent.Payload       // nil if there is none
	// Wanted reports whether the event is still wanted when it is about to be
	// recorded.
	Wanted func(*agent.Transcript) bool
}

// sideJobs are the side jobs of one session. Their results wait for the session's
// owner, because only the owner records events.
type sideJobs struct {
	jobs     sync.WaitGroup
	news     chan struct{} // signals that a job has ended; holds one
	observer observer
	mu       sync.Mutex // guards what follows
	running  int
	over     []Outcome
}

// begin starts a job.
func (s *sideJobs) begin(job func() Outcome) {
	s.mu.Lock()
	s.running++
	s.mu.Unlock()
	s.jobs.Go(func() { s.end(job()) })
}

// underWay reports whether a job or a hook runs, or has a result that was not taken
// yet.
func (s *sideJobs) underWay() bool {
	if s.observer.busy() {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running > 0 || len(s.over) > 0
}

func (s *sideJobs) end(o Outcome) {
	s.add(o)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running--
}

// add adds a result.
func (s *sideJobs) add(o Outcome) {
	s.mu.Lock()
	s.over = append(s.over, o)
	s.mu.Unlock()
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// hasNews reports whether there are results that were not taken yet.
func (s *sideJobs) hasNews() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.over) > 0
}

// take returns and removes the results.
func (s *sideJobs) take() []Outcome {
	s.mu.Lock()
	defer s.mu.Unlock()
	over := s.over
	s.over = nil
	return over
}

// putBack returns results that could not be recorded.
func (s *sideJobs) putBack(over []Outcome) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.over = append(over, s.over...)
}

// beginJobs starts the jobs after a turn that ended by itself.
func (l *Session) beginJobs(ctx context.Context) error {
	if l.all.cfg.SideJobs == nil || l.session.Load().Transcript().LastEnd != agent.EndDone {
		return nil
	}
	if err := l.refresh(ctx); err != nil {
		return fmt.Errorf("read the session again: %w", err)
	}
	info, err := l.all.cfg.Log.Session(ctx, l.id)
	if err != nil {
		return fmt.Errorf("read the session's row: %w", err)
	}
	jobs, err := l.all.cfg.SideJobs(ctx, info, l.session.Load())
	for _, job := range jobs {
		l.side.begin(func() Outcome { return job(ctx) })
	}
	return err
}

// recordNews records results between turns. What cannot be recorded waits for the
// next turn, or the end.
func (l *Session) recordNews(ctx context.Context) {
	if !l.side.hasNews() {
		return
	}
	if release, err := l.acquire(ctx); err == nil {
		l.recordJobs(ctx)
		release()
	} else if ctx.Err() == nil {
		slog.Warn("could not record the results of side jobs", "session", l.id, "err", err)
	}
}

// recordJobs records the results of jobs: their requests, and the event if it
// is still wanted, which is stored together with the last request.
func (l *Session) recordJobs(ctx context.Context) {
	session := l.session.Load()
	all := l.side.take()
	for n, o := range all {
		wanted := o.Event != nil && o.Wanted(session.Transcript())
		for i, r := range o.Requests {
			request := session.Record(r)
			request.More = wanted && i == len(o.Requests)-1
			if !l.record(ctx, request) {
				all[n].Requests = o.Requests[i:] // what is recorded stays so
				l.side.putBack(all[n:])
				return
			}
		}
		if wanted && !l.record(ctx, session.Record(o.Event)) {
			all[n].Requests = o.Requests[len(o.Requests)-1:] // which goes with the event
			l.side.putBack(all[n:])
			return
		}
	}
}

// AwaitJobs waits until no job of the session runs.
func (l *Session) AwaitJobs() { l.side.jobs.Wait() }

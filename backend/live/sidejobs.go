package live

import (
	"context"
	"fmt"
	"log/slog"

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
	running int
	results []Outcome
}

// underWay reports whether a job runs or has a result that was not taken yet.
func (s *sideJobs) underWay() bool { return s.running > 0 || len(s.results) > 0 }

// begin starts a job.
func (l *Session) begin(job func() Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shared.side.running++
	l.jobs.Go(func() {
		result := job()
		l.mu.Lock()
		defer l.mu.Unlock()
		l.shared.side.running--
		l.addLocked(result)
	})
}

// addResult adds a result.
func (l *Session) addResult(o Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addLocked(o)
}

// addLocked is addResult for those who hold the lock.
func (l *Session) addLocked(o Outcome) {
	l.shared.side.results = append(l.shared.side.results, o)
	select {
	case l.inbox.results <- struct{}{}:
	default: // the owner was already notified
	}
}

// hasResults reports whether there are results that were not taken yet.
func (l *Session) hasResults() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.shared.side.results) > 0
}

// takeResults returns and removes the results.
func (l *Session) takeResults() []Outcome {
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.shared.side.results
	l.shared.side.results = nil
	return taken
}

// putBack returns results that could not be recorded.
func (l *Session) putBack(results []Outcome) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shared.side.results = append(results, l.shared.side.results...)
}

// beginJobs starts the jobs after a turn that ended by itself.
func (l *Session) beginJobs(ctx context.Context) error {
	if l.all.cfg.SideJobs == nil || l.session().Transcript().LastEnd != agent.EndDone {
		return nil
	}
	if err := l.refresh(ctx); err != nil {
		return fmt.Errorf("read the session again: %w", err)
	}
	info, err := l.all.cfg.Log.Session(ctx, l.id)
	if err != nil {
		return fmt.Errorf("read the session's row: %w", err)
	}
	jobs, err := l.all.cfg.SideJobs(ctx, info, l.session())
	for _, job := range jobs {
		l.begin(func() Outcome { return job(ctx) })
	}
	return err
}

// recordResults records results between turns. Results that cannot be recorded wait
// for the next turn, or the end.
func (l *Session) recordResults(ctx context.Context) {
	if !l.hasResults() {
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
	session := l.session()
	all := l.takeResults()
	for n, o := range all {
		wanted := o.Event != nil && o.Wanted(session.Transcript())
		for i, r := range o.Requests {
			request := session.Record(r)
			request.More = wanted && i == len(o.Requests)-1
			if !l.record(ctx, request) {
				all[n].Requests = o.Requests[i:] // what is recorded stays so
				l.putBack(all[n:])
				return
			}
		}
		if wanted && !l.record(ctx, session.Record(o.Event)) {
			all[n].Requests = o.Requests[max(0, len(o.Requests)-1):] // which goes with the event
			l.putBack(all[n:])
			return
		}
	}
}

// AwaitJobs waits until no job of the session runs.
func (l *Session) AwaitJobs() { l.jobs.Wait() }

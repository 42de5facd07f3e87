package schedules

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent/schedule"
	"atelier.dev/atelier/backend"
)

// ErrHeld says that a session's mode asks nobody, so that nothing may run in it unattended.
var ErrHeld = errors.New("the session allows everything without asking, and nobody was there to see it: change its mode, or run it yourself")

func isGone(err error) bool { return errors.Is(err, schedule.ErrNoTask) }

// Run runs what is due until ctx ends, and returns when the turns that it began have ended
// or been let go of. It waits as long as another process runs the project's tasks.
func (s *Schedules) Run(ctx context.Context) {
	if s.cfg.Off {
		return
	}
	var turns sync.WaitGroup
	defer turns.Wait()
	var release func()
	defer func() {
		if release != nil {
			release()
		}
	}()
	for {
		if release == nil {
			if r, err := s.cfg.Store.Lease(s.key); err == nil {
				release = r
				s.cut(ctx)
			}
		}
		if release != nil {
			for _, r := range s.due(ctx) {
				turns.Go(func() { s.run(ctx, r) })
			}
		}
		timer := time.NewTimer(s.rest(ctx))
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.wake:
			timer.Stop()
		case <-timer.C:
		}
	}
}

// rest is how long nothing will be due, as far as the clock can be trusted.
func (s *Schedules) rest(ctx context.Context) time.Duration {
	d, err := s.read(ctx)
	if err != nil {
		return look
	}
	wait := look
	for _, t := range d.Tasks {
		if !t.Paused && t.Next > 0 {
			wait = min(wait, time.UnixMilli(t.Next).Sub(s.cfg.Now()))
		}
	}
	return max(wait, 10*time.Millisecond) // whatever the clock does
}

// cut ends the times that another process began and did not end.
func (s *Schedules) cut(ctx context.Context) {
	d, err := s.read(ctx)
	if err != nil || !slices.ContainsFunc(d.Runs, func(r ScheduleRun) bool { return r.Outcome == Running }) {
		return
	}
	s.must(ctx, func(d *document) {
		for i := range d.Runs {
			if r := &d.Runs[i]; r.Outcome == Running {
				r.Outcome, r.Ended = Cut, s.cfg.Now().UnixMilli()
			}
		}
	})
}

// must changes the document as far as it can be stored.
func (s *Schedules) must(ctx context.Context, change func(*document)) {
	err := s.update(context.WithoutCancel(ctx), func(d *document) error {
		change(d)
		return nil
	})
	if err != nil {
		slog.Error("could not keep the schedules", "err", err)
	}
}

// turn is a time that is due, with its prompt.
type turn struct {
	ScheduleRun
	prompt string
}

// due enters the times that have come, and returns those to run now.
func (s *Schedules) due(ctx context.Context) (all []turn) {
	now := s.cfg.Now()
	d, err := s.read(ctx)
	if err != nil {
		slog.Error("could not read the schedules", "err", err)
		return nil
	}
	if !slices.ContainsFunc(d.Tasks, func(t schedule.Task) bool { return comes(t, now) }) {
		return nil
	}
	s.must(ctx, func(d *document) {
		var left []schedule.Task
		for _, t := range d.Tasks {
			if !comes(t, now) {
				left = append(left, t)
				continue
			}
			passed := missed(t, now) // the newest may still run
			switch last := &passed[len(passed)-1]; {
			case d.runs(t.ID):
				last.Outcome = Busy
			case now.Sub(time.UnixMilli(last.Due)) <= grace:
				last.Outcome, last.Began = Running, now.UnixMilli()
				all = append(all, turn{*last, t.Prompt})
			}
			d.Runs = append(d.Runs, passed...)
			if t.Kind == schedule.Once || t.Kind == schedule.Wakeup {
				continue // it is gone
			}
			if err := t.Plan(now); err != nil {
				slog.Warn("could not plan a scheduled task", "task", t.ID, "err", err)
			}
			left = append(left, t)
		}
		d.Tasks = left
	})
	return all
}

// comes reports whether the time of a task has come.
func comes(t schedule.Task, now time.Time) bool {
	return !t.Paused && t.Next > 0 && t.Next <= now.UnixMilli()
}

// runs reports whether a time of a task runs.
func (d *document) runs(task string) bool {
	return slices.ContainsFunc(d.Runs, func(r ScheduleRun) bool { return r.Task == task && r.Outcome == Running })
}

// missed lists the times of a task that have come, as missed: the newest one by one, and how
// many there were before them. There is at least one.
func missed(t schedule.Task, now time.Time) (all []ScheduleRun) {
	times := []time.Time{time.UnixMilli(t.Next).In(now.Location())}
	if spec, err := schedule.Parse(t.Schedule); err == nil && t.Kind == schedule.Recurring {
		times = append(times, spec.Between(times[0], now, 10_000)...)
	}
	more := max(0, len(times)-maxMissed)
	for i, at := range times[more:] {
		r := ScheduleRun{Task: t.ID, Name: t.Name, Session: t.Session, Due: at.UnixMilli(), Outcome: Missed}
		if i == 0 {
			r.More = more
		}
		all = append(all, r)
	}
	return all
}

// run runs a time in its session, once that is at rest, and enters how it ended.
func (s *Schedules) run(ctx context.Context, t turn) {
	outcome, why := s.attempt(ctx, t)
	s.must(ctx, func(d *document) {
		for i := range d.Runs {
			if r := &d.Runs[i]; r.Task == t.Task && r.Due == t.Due && r.Outcome == Running {
				r.Outcome, r.Why, r.Ended = outcome, why, s.cfg.Now().UnixMilli()
			}
		}
		if outcome == Failed && t.Session != "" {
			if _, ok := s.cfg.Host.Title(ctx, t.Session); !ok { // nothing of it can run again
				d.Tasks = slices.DeleteFunc(d.Tasks, func(o schedule.Task) bool { return o.ID == t.Task })
			}
		}
	})
}

func (s *Schedules) attempt(ctx context.Context, t turn) (RunOutcome, string) {
	deadline := s.cfg.Now().Add(grace)
	for {
		wait, err := s.cfg.Host.Begin(ctx, t.Session, prompt(t))
		switch {
		case err == nil:
			if err = wait(ctx); ctx.Err() != nil {
				return Cut, ""
			}
			if err != nil {
				return Failed, err.Error()
			}
			return Done, ""
		case errors.Is(err, ErrHeld):
			return Held, err.Error()
		case ctx.Err() != nil:
			return Cut, ""
		case backend.AsError(err).Code != backend.CodeBusy:
			return Failed, err.Error()
		case s.cfg.Now().After(deadline):
			return Busy, ""
		}
		timer := time.NewTimer(look)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
	}
}

// prompt tells the model, and whoever reads the conversation, what begins the turn.
func prompt(t turn) string {
	return fmt.Sprintf("[Scheduled: %s. The user may not be here.]\n\n%s", t.Name, t.prompt)
}

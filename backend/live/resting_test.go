package live_test

import (
	"context"
	"fmt"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

// Only a limited number of sessions at rest stay in memory, the ones used last.
// A session with something to lose stays as well: one with a user, a turn, a
// permission, unrecorded settings, something that its tools left running, or an
// agent.
func TestSessionsAtRest(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		others int
		keep   func(s *stage, l *live.Session, release func()) // of the session that was used first
		stays  bool
	}{
		"few":      {live.MaxResting - 1, func(_ *stage, _ *live.Session, release func()) { release() }, true},
		"too many": {live.MaxResting, func(_ *stage, _ *live.Session, release func()) { release() }, false},
		"a user":   {live.MaxResting, func(*stage, *live.Session, func()) {}, true},
		"a turn": {live.MaxResting, func(s *stage, l *live.Session, release func()) {
			if err := l.Start(run("go")); err != nil {
				s.t.Error(err)
			}
			release()
		}, true},
		"a permission": {live.MaxResting, func(_ *stage, l *live.Session, release func()) {
			l.PermitBypass()
			release()
		}, true},
		"settings": {live.MaxResting, func(s *stage, l *live.Session, release func()) {
			s.log.set("lease", errDisk)
			l.Configure(agent.Settings{Provider: llmtest.Provider, Model: "other", Mode: agent.ModeDefault})
			release()
		}, true},
		"a process": {live.MaxResting, func(s *stage, _ *live.Session, release func()) {
			s.log.set("occupied a", errDisk)
			release()
		}, true},
		"an agent": {live.MaxResting - 1, func(s *stage, _ *live.Session, release func()) {
			release()
			s.create("agent", &agent.Helper{Parent: "a"})
			_, done := s.open("agent")
			done()
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var s *stage
			s = newStage(t, func(cfg *live.Config) {
				cfg.Occupied = func(id string) bool { return s.log.err("occupied "+id) != nil }
			}, llmtest.Round{Text: "Hm.", Hang: true})
			l, release := s.open("a")
			tt.keep(s, l, release)
			for i := range tt.others {
				id := fmt.Sprint("other-", i)
				s.create(id, nil)
				_, release := s.open(id)
				release()
			}
			again, release := s.open("a")
			if stayed := again == l; stayed != tt.stays {
				t.Errorf("stayed: %t", stayed)
			}
			release()
			l.Interrupt()
			if err := l.Wait(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// A session stays in memory while a job runs beside it, and until what the job came to
// is recorded, however many others are used meanwhile.
func TestSessionsWithJobsStay(t *testing.T) {
	t.Parallel()
	for _, over := range []bool{false, true} {
		began, end := make(chan struct{}), make(chan struct{})
		s := newStage(t, func(cfg *live.Config) {
			cfg.SideJobs = func(context.Context, backend.SessionInfo, *agent.Session) ([]live.Job, error) {
				return []live.Job{func(ctx context.Context) live.Outcome {
					close(began)
					select {
					case <-end:
					case <-ctx.Done():
					}
					return live.Outcome{}
				}}, nil
			}
		}, llmtest.Round{Text: "Done."})
		l, release := s.open("a")
		s.turn(l, "go")
		<-began
		if over {
			s.log.set("lease", errDisk) // without which nothing is recorded
			close(end)
			l.AwaitJobs()
		}
		release()
		for i := range live.MaxResting + 1 {
			id := fmt.Sprint("other-", i)
			s.create(id, nil)
			_, release := s.open(id)
			release()
		}
		again, release := s.open("a")
		if again != l {
			t.Errorf("the job is over: %t: the session was closed", over)
		}
		release()
	}
}

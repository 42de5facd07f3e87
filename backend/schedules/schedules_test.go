package schedules_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent/schedule"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/schedules"
)

// store keeps settings, with one lease for all that share it.
type store struct {
	mu     sync.Mutex
	texts  map[string]string
	leased bool
}

func (s *store) Setting(_ context.Context, key string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.texts[key], nil
}

func (s *store) ChangeSetting(_ context.Context, key string, change func(string) (string, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	value, err := change(s.texts[key])
	if err == nil {
		s.texts[key] = value
	}
	return err
}

func (s *store) Lease(string) (func(), error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leased {
		return nil, errors.New("another process has it")
	}
	s.leased = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.leased = false
	}, nil
}

// host notes the prompts that sessions were given.
type host struct {
	mu   sync.Mutex
	ran  []string
	busy func() bool
	err  error
	end  chan error // nil ends turns at once
}

func (h *host) Begin(_ context.Context, session, prompt string) (func(context.Context) error, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.busy != nil && h.busy() {
		return nil, &backend.Error{Code: backend.CodeBusy}
	}
	if h.err != nil {
		return nil, h.err
	}
	h.ran = append(h.ran, session+" "+strings.ReplaceAll(prompt, "\n", " ")+" "+time.Now().UTC().Format("15:04:05"))
	return func(ctx context.Context) error {
		if h.end == nil {
			return nil
		}
		select {
		case err := <-h.end:
			return err
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}, nil
}

func (h *host) Title(_ context.Context, session string) (string, bool) {
	return session, session != "gone"
}
func (h *host) Changed() {}

// clock can be set; it stands for a machine that slept, too.
type clock struct {
	mu  sync.Mutex
	off time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return time.Now().Add(c.off).UTC()
}

func (c *clock) set(by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.off += by
}

func page(t *testing.T, s *schedules.Schedules) schedules.SchedulesReply {
	t.Helper()
	d := &dispatch.Dispatcher{}
	s.Register(d)
	var reply struct {
		OK *schedules.SchedulesReply `json:"ok"`
	}
	if text := d.Call(t.Context(), "schedules.list", "{}"); json.Unmarshal([]byte(text), &reply) != nil || reply.OK == nil {
		t.Fatal(text)
	}
	return *reply.OK
}

// times has a line for each time, the oldest first.
func times(t *testing.T, s *schedules.Schedules) (all []string) {
	t.Helper()
	runs := page(t, s).Runs
	for i := len(runs) - 1; i >= 0; i-- {
		r := runs[i]
		line := fmt.Sprintf("%s %s", time.UnixMilli(r.Due).UTC().Format("15:04"), r.Outcome)
		if r.More > 0 {
			line += fmt.Sprintf(" +%d", r.More)
		}
		all = append(all, line)
	}
	return all
}

func recurring(spec string) schedule.Task {
	return schedule.Task{Session: "s", Kind: schedule.Recurring, Name: "n", Schedule: spec, Prompt: "look"}
}

// open runs schedules until the bubble's function ends.
func open(t *testing.T, st *store, h *host, c *clock) (s *schedules.Schedules, stop func()) {
	t.Helper()
	s = schedules.New(schedules.Config{Folder: "/p", Store: st, Host: h, Now: c.now})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Run(ctx)
	}()
	return s, func() {
		cancel()
		<-done
	}
}

// OAS-323, K-19: a task runs at its times and at no others, in its session; of two windows
// only one runs it; a wake-up and a task that runs once are gone afterwards.
func TestRunsAtItsTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // it begins at midnight UTC
		st, h, c := &store{texts: map[string]string{}}, &host{}, &clock{}
		s, stop := open(t, st, h, c)
		_, stopOther := open(t, st, h, c)
		if _, err := s.Add(t.Context(), recurring("*/10 * * * *")); err != nil {
			t.Fatal(err)
		}
		once := recurring("5 0 * * *")
		once.Kind = schedule.Once
		if _, err := s.Add(t.Context(), once); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the second takes the place of the first
			wake := schedule.Task{Session: "s", Kind: schedule.Wakeup, Name: "w", Prompt: "up", Next: c.now().Add(90 * time.Second).UnixMilli()}
			if _, err := s.Add(t.Context(), wake); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(21 * time.Minute)
		synctest.Wait()
		const looked = "s [Scheduled: n. The user may not be here.]  look "
		want := []string{"s [Scheduled: w. The user may not be here.]  up 00:01:30", looked + "00:05:00", looked + "00:10:00", looked + "00:20:00"}
		if diff := cmp.Diff(want, h.ran); diff != "" {
			t.Error(diff)
		}
		if tasks, _ := s.Tasks(t.Context()); len(tasks) != 1 || tasks[0].Kind != schedule.Recurring {
			t.Errorf("left %+v", tasks)
		}
		stop()
		stopOther()
	})
}

// K-19: times that passed while the program was closed or the machine slept are listed as
// missed, the newest one by one, and never run; a clock that is set back repeats nothing.
func TestMissedTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, h, c := &store{texts: map[string]string{}}, &host{}, &clock{}
		s, stop := open(t, st, h, c)
		if _, err := s.Add(t.Context(), recurring("0 * * * *")); err != nil {
			t.Fatal(err)
		}
		c.set(3*time.Hour + 30*time.Minute) // it slept
		time.Sleep(time.Minute)
		synctest.Wait()
		want := []string{"01:00 missed", "02:00 missed", "03:00 missed"}
		if diff := cmp.Diff(want, times(t, s)); diff != "" || len(h.ran) > 0 {
			t.Errorf("ran %v: %s", h.ran, diff)
		}
		stop()
		c.set(20 * time.Hour) // closed until 23:31
		s, stop = open(t, st, h, c)
		time.Sleep(time.Minute)
		synctest.Wait()
		got := times(t, s)
		if len(got) != 13 || got[3] != "14:00 missed +10" || got[12] != "23:00 missed" {
			t.Errorf("listed %v", got)
		}
		time.Sleep(30 * time.Minute) // midnight
		synctest.Wait()
		if len(h.ran) != 1 {
			t.Errorf("ran %v", h.ran)
		}
		c.set(-2 * time.Hour) // the clock was wrong
		time.Sleep(2*time.Hour + 5*time.Minute)
		synctest.Wait()
		if got := times(t, s); len(h.ran) != 1 || got[len(got)-1] != "00:00 done" {
			t.Errorf("ran %v, listed %v", h.ran, got)
		}
		stop()
	})
}

// A session that works is waited for, but not for ever; one that may do everything without
// asking is held back; a turn that fails, and one that is cut off, are not called done.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		host func(*host, *clock)
		want string
	}{
		"done":       {func(*host, *clock) {}, "00:01 done"},
		"busy first": {func(h *host, c *clock) { h.busy = func() bool { return c.now().Minute() < 5 } }, "00:01 done"},
		"busy":       {func(h *host, _ *clock) { h.busy = func() bool { return true } }, "00:01 busy"},
		"held":       {func(h *host, _ *clock) { h.err = schedules.ErrHeld }, "00:01 held"},
		"no key":     {func(h *host, _ *clock) { h.err = errors.New("no key") }, "00:01 failed"},
		"ends badly": {func(h *host, _ *clock) {
			h.end = make(chan error, 1)
			h.end <- errors.New("it failed")
		}, "00:01 failed"},
		"runs on": {func(h *host, _ *clock) { h.end = make(chan error) }, "00:01 cut"},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				st, h, c := &store{texts: map[string]string{}}, &host{}, &clock{}
				tt.host(h, c)
				s, stop := open(t, st, h, c)
				once := recurring("1 0 * * *")
				once.Kind = schedule.Once
				if _, err := s.Add(t.Context(), once); err != nil {
					t.Fatal(err)
				}
				time.Sleep(15 * time.Minute)
				synctest.Wait()
				stop()
				if got := times(t, s); len(got) != 1 || got[0] != tt.want {
					t.Errorf("%v, want %s", got, tt.want)
				}
			})
		})
	}
}

// A time that comes while the last one still runs is left out and listed.
func TestTimesThatOverlap(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, h, c := &store{texts: map[string]string{}}, &host{end: make(chan error)}, &clock{}
		s, stop := open(t, st, h, c)
		if _, err := s.Add(t.Context(), recurring("* * * * *")); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2*time.Minute + 30*time.Second)
		synctest.Wait()
		if diff := cmp.Diff([]string{"00:01 running", "00:02 busy"}, times(t, s)); diff != "" || len(h.ran) != 1 {
			t.Error(diff)
		}
		stop()
	})
}

// A project has so many tasks and no more; a paused one does not run; what a crash left as
// running is called cut off.
func TestLimitsAndPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		st, h, c := &store{texts: map[string]string{}}, &host{end: make(chan error)}, &clock{}
		s := schedules.New(schedules.Config{Folder: "/p", Store: st, Host: h, Now: c.now})
		for i := range 1000 {
			_, err := s.Add(t.Context(), recurring("0 0 1 1 *"))
			if (err == nil) != (i < schedule.MaxTasks) || err != nil && !strings.Contains(err.Error(), "which is the limit") {
				t.Fatalf("%d: %v", i, err)
			}
		}
		if _, err := s.Change(t.Context(), "task-1", func(t *schedule.Task) error {
			t.Paused, t.Schedule = true, "* * * * *"
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Trigger(t.Context(), "task-2"); err != nil {
			t.Fatal(err)
		}
		_, stop := open(t, st, h, c)
		time.Sleep(5 * time.Minute)
		synctest.Wait()
		if len(h.ran) != 1 || page(t, s).Tasks[0].Next != 0 {
			t.Errorf("ran %v", h.ran)
		}
		stop()
		if _, err := s.Remove(t.Context(), "nothing"); !errors.Is(err, schedule.ErrNoTask) {
			t.Errorf("removed nothing: %v", err)
		}
	})
}

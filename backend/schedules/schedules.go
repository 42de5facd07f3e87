// Package schedules keeps the prompts that run later in a project, runs them while the program is
// open, and says of each time what became of it (OAS-323, OAS-325, OAS-333, K-19).
//
// One goroutine runs what is due: [Schedules.Run]. It looks at the clock at least twice a minute, so
// that a machine that slept and a clock that was set are noticed: a time that passed while nobody was
// there is listed as missed, and not made up for. Of several processes that are open on one project,
// the one with the lease runs tasks; each time is entered before it is run, and is not entered twice.
package schedules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/schedule"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

const (
	// look is how often the clock is looked at.
	look = 20 * time.Second
	// grace is how late a task may run: the program was busy, or its session worked.
	grace = 10 * time.Minute
	// maxRuns is how many times are remembered, and maxMissed how many are listed one by
	// one that passed while the program was closed.
	maxRuns   = 200
	maxMissed = 10
)

// RunOutcome says what became of a time.
type RunOutcome string

// The outcomes.
const (
	Running RunOutcome = "running"
	Done    RunOutcome = "done"
	Failed  RunOutcome = "failed" // the turn could not begin, or did not end well
	Missed  RunOutcome = "missed" // the program was not open, or the machine slept
	Busy    RunOutcome = "busy"   // the session worked for too long
	Held    RunOutcome = "held"   // the session's mode asks nobody, and nobody was there
	Cut     RunOutcome = "cut"    // the program ended meanwhile
)

// ScheduleRun is one time of a task. Times are in milliseconds since 1970.
type ScheduleRun struct {
	Task    string     `json:"task"`
	Name    string     `json:"name"`
	Session string     `json:"session"`
	Due     int64      `json:"due"`
	Began   int64      `json:"began,omitempty"`
	Ended   int64      `json:"ended,omitempty"`
	Outcome RunOutcome `json:"outcome"`
	// More counts times of the task before this one that were missed as well and are not
	// listed, and Why says in English what failed.
	More int    `json:"more,omitempty"`
	Why  string `json:"why,omitempty"`
}

// ScheduleTask is a task as the page shows it.
type ScheduleTask struct {
	schedule.Task
	// Title names its session.
	Title string `json:"title,omitempty"`
}

// document is what is stored for a project.
type document struct {
	Last  int             `json:"last"` // number of the newest task
	Tasks []schedule.Task `json:"tasks,omitempty"`
	Runs  []ScheduleRun   `json:"runs,omitempty"` // the newest last
}

// Host runs tasks in sessions.
type Host interface {
	// Begin starts a turn, and returns a function that waits for its end and says why it
	// did not end well. Begin returns an error with [backend.CodeBusy] if the session works,
	// and [ErrHeld] if its mode asks nobody.
	Begin(ctx context.Context, session, prompt string) (wait func(context.Context) error, err error)
	// Title returns the name of a session; ok is false if there is none.
	Title(ctx context.Context, session string) (title string, ok bool)
	// Changed tells pages that tasks or times have changed.
	Changed()
}

// Config is what a project's schedules need.
type Config struct {
	Folder string
	Store  Store
	Host   Host
	Off    bool             // nothing runs, and no tool is offered, because nobody stays
	Now    func() time.Time // with the zone of the user; nil means [time.Now]
}

// Store is what is needed of the program's store.
type Store interface {
	Setting(ctx context.Context, key string) (string, error)
	// ChangeSetting changes a setting in one step; see [backend.Store].
	ChangeSetting(ctx context.Context, key string, change func(string) (string, error)) error
	// Lease keeps other processes from something until release is called.
	Lease(name string) (release func(), err error)
}

// Schedules are the tasks of a project. They are safe for concurrent use.
type Schedules struct {
	cfg  Config
	key  string
	wake chan struct{} // something may be due
}

// New returns the schedules of a project. Nothing runs before [Schedules.Run].
func New(cfg Config) *Schedules {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	sum := sha256.Sum256([]byte(cfg.Folder))
	return &Schedules{cfg: cfg, key: "schedules." + hex.EncodeToString(sum[:12]), wake: make(chan struct{}, 1)}
}

// Register registers the methods of the page.
func (s *Schedules) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "schedules.list", s.list)
	dispatch.Handle(d, "schedules.change", s.change)
}

// Tools returns the tools of a session; none for an agent, which ends before anything is due.
func (s *Schedules) Tools(info backend.SessionInfo) []agent.Tool {
	if s.cfg.Off || info.Helper != nil {
		return nil
	}
	return schedule.Tools(s, info.ID, s.cfg.Now)
}

// read returns the document. One that cannot be read is an error, so that nothing replaces it.
func (s *Schedules) read(ctx context.Context) (document, error) {
	text, err := s.cfg.Store.Setting(ctx, s.key)
	if err != nil {
		return document{}, err
	}
	return decode(text)
}

func decode(text string) (d document, err error) {
	if text == "" {
		return d, nil
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return d, fmt.Errorf("read the schedules: %w", err)
	}
	return d, nil
}

// update changes the document in one step, also beside other processes, and tells pages. The
// goroutine looks at it anew.
func (s *Schedules) update(ctx context.Context, change func(*document) error) error {
	err := s.cfg.Store.ChangeSetting(ctx, s.key, func(text string) (string, error) {
		d, err := decode(text)
		if err == nil {
			err = change(&d)
		}
		if err != nil {
			return "", err
		}
		d.Runs = d.Runs[max(0, len(d.Runs)-maxRuns):]
		b, err := json.Marshal(d)
		if err != nil {
			return "", fmt.Errorf("keep the schedules: %w", err)
		}
		return string(b), nil
	})
	if err != nil {
		return err
	}
	s.cfg.Host.Changed()
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

// Tasks implements [schedule.Store].
func (s *Schedules) Tasks(ctx context.Context) ([]schedule.Task, error) {
	d, err := s.read(ctx)
	return d.Tasks, err
}

// Add implements [schedule.Store].
func (s *Schedules) Add(ctx context.Context, t schedule.Task) (schedule.Task, error) {
	err := s.update(ctx, func(d *document) error {
		if t.Kind == schedule.Wakeup {
			d.Tasks = slices.DeleteFunc(d.Tasks, func(o schedule.Task) bool { return o.Kind == schedule.Wakeup && o.Session == t.Session })
		}
		if len(d.Tasks) >= schedule.MaxTasks {
			return fmt.Errorf("this project has %d scheduled tasks, which is the limit: delete some of them first", len(d.Tasks))
		}
		d.Last++
		t.ID, t.Created = fmt.Sprintf("task-%d", d.Last), s.cfg.Now().UnixMilli()
		if t.Kind != schedule.Wakeup {
			if err := t.Plan(s.cfg.Now()); err != nil {
				return err
			}
		}
		d.Tasks = append(d.Tasks, t)
		return nil
	})
	return t, err
}

// find returns a task of the document; nil if there is none.
func (d *document) find(id string) *schedule.Task {
	if i := slices.IndexFunc(d.Tasks, func(t schedule.Task) bool { return t.ID == id }); i >= 0 {
		return &d.Tasks[i]
	}
	return nil
}

// Change implements [schedule.Store].
func (s *Schedules) Change(ctx context.Context, id string, change func(*schedule.Task) error) (changed schedule.Task, err error) {
	err = s.update(ctx, func(d *document) error {
		t := d.find(id)
		if t == nil {
			return schedule.ErrNoTask
		}
		if err := change(t); err != nil {
			return err
		}
		if t.Kind != schedule.Wakeup {
			if err := t.Plan(s.cfg.Now()); err != nil {
				return err
			}
		}
		changed = *t
		return nil
	})
	return changed, err
}

// Trigger implements [schedule.Store].
func (s *Schedules) Trigger(ctx context.Context, id string) (due schedule.Task, err error) {
	err = s.update(ctx, func(d *document) error {
		t := d.find(id)
		if t == nil {
			return schedule.ErrNoTask
		}
		t.Next = s.cfg.Now().UnixMilli()
		due = *t
		return nil
	})
	return due, err
}

// Remove implements [schedule.Store].
func (s *Schedules) Remove(ctx context.Context, id string) (gone schedule.Task, err error) {
	err = s.update(ctx, func(d *document) error {
		t := d.find(id)
		if t == nil {
			return schedule.ErrNoTask
		}
		gone = *t
		d.Tasks = slices.DeleteFunc(d.Tasks, func(o schedule.Task) bool { return o.ID == id })
		return nil
	})
	return gone, err
}

// SchedulesReply answers schedules.list: the tasks, and the times of all, the newest first.
type SchedulesReply struct {
	Tasks []ScheduleTask `json:"tasks,omitempty"`
	Runs  []ScheduleRun  `json:"runs,omitempty"`
	Limit int            `json:"limit"`
}

func (s *Schedules) list(ctx context.Context, _ backend.Empty) (SchedulesReply, error) {
	d, err := s.read(ctx)
	if err != nil {
		return SchedulesReply{}, err
	}
	slices.Reverse(d.Runs)
	reply := SchedulesReply{Runs: d.Runs, Limit: schedule.MaxTasks}
	for _, t := range d.Tasks {
		title, _ := s.cfg.Host.Title(ctx, t.Session)
		reply.Tasks = append(reply.Tasks, ScheduleTask{t, title})
	}
	return reply, nil
}

// ScheduleAction is what the user does with a task.
type ScheduleAction string

// The actions.
const (
	ActPause  ScheduleAction = "pause"
	ActResume ScheduleAction = "resume"
	ActRun    ScheduleAction = "run"
	ActDelete ScheduleAction = "delete"
)

// ScheduleChange is for schedules.change.
type ScheduleChange struct {
	ID     string         `json:"id"`
	Action ScheduleAction `json:"action"`
}

// change does what the user wants with a task. One that is gone by now is no error: the
// list says so.
func (s *Schedules) change(ctx context.Context, in ScheduleChange) (SchedulesReply, error) {
	var err error
	switch in.Action {
	case ActRun:
		_, err = s.Trigger(ctx, in.ID)
	case ActDelete:
		_, err = s.Remove(ctx, in.ID)
	default:
		_, err = s.Change(ctx, in.ID, func(t *schedule.Task) error {
			t.Paused = in.Action == ActPause
			return nil
		})
	}
	if err != nil && !isGone(err) {
		return SchedulesReply{}, err
	}
	return s.list(ctx, backend.Empty{})
}

package agent

import (
	"context"
	"sync"
)

// beside records what hooks do to files that run beside the session. It is safe for
// concurrent use.
type beside struct {
	mu   sync.Mutex
	runs []*besideRun
}

// besideRun is a hook that runs beside the session.
type besideRun struct {
	point HookPoint
	name  string
	over  bool
	// end ends the record of what the hook does; nil while somebody ends it, which
	// recording says.
	end       func() *FilesChanged
	recording bool
	changed   *FilesChanged // what was recorded, and nobody was told yet
}

// runBeside begins to record what a hook does that runs beside the session. The hook's end
// calls ended.
func (s *Session) runBeside(point HookPoint, name string) (ended func()) {
	run := &besideRun{point: point, name: name, end: s.beginHook(nil)}
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	s.beside.runs = append(s.beside.runs, run)
	return func() {
		s.beside.mu.Lock()
		run.over = true
		s.beside.mu.Unlock()
		s.recordBeside(run)
	}
}

// beginHook begins the record of a hook; writes are the files that its call writes.
func (s *Session) beginHook(writes []string) (end func() *FilesChanged) {
	return s.cfg.begin(context.Background(), "", GateCall{Tool: HookStep, Access: Access{Writes: writes}})
}

// recordBeside takes down what a hook has done so far.
func (s *Session) recordBeside(run *besideRun) {
	s.beside.mu.Lock()
	end := run.end
	run.end, run.recording = nil, run.recording || end != nil
	s.beside.mu.Unlock()
	if end == nil {
		return // somebody else does
	}
	changed := end()
	for {
		var again func() *FilesChanged
		s.beside.mu.Lock()
		over := run.over
		s.beside.mu.Unlock()
		if !over {
			again = s.beginHook(nil)
		}
		s.beside.mu.Lock()
		run.changed, changed = run.changed.then(changed), nil
		if run.over == over {
			run.end, run.recording = again, false
			s.beside.mu.Unlock()
			return
		}
		s.beside.mu.Unlock()
		changed = again() // it ended meanwhile
	}
}

// HasBesides reports whether hooks run beside the session, or have changed files since
// [Session.Besides] was last called. It is safe for concurrent use.
func (s *Session) HasBesides() bool {
	s.beside.mu.Lock()
	defer s.beside.mu.Unlock()
	return len(s.beside.runs) > 0
}

// besides returns the ends of hooks that ran beside the session and have changed files since
// it was last called, and what the model is told.
func (s *Session) besides() (ends []HookEnd, told string) {
	s.beside.mu.Lock()
	runs := s.beside.runs
	s.beside.mu.Unlock()
	if len(runs) == 0 {
		return nil, ""
	}
	for _, run := range runs {
		s.recordBeside(run)
	}
	s.beside.mu.Lock()
	var rest []*besideRun
	for _, run := range s.beside.runs {
		if run.changed != nil {
			ends = append(ends, HookEnd{Point: run.point, Name: run.name, HookFiles: HookFiles{s.cfg.NewID(), run.changed}})
			run.changed = nil
		}
		if !run.over || run.end != nil || run.recording {
			rest = append(rest, run)
		}
	}
	s.beside.runs = rest
	s.beside.mu.Unlock()
	for _, end := range ends {
		told = joined(told, s.cfg.rewritten(context.Background(), end.Name, end.Files))
	}
	return ends, told
}

// besides records what hooks beside the session have changed, and returns what the model is
// told.
func (t *turn) besides() (told string) {
	ends, told := t.session.besides()
	for _, end := range ends {
		t.emit(end)
	}
	return told
}

// Besides records what hooks beside a session at rest have changed. Its caller owns the
// session, and stores the events.
func (s *Session) Besides() (events []Event) {
	ends, told := s.besides()
	for _, end := range ends {
		events = append(events, s.Record(end))
	}
	if told != "" {
		events = append(events, s.Record(SteeringInjected{ByLoop: true, Text: told}))
	}
	return events
}

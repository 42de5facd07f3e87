package tool

import (
	"context"
	"slices"
	"sync"
	"time"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// This file is the host's view of tasks. Watching a task does not consume the
// output that the model reads by its own calls.

// NewTasks returns an empty list that reports to changed what its tasks do.
// changed is called from any goroutine, may be called while a task prints, and
// must not block or call back. Each task is reported once when it began and once
// when it ended. New output is reported once until somebody has
// read it to its end (see [Tasks.Output]), so that nobody is flooded.
func NewTasks(changed func(agent.TaskChange)) *Tasks {
	return &Tasks{changed: changed}
}

// TaskInfo is a task as a host shows it.
type TaskInfo struct {
	ID      string
	Line    string // the command line
	Dir     string // as in the call; empty means the environment's directory
	Started time.Time
	// Ended is zero while the task runs. Result, without its texts, says how it
	// ended.
	Ended  time.Time
	Result env.CommandResult
	// Ports are those of the loopback on which a running task listens; see
	// [Tasks.Open].
	Ports []int
}

// TaskText is a part of a task's output, from byte Begin to byte End of the
// whole output.
type TaskText struct {
	Text       string
	Begin, End int64
}

// List returns the background commands, the oldest first: those that run, and
// recent ones that have ended.
func (ts *Tasks) List() []TaskInfo {
	ts.mu.Lock()
	list := slices.Clone(ts.list)
	ts.mu.Unlock()
	var infos []TaskInfo
	for _, t := range list {
		if t.told.Load() {
			infos = append(infos, t.info())
		}
	}
	return infos
}

// Output returns a task's output from a byte offset on, at most the newest
// limit bytes and no more than is kept. Later output will be reported. The
// error says that there is no such task.
func (ts *Tasks) Output(id string, from int64, limit int) (TaskText, error) {
	t, err := ts.find(id)
	if err != nil {
		return TaskText{}, err
	}
	return t.printed.from(from, limit), nil
}

// Follow passes on what a task has printed, as far as it is kept, and what it prints from now on,
// and then once how it ended. Calls do not overlap. The functions must not block, or call a
// method of the list. The error says that there is no such task.
func (ts *Tasks) Follow(id string, each func(text string), end func(TaskInfo)) error {
	t, err := ts.find(id)
	if err != nil {
		return err
	}
	t.printed.follow(each)
	go func() { // ends with the command
		_, _ = t.process.Wait(context.Background())
		end(t.info())
	}()
	return nil
}

// Stop ends a task with everything it started, and returns how it ended, which
// may have been by itself. The error says that there is no such task.
func (ts *Tasks) Stop(id string) (TaskInfo, error) {
	t, err := ts.find(id)
	if err != nil {
		return TaskInfo{}, err
	}
	if t.running() {
		t.process.Stop()
	}
	return t.info(), nil
}

func (t *task) info() TaskInfo {
	info := TaskInfo{ID: t.id, Line: t.command.Line, Dir: t.command.Dir, Started: t.began}
	if r, over := t.wait(context.Background(), 0); over {
		info.Ended, info.Result = t.began.Add(r.Duration), r
	} else if server, ok := t.process.(env.Server); ok {
		info.Ports = server.Ports()
	}
	return info
}

// tell reports, once, that the command is now a task.
func (t *task) tell() {
	if !t.told.Swap(true) && t.changed != nil {
		t.changed(agent.TaskChange{Task: t.id})
		t.reportEnd() // which may have come first
	}
}

// tellEnd waits for the task's end and reports it.
func (t *task) tellEnd() {
	_, _ = t.process.Wait(context.Background())
	t.over.Store(true)
	t.reportEnd()
}

// reportEnd reports, once, that the command has ended, if it is a task.
func (t *task) reportEnd() {
	if t.over.Load() && t.told.Load() && !t.toldEnd.Swap(true) {
		t.changed(agent.TaskChange{Task: t.id})
	}
}

// output keeps a task's output and passes it on.
func (t *task) output(pass func(string)) func(string) {
	return func(text string) {
		if isNews := t.printed.add(text); isNews && t.changed != nil {
			t.changed(agent.TaskChange{Task: t.id, Printed: true})
		}
		if pass != nil {
			pass(text)
		}
	}
}

// printedLimit is how much of a task's output is kept for watchers, in bytes.
const printedLimit = 64 << 10

// printed holds the newest output of a task. It is safe for concurrent use.
type printed struct {
	mu        sync.Mutex
	kept      []byte // valid UTF-8, except for a rune that is cut at the beginning
	total     int64  // bytes printed in all
	awaited   bool   // it was read to its end, and nothing has come since
	followers []func(text string)
}

// follow passes on what is kept and what comes.
func (p *printed) follow(each func(string)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	each(string(p.kept[max(0, len(p.kept)-printedLimit):]))
	p.followers = append(p.followers, each)
}

// add appends valid UTF-8, and reports whether somebody waits for it.
func (p *printed) add(text string) (awaited bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.total += int64(len(text))
	for _, each := range p.followers {
		each(text)
	}
	text = text[max(0, len(text)-printedLimit):]
	if len(p.kept)+len(text) > 2*printedLimit { // amortises the move
		p.kept = append(p.kept[:0], p.kept[len(p.kept)-printedLimit:]...)
	}
	p.kept = append(p.kept, text...)
	awaited, p.awaited = p.awaited, false
	return awaited
}

// from returns the kept output from a byte offset on, at most the newest limit
// bytes.
func (p *printed) from(place int64, limit int) TaskText {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.awaited = true
	length := min(int64(len(p.kept)), printedLimit, int64(max(limit, 0)), max(p.total-place, 0))
	text := p.kept[int64(len(p.kept))-length:]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return TaskText{Text: string(text), Begin: p.total - int64(len(text)), End: p.total}
}

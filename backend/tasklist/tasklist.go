// Package tasklist shows the background commands of sessions: their output, how they end, and the
// ports on which they listen. The commands themselves are package tool's.
package tasklist

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"

	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/text"
)

const (
	// taskLine limits a task's command line in a list, in bytes.
	taskLine = 2 << 10
	// taskPiece limits the output of a task that is read at once, in bytes.
	taskPiece = 32 << 10
)

// Place has the background commands of one session.
type Place struct {
	Tasks  *tool.Tasks
	Folder string // where the session works
}

// List has the background commands of the sessions of this process.
type List struct{ places func() map[string]Place }

// New returns the list. places returns those of all sessions, by session.
func New(places func() map[string]Place) *List { return &List{places} }

// Register adds the methods of the page.
func (l *List) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "tasks.list", l.list)
	dispatch.Handle(d, "tasks.output", l.output)
	dispatch.Handle(d, "tasks.stop", l.stop)
	dispatch.Handle(d, "tasks.open", l.open)
}

// list lists the background commands of sessions. Tasks that ended with
// their session are not listed.
func (l *List) list(_ context.Context, in TasksRequest) (TaskList, error) {
	places := l.places()
	var found TaskList
	for _, session := range slices.Sorted(maps.Keys(places)) {
		if in.Session != "" && in.Session != session {
			continue
		}
		for _, t := range places[session].Tasks.List() {
			found.Tasks = append(found.Tasks, taskInfo(session, places[session].Folder, t))
		}
	}
	return found, nil
}

func (l *List) output(_ context.Context, in TaskOutputRequest) (TaskOutput, error) {
	at, ok := l.places()[in.Session]
	if !ok {
		return TaskOutput{}, errNoTask
	}
	text, err := at.Tasks.Output(in.Task, in.From, taskPiece)
	if err != nil {
		return TaskOutput{}, errNoTask
	}
	return TaskOutput(text), nil
}

// stop ends a task, waits for that, and returns its state.
func (l *List) stop(_ context.Context, in TaskRef) (TaskInfo, error) {
	at, ok := l.places()[in.Session]
	if !ok {
		return TaskInfo{}, errNoTask
	}
	t, err := at.Tasks.Stop(in.Task)
	if err != nil {
		return TaskInfo{}, errNoTask
	}
	return taskInfo(in.Session, at.Folder, t), nil
}

// open opens a port of a task for the person, and returns the address of its page.
func (l *List) open(_ context.Context, in TaskOpenRequest) (TaskAddress, error) {
	at, ok := l.places()[in.Session]
	if !ok {
		return TaskAddress{}, errNoTask
	}
	address, err := at.Tasks.Open(in.Task, in.Port)
	switch {
	case errors.Is(err, tool.ErrNoPort):
		return TaskAddress{}, backend.Problem(backend.ProblemTaskPort, strconv.Itoa(in.Port))
	case err != nil:
		return TaskAddress{}, errNoTask
	}
	return TaskAddress{URL: "http://" + address + "/"}, nil
}

// errNoTask answers a request about an unknown task.
var errNoTask = backend.Problem(backend.ProblemTaskUnknown)

func taskInfo(session, folder string, t tool.TaskInfo) TaskInfo {
	if !filepath.IsAbs(t.Dir) {
		t.Dir = filepath.Join(folder, t.Dir)
	}
	info := TaskInfo{
		Session: session, ID: t.ID, Command: text.Head(t.Line, taskLine), Folder: filepath.Clean(t.Dir),
		StartedAt: t.Started.UnixMilli(), State: TaskRunning,
	}
	if t.Ended.IsZero() {
		info.Ports = t.Ports
		return info
	}
	info.EndedAt, info.State, info.ExitCode = t.Ended.UnixMilli(), TaskExited, t.Result.ExitCode
	switch {
	case t.Result.Interrupted:
		info.State, info.ExitCode = TaskStopped, 0
	case t.Result.TimedOut:
		info.State, info.ExitCode = TaskTimedOut, 0
	}
	return info
}

// TaskInfo is a background command of a session. Its id is unique among those
// of its session in this process, and numbering restarts with the session.
type TaskInfo struct {
	Session   string    `json:"session"`
	ID        string    `json:"id"`
	Command   string    `json:"command"` // its beginning, where it is very long
	Folder    string    `json:"folder"`
	StartedAt int64     `json:"started_at"`
	EndedAt   int64     `json:"ended_at,omitempty"` // absent while it runs
	State     TaskState `json:"state"`
	// ExitCode is the exit code of a task that exited.
	ExitCode int `json:"exit_code,omitempty"`
	// Ports are those on which a running task listens; tasks.open leads to them.
	Ports []int `json:"ports,omitempty"`
}

// TaskOpenRequest is for tasks.open: a port of a task.
type TaskOpenRequest struct {
	Session string `json:"session"`
	Task    string `json:"task"`
	Port    int    `json:"port"`
}

// TaskAddress answers tasks.open.
type TaskAddress struct {
	URL string `json:"url"`
}

// TaskState is a task's state, or how it ended.
type TaskState string

// The states of a task. It exits by itself, or is stopped by a person, its
// model or its session's end.
const (
	TaskRunning  TaskState = "running"
	TaskExited   TaskState = "exited"
	TaskStopped  TaskState = "stopped"
	TaskTimedOut TaskState = "timed_out"
)

// TaskOutput is a part of a task's output, from byte Begin to byte End of the
// whole. If Begin is not the requested offset, the output in between was not
// kept.
type TaskOutput struct {
	Text  string `json:"text"`
	Begin int64  `json:"begin"`
	End   int64  `json:"end"`
}

// TasksRequest is for tasks.list; an empty session means all sessions of this
// process.
type TasksRequest struct {
	Session string `json:"session,omitempty"`
}

// TaskList answers tasks.list, the oldest task of each session first.
type TaskList struct {
	Tasks []TaskInfo `json:"tasks,omitempty"`
}

// TaskRef names a task.
type TaskRef struct {
	Session string `json:"session"`
	Task    string `json:"task"`
}

// TaskOutputRequest is for tasks.output: the output from a byte offset on.
type TaskOutputRequest struct {
	Session string `json:"session"`
	Task    string `json:"task"`
	From    int64  `json:"from,omitempty"`
}

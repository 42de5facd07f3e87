package workbench

import (
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

const (
	// taskLine limits a task's command line in a list, in bytes.
	taskLine = 2 << 10
	// taskPiece limits the output of a task that is read at once, in bytes.
	taskPiece = 32 << 10
)

// newTasks returns the list of a session's tasks, which notifies pages and hooks as
// long as the session has its workplace.
func (w *Workbench) newTasks(session string) *tool.Tasks {
	observe := w.observeTasks(session)
	return tool.NewTasks(func(c agent.TaskChange) {
		if _, ok := w.placeOf(session); !ok {
			return
		}
		w.publishTask(session, c)
		if !c.Printed {
			observe(c)
		}
	})
}

// publishTask notifies pages of a task's change, from any goroutine; the feed
// gathers these events.
func (w *Workbench) publishTask(session string, c agent.TaskChange) {
	w.feed.Publish(agent.Event{Session: session, At: time.Now().UnixMilli(), Data: c})
}

// listTasks lists the background commands of sessions. Tasks that ended with
// their session are not listed.
func (w *Workbench) listTasks(_ context.Context, in TasksRequest) (TaskList, error) {
	w.places.Lock()
	places := maps.Clone(w.places.bySession)
	w.places.Unlock()
	var list TaskList
	for _, session := range slices.Sorted(maps.Keys(places)) {
		if in.Session != "" && in.Session != session {
			continue
		}
		for _, t := range places[session].tasks.List() {
			list.Tasks = append(list.Tasks, taskInfo(session, places[session].env.WorkingDirectory(), t))
		}
	}
	return list, nil
}

func (w *Workbench) taskOutput(_ context.Context, in TaskOutputRequest) (TaskOutput, error) {
	place, ok := w.placeOf(in.Session)
	if !ok {
		return TaskOutput{}, errNoTask
	}
	text, err := place.tasks.Output(in.Task, in.From, taskPiece)
	if err != nil {
		return TaskOutput{}, errNoTask
	}
	return TaskOutput(text), nil
}

// stopTask ends a task, waits for that, and returns its state.
func (w *Workbench) stopTask(_ context.Context, in TaskRef) (TaskInfo, error) {
	place, ok := w.placeOf(in.Session)
	if !ok {
		return TaskInfo{}, errNoTask
	}
	t, err := place.tasks.Stop(in.Task)
	if err != nil {
		return TaskInfo{}, errNoTask
	}
	return taskInfo(in.Session, place.env.WorkingDirectory(), t), nil
}

// openTask opens a port of a task for the person, and returns the address of its page.
func (w *Workbench) openTask(_ context.Context, in TaskOpenRequest) (TaskAddress, error) {
	place, ok := w.placeOf(in.Session)
	if !ok {
		return TaskAddress{}, errNoTask
	}
	address, err := place.tasks.Open(in.Task, in.Port)
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

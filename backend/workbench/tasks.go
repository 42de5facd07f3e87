package workbench

import (
	"context"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/internal/text"
)

const (
	// taskLine is how much of a task's command line a list has, in bytes.
	taskLine = 2 << 10
	// taskPiece is how much of a task's output is read at once, in bytes.
	taskPiece = 32 << 10
)

// newTasks returns the list of a session's tasks, which tells pages what they
// do as long as the session has its workplace.
func (w *Workbench) newTasks(session string) *tool.Tasks {
	return tool.NewTasks(func(c agent.TaskChange) {
		if _, ok := w.placeOf(session); ok {
			w.publishTask(session, c)
		}
	})
}

// publishTask tells pages of a task: from any goroutine, and gathered by the
// feed.
func (w *Workbench) publishTask(session string, c agent.TaskChange) {
	w.feed.Publish(agent.Event{Session: session, At: time.Now().UnixMilli(), Data: c})
}

func (w *Workbench) placeOf(session string) (workplace, bool) {
	w.places.Lock()
	defer w.places.Unlock()
	place, ok := w.places.of[session]
	return place, ok
}

// listTasks lists what sessions left running. What ended with its session is
// on no list any more.
func (w *Workbench) listTasks(_ context.Context, in TasksRequest) (TaskList, error) {
	w.places.Lock()
	places := maps.Clone(w.places.of)
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

// stopTask ends a task and returns once it has, with what became of it.
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

// errNoTask answers what is asked of a task that is on no list.
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

// TaskInfo is a command that a session left running. Its id is unique among
// those of its session that this process knows, and begins anew where the
// session does.
type TaskInfo struct {
	Session   string    `json:"session"`
	ID        string    `json:"id"`
	Command   string    `json:"command"` // its beginning, where it is very long
	Folder    string    `json:"folder"`
	StartedAt int64     `json:"started_at"`
	EndedAt   int64     `json:"ended_at,omitempty"` // absent while it runs
	State     TaskState `json:"state"`
	// ExitCode is that of a task that exited.
	ExitCode int `json:"exit_code,omitempty"`
}

// TaskState is how a task is, or how it ended.
type TaskState string

// The states of a task. It exits by itself, and is stopped by a person, its
// model or its session's end.
const (
	TaskRunning  TaskState = "running"
	TaskExited   TaskState = "exited"
	TaskStopped  TaskState = "stopped"
	TaskTimedOut TaskState = "timed_out"
)

// TaskOutput is a piece of what a task printed. Begin and End are its places
// in all that was printed, in bytes: where Begin is not what was asked for,
// something between is not kept.
type TaskOutput struct {
	Text  string `json:"text"`
	Begin int64  `json:"begin"`
	End   int64  `json:"end"`
}

// TasksRequest is for tasks.list; without a session it is about all that this
// process works on.
type TasksRequest struct {
	Session string `json:"session,omitempty"`
}

// TaskList answers tasks.list, the oldest of each session first.
type TaskList struct {
	Tasks []TaskInfo `json:"tasks,omitempty"`
}

// TaskRef names a task.
type TaskRef struct {
	Session string `json:"session"`
	Task    string `json:"task"`
}

// TaskOutputRequest is for tasks.output: what was printed from a place on,
// in bytes.
type TaskOutputRequest struct {
	Session string `json:"session"`
	Task    string `json:"task"`
	From    int64  `json:"from,omitempty"`
}

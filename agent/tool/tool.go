package tool

import (
	"path/filepath"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
)

// Options adjust the built-in tools.
type Options struct {
	// CommandTimeout ends commands without a timeout of their own; 0 means
	// [DefaultCommandTimeout] (K-44).
	CommandTimeout time.Duration
	// Outlive lets a command go on as a task when its time limit is over. Without it, and
	// where the environment cannot, such a command is ended.
	Outlive bool
	// ApplyPatch adds the ApplyPatch tool if the environment can change several
	// files atomically. Only models that were trained on its format write it
	// reliably.
	ApplyPatch bool
	// Tasks are the session's background commands; nil creates an empty list.
	Tasks *Tasks
	// Reduce cuts output to the model's share, like the session does, because
	// text that was cut away does not count as read. nil means [Truncate].
	Reduce func(tool, text string, wanted int) string
	// Memory is what the model knows of files; nil creates an empty one.
	Memory *Memory
}

// Builtin returns the tools of one session. They share the memory of which
// files were read, because a file must be read before it is edited. Call it
// once for each session. Without an environment, which all need, there are none.
func Builtin(e env.Environment, o Options) []agent.Tool {
	if e == nil {
		return nil
	}
	if o.CommandTimeout <= 0 {
		o.CommandTimeout = DefaultCommandTimeout
	}
	if o.Tasks == nil {
		o.Tasks = &Tasks{}
	}
	if o.Reduce == nil {
		o.Reduce = Truncate
	}
	seen := o.Memory
	if seen == nil {
		seen = NewMemory("", nil)
	}
	tools := []agent.Tool{
		&read{reader[ReadInput]("Read", readDescription), e, seen},
		&write{define[WriteInput]("Write", writeDescription), e, seen},
		&edit{define[EditInput]("Edit", editDescription), e, seen},
		newMultiEdit(e, seen),
		newNotebookEdit(e, seen),
		newBash(e, o, seen),
		&grep{reader[GrepInput]("Grep", grepDescription), e},
		&glob{reader[GlobInput]("Glob", globDescription), e},
		&readMany{reader[ReadManyInput]("ReadMany", readManyDescription), e, seen},
		&listDir{reader[ListDirInput]("ListDir", listDirDescription), e},
		&writeStdin{define[WriteStdinInput]("WriteStdin", writeStdinDescription), o.Tasks},
		&taskOutput{consumer[TaskOutputInput]("TaskOutput", taskOutputDescription), o.Tasks},
		&taskList{reader[TaskListInput]("TaskList", taskListDescription), o.Tasks},
		&taskStop{define[TaskStopInput]("TaskStop", taskStopDescription), o.Tasks},
	}
	if tree, ok := e.(env.Tree); ok && o.ApplyPatch {
		tools = append(tools, newApplyPatch(e, tree, seen))
	}
	return tools
}

// absolute resolves a path like the environment does.
func absolute(h env.Host, path string) string { return env.Absolute(h, path) }

// relative shortens a path inside the working directory.
func relative(h env.Host, path string) string {
	abs := absolute(h, path)
	if rel, err := filepath.Rel(h.WorkingDirectory(), abs); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return abs
}

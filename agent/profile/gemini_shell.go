package profile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/tool"
)

// backgroundLines is how much of a background command's output is read by
// default.
const backgroundLines = 100

type geminiShell struct {
	Command      commandLine `json:"command" also:"cmd,script" jsonschema:"the command line to run"`
	Description  string      `json:"description,omitempty" jsonschema:"what the command does, in five to ten words"`
	DirPath      string      `json:"dir_path,omitempty" also:"workdir,cwd,directory" jsonschema:"the directory to run it in, the working directory if left out"`
	TimeoutMs    int64       `json:"timeout_ms,omitempty" also:"timeout" jsonschema:"time limit in milliseconds, {timeout_ms} if left out, at most 600000; none in the background"`
	IsBackground bool        `json:"is_background,omitempty" also:"run_in_background" jsonschema:"let the command run on, as a server should"`
	DelayMs      int64       `json:"delay_ms,omitempty" jsonschema:"how many milliseconds to wait for the first output of a background command, 200 if left out"`
	Unconfined   bool        `json:"unconfined,omitempty" jsonschema:"ask the user to let this command run unconfined, after it failed because commands are confined here"`
}

func (s geminiShell) own() tool.BashInput {
	in := tool.BashInput{Command: string(s.Command), Workdir: s.DirPath, Description: s.Description, Timeout: s.TimeoutMs, Unconfined: s.Unconfined}
	if s.IsBackground {
		in.YieldTimeMs = max(cmp.Or(s.DelayMs, 200), 1)
	}
	return in
}

// These models know a background command by a process number. We use the number
// of the task, because they do not need the system's own.
type geminiReadBackground struct {
	PID     int64 `json:"pid" also:"id,task_id" jsonschema:"the number that run_shell_command gave as the command's background PID; it is this session's, not the system's"`
	Lines   int   `json:"lines,omitempty" jsonschema:"how many lines to show, the last ones, 100 if left out"`
	DelayMs int64 `json:"delay_ms,omitempty" jsonschema:"how many milliseconds to wait for the command before reading"`
}

func (r geminiReadBackground) own() tool.TaskOutputInput {
	return tool.TaskOutputInput{ID: strconv.FormatInt(r.PID, 10), WaitMs: r.DelayMs, Lines: cmp.Or(r.Lines, backgroundLines)}
}

type geminiStopBackground struct {
	PID int64 `json:"pid" also:"id,task_id" jsonschema:"the number that run_shell_command gave as the command's background PID"`
}

func (s geminiStopBackground) own() tool.TaskStopInput {
	return tool.TaskStopInput{ID: strconv.FormatInt(s.PID, 10)}
}

// geminiCommands are the shell and the tools for background commands.
func geminiCommands() []agent.Binding {
	terms := []string{"there is no task", "there is no background command", "the tasks are", "they are"}
	list := func(struct{}) tool.TaskListInput { return tool.TaskListInput{} }
	return []agent.Binding{
		picky(written(written(bind("Bash", "run_shell_command", "shell-gemini", geminiShell.own), writeLabelled), writeBackground)),
		bind("TaskList", "list_background_processes", "list-background", list),
		speaking(written(bind("TaskOutput", "read_background_output", "read-background", geminiReadBackground.own), writeBackground), terms...),
		speaking(written(bind("TaskStop", "stop_background_process", "stop-background", geminiStopBackground.own), writeBackground), terms...),
	}
}

// writeLabelled writes a command's output and how it ended.
func writeLabelled(d env.CommandResult, r agent.Result, cut func(string) string) string {
	text := strings.ReplaceAll(printed(d, r), "use run_in_background", "use is_background")
	text = "Output: " + cmp.Or(cut(strings.TrimRight(text, "\n")), "(empty)")
	if d.ExitCode != 0 {
		text += fmt.Sprintf("\nExit Code: %d", d.ExitCode)
	}
	return text
}

// backgroundWords are the names that these models know.
var backgroundWords = strings.NewReplacer("use run_in_background", "leave out the &", "as task ", "as background PID ",
	"TaskOutput", "read_background_output", "TaskStop", "stop_background_process")

// writeBackground writes a command's output and its state.
func writeBackground(p tool.Progress, _ agent.Result, cut func(string) string) string {
	text := "Output: " + cmp.Or(cut(strings.TrimRight(p.Stdout, "\n")), "(empty)")
	if p.Running {
		text += "\nBackground PIDs: " + p.Task
	} else {
		text += fmt.Sprintf("\nExit Code: %d", p.ExitCode)
	}
	for _, remark := range p.Remarks {
		text += "\n" + backgroundWords.Replace(remark)
	}
	return text
}

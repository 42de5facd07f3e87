package profile

import (
	"fmt"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/tool"
)

type anthropicBash struct {
	Command         commandLine `json:"command" also:"cmd,script" jsonschema:"the command line to run"`
	Timeout         int64       `json:"timeout,omitempty" also:"timeout_ms" jsonschema:"time limit in milliseconds, {timeout_ms} if left out, at most 600000; none for a command that runs on"`
	Description     string      `json:"description,omitempty" jsonschema:"what the command does, in five to ten words"`
	Workdir         string      `json:"workdir,omitempty" also:"cwd,dir_path,directory" jsonschema:"the directory to run in, if not the working directory"`
	RunInBackground bool        `json:"run_in_background,omitempty" also:"is_background" jsonschema:"return at once and let the command run on as a task"`
	YieldTimeMs     int64       `json:"yield_time_ms,omitempty" jsonschema:"return after so many milliseconds and let the command run on as a task if it has not ended"`
	Input           bool        `json:"input,omitempty" jsonschema:"let WriteStdin type to the task"`
	TTY             bool        `json:"tty,omitempty" jsonschema:"run it on a terminal, for programs that need one; WriteStdin can type to it"`
	Unconfined      bool        `json:"unconfined,omitempty" also:"dangerouslyDisableSandbox" jsonschema:"ask the user to let this command run unconfined, after it failed because commands are confined here"`
}

func (b anthropicBash) own() tool.BashInput {
	return tool.BashInput{
		Command: string(b.Command), Timeout: b.Timeout, Description: b.Description, Workdir: b.Workdir,
		RunInBackground: b.RunInBackground, YieldTimeMs: b.YieldTimeMs, Input: b.Input, TTY: b.TTY, Unconfined: b.Unconfined,
	}
}

func anthropicShell() agent.Binding {
	b := bind("Bash", "Bash", "", anthropicBash.own)
	b.Description = tool.BashDescription
	return b
}

// anthropicBindings define the tools as Anthropic's models know them, under the
// canonical names (LOOP-30, LOOP-110).
var anthropicBindings = sync.OnceValue(func() []agent.Binding {
	return []agent.Binding{
		picky(written(bind("Read", "Read", "read-anthropic", specRead.own), writeTabbed)),
		picky(bind("Write", "Write", "", same[tool.WriteInput])),
		picky(bind("Edit", "Edit", "", specEdit.own)),
		picky(anthropicShell()),
		bind("WriteStdin", "WriteStdin", "", specWriteStdin.own),
		refusing(known(bind("TaskOutput", "TaskOutput", "", taskOutput.own), "BashOutput"),
			"filter", "All of the output is returned; leave the filter out."),
		bind("TaskList", "TaskList", "", same[tool.TaskListInput]),
		known(bind("TaskStop", "TaskStop", "", same[tool.TaskStopInput]), "KillShell", "KillBash"),
		picky(bind("Grep", "Grep", "", same[tool.GrepInput])),
		picky(bind("Glob", "Glob", "", same[tool.GlobInput])),
	}
})

// writeTabbed writes lines as number, tab and text.
func writeTabbed(page env.Page, r agent.Result, cut func(string) string) string {
	if len(page.Lines) == 0 {
		return cut(r.Output)
	}
	var b strings.Builder
	for i, line := range page.Lines {
		fmt.Fprintf(&b, "%d\t%s\n", page.First+i, line)
	}
	return cut(b.String()) + remainder(page, "offset") + page.Note()
}

// remainder says how to read the rest, with the parameter for the first line.
func remainder(page env.Page, parameter string) string {
	if !page.More {
		return ""
	}
	last, of := page.First+len(page.Lines)-1, "more"
	if page.Total >= 0 {
		of = fmt.Sprint(page.Total)
	}
	return fmt.Sprintf("[Lines %d to %d of %s. Read on with %s %d.]\n", page.First, last, of, parameter, last+1)
}

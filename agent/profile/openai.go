package profile

import (
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

type openaiShell struct {
	Command   string `json:"command" jsonschema:"the command line to run"`
	Workdir   string `json:"workdir,omitempty" jsonschema:"the directory to run it in, the working directory if left out"`
	TimeoutMs int64  `json:"timeout_ms,omitempty" jsonschema:"time limit in milliseconds, {timeout_ms} if left out, at most 600000"`
}

func (s openaiShell) own() tool.BashInput {
	return tool.BashInput{Command: s.Command, Workdir: s.Workdir, Timeout: s.TimeoutMs}
}

// openaiBindings are the shell as OpenAI's models know it. They have no native
// tools to look at files: those are the specification's (LOOP-29, LOOP-109).
var openaiBindings = sync.OnceValue(func() []agent.Binding {
	return []agent.Binding{
		known(written(bind("Bash", "shell_command", "shell", openaiShell.own), writeExit), "local_shell"),
	}
})

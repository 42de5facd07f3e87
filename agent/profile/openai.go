package profile

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/tool"
)

type openaiShell struct {
	Command   string `json:"command" jsonschema:"the command line to run"`
	Workdir   string `json:"workdir,omitempty" jsonschema:"the directory to run it in, the working directory if left out"`
	TimeoutMs int64  `json:"timeout_ms,omitempty" jsonschema:"time limit in milliseconds, 10000 if left out, at most 600000"`
}

func (s openaiShell) own() tool.BashInput {
	return tool.BashInput{Command: inDirectory(s.Workdir, s.Command), Timeout: cmp.Or(s.TimeoutMs, specTimeout.Milliseconds())}
}

// inDirectory is a command line that runs in a directory. It says so itself, so
// that whoever decides about it sees where.
func inDirectory(dir, command string) string {
	if dir == "" {
		return command
	}
	return fmt.Sprintf("cd -- '%s' || exit\n%s", strings.ReplaceAll(dir, "'", `'\''`), command)
}

// openaiBindings are the shell as OpenAI's models know it. They have no native
// tools to look at files: those are the specification's (LOOP-29, LOOP-109).
var openaiBindings = sync.OnceValue(func() []agent.Binding {
	return []agent.Binding{
		known(written(bind("Bash", "shell_command", "shell", openaiShell.own), writeExit), "local_shell"),
	}
})

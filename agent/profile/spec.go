package profile

import (
	"cmp"
	"fmt"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/tool"
)

// maxMatches is how many matches the specification's grep gives unasked.
const maxMatches = 100

type specShell struct {
	Command     string `json:"command" jsonschema:"the command line to run"`
	TimeoutMs   int64  `json:"timeout_ms,omitempty" jsonschema:"time limit in milliseconds, {timeout_ms} if left out, at most 600000"`
	Description string `json:"description,omitempty" jsonschema:"what the command does, in five to ten words"`
}

func (s specShell) own() tool.BashInput {
	return tool.BashInput{Command: s.Command, Timeout: s.TimeoutMs, Description: s.Description}
}

type specWriteStdin struct {
	ID          string `json:"id" jsonschema:"the task's number"`
	Chars       string `json:"chars,omitempty" jsonschema:"what to type, line ends included; nothing to only wait"`
	YieldTimeMs int64  `json:"yield_time_ms,omitempty" jsonschema:"how many milliseconds to wait for the command, at most 600000"`
}

func (w specWriteStdin) own() tool.WriteStdinInput {
	return tool.WriteStdinInput{ID: w.ID, Chars: w.Chars, YieldTimeMs: w.YieldTimeMs}
}

type specEdit struct {
	FilePath   string `json:"file_path" jsonschema:"the file to change, absolute or relative to the working directory"`
	OldString  string `json:"old_string" jsonschema:"the text to replace, exactly as it stands in the file"`
	NewString  string `json:"new_string" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" jsonschema:"replace every occurrence instead of the only one"`
}

func (e specEdit) own() tool.EditInput {
	return tool.EditInput{FilePath: e.FilePath, OldString: e.OldString, NewString: e.NewString, ReplaceAll: e.ReplaceAll}
}

type specGrep struct {
	Pattern         string `json:"pattern" jsonschema:"the regular expression to search for"`
	Path            string `json:"path,omitempty" jsonschema:"the file or directory to search, the working directory if left out"`
	GlobFilter      string `json:"glob_filter,omitempty" jsonschema:"search only files that match, such as *.go or src/**/*.ts"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty" jsonschema:"ignore the case of letters"`
	MaxResults      int    `json:"max_results,omitempty" jsonschema:"how many matches to give, 100 if left out"`
}

func (g specGrep) own() tool.GrepInput {
	return tool.GrepInput{
		Pattern: g.Pattern, Path: g.Path, Glob: g.GlobFilter, IgnoreCase: g.CaseInsensitive,
		OutputMode: string(env.GrepContent), HeadLimit: cmp.Or(g.MaxResults, maxMatches),
	}
}

// specBindings are the tools as the loop specification names them (LOOP-23 to
// LOOP-28). They are understood under every profile.
var specBindings = sync.OnceValue(func() []agent.Binding {
	return []agent.Binding{
		speaking(bind("Read", "read_file", "read", same[tool.ReadInput]), terms...),
		speaking(bind("Write", "write_file", "write", same[tool.WriteInput]), terms...),
		speaking(bind("Edit", "edit_file", "edit", specEdit.own), terms...),
		written(bind("Bash", "shell", "shell", specShell.own), writeExit),
		speaking(bind("Grep", "grep", "grep", specGrep.own), terms...),
		speaking(bind("Glob", "glob", "glob", same[tool.GlobInput]), terms...),
		speaking(bind("ReadMany", "read_many_files", "readmany", same[tool.ReadManyInput]), terms...),
		bind("ListDir", "list_dir", "listdir", same[tool.ListDirInput]),
		call("ApplyPatch", "apply_patch"),
		bind("WriteStdin", "write_stdin", "", specWriteStdin.own),
		call("TaskOutput", "task_output"),
		call("TaskList", "task_list"),
		call("TaskStop", "task_stop"),
		call("SpawnAgent", "spawn_agent"),
		call("SendInput", "send_input"),
		call("Wait", "wait"),
		call("CloseAgent", "close_agent"),
	}
})

// terms are what tools advise, in the specification's words.
var terms = []string{
	"use Write", "use write_file", "use Glob", "use glob", "with Grep", "with grep",
	"output_mode", "max_results", "head_limit", "max_results", "path, glob or type", "path or glob_filter",
}

// writeExit writes a command's end before what it printed.
func writeExit(d env.CommandResult, r agent.Result, cut func(string) string) string {
	return fmt.Sprintf("Exit code: %d\nWall time: %.1f seconds\nOutput:\n%s", d.ExitCode, d.Duration.Seconds(), cut(printed(d, r)))
}

// printed is what a command printed, and how it ended where that is not its
// exit code, for models whose shell has a timeout_ms (LOOP-41).
func printed(d env.CommandResult, r agent.Result) string {
	text := strings.TrimSuffix(r.Output, fmt.Sprintf("[Exit code %d]", d.ExitCode))
	if d.TimedOut {
		text = strings.ReplaceAll(text, "the timeout parameter.]", "the timeout_ms parameter.]")
	}
	return text
}

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

// maxMatches is the default number of matches of the specification's grep.
const maxMatches = 100

type specShell struct {
	Command     commandLine `json:"command" also:"cmd,script" jsonschema:"the command line to run"`
	TimeoutMs   int64       `json:"timeout_ms,omitempty" also:"timeout" jsonschema:"time limit in milliseconds, {timeout_ms} if left out, at most 600000"`
	Description string      `json:"description,omitempty" jsonschema:"what the command does, in five to ten words"`
	Workdir     string      `json:"workdir,omitempty" also:"cwd,dir_path,directory"`
}

func (s specShell) own() tool.BashInput {
	return tool.BashInput{Command: string(s.Command), Timeout: s.TimeoutMs, Description: s.Description, Workdir: s.Workdir}
}

// specRead is Read's own input; it also understands a range given by its first
// and last line.
type specRead struct {
	tool.ReadInput
	EndLine int `json:"end_line,omitempty"`
}

func (r specRead) own() tool.ReadInput {
	if r.EndLine > 0 && r.Limit <= 0 {
		r.Limit = max(r.EndLine-max(r.Offset, 1)+1, 1)
	}
	return r.ReadInput
}

type specWriteStdin struct {
	ID          string `json:"id" also:"task_id,session_id,shell_id,pid" jsonschema:"the task's number"`
	Chars       string `json:"chars,omitempty" also:"input,text" jsonschema:"what to type, line ends included; nothing to only wait"`
	YieldTimeMs int64  `json:"yield_time_ms,omitempty" jsonschema:"how many milliseconds to wait for the command, at most 600000"`
}

func (w specWriteStdin) own() tool.WriteStdinInput {
	return tool.WriteStdinInput{ID: w.ID, Chars: w.Chars, YieldTimeMs: w.YieldTimeMs}
}

type specEdit struct {
	FilePath   string `json:"file_path" also:"path,file,filename" jsonschema:"the file to change, absolute or relative to the working directory"`
	OldString  string `json:"old_string" also:"old_str,old_text" jsonschema:"the text to replace, exactly as it stands in the file"`
	NewString  string `json:"new_string" also:"new_str,new_text" jsonschema:"the text to put in its place"`
	ReplaceAll bool   `json:"replace_all,omitempty" also:"allow_multiple" jsonschema:"replace every occurrence instead of the only one"`
}

func (e specEdit) own() tool.EditInput {
	return tool.EditInput{FilePath: e.FilePath, OldString: e.OldString, NewString: e.NewString, ReplaceAll: e.ReplaceAll}
}

type specGrep struct {
	Pattern         string `json:"pattern" also:"query,regex" jsonschema:"the regular expression to search for"`
	Path            string `json:"path,omitempty" also:"dir_path,file_path,directory" jsonschema:"the file or directory to search, the working directory if left out"`
	GlobFilter      string `json:"glob_filter,omitempty" also:"glob,include,include_pattern" jsonschema:"search only files that match, such as *.go or src/**/*.ts"`
	CaseInsensitive bool   `json:"case_insensitive,omitempty" also:"-i,ignore_case" jsonschema:"ignore the case of letters"`
	MaxResults      int    `json:"max_results,omitempty" also:"limit,head_limit,total_max_matches" jsonschema:"how many matches to give, 100 if left out"`
	grepHabits
}

// grepHabits are parameters of other search tools.
type grepHabits struct {
	CaseSensitive *bool  `json:"case_sensitive,omitempty"`
	OutputMode    string `json:"output_mode,omitempty"`
	NamesOnly     bool   `json:"names_only,omitempty"`
	Type          string `json:"type,omitempty"`
	Numbers       *bool  `json:"-n,omitempty"`
	Context       int    `json:"context,omitempty" also:"-C"`
	Before        int    `json:"before,omitempty" also:"-B"`
	After         int    `json:"after,omitempty" also:"-A"`
	Multiline     bool   `json:"multiline,omitempty"`
	FixedStrings  bool   `json:"fixed_strings,omitempty" also:"-F,literal"`
	Offset        int    `json:"offset,omitempty"`
}

// with adds them to a search.
func (h grepHabits) with(in tool.GrepInput) tool.GrepInput {
	in.OutputMode = cmp.Or(h.OutputMode, in.OutputMode)
	if h.NamesOnly {
		in.OutputMode = string(env.GrepFiles)
	}
	if h.CaseSensitive != nil {
		in.IgnoreCase = !*h.CaseSensitive
	}
	in.Type, in.Numbers, in.Multiline, in.Fixed, in.Offset = h.Type, h.Numbers, h.Multiline, h.FixedStrings, h.Offset
	in.Context, in.Before, in.After = cmp.Or(in.Context, h.Context), cmp.Or(in.Before, h.Before), cmp.Or(in.After, h.After)
	return in
}

func (g specGrep) own() tool.GrepInput {
	return g.with(tool.GrepInput{
		Pattern: g.Pattern, Path: g.Path, Glob: g.GlobFilter, IgnoreCase: g.CaseInsensitive,
		OutputMode: string(env.GrepContent), GrepView: tool.GrepView{HeadLimit: cmp.Or(g.MaxResults, maxMatches)},
	})
}

// specBindings define the tools as the loop specification names them (LOOP-23
// to LOOP-28). Every profile understands them.
var specBindings = sync.OnceValue(func() []agent.Binding {
	return []agent.Binding{
		picky(speaking(bind("Read", "read_file", "read", specRead.own), terms...)),
		picky(speaking(bind("Write", "write_file", "write", same[tool.WriteInput]), terms...)),
		picky(speaking(bind("Edit", "edit_file", "edit", specEdit.own), terms...)),
		picky(written(written(bind("Bash", "shell", "shell", specShell.own), writeExit), writeRunning)),
		picky(speaking(bind("Grep", "grep", "grep", specGrep.own), terms...)),
		picky(speaking(bind("Glob", "glob", "glob", same[tool.GlobInput]), terms...)),
		speaking(bind("ReadMany", "read_many_files", "readmany", same[tool.ReadManyInput]), terms...),
		bind("ListDir", "list_dir", "listdir", same[tool.ListDirInput]),
		synonyms(agent.Called("ApplyPatch", "apply_patch"), "patch", "input"),
		bind("WriteStdin", "write_stdin", "", specWriteStdin.own),
		bind("TaskOutput", "task_output", "", taskOutput.own),
		bind("TaskList", "task_list", "", same[tool.TaskListInput]),
		bind("TaskStop", "task_stop", "", same[tool.TaskStopInput]),
	}
})

// terms translate the tools' advice into the specification's terms.
var terms = []string{
	"use Write", "use write_file", "use Glob", "use glob", "with Grep", "with grep",
	"output_mode", "max_results", "head_limit", "max_results", "path, glob or type", "path or glob_filter",
}

// writeExit writes a command's end before its output.
func writeExit(d env.CommandResult, r agent.Result, cut func(string) string) string {
	return fmt.Sprintf("Exit code: %d\nWall time: %.1f seconds\nOutput:\n%s", d.ExitCode, d.Duration.Seconds(), cut(printed(d, r)))
}

// writeRunning writes what a command that runs on has printed, and how to follow it.
func writeRunning(p tool.Progress, _ agent.Result, cut func(string) string) string {
	text := fmt.Sprintf("Wall time: %.1f seconds\nOutput:\n%s", p.Took.Seconds(), cut(p.Stdout))
	for _, remark := range p.Remarks {
		text = strings.TrimSuffix(text, "\n") + "\n" + strings.NewReplacer("TaskOutput", "task_output", "TaskStop", "task_stop").Replace(remark)
	}
	return text
}

// printed returns a command's output and, if the exit code does not say it, how
// the command ended, for models whose shell has a timeout_ms (LOOP-41).
func printed(d env.CommandResult, r agent.Result) string {
	text := strings.TrimSuffix(r.Output, fmt.Sprintf("[Exit code %d]", d.ExitCode))
	if d.TimedOut {
		text = strings.ReplaceAll(text, "the timeout parameter.]", "the timeout_ms parameter.]")
	}
	return text
}

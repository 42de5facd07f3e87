package transcript

import (
	"encoding/json"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// names maps the tools of other programs to our own (K-04). A tool that is not here
// keeps its name.
var names = map[string]string{
	"Task": "Agent", "BashOutput": "TaskOutput", "KillShell": "TaskStop", "KillBash": "TaskStop", "LS": "ListDir",
	"shell": "Bash", "local_shell": "Bash", "shell_command": "Bash", "exec_command": "Bash", "container.exec": "Bash",
	"apply_patch": "ApplyPatch", "read_file": "Read", "write_stdin": "WriteStdin", "list_dir": "ListDir", "grep_files": "Grep",
	"run_shell_command": "Bash", "write_file": "Write", "replace": "Edit", "list_directory": "ListDir", "search_file_content": "Grep", "grep_search": "Grep",
	"read_many_files": "ReadMany", "web_fetch": "WebFetch", "google_web_search": "WebSearch", "webfetch": "WebFetch", "list": "ListDir", "todowrite": "TodoWrite", "task": "Agent",
	"read": "Read", "write": "Write", "edit": "Edit", "bash": "Bash", "glob": "Glob", "grep": "Grep",
}

// canonical returns a call as it is shown: our name of the tool, and its input in the
// form of our tools where it says a command in another.
func canonical(c llm.ToolCall) (tool, input string) {
	tool = c.Name
	if known, ok := names[c.Name]; ok {
		tool = known
	}
	input = string(c.Input())
	if tool != "Bash" {
		return tool, input
	}
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(input), &members) != nil {
		return tool, input
	}
	line, ok := commandLine(members)
	if !ok {
		return tool, input
	}
	shown := map[string]string{"command": line}
	var workdir string
	if json.Unmarshal(members["workdir"], &workdir) == nil && workdir != "" {
		shown["workdir"] = workdir
	}
	b, err := json.Marshal(shown)
	if err != nil {
		return tool, input
	}
	return tool, string(b)
}

// commandLine returns the command of a call that is not in the form of our own tool: a
// list of words, or a line under another name.
func commandLine(members map[string]json.RawMessage) (string, bool) {
	var line string
	if json.Unmarshal(members["cmd"], &line) == nil && line != "" {
		return line, true
	}
	var words []string
	if json.Unmarshal(members["command"], &words) != nil || len(words) == 0 {
		return "", false
	}
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && (words[1] == "-lc" || words[1] == "-c") {
		return words[2], true
	}
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n\"'\\$`!*?[]{}()<>|&;#~") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " "), true
}

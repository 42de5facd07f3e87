package audit

import (
	"encoding/json"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/internal/text"
)

// maxSubject is how much of a command is listed, in bytes.
const maxSubject = 400

// arguments are the arguments of tools that say what a call is about.
type arguments struct {
	Command  string   `json:"command"`
	Workdir  string   `json:"workdir"`
	FilePath string   `json:"file_path"`
	Path     string   `json:"path"`
	Paths    []string `json:"paths"`
	Pattern  string   `json:"pattern"`
	URL      string   `json:"url"`
	Chars    string   `json:"chars"`
	Task     string   `json:"task"`
}

func argumentsOf(input string) arguments {
	var a arguments
	// An argument of another type leaves the others readable.
	_ = json.Unmarshal([]byte(input), &a)
	return a
}

// reads lists the files that the arguments name.
func (a arguments) reads() []string {
	var paths []string
	for _, path := range append([]string{a.FilePath, a.Path}, a.Paths...) {
		if path != "" {
			paths = append(paths, path)
		}
	}
	return paths
}

// subject returns what tells most about a call, and whether it was cut.
func subject(input string, end agent.ToolCallEnd) (short string, cut bool) {
	a := argumentsOf(input)
	whole := a.Command
	if whole == "" && end.Details != nil {
		var paths []string
		for _, change := range end.Details.Changes {
			paths = append(paths, change.Path)
		}
		whole = strings.Join(paths, ", ")
	}
	if whole == "" {
		whole = strings.Join(a.reads(), ", ")
	}
	for _, other := range []string{a.Pattern, a.URL, a.Chars, a.Task} {
		if other != "" && a.Command == "" {
			whole = strings.TrimPrefix(whole+" · "+other, " · ")
		}
	}
	if whole == "" {
		whole = input
	}
	short = text.Head(whole, maxSubject)
	return short, len(short) < len(whole)
}

// gateCall returns what a gate would have seen of a call, as far as the log tells.
func gateCall(folder string, end agent.ToolCallEnd, input string) (agent.GateCall, bool) {
	a := argumentsOf(input)
	call := agent.GateCall{Tool: end.Tool, Input: json.RawMessage(input)}
	in := func(path string) string {
		if filepath.IsAbs(path) {
			return path
		}
		return filepath.Join(folder, path)
	}
	if a.Command != "" {
		call.Access.Command, call.Access.Dir = a.Command, in(a.Workdir)
		return call, true
	}
	if end.Details != nil {
		for _, change := range end.Details.Changes {
			call.Access.Writes = append(call.Access.Writes, in(change.Path))
		}
	}
	if len(call.Access.Writes) == 0 {
		for _, path := range a.reads() {
			call.Access.Reads = append(call.Access.Reads, in(path))
		}
		call.ReadOnly = true
	}
	return call, len(call.Access.Writes)+len(call.Access.Reads) > 0
}

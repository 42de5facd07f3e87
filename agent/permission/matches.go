package permission

import (
	"path"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/rule"
)

// kin are the tools that a name stands for when a skill allows or denies it, beside the
// tool itself. Other rules are more generous: there Edit stands for Write as well.
var kin = map[string][]string{
	"Read":      {"ReadMany", "ListDir"},
	"Glob":      {"ListDir"},
	"LS":        {"ListDir"},
	"Edit":      {"MultiEdit", "NotebookEdit", "ApplyPatch"},
	"MultiEdit": {"Edit", "NotebookEdit", "ApplyPatch"},
	"Bash":      {"Monitor", "WriteStdin", "TaskOutput", "TaskList", "TaskStop"},
	"Agent":     {"SendInput", "Wait", "CloseAgent"},
	"Task":      {"Agent", "SendInput", "Wait", "CloseAgent"},
}

// ofTask are the tools that only follow or end a command that was allowed when it
// started. A pattern such as Bash(go test *) allows them.
var ofTask = []string{"TaskOutput", "TaskList", "TaskStop"}

// Matches implements [agent.Matcher]. A pattern that allows has to cover the whole call:
// Bash(git *) allows a line whose every step is git's or only reads in the project. One
// that denies may mean part of it. An unreadable entry allows nothing, and denies the
// tool whose name it begins with.
func (p *Policy) Matches(pattern string, decision agent.Decision, call agent.GateCall) bool {
	if pattern == "*" {
		return true
	}
	r, err := rule.Parse(pattern)
	if err != nil {
		tool, _, _ := strings.Cut(pattern, "(")
		return decision == agent.Deny && stands(tool, call.Tool, decision)
	}
	switch {
	case !stands(r.Tool, call.Tool, decision):
		return false
	case r.Selector == "", decision == agent.Allow && slices.Contains(ofTask, call.Tool):
		return true
	case call.Tool == "WriteStdin": // what a running program reads may be anything
		return decision == agent.Deny
	}
	r.Decision = decision
	if r.Tool != call.Tool && call.Tool != "ApplyPatch" { // under the name that the selector is about
		call.Tool = r.Tool
	}
	judged := rule.New(rule.Place{Project: p.dir}, []rule.Rule{r}).Judge(call, func(path string, write bool) bool {
		return p.touchesFreely(agent.ModeDefault, path, write)
	})
	return judged.Decision == decision || decision == agent.Deny && judged.Decision == agent.Ask
}

// Shows reports whether any call of a tool is allowed by the patterns of a limit, such as a
// skill's. A tool of which no call is need not be shown.
func Shows(limit agent.SkillUse, tool string) bool {
	any := func(patterns []string, d agent.Decision, whole bool) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			name, _, part := strings.Cut(pattern, "(")
			return !(whole && part) && (pattern == "*" || stands(name, tool, d))
		})
	}
	return !any(limit.Denied, agent.Deny, true) && (!limit.Limited || any(limit.Tools, agent.Allow, false))
}

// stands reports whether a tool's name in a skill means a tool.
func stands(name, tool string, decision agent.Decision) bool {
	switch {
	case name == tool, slices.Contains(kin[name], tool):
		return true
	case decision == agent.Deny && name == "Write" && tool == "ApplyPatch": // it may create files
		return true
	case strings.HasPrefix(name, "mcp__") && !strings.Contains(name, "*") && strings.HasPrefix(tool, name+"__"):
		return true
	case !strings.Contains(name, "*"):
		return false
	}
	ok, err := path.Match(name, tool)
	return ok && err == nil
}

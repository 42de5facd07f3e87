// Package permission decides which tool calls run freely, which need a
// person's consent and which are refused: the [Policy] of one session.
package permission

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// Policy implements [agent.Gate] for the six permission modes (K-12). It is
// not safe for concurrent use: Decide and Grant belong to the session's
// goroutine.
type Policy struct {
	dir     string // the workspace, without symbolic links
	alias   string // the workspace as the user names it
	allow   []string
	deny    []string
	read    []string // more folders to read in
	granted map[string]bool
}

// Rules name tools by their canonical names.
type Rules struct {
	// Allow lists tools that run without asking, except in plan mode and for
	// protected files.
	Allow []string
	// Deny lists tools that never run, in any mode. It wins over Allow.
	Deny []string
	// Read lists folders, absolute and without symbolic links, that may be read
	// as freely as the workspace.
	Read []string
}

var (
	_ agent.Gate    = (*Policy)(nil)
	_ agent.Granter = (*Policy)(nil)
)

// New returns the policy of a session that works in the given folder.
func New(workspace string, rules Rules) (*Policy, error) {
	abs, err := filepath.Abs(workspace)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, fmt.Errorf("open workspace: %w", err)
	}
	return &Policy{dir: real, alias: abs, allow: rules.Allow, deny: rules.Deny, read: rules.Read, granted: map[string]bool{}}, nil
}

// Grant allows calls equal to this one for the rest of the session: the same
// tool with the same command in the same place, or else writing or reading the same files. Plan
// mode and protected files ask nevertheless.
func (p *Policy) Grant(call agent.GateCall) { p.granted[p.key(call)] = true }

// Decide implements [agent.Gate] (K-12). The reason is one sentence for the
// dialog, or for the model where the call is denied. Rules that deny are final,
// and so are the questions of plan mode and about protected files.
func (p *Policy) Decide(call agent.GateCall) agent.Verdict {
	if slices.Contains(p.deny, call.Tool) {
		return agent.Verdict{Decision: agent.Deny, Reason: fmt.Sprintf("The tool %s is switched off here.", call.Tool), Final: true}
	}
	if call.Mode == agent.ModeBypass {
		return agent.Verdict{Decision: agent.Allow, Reason: "This mode never asks."}
	}
	reason, kind := p.examine(call)
	if p.free(call, kind) {
		return agent.Verdict{Decision: agent.Allow, Reason: reason}
	}
	final := call.Mode == agent.ModePlan || kind == protected
	if call.Mode == agent.ModeDontAsk {
		return agent.Verdict{Decision: agent.Deny, Reason: reason + " The mode dontAsk refuses what would need consent.", Final: final}
	}
	return agent.Verdict{Decision: agent.Ask, Reason: reason, Final: final}
}

// kind sorts calls by what they risk.
type kind int

const (
	looks     kind = iota // only reads, inside the workspace
	edits                 // writes ordinary files inside the workspace
	protected             // writes files that can make other programs run code
	risks                 // anything else
)

// free reports whether a call of this kind runs without asking.
func (p *Policy) free(call agent.GateCall, k kind) bool {
	switch {
	case k == looks:
		return true
	case call.Mode == agent.ModePlan || k == protected:
		return false
	case p.granted[p.key(call)] || slices.Contains(p.allow, call.Tool):
		return true
	}
	return k == edits && (call.Mode == agent.ModeAcceptEdits || call.Mode == agent.ModeAuto)
}

// examine finds out what a call risks and says so.
func (p *Policy) examine(call agent.GateCall) (string, kind) {
	for _, path := range call.Access.Writes {
		if real := resolve(path); isProtected(p.shown(path)) || isProtected(p.shown(real)) {
			return fmt.Sprintf("%s can make other programs run code, so changing it always needs consent.", p.shown(path)), protected
		}
	}
	for _, path := range slices.Concat(call.Access.Writes, call.Access.Reads) {
		if real := resolve(path); !p.inside(real) && (len(call.Access.Writes) > 0 || !p.readable(real)) {
			if real != filepath.Clean(path) {
				return fmt.Sprintf("%s leads to %s, which lies outside the project.", p.shown(path), real), risks
			}
			return filepath.Clean(path) + " lies outside the project.", risks
		}
	}
	switch {
	case p.looks(call.Access):
		return "This command only reads inside the project.", looks
	case call.Access.Command != "":
		return "A command can change anything that your user account can change.", risks
	case len(call.Access.Writes) > 0:
		return fmt.Sprintf("This changes %s.", p.list(call.Access.Writes)), edits
	case call.ReadOnly:
		return "This only reads inside the project.", looks
	case call.Access.Own:
		return "This concerns only what this session itself starts.", looks
	}
	return fmt.Sprintf("What the tool %s does cannot be foreseen.", call.Tool), risks
}

// looks reports whether a command does nothing but read what the workspace, in
// which it runs, holds; what it reads has been looked at before.
func (p *Policy) looks(a agent.Access) bool {
	return a.OnlyReads && a.Command != "" && a.Task == "" && len(a.Writes) == 0 && (a.Dir == "" || p.inside(resolve(a.Dir)))
}

// inside reports whether a resolved path lies in the workspace.
func (p *Policy) inside(real string) bool {
	_, ok := below(p.dir, real)
	return ok
}

// list names the first of some files and counts the others.
func (p *Policy) list(paths []string) string {
	first := p.shown(paths[0])
	switch others := len(paths) - 1; others {
	case 0:
		return first
	case 1:
		return first + " and 1 other file"
	default:
		return fmt.Sprintf("%s and %d other files", first, others)
	}
}

// readable reports whether a resolved path lies in a folder to read in.
func (p *Policy) readable(real string) bool {
	return slices.ContainsFunc(p.read, func(dir string) bool { _, ok := below(dir, real); return ok })
}

// shown shortens a path inside the workspace for a sentence.
func (p *Policy) shown(path string) string {
	for _, dir := range []string{p.alias, p.dir} {
		if rel, ok := below(dir, path); ok {
			return rel
		}
	}
	return path
}

func below(dir, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// key is what equal calls have in common.
func (p *Policy) key(call agent.GateCall) string {
	parts := struct {
		Tool, Command, Dir, Task, Input string
		Writes, Reads                   []string
	}{Tool: call.Tool, Command: call.Access.Command, Task: call.Access.Task}
	switch {
	case parts.Command != "" && call.Access.Dir != "":
		parts.Dir = resolve(call.Access.Dir)
	case parts.Command != "":
	case len(call.Access.Writes) > 0:
		parts.Writes = resolveAll(call.Access.Writes)
	case len(call.Access.Reads) > 0:
		parts.Reads = resolveAll(call.Access.Reads)
	default:
		var input bytes.Buffer
		if json.Compact(&input, call.Input) == nil {
			parts.Input = input.String()
		}
	}
	key, _ := json.Marshal(parts) // strings always marshal
	return string(key)
}

func resolveAll(paths []string) []string {
	real := make([]string, 0, len(paths))
	for _, path := range paths {
		real = append(real, resolve(path))
	}
	slices.Sort(real)
	return slices.Compact(real)
}

// protectedDirs and protectedFiles are read by programs that run what they
// find there: version control, Atelier itself and shells.
var (
	protectedDirs  = []string{".git", ".atelier"}
	protectedFiles = []string{
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile",
		".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login",
		"config.fish", ".envrc", ".gitconfig",
	}
)

// isProtected compares without case: on some systems .GIT is .git.
func isProtected(path string) bool {
	same := func(list []string, name string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return strings.EqualFold(s, name) })
	}
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if same(protectedDirs, part) {
			return true
		}
	}
	return same(protectedFiles, filepath.Base(path))
}

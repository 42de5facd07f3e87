package permission

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/permission/boundary"
	"atelier.dev/atelier/agent/permission/rule"
)

// Policy implements [agent.Gate] for the six permission modes (K-12). Make one
// with [New]; the zero Policy has no rules and no workspace, so that every file is
// outside it. It is not safe for concurrent use: Decide and Grant belong to the session's
// goroutine.
type Policy struct {
	dir     string // the workspace, without symbolic links
	alias   string // the workspace as the user named it
	allow   []string
	deny    []string
	read    []string // more folders to read in
	own     []string // folders that no tool may touch
	undo    bool     // what commands change in the workspace can be undone
	granted map[string]bool
	rules   func() *rule.Set
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
	// Own lists the program's own folders, absolute. No tool may read or write
	// there in any mode, except in folders that Read lists.
	Own []string
	// Undo says that what commands change in the workspace can be undone.
	Undo bool
	// Set returns the rules that hold now; nil means that there are none. It is
	// called for each decision and must not block for long.
	Set func() *rule.Set
}

var (
	_ agent.Gate    = (*Policy)(nil)
	_ agent.Granter = (*Policy)(nil)
	_ agent.Matcher = (*Policy)(nil)
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
	p := &Policy{dir: real, alias: abs, allow: rules.Allow, deny: rules.Deny, read: rules.Read, undo: rules.Undo, rules: rules.Set}
	for _, dir := range rules.Own {
		if dir = boundary.Resolve(dir); !p.insideOf(dir) {
			p.own = append(p.own, dir)
		}
	}
	return p, nil
}

// Grant allows calls equal to this one for the rest of the session: the same
// tool with the same command in the same directory, reading or writing the
// same files, or a request to the same host. Plan mode, protected files and an ask rule of the session still ask.
func (p *Policy) Grant(call agent.GateCall) {
	if p.granted == nil {
		p.granted = map[string]bool{}
	}
	p.granted[p.key(call)] = true
}

// set returns the rules that hold now; nil if there are none.
func (p *Policy) set() *rule.Set {
	if p.rules == nil {
		return nil
	}
	return p.rules()
}

// Decide implements [agent.Gate] (K-12). The reason is one sentence for the
// dialog, or for the model if the call is denied. Rules that deny are final,
// and so are the questions of plan mode and about protected files.
func (p *Policy) Decide(ctx context.Context, call agent.GateCall) agent.Verdict {
	if slices.Contains(p.deny, call.Tool) {
		return final(agent.Because(agent.Deny, agent.ReasonToolOff, call.Tool))
	}
	for _, path := range slices.Concat(call.Access.Writes, call.Access.Reads) {
		if p.isOwn(boundary.Resolve(path)) {
			return final(agent.Because(agent.Deny, agent.ReasonOwnFolder, filepath.Clean(path)))
		}
	}
	judged := p.set().Judge(call, func(path string, write bool) bool { return p.touchesFreely(call.Mode, path, write) })
	granted := len(p.granted) > 0 && p.granted[p.key(call)]
	switch {
	case judged.Decision == agent.Deny && judged.Listed != "":
		return final(agent.Because(agent.Deny, agent.ReasonListsDeny, judged.Listed))
	case judged.Decision == agent.Deny:
		return final(by(judged, agent.Because(agent.Deny, agent.ReasonRuleDenies, judged.Rule.Text)))
	case judged.Decision == agent.Ask && !(granted && call.Mode != agent.ModePlan && (judged.Rule == nil || judged.Rule.Scope != agent.ScopeSession)):
		return p.question(call, judged)
	case call.Mode == agent.ModeBypass && call.Access.Confinement != agent.Unconfined && len(call.Access.Hosts) == 0:
		return agent.Because(agent.Allow, agent.ReasonNeverAsks)
	}
	verdict, kind := p.examine(ctx, call)
	switch {
	case p.free(ctx, call, kind, false):
		verdict.Decision = agent.Allow
		return verdict
	case granted && p.free(ctx, call, kind, true):
		verdict.Decision, verdict.By = agent.Allow, agent.ByPerson
		return verdict
	case judged.Decision == agent.Allow && (call.Mode != agent.ModePlan || kind == web || kind == chosen) && kind != protected && kind != secret && kind != reaches:
		return by(judged, agent.Because(agent.Allow, agent.ReasonRuleAllows, judged.Rule.Text))
	}
	verdict.EachTime = call.Mode == agent.ModePlan && kind != web && kind != chosen || kind == protected
	verdict.Final = verdict.EachTime || kind == secret || kind == reaches
	return refused(call, verdict)
}

// question asks because of a rule, in every mode.
func (p *Policy) question(call agent.GateCall, judged rule.Judgement) agent.Verdict {
	code := agent.ReasonRuleAsks
	switch {
	case judged.Listed != "":
		return refused(call, final(agent.Because(agent.Ask, agent.ReasonListsAsk, judged.Listed)))
	case judged.Unread != "":
		return refused(call, final(by(judged, agent.Because(agent.Ask, agent.ReasonRulesUnread, judged.Unread))))
	case judged.Unsure:
		code = agent.ReasonRuleUnsure
	}
	v := final(by(judged, agent.Because(agent.Ask, code, judged.Rule.Text)))
	v.EachTime = call.Mode == agent.ModePlan
	return refused(call, v)
}

// refused turns a question into a denial in the mode that asks nothing.
func refused(call agent.GateCall, v agent.Verdict) agent.Verdict {
	if call.Mode == agent.ModeDontAsk {
		v.Decision = agent.Deny
		v.Reason += " The mode dontAsk refuses what would need consent."
	}
	return v
}

// by names the rule that decided.
func by(judged rule.Judgement, v agent.Verdict) agent.Verdict {
	v.By, v.Rule = agent.ByRule, judged.Rule
	return v
}

// touchesFreely reports whether a mode lets a part of a command touch a file.
func (p *Policy) touchesFreely(mode agent.Mode, path string, write bool) bool {
	call := agent.GateCall{Mode: mode, ReadOnly: !write, Access: agent.Access{Reads: []string{path}}}
	if write {
		call.Access = agent.Access{Writes: []string{path}}
	}
	ctx := context.Background() // only paths are looked at, no command
	_, kind := p.examine(ctx, call)
	return p.free(ctx, call, kind, false)
}

func final(v agent.Verdict) agent.Verdict {
	v.Final = true
	return v
}

// kind is the kind of risk of a call.
type kind int

const (
	looks     kind = iota // only reads, inside the workspace
	edits                 // writes ordinary files inside the workspace
	protected             // writes files that can make other programs run code
	confined              // runs a command that the system confines
	leaves                // runs a command without the confinement that others have
	secret                // reads files that may hold secrets
	reaches               // reaches hosts that are not allowed yet
	web                   // asks a host on the network
	chosen                // asks a host that the user has set up for it
	risks                 // anything else
)

// free reports whether a call of this kind runs without asking.
func (p *Policy) free(ctx context.Context, call agent.GateCall, k kind, granted bool) bool {
	switch {
	case k == looks:
		return true
	case k == web || k == chosen: // changes nothing, so that plan mode is no reason to ask again
		return granted || slices.Contains(p.allow, call.Tool) || k == chosen && call.Mode == agent.ModeAuto
	case call.Mode == agent.ModePlan || k == protected:
		return false
	case granted:
		return true
	case k == secret, k == leaves, k == reaches:
		return false
	case slices.Contains(p.allow, call.Tool):
		return true
	case k == confined:
		return true
	}
	switch call.Mode {
	case agent.ModeAcceptEdits:
		return k == edits
	case agent.ModeAuto:
		return k == edits || call.Access.Command == "" && !p.mayHarm(ctx, call)
	}
	return false
}

// examine determines what a call risks and asks the mode's question about it.
func (p *Policy) examine(ctx context.Context, call agent.GateCall) (agent.Verdict, kind) {
	if call.Access.Confinement == agent.Unconfined {
		return ask(leaves, agent.ReasonUnconfined)
	}
	if hosts := call.Access.Hosts; len(hosts) > 0 { // first, because the answer says what it may reach
		return ask(reaches, agent.ReasonHosts, strings.Join(hosts, ", "))
	}
	if call.Access.WebChosen {
		return ask(chosen, agent.ReasonWeb, call.Access.Web)
	}
	if call.Access.Web != "" {
		return ask(web, agent.ReasonWeb, call.Access.Web)
	}
	for _, path := range call.Access.Writes {
		if real := boundary.Resolve(path); p.controls(path) || p.controls(real) || p.inBareRepository(real) {
			return ask(protected, agent.ReasonControls, p.shown(path))
		}
	}
	for _, path := range call.Access.Reads {
		if p.secret(path, boundary.Resolve(path)) || sensitive.HasToken(boundary.Resolve(path)) {
			return ask(secret, agent.ReasonSecret, p.shown(path))
		}
	}
	if p.runsConfined(ctx, call) { // the system keeps it from what is hidden, and from changing anything outside
		return ask(confined, agent.ReasonConfined)
	}
	for _, path := range slices.Concat(call.Access.Writes, call.Access.Reads) {
		if real := boundary.Resolve(path); !p.inside(real) && (len(call.Access.Writes) > 0 || !p.readable(real)) {
			if real != filepath.Clean(path) {
				return ask(risks, agent.ReasonLeadsOutside, p.shown(path), real)
			}
			return ask(risks, agent.ReasonOutside, real)
		}
	}
	switch {
	case p.looks(call.Access):
		return ask(looks, agent.ReasonCommandReads)
	case call.Access.Command != "":
		return p.unsure(ctx, call)
	case len(call.Access.Writes) > 0:
		return p.changes(call.Access.Writes), edits
	case call.ReadOnly:
		return ask(looks, agent.ReasonReads)
	case call.Access.Own:
		return ask(looks, agent.ReasonOwn)
	}
	return ask(risks, agent.ReasonUnforeseen, call.Tool)
}

// runsConfined reports whether a call is a command that needs no consent, because the
// system confines it.
func (p *Policy) runsConfined(ctx context.Context, call agent.GateCall) bool {
	a := call.Access
	return a.Command != "" && a.Confinement == agent.ConfinedFree && call.Mode != agent.ModePlan && !p.loses(ctx, call)
}

// unsure asks about a command that does more than read, or whose reading cannot be
// told to be all: the question then names the part.
func (p *Policy) unsure(ctx context.Context, call agent.GateCall) (agent.Verdict, kind) {
	effects := p.Foretell(ctx, call).Effects
	if call.Access.Task != "" || len(effects) != 1 || effects[0].ID != agent.EffectReads {
		return ask(risks, agent.ReasonCommand)
	}
	if part := command.Unsure(call.Access.Command); part != "" {
		return ask(risks, agent.ReasonCommandUnsure, part)
	}
	return ask(risks, agent.ReasonCommandPlace)
}

func ask(k kind, code agent.ReasonCode, args ...string) (agent.Verdict, kind) {
	return agent.Because(agent.Ask, code, args...), k
}

// looks reports whether a command runs in the workspace and only reads files
// there. The files that it reads have been checked before.
func (p *Policy) looks(a agent.Access) bool {
	return a.OnlyReads && a.Command != "" && a.Task == "" && len(a.Writes) == 0 && (a.Dir == "" || p.inside(boundary.Resolve(a.Dir)))
}

// inside reports whether a resolved path is in the workspace.
func (p *Policy) inside(real string) bool {
	_, ok := below(p.dir, real)
	return ok
}

// changes names the first changed file and counts the others.
func (p *Policy) changes(paths []string) agent.Verdict {
	first := p.shown(paths[0])
	switch others := len(paths) - 1; others {
	case 0:
		return agent.Because(agent.Ask, agent.ReasonChanges, first)
	case 1:
		return agent.Because(agent.Ask, agent.ReasonChangesTwo, first)
	default:
		return agent.Because(agent.Ask, agent.ReasonChangesMore, first, strconv.Itoa(others))
	}
}

// insideOf reports whether the workspace is the given folder or inside it.
func (p *Policy) insideOf(dir string) bool {
	_, ok := below(dir, p.dir)
	return ok
}

// isOwn reports whether a resolved path is in a folder that no tool may touch.
func (p *Policy) isOwn(real string) bool {
	return !p.readable(real) && slices.ContainsFunc(p.own, func(dir string) bool { _, ok := below(dir, real); return ok })
}

// readable reports whether a resolved path is in a folder that may be read.
func (p *Policy) readable(real string) bool {
	return slices.ContainsFunc(p.read, func(dir string) bool { _, ok := below(dir, real); return ok })
}

// secret reports whether a file holds secrets by its name, or by that of the one to
// which its links lead.
func (p *Policy) secret(path, real string) bool {
	return sensitive.Secret(p.shown(path)) || sensitive.Secret(p.shown(real))
}

// shown shortens a path in the workspace for a sentence.
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

// key returns what equal calls have in common.
func (p *Policy) key(call agent.GateCall) string {
	parts := struct {
		Tool, Command, Dir, Task, Input string
		Writes, Reads                   []string
		Web                             string   `json:",omitempty"`
		Unconfined                      bool     `json:",omitempty"`
		Hosts                           []string `json:",omitempty"`
	}{Tool: call.Tool, Command: call.Access.Command, Task: call.Access.Task, Unconfined: call.Access.Confinement == agent.Unconfined, Hosts: call.Access.Hosts, Web: call.Access.Web}
	switch {
	case parts.Command != "" && call.Access.Dir != "":
		parts.Dir = boundary.Resolve(call.Access.Dir)
	case parts.Command != "", parts.Web != "":
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
		real = append(real, boundary.Resolve(path))
	}
	slices.Sort(real)
	return slices.Compact(real)
}

// controls reports whether changing a file can make other programs run code. A
// file named HEAD turns its folder into a repository.
func (p *Policy) controls(path string) bool {
	return sensitive.Controls(p.shown(path)) || strings.EqualFold(filepath.Base(path), "HEAD")
}

// inBareRepository reports whether a file is in a folder of the workspace that
// git takes for a repository, with its configuration and hooks.
func (p *Policy) inBareRepository(real string) bool {
	for dir := filepath.Dir(real); p.inside(dir); dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, "HEAD")) && exists(filepath.Join(dir, "objects")) {
			return true
		}
		if dir == p.dir {
			break
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

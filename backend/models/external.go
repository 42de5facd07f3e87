package models

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"mvdan.cc/sh/v3/shell"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/external"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/provider"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

// externalSetting holds the user's external agents, as JSON. Only the user writes it: no file of
// a project can name an agent.
const externalSetting = "external_agents"

// The limits of external agents.
const (
	maxExternal     = 20
	maxExternalName = 60
	maxExternalArgs = 64
	maxExternalEnv  = 32
	maxCommandLine  = 4 << 10
)

// ExternalAgent is an agent of somebody else, which is a provider like any other.
type ExternalAgent struct {
	ID      string   `json:"id"` // of the provider
	Name    string   `json:"name"`
	Command string   `json:"command"` // as in a terminal
	Env     []string `json:"env,omitempty"`
}

// KnownAgent is an agent whose program was found on this machine.
type KnownAgent struct {
	Name    string   `json:"name"`
	Command string   `json:"command"`
	Env     []string `json:"env,omitempty"`
}

// knownAgents are agents that speak the protocol, by the first word of their command.
var knownAgents = []KnownAgent{
	{Name: "Claude Code", Command: "claude-agent-acp", Env: []string{"ANTHROPIC_API_KEY"}},
	{Name: "Claude Code", Command: "claude-code-acp", Env: []string{"ANTHROPIC_API_KEY"}},
	{Name: "Codex", Command: "codex-acp", Env: []string{"OPENAI_API_KEY"}},
	{Name: "Gemini CLI", Command: "gemini --acp", Env: []string{"GEMINI_API_KEY"}},
	{Name: "goose", Command: "goose acp"},
	{Name: "OpenCode", Command: "opencode acp"},
	{Name: "Qwen Code", Command: "qwen --acp"},
	{Name: "Kimi CLI", Command: "kimi acp"},
	{Name: "Auggie", Command: "auggie --acp"},
}

// ExternalList answers the methods about external agents.
type ExternalList struct {
	Agents []ExternalAgent `json:"agents,omitempty"`
	// Found are those on this machine that were not added.
	Found []KnownAgent `json:"found,omitempty"`
}

// ExternalRef names an external agent.
type ExternalRef struct {
	ID string `json:"id"`
}

// External keeps the external agents. Their adapters live as long as their settings do.
type External struct {
	p *Providers

	mu       sync.Mutex // guards what follows
	adapters map[string]*external.Adapter
	made     map[string]ExternalAgent
}

// register registers the methods of external agents.
func (x *External) register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "external.list", x.List)
	dispatch.Handle(d, "external.set", x.Set)
	dispatch.Handle(d, "external.remove", x.Remove)
	dispatch.Handle(d, "external.check", x.Check)
}

func (x *External) stored(ctx context.Context) ([]ExternalAgent, error) {
	text, err := x.p.cfg.Settings.Setting(ctx, externalSetting)
	if isDamaged(err) {
		slog.Warn("the stored external agents are damaged; there are none until one is added again")
		return nil, nil
	}
	if err != nil || text == "" {
		return nil, err
	}
	var out []ExternalAgent
	if err := json.Unmarshal([]byte(text), &out); err != nil {
		return nil, fmt.Errorf("read external agents: %w", err)
	}
	return out, nil
}

// rows returns the providers of the external agents. An agent whose settings did not
// change keeps its adapter, and with it its programs.
func (x *External) rows(ctx context.Context) ([]provider.Row, error) {
	all, err := x.stored(ctx)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	for id, a := range x.adapters {
		if !slices.ContainsFunc(all, func(e ExternalAgent) bool { return e.ID == id && same(e, x.made[id]) }) {
			delete(x.adapters, id)
			go a.Close() // ends with its programs
		}
	}
	var rows []provider.Row
	for _, e := range all {
		a := x.adapters[e.ID]
		if a == nil {
			argv, err := x.words(e.Command)
			if err != nil {
				slog.Warn("an external agent has no command", "agent", e.ID)
				continue
			}
			a = external.New(external.Config{
				Agent: external.Agent{ID: e.ID, Name: e.Name, Argv: argv, Env: e.Env}, Folder: x.p.cfg.Folder, Version: x.p.cfg.Version,
			})
			if x.adapters == nil {
				x.adapters, x.made = map[string]*external.Adapter{}, map[string]ExternalAgent{}
			}
			x.adapters[e.ID], x.made[e.ID] = a, e
		}
		rows = append(rows, provider.Row{ID: e.ID, Name: e.Name, DefaultModel: external.DefaultModel, New: func(llm.AdapterConfig) llm.Adapter { return a }})
	}
	return rows, nil
}

func same(a, b ExternalAgent) bool {
	return a.Name == b.Name && a.Command == b.Command && slices.Equal(a.Env, b.Env)
}

func (x *External) adapterOf(id string) *external.Adapter {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.adapters[id]
}

// free reports whether a request costs nothing that the provider does not charge itself.
func (x *External) free(provider string) bool {
	a := x.adapterOf(provider)
	return x.p.local(provider) || a != nil && a.TellsCost()
}

// Offered are tools that may change while a session runs.
type Offered interface {
	More(provider, model string) *agent.Registry
	Notes(provider, model string) []agent.Note
}

// Offer adds to tools those that a session has while an external agent answers it.
func (x *External) Offer(others Offered) Offered { return offered{others, x} }

type offered struct {
	Offered
	x *External
}

// More implements [Offered].
func (o offered) More(provider, model string) *agent.Registry {
	if a := o.x.adapterOf(provider); a != nil {
		return a.Tools()
	}
	return o.Offered.More(provider, model)
}

// EndSession ends the programs of external agents for a session.
func (x *External) EndSession(session string) {
	x.mu.Lock()
	all := slices.Collect(maps.Values(x.adapters))
	x.mu.Unlock()
	for _, a := range all {
		a.End(session)
	}
}

// Close ends the programs of all external agents.
func (x *External) Close() {
	x.mu.Lock()
	all := slices.Collect(maps.Values(x.adapters))
	x.mu.Unlock()
	for _, a := range all {
		a.Close()
	}
}

// List returns the external agents, and those that could be added.
func (x *External) List(ctx context.Context, _ backend.Empty) (ExternalList, error) {
	all, err := x.stored(ctx)
	out := ExternalList{Agents: all}
	for _, k := range knownAgents {
		program, _, _ := strings.Cut(k.Command, " ")
		added := slices.ContainsFunc(all, func(e ExternalAgent) bool { return e.Command == k.Command || e.Name == k.Name })
		added = added || slices.ContainsFunc(out.Found, func(f KnownAgent) bool { return f.Name == k.Name })
		if !added && external.Installed(program) {
			out.Found = append(out.Found, k)
		}
	}
	return out, err
}

// Set adds or changes an external agent.
func (x *External) Set(ctx context.Context, in ExternalAgent) (ExternalList, error) {
	x.p.storing.Lock()
	defer x.p.storing.Unlock()
	all, err := x.stored(ctx)
	if err != nil {
		return ExternalList{}, err
	}
	at := slices.IndexFunc(all, func(e ExternalAgent) bool { return e.ID == in.ID })
	switch {
	case in.ID != "" && at < 0:
		return ExternalList{}, backend.Problem(backend.ProblemExternalGone)
	case in.ID == "" && len(all) >= maxExternal:
		return ExternalList{}, backend.Problem(backend.ProblemExternalFull, strconv.Itoa(maxExternal))
	}
	if in, err = x.valid(in); err != nil {
		return ExternalList{}, err
	}
	if at < 0 {
		endpoints, err := x.p.storedEndpoints(ctx)
		if err != nil {
			return ExternalList{}, err
		}
		for _, e := range all {
			endpoints = append(endpoints, Endpoint{ID: e.ID})
		}
		in.ID = x.p.freeID("agent "+in.Name, endpoints)
		all = append(all, in)
	} else {
		all[at] = in
	}
	return x.save(ctx, all)
}

// Remove removes an external agent and ends its programs.
func (x *External) Remove(ctx context.Context, in ExternalRef) (ExternalList, error) {
	x.p.storing.Lock()
	defer x.p.storing.Unlock()
	all, err := x.stored(ctx)
	if err != nil {
		return ExternalList{}, err
	}
	return x.save(ctx, slices.DeleteFunc(all, func(e ExternalAgent) bool { return e.ID == in.ID }))
}

func (x *External) save(ctx context.Context, all []ExternalAgent) (ExternalList, error) {
	b, err := json.Marshal(all)
	if err != nil {
		return ExternalList{}, fmt.Errorf("encode external agents: %w", err)
	}
	if err := x.p.cfg.Settings.SetSetting(ctx, externalSetting, string(b)); err != nil {
		return ExternalList{}, err
	}
	if err := x.p.refresh(ctx); err != nil {
		return ExternalList{}, err
	}
	return x.List(ctx, backend.Empty{})
}

// Check starts an external agent in an empty folder and begins a session of it.
func (x *External) Check(ctx context.Context, in ExternalRef) (external.AgentReport, error) {
	if err := x.p.load(ctx); err != nil {
		return external.AgentReport{}, err
	}
	a := x.adapterOf(in.ID)
	if a == nil {
		return external.AgentReport{}, backend.Problem(backend.ProblemExternalGone)
	}
	dir, err := os.MkdirTemp("", "atelier-agent-")
	if err != nil {
		return external.AgentReport{}, fmt.Errorf("make a folder for the agent: %w", err)
	}
	defer os.RemoveAll(dir)
	report, err := a.Check(ctx, dir)
	if err != nil {
		return report, backend.Problem(backend.ProblemExternalFailed, x.name(in.ID)).Because(err)
	}
	if models, err := a.Models(ctx); err == nil { // it may have more than it had
		x.p.listings.put(in.ID, &listing{At: time.Now().UTC().Truncate(time.Second), Models: models})
	}
	return report, nil
}

func (x *External) name(id string) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.made[id].Name
}

// words returns a command line as a program and its arguments.
func (x *External) words(line string) ([]string, error) {
	argv, err := shell.Fields(line, x.p.cfg.Getenv)
	if err != nil {
		return nil, backend.Problem(backend.ProblemExternalCommand).Because(err)
	}
	if len(argv) == 0 || argv[0] == "" || len(argv) > maxExternalArgs || len(line) > maxCommandLine {
		return nil, backend.Problem(backend.ProblemExternalCommand)
	}
	return argv, nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (x *External) valid(in ExternalAgent) (ExternalAgent, error) {
	in.Name, in.Command = strings.TrimSpace(in.Name), strings.TrimSpace(in.Command)
	if in.Name == "" || utf8.RuneCountInString(in.Name) > maxExternalName || strings.ContainsFunc(in.Name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return in, backend.Problem(backend.ProblemExternalUnnamed, strconv.Itoa(maxExternalName))
	}
	if _, err := x.words(in.Command); err != nil {
		return in, err
	}
	for _, name := range in.Env {
		if !variableName.MatchString(name) || len(in.Env) > maxExternalEnv {
			return in, backend.Problem(backend.ProblemExternalEnv, name)
		}
	}
	return in, nil
}

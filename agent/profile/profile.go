// Package profile decides what a model is shown: the names, schemas and forms of
// the tools that the models of its vendor were trained on, and the system prompt
// (LOOP-21). There is one tool for each capability; a profile is a table of
// bindings to it (K-04). The words are our own, on the topics that the vendors'
// own agents speak of (K-26).
package profile

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/agent/tool"
)

// Naming says which names a model is shown.
type Naming string

// The namings. The empty one is NamingNative.
const (
	NamingNative Naming = "native" // those that its vendor's models know
	NamingSpec   Naming = "spec"   // those of the loop specification
)

// ParseNaming reads a naming as a user writes it.
func ParseNaming(s string) (Naming, error) {
	switch n := Naming(s); n {
	case "", NamingNative, NamingSpec:
		return n, nil
	}
	return "", fmt.Errorf("there is no naming %q; use native or spec", s)
}

// design is a profile as it is written down.
type design struct {
	id string
	// documents are the names of its vendor's documents, besides AGENTS.md
	// (LOOP-144).
	documents []string
	// tools are the canonical names of what it is shown, in their order. Of
	// several with a bar between them the first that is there is taken.
	tools []string
	// native are its vendor's bindings; what they do not speak of has the
	// specification's. The first of a tool is the one to show, unless it is
	// hidden.
	native func(platform string) []agent.Binding
}

var designs = []design{
	{
		id: "openai", documents: []string{".codex/instructions.md"}, native: openaiBindings,
		tools: []string{"Bash", "WriteStdin", "ApplyPatch|Edit", "Read", "Write", "Grep", "Glob"},
	},
	{
		id: "anthropic", documents: []string{"CLAUDE.md"}, native: everywhere(anthropicBindings),
		tools: []string{"Read", "Write", "Edit", "Bash", "WriteStdin", "TaskOutput", "TaskList", "TaskStop", "Grep", "Glob"},
	},
	{
		id: "gemini", documents: []string{"GEMINI.md"}, native: everywhere(geminiBindings),
		tools: []string{"Read", "ReadMany", "Write", "Edit", "Bash", "TaskList", "TaskOutput", "TaskStop", "Grep", "Glob", "ListDir"},
	},
	{
		id: "spec", native: func(string) []agent.Binding { return nil },
		tools: []string{"Read", "Write", "Edit", "Bash", "Grep", "Glob"},
	},
}

// everywhere are bindings that are the same on every platform.
func everywhere(bindings func() []agent.Binding) func(string) []agent.Binding {
	return func(string) []agent.Binding { return bindings() }
}

// tasks are the tools about commands that run on. The specification's shell
// leaves none running, so they are shown under native names only.
var tasks = []string{"WriteStdin", "TaskOutput", "TaskList", "TaskStop"}

// helpers are the tools of sessions that may start others. Every profile shows
// them after its own (LOOP-29..31).
var helpers = []string{"SpawnAgent", "SendInput", "Wait", "CloseAgent"}

// of returns the profile of a provider's models. Whose a model is is never
// guessed from its name: endpoints that serve models of many vendors have the
// specification's plain profile. The demo's script calls the tools by their
// canonical names, which are Anthropic's.
func of(provider string) string {
	switch provider {
	case "openai", "anthropic", "gemini":
		return provider
	case "demo":
		return "anthropic"
	}
	return "spec"
}

// Surroundings are what a session finds where it begins.
type Surroundings struct {
	Folder string // the project, absolute and with links resolved
	Home   string // where the user's own document is
	// Platform and OS describe the machine.
	Platform, OS string
	Naming       Naming
	Now          func() time.Time // nil is the machine's clock
	// CommandTimeout is the time limit that the user has set for commands that
	// name none; nil or 0 leaves it to the naming. It is asked at every call,
	// so that a change holds from the next command on. What a model is told of
	// it is what held in the beginning.
	CommandTimeout func() time.Duration
	// Agent says that another agent started the session, Unattended that nobody
	// can be asked, ReadOnly that nothing can be changed.
	Agent, Unattended, ReadOnly bool
	// Cutoff says until when a model knows the world; empty is unknown, and so
	// is nil.
	Cutoff func(provider, model string) string
}

// Profiles implements [agent.Profiles] for one session, or for many that begin in
// the same state of the project. It is safe for concurrent use.
type Profiles struct {
	surroundings Surroundings
	shown        map[string]func() shown
	look         sync.Once
	snapshot     state // of the repository, once somebody looked
}

// shown is a design with the session's tools in it.
type shown struct {
	design
	agent.Profile
}

// state is what was found of a repository.
type state struct {
	project.Snapshot
	ok bool
}

// New returns the profiles of a session with the given tools.
func New(tools *agent.Registry, s Surroundings) *Profiles {
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Cutoff == nil {
		s.Cutoff = func(string, string) string { return "" }
	}
	p := &Profiles{surroundings: s, shown: map[string]func() shown{}}
	limit := commandLimit{set: s.CommandTimeout, fallback: tool.DefaultCommandTimeout}
	if s.Naming == NamingSpec {
		limit.fallback = tool.SpecCommandTimeout
	}
	told := limit.now()
	for _, d := range designs {
		p.shown[d.id] = sync.OnceValue(func() shown {
			bindings := d.bindings(tools.Names(), s)
			for i, b := range bindings {
				if b.Tool == "Bash" {
					b.Description = tool.StateShell(b.Description, s.Platform)
					bindings[i] = limit.bind(b, told)
				}
			}
			set := tools.Show(bindings...)
			return shown{d, agent.Profile{ID: d.id, Tools: set}}
		})
	}
	return p
}

// bindings are what the profile is shown of the tools that there are, and after
// that, hidden, all that is understood besides.
func (d design) bindings(there []string, s Surroundings) []agent.Binding {
	native := d.native(s.Platform)
	shown, tools := native, d.tools
	if s.Naming == NamingSpec {
		shown = nil
		tools = slices.DeleteFunc(slices.Clone(tools), func(name string) bool { return slices.Contains(tasks, name) })
	}
	var out []agent.Binding
	for _, entry := range slices.Concat(tools, helpers) {
		for name := range strings.SplitSeq(entry, "|") {
			if slices.Contains(there, name) {
				out = append(out, binding(name, shown, specBindings()))
				break
			}
		}
	}
	for _, b := range append(slices.Concat(native, specBindings(), anthropicBindings(), habits()), canonicalShell()) {
		b.Hidden = true
		out = append(out, b)
	}
	return append(out, absent()...)
}

// binding returns the first binding of a tool.
func binding(tool string, tables ...[]agent.Binding) agent.Binding {
	for _, b := range slices.Concat(tables...) {
		if b.Tool == tool {
			return b
		}
	}
	panic("profile: no binding of " + tool) // a mistake in this package
}

// Profile implements [agent.Profiles].
func (p *Profiles) Profile(provider, _ string) agent.Profile { return p.shown[of(provider)]().Profile }

// names are the names of the project's documents that the profile's models are
// told.
func (d design) names() []string {
	return append([]string{project.UserDocument}, d.documents...)
}

// Brief implements [agent.Profiles].
func (p *Profiles) Brief(ctx context.Context, now agent.Situation) agent.Briefing {
	p.look.Do(func() { p.snapshot.Snapshot, p.snapshot.ok = project.Snap(ctx, p.surroundings.Folder) })
	return p.brief(ctx, p.shown[of(now.Provider)](), now)
}

// Renew implements [agent.Renewer] (K-45).
func (p *Profiles) Renew(_ context.Context, now agent.Situation, told agent.Told) agent.BriefingUpdate {
	return p.renew(p.shown[of(now.Provider)](), now, told)
}

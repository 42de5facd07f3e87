package profile

import (
	"context"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/project"
	"atelier.dev/atelier/agent/tool"
)

// Naming selects the names that a model is shown.
type Naming string

// The namings. The empty one means NamingNative.
const (
	NamingNative Naming = "native" // the names that its vendor's models know
	NamingSpec   Naming = "spec"   // the names of the loop specification
)

// ParseNaming reads a naming as a user writes it.
func ParseNaming(s string) (Naming, error) {
	switch n := Naming(s); n {
	case "", NamingNative, NamingSpec:
		return n, nil
	}
	return "", fmt.Errorf("there is no naming %q; use native or spec", s)
}

// design is the definition of a profile.
type design struct {
	id string
	// documents are the names of its vendor's documents, in addition to
	// AGENTS.md (LOOP-144).
	documents []string
	// tools are the canonical names of the tools that it shows, in order. Of
	// alternatives separated by a bar, the first registered one is shown.
	tools []string
	// native returns its vendor's bindings; tools without one have the
	// specification's. The first binding of a tool is shown, unless it is
	// hidden.
	native func(platform string) []agent.Binding
}

var designs = []design{
	{
		id: "openai", documents: []string{".codex/instructions.md"}, native: openaiBindings,
		tools: []string{"Bash", "WriteStdin", "ApplyPatch|Edit", "Read", "Write", "Grep", "Glob"},
	},
	{
		id: "anthropic", documents: []string{"CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md", ".claude/rules/"}, native: everywhere(anthropicBindings),
		tools: []string{"Read", "Write", "Edit", "Bash", "WriteStdin", "TaskOutput", "TaskList", "TaskStop", "Grep", "Glob"},
	},
	{
		id: "gemini", documents: []string{"GEMINI.md"}, native: everywhere(geminiBindings),
		tools: []string{"Read", "ReadMany", "Write", "Edit", "Bash", "TaskList", "TaskOutput", "TaskStop", "Grep", "Glob", "ListDir"},
	},
	{
		id: "spec", native: func(string) []agent.Binding { return nil },
		tools: []string{"Read", "Write", "Edit", "Bash", "TaskOutput", "TaskStop", "Grep", "Glob"},
	},
}

// everywhere returns the same bindings for every platform.
func everywhere(bindings func() []agent.Binding) func(string) []agent.Binding {
	return func(string) []agent.Binding { return bindings() }
}

// tasks are the tools for background commands. The specification's shell has
// none, so they are shown under native names only.
var tasks = []string{"WriteStdin", "TaskOutput", "TaskList", "TaskStop"}

// of returns the profile of a provider's models. The vendor is never guessed
// from a model's name: endpoints that serve models of many vendors have the
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

// Surroundings are the facts that a session starts with.
type Surroundings struct {
	Folder string // the project's folder, absolute and without links
	Home   string // the folder of the user's own document
	// Platform and OS describe the machine.
	Platform, OS string
	Naming       Naming
	Now          func() time.Time // nil means the system clock
	// CommandTimeout returns the user's default time limit for commands; nil or
	// 0 leaves it to the naming. It is called for every command, so that a
	// change holds from the next one on. The model is told the limit that held
	// at the beginning.
	CommandTimeout func() time.Duration
	// Confined says in a sentence how the system confines commands, and is empty
	// if it does not; nil means that it does not. It is called for every turn.
	Confined func(agent.Mode) string
	// Outlive says that a command goes on as a task when its time limit is over.
	Outlive bool
	// Growing has tools that may change while the session runs; nil means none.
	Growing Growing
	// Memory returns which files are remembered about the project; nil means none. Its
	// folder is Folder. It is called at the beginning of every turn.
	Memory func() project.Memory
	// Role is what the session's models are told of what they are, such as an agent's own
	// instructions; nil means nothing. It is called once for each model.
	Role func() string
	// Agent says that another agent started the session, Unattended that nobody
	// can be asked, ReadOnly that nothing can be changed.
	Agent, Unattended, ReadOnly bool
	// Cutoff returns a model's knowledge cutoff; it is empty if unknown. It may
	// be nil.
	Cutoff func(provider, model string) string
}

// Growing are tools that may change at any time, such as those of servers.
type Growing interface {
	// More returns the tools, as they are for a model. They are shown after all
	// others, and replace none. It is called often and has to be quick. While they do
	// not change, it returns the same registry, which nobody changes any more.
	More(provider, model string) *agent.Registry
	// Notes returns what a model is told about them, also in the middle of a turn.
	Notes(provider, model string) []agent.Note
}

// Profiles implements [agent.Profiles] for one session, or for several that
// begin in the same state of the project. It is safe for concurrent use.
type Profiles struct {
	surroundings Surroundings
	shown        map[string]func() shown
	look         sync.Once
	snapshot     state // of the repository, once it was read
	growth
}

// growth is what the tools that may change last were like.
type growth struct {
	mu    sync.Mutex
	grown map[string]grown  // by the design's id
	gone  map[string]string // what to say when a note is missing, by what it is about
}

// grown is a profile with tools that were added to it.
type grown struct {
	more *agent.Registry
	agent.Profile
}

// shown is a design applied to the session's tools.
type shown struct {
	design
	agent.Profile
}

// state is the known state of a repository.
type state struct {
	project.Snapshot
	ok bool
}

// New returns the profiles of a session with the given tools; nil means none.
func New(tools *agent.Registry, s Surroundings) *Profiles {
	if tools == nil {
		tools = &agent.Registry{}
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Confined == nil {
		s.Confined = func(agent.Mode) string { return "" }
	}
	if s.Role == nil {
		s.Role = func() string { return "" }
	}
	if s.Cutoff == nil {
		s.Cutoff = func(string, string) string { return "" }
	}
	p := &Profiles{
		surroundings: s, shown: map[string]func() shown{},
		growth: growth{grown: map[string]grown{}, gone: map[string]string{}},
	}
	limit := commandLimit{set: s.CommandTimeout, fallback: tool.DefaultCommandTimeout}
	if s.Naming == NamingSpec {
		limit.fallback = tool.SpecCommandTimeout
	}
	told := limit.now()
	for _, d := range designs {
		p.shown[d.id] = sync.OnceValue(func() shown {
			bindings := d.bindings(tools, s)
			for i, b := range bindings {
				if b.Tool == "Bash" {
					b.Description = tool.StateEnd(tool.StateShell(b.Description, s.Platform), s.Outlive)
					bindings[i] = limit.bind(b, told)
				}
			}
			set := tools.Show(bindings...)
			return shown{d, agent.Profile{ID: d.id, Tools: set}}
		})
	}
	return p
}

// Prepare makes the tables that a session with a model of the provider takes, or those of
// all providers if it is empty, so that the first session finds them ready.
func Prepare(provider string) {
	for _, d := range designs {
		if provider == "" || of(provider) == d.id {
			d.native(runtime.GOOS)
		}
	}
	specBindings()
	anthropicBindings()
	habits()
}

// bindings returns the shown bindings of registered tools, followed by hidden
// ones for everything else that is understood.
func (d design) bindings(registered *agent.Registry, s Surroundings) []agent.Binding {
	there := registered.Names()
	native, spec := d.native(s.Platform), specBindings() // each table costs a millisecond
	shown, tools := native, d.tools
	if s.Naming == NamingSpec {
		shown = nil
		tools = slices.DeleteFunc(slices.Clone(tools), func(name string) bool { return slices.Contains(tasks, name) })
	}
	var out []agent.Binding
	for _, entry := range tools {
		for name := range strings.SplitSeq(entry, "|") {
			if slices.Contains(there, name) {
				out = append(out, binding(name, shown, spec))
				break
			}
		}
	}
	own, others := d.ownBindings(registered, s)
	out = append(out, own...)
	for _, b := range append(slices.Concat(native, spec, anthropicBindings(), habits(), others), canonicalShell()) {
		b.Hidden = true
		out = append(out, b)
	}
	return append(out, absent()...)
}

// ownBindings returns what tools say themselves about how models know them: what the
// profile shows, and what else it understands.
func (d design) ownBindings(registered *agent.Registry, s Surroundings) (shown, others []agent.Binding) {
	id := d.id
	if s.Naming == NamingSpec {
		id = "spec"
	}
	for _, name := range registered.Names() {
		t, _ := registered.Get(name)
		all := t.Spec().Bindings
		if len(all) == 0 {
			continue
		}
		first := agent.Called(name, name)
		if len(all[id]) > 0 {
			first = all[id][0]
		}
		shown = append(shown, first)
		for _, profile := range slices.Sorted(maps.Keys(all)) {
			others = append(others, all[profile]...)
		}
	}
	return shown, others
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
func (p *Profiles) Profile(provider, model string) agent.Profile {
	id := of(provider)
	own := p.shown[id]().Profile
	if p.surroundings.Growing == nil {
		return own
	}
	more := p.surroundings.Growing.More(provider, model)
	p.mu.Lock()
	defer p.mu.Unlock()
	if last, ok := p.grown[id]; ok && last.more == more {
		return last.Profile
	}
	own.Tools = own.Tools.With(more)
	p.grown[id] = grown{more, own}
	return own
}

// names returns the names of the project's documents for the profile's models.
func (d design) names() []string {
	return append([]string{project.UserDocument}, d.documents...)
}

// DocumentNames returns the names of a project's documents for a provider's models; those
// for all models if it is empty.
func DocumentNames(provider string) (names []string) {
	names = []string{project.UserDocument}
	for _, d := range designs {
		if provider == "" || of(provider) == d.id {
			names = append(names, d.documents...)
		}
	}
	return names
}

// Brief implements [agent.Profiles].
func (p *Profiles) Brief(ctx context.Context, now agent.BriefingInput) agent.Briefing {
	p.look.Do(func() { p.snapshot.Snapshot, p.snapshot.ok = project.Snap(ctx, p.surroundings.Folder) })
	return p.brief(ctx, p.shown[of(now.Provider)](), now)
}

// Renew implements [agent.BriefingRenewer] (K-45).
func (p *Profiles) Renew(_ context.Context, now agent.BriefingInput, told agent.BriefingState) agent.BriefingUpdate {
	return p.renew(p.shown[of(now.Provider)](), now, told)
}

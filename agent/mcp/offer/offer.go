package offer

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/mcp"
)

// Servers is what a session needs of the servers. A [mcp.Manager] is one.
type Servers interface {
	// Tools returns what servers offer and a number that changes with it. It is
	// called often and has to be quick.
	Tools() ([]mcp.ServerTools, uint64)
	Call(context.Context, mcp.CallRequest) (mcp.CallResult, error)
	Resources(ctx context.Context, server string) ([]mcp.Resource, error)
	ReadResource(ctx context.Context, server, uri string) ([]mcp.Content, error)
}

// Switches say which tools the user does not want offered. They are safe for
// concurrent use.
type Switches interface {
	// Held returns what a session is not offered at this moment: a function that says
	// why a server's tool is not, or the whole server if tool is nil; empty if it is.
	Held(session string) func(server string, tool *mcp.ToolStatus) Hold
	// Version changes with any answer of Held. It is called often and has to be quick.
	Version() uint64
}

// Hold is a reason why a tool is not offered.
type Hold string

// The reasons.
const (
	HeldOff     Hold = "off"         // the user switched it off
	HeldSession Hold = "session_off" // the user switched it off in this session
	HeldChanged Hold = "changed"     // it changed since the user accepted it
)

// Config is what a [Session] is made of.
type Config struct {
	Servers  Servers  // nil means none
	Switches Switches // nil offers everything
	Session  string   // its id
	// Window returns the size of a model's window in tokens, 0 if it is unknown;
	// nil means unknown.
	Window func(provider, model string) int64
	// Loaded are the tools that searches loaded, oldest first; see [Loaded].
	Loaded []string
	// Began is told of each call, and how to enter what it spends into the session's
	// log; see [agent.Invocation]. It returns what to do at the call's end. It may be
	// nil.
	Began func(callID string, spent func(agent.SideRequest) bool) (ended func())
}

// Session is what servers offer to one session. It is safe for concurrent use, and
// implements what a profile needs of tools that change.
type Session struct {
	cfg Config

	mu     sync.Mutex
	loaded []string
	built  map[bool]*built  // by whether tools are deferred
	owners map[string]owner // of all names that were ever offered
	made   map[owner]made   // tools of the newest build, to be used again
	weight weight
}

// weight is what the definitions of tools amount to in a state.
type weight struct {
	known         bool
	at            state
	tokens, tools int
	deferrable    bool // some may be deferred
}

// owner is a tool by its server's own names.
type owner struct{ server, tool string }

// built is what was made of a state of the servers.
type built struct {
	state    state
	registry *agent.Registry
	notes    []agent.Note
}

// state says what a registry was built from. Equal states have equal registries.
type state struct {
	servers, switches uint64
	loaded            int
}

// Tools are deferred if they would take more than a share of the window or more
// than a number of tokens, or are too many.
const (
	maxShare  = 10 // percent of the window
	maxTokens = 20_000
	// maxShown is below what the strictest provider accepts in a request, 128 tools,
	// beside those of the session itself.
	maxShown = 100
)

// New returns what the servers offer to a session.
func New(cfg Config) *Session {
	if cfg.Servers == nil {
		cfg.Servers = mcp.New(mcp.Config{})
	}
	if cfg.Switches == nil {
		cfg.Switches = allOn{}
	}
	if cfg.Window == nil {
		cfg.Window = func(string, string) int64 { return 0 }
	}
	return &Session{cfg: cfg, loaded: slices.Clone(cfg.Loaded), built: map[bool]*built{}, owners: map[string]owner{}}
}

type allOn struct{}

func (allOn) Version() uint64 { return 0 }
func (allOn) Held(string) func(string, *mcp.ToolStatus) Hold {
	return func(string, *mcp.ToolStatus) Hold { return "" }
}

// More returns the tools for a model, the same registry as long as nothing
// changes.
func (s *Session) More(provider, model string) *agent.Registry {
	return s.current(provider, model).registry
}

// Notes returns what a model is told about the servers.
func (s *Session) Notes(provider, model string) []agent.Note { return s.current(provider, model).notes }

// Deferred reports whether a model finds tools by searching, and what the
// definitions of all tools cost in a request, in tokens.
func (s *Session) Deferred(provider, model string) (deferred bool, tokens int) {
	servers, _ := s.cfg.Servers.Tools()
	w := s.weigh(servers)
	return s.tooMany(provider, model, w), w.tokens
}

// weigh adds up the tools that are offered.
func (s *Session) weigh(servers []mcp.ServerTools) (w weight) {
	held := s.cfg.Switches.Held(s.cfg.Session)
	for _, server := range servers {
		for _, t := range server.Tools {
			if t.Problem != "" || held(server.Server, &t) != "" {
				continue
			}
			w.tools++
			w.tokens += t.Tokens
			w.deferrable = w.deferrable || !server.AlwaysShown
		}
	}
	return w
}

// tooMany reports whether tools are deferred for a model.
func (s *Session) tooMany(provider, model string, w weight) bool {
	return (w.deferrable || w.tools > maxShown) && Defers(s.cfg.Window(provider, model), w.tokens, w.tools)
}

// Defers reports whether that number of tools, or of tokens in their definitions,
// is too large to show in a window, which is 0 if it is unknown.
func Defers(window int64, tokens, tools int) bool {
	most := int64(maxTokens)
	if window > 0 {
		most = min(most, window*maxShare/100)
	}
	return int64(tokens) > most || tools > maxShown
}

// current returns what is built for a model. It builds again if something
// changed.
func (s *Session) current(provider, model string) *built {
	servers, version := s.cfg.Servers.Tools()
	now := state{servers: version, switches: s.cfg.Switches.Version()}
	s.mu.Lock()
	defer s.mu.Unlock()
	now.loaded = len(s.loaded)
	if len(servers) == 0 && len(s.owners) == 0 {
		return &built{}
	}
	if at := (state{servers: now.servers, switches: now.switches}); !s.weight.known || s.weight.at != at {
		s.weight = s.weigh(servers)
		s.weight.known, s.weight.at = true, at
	}
	deferred := s.tooMany(provider, model, s.weight)
	if b := s.built[deferred]; b != nil && b.state == now {
		return b
	}
	b := s.build(servers, deferred)
	b.state = now
	s.built[deferred] = b
	return b
}

// build makes the tools. A tool that cannot be offered is left out.
func (s *Session) build(servers []mcp.ServerTools, deferred bool) *built {
	registry, _ := agent.NewRegistry()
	registry.Advise(s.advise)
	var later []*remote
	b := &built{registry: registry}
	held := s.cfg.Switches.Held(s.cfg.Session)
	tools := s.make(servers, held)
	if deferred {
		_ = registry.Register(s.searchTool(tools))
	}
	if slices.ContainsFunc(servers, func(server mcp.ServerTools) bool {
		return server.Resources && held(server.Server, nil) == ""
	}) {
		_ = registry.Register(s.listTool())
		_ = registry.Register(s.readTool())
	}
	shown := 0
	for _, t := range tools {
		if deferred && (!t.always || shown == maxShown-maxFound) {
			later = append(later, t)
			continue
		}
		shown++
		_ = registry.Register(t)
	}
	slices.SortStableFunc(later, func(a, b *remote) int { return s.place(a) - s.place(b) })
	for _, t := range later {
		one := *t
		// The oldest that were loaded make room for the newest.
		one.spec.Hidden = slices.Index(s.loaded, t.spec.Name) < max(0, len(s.loaded)-maxShown+shown)
		_ = registry.Register(&one)
	}
	b.notes = notes(servers, held, tools, later)
	return b
}

// place orders tools by when they were loaded, so that a tool that is loaded comes
// after those that are shown already.
func (s *Session) place(t *remote) int {
	if at := slices.Index(s.loaded, t.spec.Name); at >= 0 {
		return at
	}
	return len(s.loaded)
}

// made is a tool, and what it was made of.
type made struct {
	from    mcp.ToolStatus
	trusted bool
	tool    *remote // nil if it cannot be offered
}

// same reports whether a tool made of one status is right for another.
func (m made) same(t mcp.ToolStatus, trusted bool) bool {
	f := m.from
	return m.trusted == trusted && f.Model == t.Model && f.Description == t.Description && f.ReadOnly == t.ReadOnly &&
		f.Destructive == t.Destructive && string(f.Schema) == string(t.Schema)
}

// make returns the tools of all servers that this session is offered.
func (s *Session) make(servers []mcp.ServerTools, held func(string, *mcp.ToolStatus) Hold) []*remote {
	var out []*remote
	all := map[owner]made{}
	for _, server := range servers {
		for _, t := range server.Tools {
			who := owner{server.Server, t.Name}
			if t.Problem != "" {
				continue
			}
			s.owners[t.Model] = who
			m, ok := s.made[who]
			if !ok || !m.same(t, server.Trusted) {
				m = made{from: t, trusted: server.Trusted}
				if tool, err := s.remote(server, t); err == nil {
					m.tool = tool
				}
			}
			all[who] = m
			if m.tool != nil && held(server.Server, &t) == "" {
				tool := *m.tool
				tool.always = server.AlwaysShown
				out = append(out, &tool)
			}
		}
	}
	s.made = all
	return out
}

// Check returns an error, a phrase, if a tool cannot be offered to models.
func Check(t mcp.ToolStatus) error {
	_, err := prepared(t.Schema)
	return err
}

// prepared is [adapt] for schemas that come again: pages ask again and again, and each
// session is offered the same tools. The caller must not change the shape.
func prepared(schema json.RawMessage) (shape, error) {
	key := sha256.Sum256(schema)
	forms.Lock()
	defer forms.Unlock()
	f, known := forms.made[key]
	if known {
		return f.shape, f.err
	}
	f.shape, f.err = adapt(schema)
	forms.size += len(f.schema) + formSize
	if forms.size > maxForms {
		clear(forms.made)
		forms.size = len(f.schema) + formSize
	}
	forms.made[key] = f
	return f.shape, f.err
}

// Limits of what is kept of schemas, in bytes: of all, and of one without its text.
const (
	maxForms = 32 << 20
	formSize = 200
)

// form is what became of a schema.
type form struct {
	shape
	err error
}

var forms = struct {
	sync.Mutex
	made map[[sha256.Size]byte]form
	size int
}{made: map[[sha256.Size]byte]form{}}

// advise says why a name that was offered before is not any more.
func (s *Session) advise(name string) string {
	s.mu.Lock()
	who, known := s.owners[name]
	was := s.made[who]
	s.mu.Unlock()
	if !known {
		server, tool, ok := strings.Cut(strings.TrimPrefix(name, prefix), "__")
		if !strings.HasPrefix(name, prefix) || !ok {
			return ""
		}
		who = owner{server, tool}
	}
	servers, _ := s.cfg.Servers.Tools()
	for _, server := range servers {
		if server.Server != who.server {
			continue
		}
		if why := s.held(who.server, &was.from); why != "" {
			return why
		}
		var names []string
		for _, t := range server.Tools {
			if len(names) < mostNamed && t.Model != "" && s.held(who.server, &t) == "" {
				names = append(names, t.Model)
			}
		}
		if len(names) == 0 {
			return fmt.Sprintf("The server %s has no tools now.", quoted(who.server))
		}
		return fmt.Sprintf("The server %s has no such tool. Some of its tools are: %s.", quoted(who.server), strings.Join(names, ", "))
	}
	return fmt.Sprintf("The server %s is not connected. The user can see why, and connect it again; go on without it, or say what you need it for.", quoted(who.server))
}

// mostNamed limits the names of tools in a sentence.
const mostNamed = 50

// prefix begins the names of servers' tools.
const prefix = "mcp__"

// held returns a sentence if the user does not want a tool offered.
func (s *Session) held(server string, tool *mcp.ToolStatus) string {
	switch s.cfg.Switches.Held(s.cfg.Session)(server, tool) {
	case HeldOff:
		return "The user switched it off. Do without it."
	case HeldSession:
		return "The user switched it off in this session. Do without it."
	case HeldChanged:
		return "The server changed it, and the user has not accepted the change. Do without it, or ask the user to look at it."
	}
	return ""
}

// quoted writes a server's name into a sentence for a model.
func quoted(name string) string { return fmt.Sprintf("%q", line(name, maxTitle)) }

// maxTitle limits names in sentences, in bytes.
const maxTitle = 100

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"
)

// Config is what a [Manager] needs of its host. Every field may be left out.
type Config struct {
	Version string // of the program, which servers are told
	// Dir is the project's folder: where programs start, and the only root. Without it
	// they start in the working directory, and there is no root.
	Dir string
	// Environ returns the machine's variables, which are filtered for servers (K-16);
	// nil means those of this process.
	Environ func() []string
	// RoundTripper carries the requests to a server over HTTP: authorisation and
	// network policy. It fails with [ErrNeedsAuth] if the user has to authorise. Nil
	// means the default.
	RoundTripper func(Server) http.RoundTripper
	// Ready is asked right before each start of a server's program, and says why it
	// may not start; nil lets every program start.
	Ready   func(Server) error
	Asker   Asker            // nil refuses what servers ask
	Changed func()           // called when the state of a server changed; must not block; may be nil
	Now     func() time.Time // nil means the system clock
}

// Asker answers what servers ask. Its methods are called on goroutines of their
// own, and ctx ends with the call that the question belongs to.
type Asker interface {
	Sample(ctx context.Context, from Caller, r SamplingRequest) (SamplingResult, error)
	Elicit(ctx context.Context, from Caller, r ElicitRequest) (ElicitResult, error)
}

// Caller is the call in flight that a server's question belongs to.
type Caller struct{ Server, Session, CallID string }

// ErrRefused is what an [Asker] answers if nobody may or wants to answer.
var ErrRefused = errors.New("the user refused")

// Manager keeps the connections to servers. It is safe for concurrent use.
type Manager struct {
	cfg Config

	changing sync.Mutex // one change of the servers at a time

	mu          sync.Mutex
	supervisors map[string]*supervisor
	leaving     sync.WaitGroup // supervisors that were taken out
	closed      bool

	offers   offers
	throttle *throttle
}

// New returns a manager without servers.
func New(cfg Config) *Manager {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Changed == nil {
		cfg.Changed = func() {}
	}
	return &Manager{cfg: cfg, supervisors: map[string]*supervisor{}, throttle: newThrottle()}
}

// Difference is what [Manager.SetServers] changed. A server with another value
// is both removed and added (OAS-411). Errors are of servers that cannot be
// connected as they are configured.
type Difference struct {
	Added, Removed []string
	Errors         map[string]error
}

// SetServers replaces the servers by difference: it disconnects those that are
// gone or changed, and connects new ones in the background. It does not wait for
// any server.
func (m *Manager) SetServers(servers []Server) Difference {
	m.changing.Lock()
	defer m.changing.Unlock()
	d := Difference{Errors: map[string]error{}}
	wanted := map[string]Server{}
	for _, s := range servers {
		if err := validServer(s); err != nil {
			d.Errors[s.Name] = err
		} else if _, twice := wanted[s.Name]; twice {
			d.Errors[s.Name] = &Fault{Kind: FaultConfig, Detail: "two servers have the name " + s.Name}
		} else {
			wanted[s.Name] = s
		}
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return d
	}
	var leaving []*supervisor
	for name, sup := range m.supervisors {
		if s, ok := wanted[name]; !ok || !reflect.DeepEqual(s, sup.server) {
			d.Removed = append(d.Removed, name)
			delete(m.supervisors, name)
			leaving = append(leaving, sup)
		}
	}
	for name, s := range wanted {
		if m.supervisors[name] == nil {
			d.Added = append(d.Added, name)
			sup := newSupervisor(s, m.cfg, m.news)
			sup.throttle = m.throttle
			m.supervisors[name] = sup
			go sup.run() // ends with the supervisor's life
		}
	}
	for _, sup := range leaving {
		m.leaving.Go(sup.end)
	}
	m.mu.Unlock()
	slices.Sort(d.Added)
	slices.Sort(d.Removed)
	if len(d.Added)+len(d.Removed) > 0 {
		m.news(true)
	}
	return d
}

func validServer(s Server) error {
	fault := func(text string) error { return &Fault{Kind: FaultConfig, Detail: text} }
	switch {
	case s.Name == "" || strings.Contains(s.Name, "__"):
		return fault("the name is empty or has a double underscore")
	case s.Transport == TransportStdio && s.Stdio.Command == "":
		return fault("there is no command")
	case s.Transport != TransportStdio && s.Remote.URL == "":
		return fault("there is no address")
	}
	return nil
}

// all returns the supervisors in the order of their names.
func (m *Manager) all() []*supervisor {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []*supervisor
	for _, name := range slices.Sorted(maps.Keys(m.supervisors)) {
		out = append(out, m.supervisors[name])
	}
	return out
}

func (m *Manager) supervisor(name string) (*supervisor, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	sup := m.supervisors[name]
	if sup == nil {
		return nil, &Fault{Kind: FaultUnknown, Detail: name}
	}
	return sup, nil
}

// news is called when something about a server changed.
func (m *Manager) news(offers bool) {
	if offers {
		m.offers.stale()
	}
	m.cfg.Changed()
}

// Status says what each server is like, asked of the connections now, in the
// order of their names.
func (m *Manager) Status() []Status {
	names := m.offers.names(m.all())
	var out []Status
	for _, sup := range m.all() {
		out = append(out, sup.status(names))
	}
	return out
}

// Tools returns what the servers offer to models, in the order of their names,
// and a number that changes with it. The slices are shared and must not be
// changed.
func (m *Manager) Tools() ([]ServerTools, uint64) { return m.offers.get(m.all()) }

// Call calls a tool. An error means that the server did not do it, or did not
// say so; it is a [*Fault] unless ctx ended.
func (m *Manager) Call(ctx context.Context, r CallRequest) (CallResult, error) {
	if len(r.Input) > 0 && !json.Valid(r.Input) {
		return CallResult{}, &Fault{Kind: FaultConfig, Detail: "the input of the call is not JSON"}
	}
	sup, err := m.supervisor(r.Server)
	if err != nil {
		return CallResult{}, err
	}
	return sup.call(ctx, r)
}

// Resources lists the resources and templates of a server, or of all that are
// connected if it is empty.
func (m *Manager) Resources(ctx context.Context, server string) ([]Resource, error) {
	return each(ctx, m, server, (*conn).resources)
}

// ReadResource reads one resource of a server.
func (m *Manager) ReadResource(ctx context.Context, server, uri string) ([]Content, error) {
	return one(ctx, m, server, func(c *conn, ctx context.Context) ([]Content, error) { return c.read(ctx, uri) })
}

// Prompts lists the prompts of a server, or of all that are connected if it is
// empty.
func (m *Manager) Prompts(ctx context.Context, server string) ([]Prompt, error) {
	return each(ctx, m, server, (*conn).prompts)
}

// GetPrompt expands a prompt of a server.
func (m *Manager) GetPrompt(ctx context.Context, server, prompt string, arguments map[string]string) (PromptText, error) {
	return one(ctx, m, server, func(c *conn, ctx context.Context) (PromptText, error) { return c.prompt(ctx, prompt, arguments) })
}

// Complete asks a server for values of an argument.
func (m *Manager) Complete(ctx context.Context, r CompleteRequest) (Completion, error) {
	return one(ctx, m, r.Server, func(c *conn, ctx context.Context) (Completion, error) { return c.complete(ctx, r) })
}

// listTime is how long a server may take to list or read something.
const listTime = 30 * time.Second

// one asks one server, and waits for its connection if it is being made.
func one[T any](ctx context.Context, m *Manager, server string, ask func(*conn, context.Context) (T, error)) (T, error) {
	var none T
	sup, err := m.supervisor(server)
	if err != nil {
		return none, err
	}
	limited, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	c, _, err := sup.connection(limited)
	if err != nil {
		return none, err
	}
	return ask(c, limited)
}

// each asks one server, or all that are connected at the same time and joins what
// they have. A server that fails does not keep the others from being heard.
func each[T any](ctx context.Context, m *Manager, server string, ask func(*conn, context.Context) ([]T, error)) ([]T, error) {
	if server != "" {
		return one(ctx, m, server, ask)
	}
	var connected []*conn
	for _, sup := range m.all() {
		if v, _ := sup.look(); v.conn != nil {
			connected = append(connected, v.conn)
		}
	}
	limited, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	parts := make([][]T, len(connected))
	var wg sync.WaitGroup
	for i, c := range connected {
		wg.Go(func() { parts[i], _ = ask(c, limited) })
	}
	wg.Wait()
	return slices.Concat(parts...), ctx.Err()
}

// Reconnect disconnects a server and connects it as it was configured (OAS-409). It
// restarts a program. It returns when the server is connected or why it is not.
func (m *Manager) Reconnect(ctx context.Context, server string) error {
	sup, err := m.supervisor(server)
	if err != nil {
		return err
	}
	var asked int
	sup.want(func() {
		sup.target.asked++
		asked = sup.target.asked
	})
	return sup.settled(ctx, asked)
}

// Hurry has all programs start at once from now on, because somebody waits for them.
// Otherwise they start a few at a time.
func (m *Manager) Hurry() { m.throttle.end() }

// Settle waits until each server is connected, has failed once or is off, or until
// ctx ends. It is for programs whose only turn would otherwise be over before the
// tools are there. Programs of servers start at once from now on.
func (m *Manager) Settle(ctx context.Context) {
	m.Hurry()
	for _, sup := range m.all() {
		sup.tried(ctx)
	}
}

// tried waits until the first attempt to connect is over.
func (sup *supervisor) tried(ctx context.Context) {
	for {
		v, changed := sup.look()
		if v.state != StateConnecting || v.reason != nil {
			return
		}
		select {
		case <-changed:
		case <-sup.done:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Switch disconnects a server but keeps it, or connects it again (OAS-410).
func (m *Manager) Switch(server string, on bool) error {
	sup, err := m.supervisor(server)
	if err != nil {
		return err
	}
	sup.want(func() { sup.target.off = !on })
	return nil
}

// Log returns the newest of what a program printed to its standard error, and the
// newest entries of a server's log, oldest first.
func (m *Manager) Log(server string) (stderr string, entries []LogEntry) {
	sup, err := m.supervisor(server)
	if err != nil {
		return "", nil
	}
	return sup.stderr(), sup.log.newest()
}

// refuser refuses what a server asks.
type refuser struct{}

func (refuser) Sample(context.Context, Caller, SamplingRequest) (SamplingResult, error) {
	return SamplingResult{}, ErrRefused
}

func (refuser) Elicit(context.Context, Caller, ElicitRequest) (ElicitResult, error) {
	return ElicitResult{}, ErrRefused
}

// Try connects to a server once, lists what it has, pings it and leaves.
func (m *Manager) Try(ctx context.Context, s Server) Trial {
	cfg := m.cfg
	cfg.Asker = refuser{} // a server may have tools only for clients that answer questions
	sup := newSupervisor(s, cfg, func(bool) {})
	steps := &steps{now: m.cfg.Now, at: m.cfg.Now()}
	err := validServer(s)
	if err == nil {
		err = sup.once(ctx, steps)
	}
	t := Trial{Status: sup.status(nil), Steps: steps.all, Stderr: sup.stderr(), Log: sup.log.newest()}
	if err != nil {
		t.Status.State, t.Status.Reason = StateFailed, err
		if errors.Is(err, ErrNeedsAuth) {
			t.Status.State = StateNeedsAuth
		}
	}
	return t
}

// Close disconnects all servers. When it returns, nothing of any server is left
// on this machine, even if ctx ended earlier.
func (m *Manager) Close(context.Context) error {
	m.changing.Lock()
	defer m.changing.Unlock()
	m.mu.Lock()
	m.closed = true
	for name, sup := range m.supervisors {
		m.leaving.Go(sup.end)
		delete(m.supervisors, name)
	}
	m.mu.Unlock()
	m.leaving.Wait()
	return nil
}

package mcp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"

	"atelier.dev/atelier/agent"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/agent/mcp/oauth"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/backend/trust"
)

// Config is what servers work with.
type Config struct {
	Folder  string // the project, absolute and without links
	User    string // the user's home folder; without it there is no file of the user
	Version string // Atelier's own
	Store   backend.Settings
	Keys    backend.KeyStore
	Trust   *trust.Trust
	// Getenv reads the variables that definitions name, and Environ are those of the
	// machine, which are filtered for servers.
	Getenv  func(string) string
	Environ func() []string
	// Network carries requests to servers; nil means the default.
	Network http.RoundTripper
	// Questions are what servers ask the person; nil refuses everything.
	Questions *Questions
	// Changed is called when something that pages show has changed. It must not block.
	Changed func()
	// Watch begins to watch the files. [Servers.Reload] is called when one changed. It
	// may be nil.
	Watch func()
}

// Servers are the servers of one folder. It is safe for concurrent use.
type Servers struct {
	cfg       Config
	reader    *settings.Reader
	manager   *client.Manager
	authority *oauth.Authority

	reading  chan struct{} // held by the one who reads the files
	mu       sync.Mutex
	list     *list
	last     connecting
	changing sync.Mutex // held while something is stored
	pins     pins
	sessions

	work worker
}

// sessions tells sessions, and pages, that something has changed.
type sessions struct {
	tell    func()        // tells pages
	decided atomic.Uint64 // counts what was decided, read or connected
	looked  chan struct{} // closed once the files were read and servers began to connect
	look    sync.Once     // closes looked
}

// connecting is the result of the last time that servers were connected.
type connecting struct {
	lacking map[string][]ServerFinding // what was missing, by id of a definition
	wanted  map[string]*definition     // what is connected, by name
	tokens  map[string]string          // the keys of tokens, by name
}

// worker connects what should be connected, on a goroutine of its own.
type worker struct {
	begin    sync.Once
	begun    atomic.Bool
	flows    sync.WaitGroup // of users who authorise
	consents consents       // under mu of the servers
	kick     chan struct{}
	ctx      context.Context
	cancel   context.CancelFunc
	ended    chan struct{}
}

// New returns the servers of a folder, none of which is connected before
// [Servers.Begin]. Close leaves nothing of them.
func New(cfg Config) *Servers {
	s := &Servers{
		cfg: cfg, reader: settings.NewReaderOf(filesOf(cfg.Folder, cfg.User)...), reading: make(chan struct{}, 1),
		work: worker{consents: consents{}, kick: make(chan struct{}, 1), ended: make(chan struct{})},
	}
	s.work.ctx, s.work.cancel = context.WithCancel(context.Background())
	s.pins.read = map[string]pinned{}
	s.looked = make(chan struct{})
	s.tell = cfg.Changed
	s.cfg.Changed = func() {
		s.decided.Add(1)
		s.tell()
	}
	s.authority = oauth.New(oauth.Config{
		TokenStore: tokenStore{cfg.Keys}, Version: cfg.Version,
		Report: func(server string, err error) { slog.Warn("tokens could not be kept", "server", server, "err", err) },
	})
	s.manager = client.New(client.Config{
		Version: cfg.Version, Dir: cfg.Folder, Environ: cfg.Environ, RoundTripper: s.roundTripper, Ready: s.ready, Asker: cfg.asker(), Changed: s.tell,
	})
	return s
}

// Manager returns the connections.
func (s *Servers) Manager() *client.Manager { return s.manager }

// Begin connects the servers in the background, once. It does not wait for any.
func (s *Servers) Begin() {
	s.work.begin.Do(func() {
		s.work.begun.Store(true)
		if s.cfg.Watch != nil {
			s.cfg.Watch()
		}
		s.again()
		go s.run()
	})
}

// Close disconnects everything. It waits for what is under way until ctx ends: a keyring may
// be asking for its password.
func (s *Servers) Close(ctx context.Context) (err error) {
	s.work.cancel()
	s.work.begin.Do(func() { close(s.work.ended) }) // it was never started
	select {
	case <-s.work.ended:
	case <-ctx.Done():
		err = fmt.Errorf("wait until servers are no longer connected: %w", context.Cause(ctx))
	}
	s.authority.Close()
	err = errors.Join(err, s.manager.Close(ctx))
	s.work.flows.Wait()
	return err
}

// Reload has the files looked at again, because one of them may have changed.
func (s *Servers) Reload() {
	s.again()
	s.cfg.Changed()
}

// again has the connections compared with what should be connected.
func (s *Servers) again() {
	select {
	case s.work.kick <- struct{}{}:
	default: // it will be
	}
}

func (s *Servers) run() {
	defer close(s.work.ended)
	for {
		select {
		case <-s.work.ctx.Done():
			return
		case <-s.work.kick:
			s.connect(s.work.ctx)
		}
	}
}

// connect connects what should be connected, and nothing else.
func (s *Servers) connect(ctx context.Context) {
	judged, err := s.judge(ctx)
	if err != nil {
		if ctx.Err() == nil {
			slog.Warn("could not tell which servers to connect", "err", err)
		}
		s.look.Do(func() { close(s.looked) })
		return
	}
	var servers []client.Server
	lacking, wanted, tokens := map[string][]ServerFinding{}, map[string]*definition{}, map[string]string{}
	for _, x := range judged {
		if x.state != StateIdle {
			continue
		}
		server, missing := s.connectable(x.definition, s.secretsOf(x.definition))
		if len(missing) > 0 {
			lacking[x.id()] = missing
		}
		if !fatal(missing) {
			servers = append(servers, server)
			wanted[x.draft.Name] = x.definition
			if server.Transport != client.TransportStdio {
				tokens[x.draft.Name] = oauth.Key(server)
			}
		}
	}
	if ctx.Err() != nil {
		return
	}
	diff := s.manager.SetServers(servers)
	for name, err := range diff.Errors {
		slog.Warn("a server cannot be connected", "server", name, "err", err)
	}
	s.mu.Lock()
	s.last = connecting{lacking, wanted, tokens}
	s.work.consents.keep(wanted)
	s.mu.Unlock()
	s.look.Do(func() { close(s.looked) })
	s.cfg.Changed()
}

// UpdateItems implements [review.Owner].
func (s *Servers) UpdateItems(context.Context) (more bool) {
	for _, f := range s.current().files {
		more = more || f.Problem != nil && f.Problem.ID == backend.ProblemServersMany && f.Scope != agent.ScopeUser
	}
	return more
}

// Decided implements [review.Owner].
func (s *Servers) Decided(context.Context, string, review.TrustDecision) {
	s.again()
	s.cfg.Changed()
}

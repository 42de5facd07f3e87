package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"atelier.dev/atelier/agent/mcp"
)

// Config is what an [Authority] needs of its host.
type Config struct {
	TokenStore TokenStore
	Version    string           // Atelier's own, for registrations
	Now        func() time.Time // nil means time.Now
	// Report is told why tokens could not be kept; the program has them until it
	// ends. It may be nil.
	Report func(server string, err error)
}

// Authority authorises requests to servers. It is safe for concurrent use.
type Authority struct {
	cfg    Config
	lookup lookup

	ctx     context.Context // of what outlives a request: renewals and flows
	stop    context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	closed   bool
	accounts map[string]*account
}

// New returns an authority. [Authority.Close] ends what it started.
func New(cfg Config) *Authority {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Authority{cfg: cfg, lookup: systemLookup, ctx: ctx, stop: stop, accounts: map[string]*account{}}
}

// Close ends all flows and renewals, and waits for them.
func (a *Authority) Close() {
	a.mu.Lock()
	a.closed = true
	a.mu.Unlock()
	a.stop()
	a.running.Wait()
}

func (a *Authority) report(server string, err error) {
	if a.cfg.Report != nil {
		a.cfg.Report(server, err)
	}
}

// start runs work on a goroutine that Close waits for, unless it was closed.
func (a *Authority) start(work func()) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return false
	}
	a.running.Go(work)
	return true
}

// Why says why the user has to authorise Atelier.
type Why string

// The reasons.
const (
	WhyFirst   Why = "first"   // nothing was authorised yet
	WhyEnded   Why = "ended"   // what was authorised has ended or was revoked
	WhyRefused Why = "refused" // the server refuses the token that was issued for it
	WhyScopes  Why = "scopes"  // the server asks for more rights
	WhyClient  Why = "client"  // the authorisation server refuses what the configuration gives it
)

// NeedsUser is the error of a request that the user has to authorise first. It is an
// [mcp.ErrNeedsAuth].
type NeedsUser struct {
	Why    Why
	Scopes []string // what the server asks for, if it said so
	Err    error    // may be nil
}

func (e *NeedsUser) Error() string {
	text := map[Why]string{
		WhyFirst:   "the server wants the user to authorise Atelier",
		WhyEnded:   "what the user authorised has ended or was revoked; authorise Atelier again",
		WhyRefused: "the server refuses the token that was issued for it; authorise Atelier again",
		WhyScopes:  "the server asks for more rights than the user authorised",
		WhyClient:  "the authorisation server refuses the client as it is configured",
	}[e.Why]
	if len(e.Scopes) > 0 {
		text += ": " + printable(strings.Join(e.Scopes, " "), 200)
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *NeedsUser) Unwrap() error { return mcp.ErrNeedsAuth }

// What can end a flow, besides errors of the network and of the servers.
var (
	ErrDenied         = errors.New("the user or the authorisation server refused")
	ErrExpired        = errors.New("nobody came back from the browser in time")
	ErrReplaced       = errors.New("the user began to authorise Atelier again")
	ErrForgotten      = errors.New("the user has Atelier forget the authorisation")
	ErrClosed         = errors.New("the program ends")
	ErrNoRegistration = errors.New("the authorisation server knows only clients that were registered by hand; the configuration needs a client's id")
	ErrUnattended     = errors.New("the configuration says how tokens are got without a person")
)

// PortError says that the port to which the browser comes back is taken.
type PortError struct{ Port int }

func (e *PortError) Error() string {
	return fmt.Sprintf("port %d, to which the browser would come back, is used by another program", e.Port)
}

// account is what the authority has of one server.
type account struct {
	authority *Authority
	key       string
	store     TokenStore

	mu      sync.Mutex
	server  mcp.Server // as it is configured now
	loaded  bool
	grant   *grant    // nil if there is none
	said    challenge // the newest, for the user's next consent
	refused bool      // the server said it
	nonce   string    // of the server, for proofs
	renewal *renewal  // under way
	flow    *flow     // the newest
}

func (a *Authority) account(s mcp.Server) *account {
	key := Key(s)
	a.mu.Lock()
	defer a.mu.Unlock()
	c := a.accounts[key]
	if c == nil {
		c = &account{authority: a, key: key, store: a.cfg.TokenStore}
		a.accounts[key] = c
	}
	c.mu.Lock()
	c.server = s
	c.mu.Unlock()
	return c
}

func (c *account) configured() mcp.Server {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.server
}

// site is what conversations about one server need.
type site struct {
	url    *url.URL // of the server
	cfg    mcp.OAuth
	client *http.Client
	now    func() time.Time
}

func (a *Authority) site(ctx context.Context, s mcp.Server) (*site, error) {
	u, err := url.Parse(s.Remote.URL)
	if err != nil {
		return nil, errors.New("the server's address cannot be read")
	}
	u.User, u.Fragment = nil, ""
	if u, err = checkURL("server", u.String()); err != nil {
		return nil, err
	}
	reach, err := reachOf(ctx, u, a.lookup)
	if err != nil {
		return nil, err
	}
	return &site{url: u, cfg: s.Remote.OAuth, client: reach.client(), now: a.cfg.Now}, nil
}

// Holds reports whether there are tokens under a [Key], as far as requests have asked
// for them: what is only kept counts once it was used.
func (a *Authority) Holds(key string) bool {
	a.mu.Lock()
	c := a.accounts[key]
	a.mu.Unlock()
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.grant.access() != ""
}

// Forget removes what the user authorised, after it asked the authorisation server
// to revoke it. A token that cannot be revoked is removed all the same.
func (a *Authority) Forget(ctx context.Context, s mcp.Server) error {
	c := a.account(s)
	c.replace(nil, ErrForgotten)
	stored, err := c.load(ctx)
	if err == nil && stored != nil && stored.Revocation != "" {
		c.revoke(ctx, stored)
	}
	c.mu.Lock()
	c.grant, c.loaded, c.nonce = nil, true, ""
	c.mu.Unlock()
	if err := c.store.Remove(ctx, c.key); err != nil {
		return fmt.Errorf("remove the tokens of the server: %w", err)
	}
	return nil
}

const revokeTime = 5 * time.Second

// revoke tells the authorisation server that the tokens are not used any more
// (RFC 7009). Nothing follows from its answer.
func (c *account) revoke(ctx context.Context, g *grant) {
	ctx, cancel := context.WithTimeout(ctx, revokeTime)
	defer cancel()
	s, err := c.authority.site(ctx, c.configured())
	if err != nil {
		return
	}
	token := g.Refresh
	if token == "" {
		token = g.Access
	}
	to := *g
	to.Endpoint = g.Revocation
	if req, err := s.tokenRequest(ctx, to, url.Values{"token": {token}}); err == nil {
		_, _, _, _ = s.do(req)
	}
}

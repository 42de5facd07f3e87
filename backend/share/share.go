package share

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/redact"
)

// Log is where the events of sessions are read: a part of [backend.Store].
type Log interface {
	Events(context.Context, backend.EventRange) ([]agent.Event, error)
}

// Config is what shares need of the application.
type Config struct {
	Log      Log
	Settings backend.Settings
	// Session returns a session that may be shared, by its id.
	Session func(ctx context.Context, id string) (backend.SessionInfo, error)
	// Keys returns the secrets that the application keeps. No viewer sees them.
	Keys func(ctx context.Context) ([]string, error)
	// User is the home folder of the user.
	User string
}

// The limits of shares.
const (
	maxShares     = 8
	maxViewers    = 300
	maxRemembered = 10  // shares that have ended
	defaultHours  = 24  // until a share ends by itself
	maxHours      = 168 // a week
	maxPassword   = 200
)

// ShareReach says who can reach a share.
type ShareReach string

// The reaches.
const (
	ReachMachine ShareReach = "machine" // programs of this machine
	ReachNetwork ShareReach = "network" // the network that this machine is in
	ReachTunnel  ShareReach = "tunnel"  // everyone with the link, through a tunnel program
)

// ShareEnd says why a share ended.
type ShareEnd string

// The reasons.
const (
	EndRevoked ShareEnd = "revoked" // by the user
	EndExpired ShareEnd = "expired"
	EndTunnel  ShareEnd = "tunnel" // the tunnel's program ended
	EndClosed  ShareEnd = "closed" // Atelier was closed
	EndDeleted ShareEnd = "deleted"
	EndFailed  ShareEnd = "failed" // the session cannot be read
)

// Error lets a reason be the cause of a context's end.
func (e ShareEnd) Error() string { return "the share has ended: " + string(e) }

// ShareRequest is for share.start.
type ShareRequest struct {
	Session string `json:"session"`
	// Redact says what else is taken out. Off has no effect.
	Redact redact.RedactPolicy `json:"redact"`
	// NoOutput leaves out what tools return, NoReasoning what models think.
	NoOutput    bool `json:"no_output,omitempty"`
	NoReasoning bool `json:"no_reasoning,omitempty"`
	// Costs shows what the session costs.
	Costs bool `json:"costs,omitempty"`
	// Reach is who can reach it; empty means this machine.
	Reach ShareReach `json:"reach,omitempty"`
	// Hours is how long it lasts; 0 means a day.
	Hours int `json:"hours,omitempty"`
	// Password is what viewers have to know beside the link; empty means nothing.
	Password string `json:"password,omitempty"`
	// Language is that of the labels.
	Language string `json:"language,omitempty"`
}

// ShareStarted answers share.start. The link is not kept: its token is a secret.
type ShareStarted struct {
	Share ShareInfo `json:"share"`
	Link  string    `json:"link"`
}

// ShareInfo is a share as the user sees it.
type ShareInfo struct {
	ID        string     `json:"id"`
	Session   string     `json:"session"`
	Title     string     `json:"title"`
	Reach     ShareReach `json:"reach"`
	Address   string     `json:"address"` // the link without its token
	StartedAt int64      `json:"started_at"`
	ExpiresAt int64      `json:"expires_at"`
	Password  bool       `json:"password,omitempty"`
	Viewers   int        `json:"viewers"`
	// End says why it ended; empty while it is active.
	End ShareEnd `json:"end,omitempty"`
}

// ShareList answers share.list: active shares first, then the newest of those that ended.
type ShareList struct {
	Shares []ShareInfo `json:"shares,omitempty"`
	// Tunnel is the program on PATH that can make a tunnel; empty if there is none.
	Tunnel string `json:"tunnel,omitempty"`
	// Words and Patterns are what the user last had taken out.
	Words    []string `json:"words,omitempty"`
	Patterns []string `json:"patterns,omitempty"`
}

// ShareID is for share.revoke.
type ShareID struct {
	ID string `json:"id"`
}

// Shares are the shares of this process. It is safe for concurrent use.
type Shares struct {
	cfg    Config
	active atomic.Int32

	mu     sync.Mutex
	byID   map[string]*share
	ended  []ShareInfo
	closed bool
}

// New returns no shares. Close ends those that were started.
func New(cfg Config) *Shares { return &Shares{cfg: cfg, byID: map[string]*share{}} }

// Register registers the methods of shares.
func (s *Shares) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "share.start", s.Start)
	dispatch.Handle(d, "share.list", s.List)
	dispatch.Handle(d, "share.revoke", s.Revoke)
}

// Observe passes an event to the shares of its session. It does not wait for anything.
func (s *Shares) Observe(ev agent.Event) {
	if s.active.Load() == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.byID {
		if gone, ok := ev.Data.(agent.SessionsChange); ok && gone.Removed == one.info.Session {
			one.stop(EndDeleted)
		}
		if one.info.Session == ev.Session {
			one.watcher.offer(ev)
		}
	}
}

// Start starts a share and returns its link once viewers can use it.
func (s *Shares) Start(ctx context.Context, in ShareRequest) (ShareStarted, error) {
	in.Redact.Off, in.Reach, in.Hours = false, cmp.Or(in.Reach, ReachMachine), cmp.Or(in.Hours, defaultHours)
	info, err := s.cfg.Session(ctx, in.Session)
	if err != nil {
		return ShareStarted{}, err
	}
	if !slices.Contains([]ShareReach{ReachMachine, ReachNetwork, ReachTunnel}, in.Reach) || in.Hours < 1 || in.Hours > maxHours || len(in.Password) > maxPassword {
		return ShareStarted{}, backend.Problem(backend.ProblemArguments, "share.start")
	}
	if err := in.Redact.Check(); err != nil {
		return ShareStarted{}, backend.Problem(backend.ProblemSharePattern).Because(err)
	}
	one, token, err := newShare(s.cfg, in, info)
	if err != nil {
		return ShareStarted{}, err
	}
	if err := s.add(one); err != nil {
		one.drop()
		return ShareStarted{}, err
	}
	if err := one.open(ctx); err != nil {
		one.stop(EndFailed)
		<-one.done
		return ShareStarted{}, err
	}
	if err := s.remember(ctx, in.Redact); err != nil {
		one.stop(EndFailed)
		return ShareStarted{}, err
	}
	now := one.shown()
	return ShareStarted{Share: now, Link: now.Address + "#" + token}, nil
}

// add lists a share and starts its goroutine.
func (s *Shares) add(one *share) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.byID) >= maxShares {
		return backend.Problem(backend.ProblemShareFull)
	}
	s.byID[one.info.ID] = one
	s.active.Add(1)
	go func() { // ends with the share, which Close ends
		one.run()
		s.remove(one)
		close(one.done)
	}()
	return nil
}

func (s *Shares) remove(one *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, one.info.ID)
	s.active.Add(-1)
	if info := one.shown(); info.Address != "" {
		s.ended = append([]ShareInfo{info}, s.ended...)
		s.ended = s.ended[:min(len(s.ended), maxRemembered)]
	}
}

// Revoke ends a share and waits until its listener and its streams are closed.
func (s *Shares) Revoke(ctx context.Context, in ShareID) (ShareList, error) {
	s.mu.Lock()
	one := s.byID[in.ID]
	s.mu.Unlock()
	if one != nil {
		one.stop(EndRevoked)
		select {
		case <-one.done:
		case <-ctx.Done():
			return ShareList{}, context.Cause(ctx)
		}
	}
	return s.List(ctx, backend.Empty{})
}

// List returns the shares.
func (s *Shares) List(ctx context.Context, _ backend.Empty) (ShareList, error) {
	policy, err := s.policy(ctx)
	if err != nil {
		return ShareList{}, err
	}
	out := ShareList{Words: policy.Words, Patterns: policy.Patterns, Tunnel: tunnelProgram().name}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range s.byID {
		if info := one.shown(); info.Address != "" {
			out.Shares = append(out.Shares, info)
		}
	}
	slices.SortFunc(out.Shares, func(a, b ShareInfo) int {
		return cmp.Or(cmp.Compare(b.StartedAt, a.StartedAt), strings.Compare(a.ID, b.ID))
	})
	out.Shares = append(out.Shares, s.ended...)
	return out, nil
}

// Close ends every share and waits for their ends.
func (s *Shares) Close() {
	s.mu.Lock()
	s.closed = true
	all := make([]*share, 0, len(s.byID))
	for _, one := range s.byID {
		all = append(all, one)
	}
	s.mu.Unlock()
	for _, one := range all {
		one.stop(EndClosed)
	}
	for _, one := range all {
		<-one.done
	}
}

const setting = "share"

// policy returns what the user last had taken out.
func (s *Shares) policy(ctx context.Context) (policy redact.RedactPolicy, err error) {
	text, err := s.cfg.Settings.Setting(ctx, setting)
	if err != nil || text == "" {
		return policy, err
	}
	if err := json.Unmarshal([]byte(text), &policy); err != nil {
		return policy, fmt.Errorf("read the patterns of shares: %w", err)
	}
	return policy, nil
}

func (s *Shares) remember(ctx context.Context, policy redact.RedactPolicy) error {
	text, err := json.Marshal(redact.RedactPolicy{Words: policy.Words, Patterns: policy.Patterns})
	if err != nil {
		return fmt.Errorf("store the patterns of shares: %w", err)
	}
	return s.cfg.Settings.SetSetting(ctx, setting, string(text))
}

// endOf returns why a context ended.
func endOf(ctx context.Context) ShareEnd {
	var end ShareEnd
	if errors.As(context.Cause(ctx), &end) {
		return end
	}
	return EndClosed
}

func expiry(hours int) time.Duration { return time.Duration(hours) * time.Hour }

package browser

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/sandbox"
)

// The limits of browsers, where a [Config] says nothing else.
const (
	DefaultIdle   = 10 * time.Minute
	DefaultMemory = 2 << 30
)

// Why there is no page.
var (
	ErrNone   = errors.New("no Chromium is installed: the user has to install Chromium, Google Chrome or Microsoft Edge, or name the program in the variable CHROME_PATH")
	ErrClosed = errors.New("the session ends")
	errNoPage = errors.New("no page is open: navigate to one first")
)

// Config is what a [Browser] needs of its host. Every field may be left out.
type Config struct {
	// Hosts returns the hosts that the user's settings allow and deny. Nil means none
	// beside this computer.
	Hosts func(context.Context) (network.Settings, error)
	// Environ returns the machine's variables, which are filtered for the browser (K-16);
	// nil means those of this process.
	Environ func() []string
	// Lookup returns the addresses of a name; nil means the system's resolver.
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	Idle   time.Duration // after which a browser that nobody needs ends; 0 means [DefaultIdle]
	Memory int64         // bytes that a browser may take; 0 means [DefaultMemory]
	times  times
}

// times limit how long a browser may take.
type times struct {
	start  time.Duration // until it has to be ready
	action time.Duration // for one call, with the loading that follows
	settle time.Duration // for a page to come to rest
	quiet  time.Duration // without a request, after which a page is at rest
	memory time.Duration // between two looks at what it takes
}

var usual = times{30 * time.Second, 45 * time.Second, 10 * time.Second, 400 * time.Millisecond, 5 * time.Second}

// Browser is the browser of one session, which starts when it is needed. It is safe for
// concurrent use; its calls run one after another.
type Browser struct {
	cfg  Config
	life context.Context // ends with Close
	end  context.CancelFunc
	turn chan struct{} // held by the call that runs

	mu      sync.Mutex
	tab     *tab
	idle    *time.Timer
	stopped sync.WaitGroup
}

// New returns a browser that does not run yet.
func New(cfg Config) *Browser {
	if cfg.Environ == nil {
		cfg.Environ = sandbox.Environ
	}
	cfg.Idle, cfg.Memory = cmp.Or(cfg.Idle, DefaultIdle), cmp.Or(cfg.Memory, DefaultMemory)
	if cfg.times == (times{}) {
		cfg.times = usual
	}
	b := &Browser{cfg: cfg, turn: make(chan struct{}, 1)}
	b.life, b.end = context.WithCancel(context.Background())
	return b
}

// enter waits until no other call runs. Leave has to be called after it.
func (b *Browser) enter(ctx context.Context) error {
	select {
	case b.turn <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	case <-b.life.Done():
		return ErrClosed
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.idle != nil {
		b.idle.Stop()
	}
	return nil
}

func (b *Browser) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.tab != nil {
		b.idle = time.AfterFunc(b.cfg.Idle, b.stopIdle)
	}
	<-b.turn
}

// stopIdle ends a browser that no call needs.
func (b *Browser) stopIdle() {
	select {
	case b.turn <- struct{}{}:
		b.stop()
		<-b.turn
	default: // a call runs
	}
}

// current returns the open page; nil if there is none.
func (b *Browser) current() *tab {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.tab
}

// page returns the page that is open. The caller has the turn.
func (b *Browser) page() (*tab, error) {
	t := b.current()
	if t == nil {
		return nil, errNoPage
	}
	if err := t.failure(); err != nil {
		b.stop()
		return nil, err
	}
	return t, nil
}

// reach is what a browser was started for: which hosts it reaches, and whether it shows
// pages of this computer.
type reach struct {
	hosts network.Settings
	local bool
}

// open returns a page of a browser that may open a host, and starts one if need be. The
// caller has the turn.
func (b *Browser) open(ctx context.Context, to network.Target) (*tab, error) {
	want := reach{local: isLocal(to)}
	if b.cfg.Hosts != nil {
		var err error
		if want.hosts, err = b.cfg.Hosts(ctx); err != nil {
			return nil, errors.Join(errors.New("the settings say which hosts may be reached, and cannot be read"), err)
		}
	}
	if t, err := b.page(); err == nil && reflect.DeepEqual(t.reach, want) {
		return t, nil
	}
	b.stop()
	if b.life.Err() != nil {
		return nil, ErrClosed
	}
	t, err := b.start(ctx, want)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	b.tab = t
	b.mu.Unlock()
	return t, nil
}

// isLocal reports whether a host is this computer, as far as its name tells.
func isLocal(t network.Target) bool {
	addr, err := netip.ParseAddr(t.Host())
	return t.Host() == "localhost" || err == nil && addr.IsLoopback()
}

// rules returns what the browser may reach. It must not steer itself through the port of
// its protocol.
func (r reach) rules(devtools string) *network.Rules {
	set := r.hosts
	set.AllowLocalBinding = false // which is about what commands listen on
	if r.local {
		set.AllowedDomains = slices.Concat(set.AllowedDomains, []string{"localhost:*", "127.0.0.0/8:*", "[::1]:*"})
	}
	set.DeniedDomains = slices.Concat(set.DeniedDomains, []string{"localhost:" + devtools})
	rules, _ := network.New(set) // what cannot be read allows nothing
	return rules
}

// stop ends the browser, and returns when nothing of it is left.
func (b *Browser) stop() {
	b.mu.Lock()
	t := b.tab
	b.tab = nil
	b.mu.Unlock()
	if t != nil {
		t.stop()
	}
}

// Close ends the browser for good, and returns when nothing of it is left. It may be called
// of nil, and again.
func (b *Browser) Close() {
	if b == nil {
		return
	}
	b.end() // ends the call that runs
	b.turn <- struct{}{}
	b.stop()
	b.mu.Lock()
	if b.idle != nil {
		b.idle.Stop()
	}
	b.mu.Unlock()
	<-b.turn
	b.stopped.Wait()
}

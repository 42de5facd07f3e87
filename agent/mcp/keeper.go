package mcp

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
)

const (
	automatic  = 2 // retries of a first connection (OAS-404)
	mostTries  = 5 // attempts after a connection was lost, until the server is given up
	firstDelay = time.Second
	mostDelay  = 10 * time.Second
	// steady is how long a connection must last to be no part of a series of failures.
	steady = time.Minute

	pingEvery = 30 * time.Second
	pingTime  = 10 * time.Second
	closeTime = 10 * time.Second // a server over HTTP may take to end its session

	leastRelist, mostRelist = 200 * time.Millisecond, time.Minute
)

// keeper keeps the connection to one server. Its goroutine is the only one that
// connects and disconnects.
type keeper struct {
	life
	server Server
	cfg    Config
	log    *journal
	news   func(offers bool) // there is news to show, and perhaps to offer
	pace   *pace             // nil if nobody else is to be spared

	wake chan struct{} // what is wanted changed
	need chan struct{} // a call waits for a connection

	mu      sync.Mutex
	wish    wish
	now     view
	changed chan struct{} // closed when now changes
}

// life is that of a goroutine.
type life struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine is gone
}

// wish is what a keeper is to do.
type wish struct {
	off   bool
	asked int // how often a new connection was asked for
}

// view is what is known about a server. It is replaced, not changed.
type view struct {
	conn        *conn // nil unless it is connected
	state       State
	reason      error
	since, next time.Time
	peer        Peer
	health      Health
	offer       offer
	stderr      string // of the newest program that ended
	calls       map[string]tally
	made        int // connections so far
	asked       int // the wish that state is about
}

// offer is what a server has.
type offer struct {
	open      bool // tools can be called, perhaps after a restart
	tools     []tool
	canRead   bool // it has resources
	resources int
	prompts   int
}

// tally counts the calls of one tool.
type tally struct{ calls, failures int }

func newKeeper(s Server, cfg Config, news func(offers bool)) *keeper {
	k := &keeper{
		server: s, cfg: cfg, news: news, log: &journal{now: cfg.Now},
		wake: make(chan struct{}, 1), need: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	k.life.ctx, k.life.cancel = context.WithCancel(context.Background())
	k.life.done = make(chan struct{})
	k.now = view{state: StateConnecting, since: cfg.Now(), calls: map[string]tally{}}
	return k
}

// end ends the keeper and waits until nothing of it is left.
func (k *keeper) end() {
	k.cancel()
	<-k.done
}

// set changes what is known, and perhaps what is offered.
func (k *keeper) set(f func(*view)) { k.change(f, true) }

// count changes what is known but not what is offered.
func (k *keeper) count(f func(*view)) { k.change(f, false) }

func (k *keeper) change(f func(*view), offers bool) {
	k.mu.Lock()
	before := k.now.state
	f(&k.now)
	if k.now.state != before {
		k.now.since = k.cfg.Now()
	}
	close(k.changed)
	k.changed = make(chan struct{})
	k.mu.Unlock()
	k.news(offers)
}

// look returns what is known, and what is closed when that changes.
func (k *keeper) look() (view, <-chan struct{}) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.now, k.changed
}

// want changes what the goroutine is to do.
func (k *keeper) want(f func()) {
	k.mu.Lock()
	f()
	k.mu.Unlock()
	signal(k.wake)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (k *keeper) wanted() (on bool, asked int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return !k.wish.off, k.wish.asked
}

// run keeps the connection until life ends.
func (k *keeper) run() {
	defer close(k.done)
	tries, legacy, asked := 0, false, 0
	for k.ctx.Err() == nil {
		on, now := k.wanted()
		if now != asked {
			asked, tries = now, 0
		}
		if !on {
			k.set(func(v *view) {
				v.state, v.reason, v.offer, v.next, v.asked = StateOff, nil, offer{}, time.Time{}, asked
			})
			k.rest(nil)
			tries = 0
			continue
		}
		k.set(func(v *view) { v.state, v.next, v.asked = StateConnecting, time.Time{}, asked })
		started, ok := k.await()
		if !ok {
			continue // something else is wanted
		}
		c, err := k.connect(legacy, nil)
		started()
		if err == nil {
			began := k.cfg.Now()
			err = k.serve(c, asked)
			k.disconnect(c)
			if err == nil {
				continue // something else is wanted
			}
			if k.cfg.Now().Sub(began) >= steady {
				tries = 0
			}
		}
		if k.ctx.Err() != nil {
			return
		}
		tries++
		legacy = diesOfNews(err, legacy)
		if k.fail(err, tries) {
			k.rest(nil)
			continue
		}
		pause := min(firstDelay<<(tries-1), mostDelay)
		k.set(func(v *view) { v.state, v.reason, v.next = StateConnecting, err, k.cfg.Now().Add(pause) })
		timer := time.NewTimer(pause)
		k.rest(timer.C)
		timer.Stop()
	}
}

// diesOfNews reports whether a program that ended at the first words is to be
// spoken to in the older protocol next time.
func diesOfNews(err error, before bool) bool {
	var fault *Fault
	return before || errors.As(err, &fault) && fault.Kind == FaultExited
}

// rest waits until something else is wanted, or for the time or a call, if a time
// is given.
func (k *keeper) rest(timer <-chan time.Time) {
	need := k.need
	if timer == nil {
		need = nil
	}
	select {
	case <-k.ctx.Done():
	case <-k.wake:
	case <-timer:
	case <-need:
	}
}

// fail records a failure. It reports whether that is the end of the attempts.
func (k *keeper) fail(err error, tries int) bool {
	k.log.happened(HappenedFailed, err.Error())
	v, _ := k.look()
	var fault *Fault
	if !errors.As(err, &fault) {
		fault = &Fault{Kind: FaultProtocol, Detail: err.Error(), Err: err}
	}
	last := !fault.retryable()
	if v.offer.open {
		if tries >= mostTries {
			last, fault = true, &Fault{Kind: FaultGaveUp, Detail: fault.Error(), Err: fault}
		}
	} else if tries > automatic {
		last = true
	}
	if last {
		k.set(func(v *view) {
			v.state, v.reason, v.offer, v.next = StateFailed, fault, offer{}, time.Time{}
			if fault.Kind == FaultAuth {
				v.state = StateNeedsAuth
			}
		})
	}
	return last
}

// connect makes one attempt, and records its steps.
func (k *keeper) connect(legacy bool, steps *steps) (*conn, error) {
	limit := startLimit(k.server)
	ctx, cancel := context.WithTimeout(k.ctx, limit)
	defer cancel()
	stop := k.untilUnwanted(cancel)
	defer stop()
	c, err := open(ctx, k.server, k.cfg, k.log, legacy)
	steps.add(StepHandshake, 0, err)
	if err == nil {
		var tools []tool
		tools, err = c.tools(ctx)
		steps.add(StepTools, len(tools), err)
		if err == nil {
			k.connected(c, tools)
			k.explore(ctx, c, steps)
			return c, nil
		}
		k.disconnect(c)
	} else {
		k.keepErrors(c)
	}
	var fault *Fault
	if errors.As(err, &fault) && (fault.Kind == FaultTimeout || fault.Kind == FaultClosed) && ctx.Err() != nil {
		fault = &Fault{Kind: FaultSlow, Detail: limit.String(), Err: ctx.Err()}
		if errors.Is(ctx.Err(), context.Canceled) {
			fault.Kind = FaultClosed
		}
		err = fault
	}
	return nil, err
}

// untilUnwanted calls cancel if something else is wanted meanwhile.
func (k *keeper) untilUnwanted(cancel func()) (stop func()) {
	_, before := k.wanted()
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(gone)
		select {
		case <-k.wake:
			if on, now := k.wanted(); !on || now != before {
				cancel()
			}
			signal(k.wake) // for the one who rests or serves
		case <-quit:
		}
	}()
	return func() { close(quit); <-gone }
}

// connected records a connection and what it offers.
func (k *keeper) connected(c *conn, tools []tool) {
	k.log.happened(HappenedConnected, c.peer.Protocol)
	k.set(func(v *view) {
		v.conn, v.state, v.reason, v.next = c, StateConnected, nil, time.Time{}
		v.peer, v.offer = c.peer, offer{open: true, tools: tools, canRead: c.client.GetServerCapabilities().Resources != nil}
		v.made++
		if c.wire.program != nil {
			v.health.PID, v.health.Restarts = c.wire.program.pid(), v.made-1
		}
	})
}

// explore finds out how many resources and prompts there are, and how fast the
// server answers. Nothing of that is needed for a connection.
func (k *keeper) explore(ctx context.Context, c *conn, steps *steps) {
	has := c.client.GetServerCapabilities()
	if has.Resources != nil {
		resources, err := c.resources(ctx)
		if steps.add(StepResources, len(resources), err); err == nil {
			k.count(func(v *view) { v.offer.resources = len(resources) })
		}
	}
	if has.Prompts != nil {
		prompts, err := c.prompts(ctx)
		if steps.add(StepPrompts, len(prompts), err); err == nil {
			k.count(func(v *view) { v.offer.prompts = len(prompts) })
		}
	}
	steps.add(StepPing, 0, k.ping(ctx, c))
}

func (k *keeper) ping(ctx context.Context, c *conn) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	began := k.cfg.Now()
	if err := c.ping(ctx); err != nil {
		return err
	}
	now := k.cfg.Now()
	k.count(func(v *view) { v.health.Pinged, v.health.Latency = now, now.Sub(began) })
	return nil
}

// disconnect ends a connection and keeps what its program said last.
func (k *keeper) disconnect(c *conn) {
	k.set(func(v *view) {
		if v.conn == c {
			v.conn = nil
		}
		if v.state == StateConnected {
			v.state, v.reason = StateConnecting, c.why() // until it is decided what comes next
		}
	})
	c.close()
	k.keepErrors(c)
}

// serve looks after a connection until it is lost, which is the error, or until
// something else is wanted.
func (k *keeper) serve(c *conn, asked int) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	relist := relisting{pause: leastRelist}
	defer relist.stop()
	stopListening := c.listen()
	defer stopListening()
	for {
		select {
		case <-k.ctx.Done():
			return nil
		case <-k.wake:
			if on, now := k.wanted(); !on || now != asked {
				return nil
			}
		case <-c.lost:
			return c.why()
		case <-c.dirty:
			relist.plan(k.cfg.Now())
		case <-relist.due():
			relist.begin(k.cfg.Now())
			k.refresh(c)
		case <-ping.C:
			if err := k.checkAlive(c); err != nil {
				c.lose(err)
				return err
			}
		}
	}
}

// checkAlive pings a server from which nothing was heard lately. One that works
// on a call may be too busy to answer.
func (k *keeper) checkAlive(c *conn) error {
	c.mu.Lock()
	busy := len(c.state.calls) > 0
	c.mu.Unlock()
	if busy {
		return nil
	}
	ctx, cancel := context.WithCancel(k.ctx)
	defer cancel()
	stop := k.untilUnwanted(cancel)
	defer stop()
	err := k.ping(ctx, c)
	if err == nil || ctx.Err() != nil {
		return nil
	}
	var fault *Fault
	if errors.As(err, &fault) && fault.Kind == FaultTimeout {
		kind := FaultSilent
		if c.wire.program != nil && c.wire.program.blocked() {
			kind = FaultBlocked
		}
		return &Fault{Kind: kind, Detail: pingTime.String(), Err: err}
	}
	return err
}

// refresh lists again what changed.
func (k *keeper) refresh(c *conn) {
	ctx, cancel := context.WithTimeout(k.ctx, startLimit(k.server))
	defer cancel()
	stop := k.untilUnwanted(cancel)
	defer stop()
	for _, method := range c.takeStale() {
		switch {
		case strings.Contains(method, "tools"):
			tools, err := c.tools(ctx)
			if err != nil {
				k.log.happened(HappenedUnlisted, err.Error())
				continue
			}
			k.set(func(v *view) { v.offer.tools = tools })
		case strings.Contains(method, "resources"):
			if resources, err := c.resources(ctx); err == nil {
				k.count(func(v *view) { v.offer.resources = len(resources) })
			}
		default:
			if prompts, err := c.prompts(ctx); err == nil {
				k.count(func(v *view) { v.offer.prompts = len(prompts) })
			}
		}
	}
}

// connection returns the connection for a call. It waits for one that is being
// made.
func (k *keeper) connection(ctx context.Context) (*conn, view, error) {
	for {
		v, changed := k.look()
		switch {
		case v.conn != nil && !v.conn.isLost():
			return v.conn, v, nil
		case v.conn != nil: // the goroutine is about to notice
		case v.state == StateOff:
			return nil, v, &Fault{Kind: FaultOff}
		case v.state != StateConnecting:
			return nil, v, v.reason
		}
		signal(k.need)
		select {
		case <-changed:
		case <-k.done:
			return nil, v, &Fault{Kind: FaultClosed}
		case <-ctx.Done():
			return nil, v, ctx.Err()
		}
	}
}

// settled waits until an attempt to connect is over and returns how it ended.
func (k *keeper) settled(ctx context.Context, asked int) error {
	for {
		v, changed := k.look()
		if v.asked >= asked {
			switch v.state {
			case StateConnected:
				return nil
			case StateConnecting:
			default:
				return v.reason
			}
		}
		select {
		case <-changed:
		case <-k.done:
			return &Fault{Kind: FaultClosed}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

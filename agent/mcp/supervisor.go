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

// supervisor keeps the connection to one server. Its goroutine is the only one that
// connects and disconnects.
type supervisor struct {
	life
	server   Server
	cfg      Config
	log      *journal
	news     func(offers bool) // there is news to show, and perhaps to offer
	throttle *throttle         // nil if nobody else is to be spared

	wake chan struct{} // what is wanted changed
	need chan struct{} // a call waits for a connection

	mu      sync.Mutex
	target  target
	now     view
	changed chan struct{} // closed when now changes
}

// life is that of a goroutine.
type life struct {
	ctx    context.Context
	cancel context.CancelFunc
	done   chan struct{} // closed when the goroutine is gone
}

// target is what a supervisor is to do.
type target struct {
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
	asked       int // the target that state is about
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

func newSupervisor(s Server, cfg Config, news func(offers bool)) *supervisor {
	sup := &supervisor{
		server: s, cfg: cfg, news: news, log: &journal{now: cfg.Now},
		wake: make(chan struct{}, 1), need: make(chan struct{}, 1), changed: make(chan struct{}),
	}
	sup.life.ctx, sup.life.cancel = context.WithCancel(context.Background())
	sup.life.done = make(chan struct{})
	sup.now = view{state: StateConnecting, since: cfg.Now(), calls: map[string]tally{}}
	return sup
}

// end ends the supervisor and waits until nothing of it is left.
func (sup *supervisor) end() {
	sup.cancel()
	<-sup.done
}

// set changes what is known, and perhaps what is offered.
func (sup *supervisor) set(f func(*view)) { sup.change(f, true) }

// count changes what is known but not what is offered.
func (sup *supervisor) count(f func(*view)) { sup.change(f, false) }

func (sup *supervisor) change(f func(*view), offers bool) {
	sup.mu.Lock()
	before := sup.now.state
	f(&sup.now)
	if sup.now.state != before {
		sup.now.since = sup.cfg.Now()
	}
	close(sup.changed)
	sup.changed = make(chan struct{})
	sup.mu.Unlock()
	sup.news(offers)
}

// look returns what is known, and what is closed when that changes.
func (sup *supervisor) look() (view, <-chan struct{}) {
	sup.mu.Lock()
	defer sup.mu.Unlock()
	return sup.now, sup.changed
}

// want changes what the goroutine is to do.
func (sup *supervisor) want(f func()) {
	sup.mu.Lock()
	f()
	sup.mu.Unlock()
	signal(sup.wake)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

func (sup *supervisor) wanted() (on bool, asked int) {
	sup.mu.Lock()
	defer sup.mu.Unlock()
	return !sup.target.off, sup.target.asked
}

// run keeps the connection until life ends.
func (sup *supervisor) run() {
	defer close(sup.done)
	tries, legacy, asked := 0, false, 0
	for sup.ctx.Err() == nil {
		on, now := sup.wanted()
		if now != asked {
			asked, tries = now, 0
		}
		if !on {
			sup.set(func(v *view) {
				v.state, v.reason, v.offer, v.next, v.asked = StateOff, nil, offer{}, time.Time{}, asked
			})
			sup.rest(nil)
			tries = 0
			continue
		}
		sup.set(func(v *view) { v.state, v.next, v.asked = StateConnecting, time.Time{}, asked })
		started, ok := sup.await()
		if !ok {
			continue // something else is wanted
		}
		c, err := sup.connect(legacy, nil)
		started()
		if err == nil {
			began := sup.cfg.Now()
			err = sup.serve(c, asked)
			sup.disconnect(c)
			if err == nil {
				continue // something else is wanted
			}
			if sup.cfg.Now().Sub(began) >= steady {
				tries = 0
			}
		}
		if sup.ctx.Err() != nil {
			return
		}
		tries++
		legacy = diesOfNews(err, legacy)
		if sup.fail(err, tries) {
			sup.rest(nil)
			continue
		}
		pause := min(firstDelay<<(tries-1), mostDelay)
		sup.set(func(v *view) { v.state, v.reason, v.next = StateConnecting, err, sup.cfg.Now().Add(pause) })
		timer := time.NewTimer(pause)
		sup.rest(timer.C)
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
func (sup *supervisor) rest(timer <-chan time.Time) {
	need := sup.need
	if timer == nil {
		need = nil
	}
	select {
	case <-sup.ctx.Done():
	case <-sup.wake:
	case <-timer:
	case <-need:
	}
}

// fail records a failure. It reports whether that is the end of the attempts.
func (sup *supervisor) fail(err error, tries int) bool {
	sup.log.happened(HappenedFailed, err.Error())
	v, _ := sup.look()
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
		sup.set(func(v *view) {
			v.state, v.reason, v.offer, v.next = StateFailed, fault, offer{}, time.Time{}
			if fault.Kind == FaultAuth {
				v.state = StateNeedsAuth
			}
		})
	}
	return last
}

// connect makes one attempt, and records its steps.
func (sup *supervisor) connect(legacy bool, steps *steps) (*conn, error) {
	limit := startLimit(sup.server)
	ctx, cancel := context.WithTimeout(sup.ctx, limit)
	defer cancel()
	stop := sup.untilUnwanted(cancel)
	defer stop()
	c, err := open(ctx, sup.server, sup.cfg, sup.log, legacy)
	steps.add(StepHandshake, 0, err)
	if err == nil {
		var tools []tool
		tools, err = c.tools(ctx)
		steps.add(StepTools, len(tools), err)
		if err == nil {
			sup.connected(c, tools)
			sup.explore(ctx, c, steps)
			return c, nil
		}
		sup.disconnect(c)
	} else {
		sup.keepErrors(c)
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
func (sup *supervisor) untilUnwanted(cancel func()) (stop func()) {
	_, before := sup.wanted()
	quit, gone := make(chan struct{}), make(chan struct{})
	go func() { // ends with stop
		defer close(gone)
		woken := false
		for {
			select {
			case <-sup.wake:
				woken = true
				if on, now := sup.wanted(); !on || now != before {
					cancel()
				}
			case <-quit:
				if woken {
					signal(sup.wake) // for the one who rests or serves
				}
				return
			}
		}
	}()
	return func() { close(quit); <-gone }
}

// connected records a connection and what it offers.
func (sup *supervisor) connected(c *conn, tools []tool) {
	sup.log.happened(HappenedConnected, c.peer.Protocol)
	sup.set(func(v *view) {
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
func (sup *supervisor) explore(ctx context.Context, c *conn, steps *steps) {
	has := c.client.GetServerCapabilities()
	if has.Resources != nil {
		resources, err := c.resources(ctx)
		if steps.add(StepResources, len(resources), err); err == nil {
			sup.count(func(v *view) { v.offer.resources = len(resources) })
		}
	}
	if has.Prompts != nil {
		prompts, err := c.prompts(ctx)
		if steps.add(StepPrompts, len(prompts), err); err == nil {
			sup.count(func(v *view) { v.offer.prompts = len(prompts) })
		}
	}
	steps.add(StepPing, 0, sup.ping(ctx, c))
}

func (sup *supervisor) ping(ctx context.Context, c *conn) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	began := sup.cfg.Now()
	if err := c.ping(ctx); err != nil {
		return err
	}
	now := sup.cfg.Now()
	sup.count(func(v *view) { v.health.Pinged, v.health.Latency = now, now.Sub(began) })
	return nil
}

// disconnect ends a connection and keeps what its program said last.
func (sup *supervisor) disconnect(c *conn) {
	sup.set(func(v *view) {
		if v.conn == c {
			v.conn = nil
		}
		if v.state == StateConnected {
			v.state, v.reason = StateConnecting, c.why() // until it is decided what comes next
		}
	})
	c.close()
	sup.keepErrors(c)
}

// serve looks after a connection until it is lost, which is the error, or until
// something else is wanted.
func (sup *supervisor) serve(c *conn, asked int) error {
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	relist := relisting{pause: leastRelist}
	defer relist.stop()
	stopListening := c.listen()
	defer stopListening()
	for {
		select {
		case <-sup.ctx.Done():
			return nil
		case <-sup.wake:
			if on, now := sup.wanted(); !on || now != asked {
				return nil
			}
		case <-c.lost:
			return c.why()
		case <-c.dirty:
			relist.plan(sup.cfg.Now())
		case <-relist.due():
			relist.begin(sup.cfg.Now())
			sup.refresh(c)
		case <-ping.C:
			if err := sup.checkAlive(c); err != nil {
				c.lose(err)
				return err
			}
		}
	}
}

// checkAlive pings a server from which nothing was heard lately. One that works
// on a call may be too busy to answer.
func (sup *supervisor) checkAlive(c *conn) error {
	c.mu.Lock()
	busy := len(c.state.calls) > 0
	c.mu.Unlock()
	if busy {
		return nil
	}
	ctx, cancel := context.WithCancel(sup.ctx)
	defer cancel()
	stop := sup.untilUnwanted(cancel)
	defer stop()
	err := sup.ping(ctx, c)
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
func (sup *supervisor) refresh(c *conn) {
	ctx, cancel := context.WithTimeout(sup.ctx, startLimit(sup.server))
	defer cancel()
	stop := sup.untilUnwanted(cancel)
	defer stop()
	for _, method := range c.takeStale() {
		switch {
		case strings.Contains(method, "tools"):
			tools, err := c.tools(ctx)
			if err != nil {
				sup.log.happened(HappenedUnlisted, err.Error())
				continue
			}
			sup.set(func(v *view) { v.offer.tools = tools })
		case strings.Contains(method, "resources"):
			if resources, err := c.resources(ctx); err == nil {
				sup.count(func(v *view) { v.offer.resources = len(resources) })
			}
		default:
			if prompts, err := c.prompts(ctx); err == nil {
				sup.count(func(v *view) { v.offer.prompts = len(prompts) })
			}
		}
	}
}

// connection returns the connection for a call. It waits for one that is being
// made.
func (sup *supervisor) connection(ctx context.Context) (*conn, view, error) {
	for {
		v, changed := sup.look()
		switch {
		case v.conn != nil && !v.conn.isLost():
			return v.conn, v, nil
		case v.conn != nil: // the goroutine is about to notice
		case v.state == StateOff:
			return nil, v, &Fault{Kind: FaultOff}
		case v.state != StateConnecting:
			return nil, v, v.reason
		}
		signal(sup.need)
		select {
		case <-changed:
		case <-sup.done:
			return nil, v, &Fault{Kind: FaultClosed}
		case <-ctx.Done():
			return nil, v, ctx.Err()
		}
	}
}

// settled waits until an attempt to connect is over and returns how it ended.
func (sup *supervisor) settled(ctx context.Context, asked int) error {
	for {
		v, changed := sup.look()
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
		case <-sup.done:
			return &Fault{Kind: FaultClosed}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

package mcp

import (
	"context"
	"errors"
	"maps"
	"reflect"
	"sync"
)

// offers is what all servers offer to models, as it was computed last.
type offers struct {
	mu      sync.Mutex
	current []ServerTools
	version uint64
	dirty   bool
}

func (o *offers) stale() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.dirty = true
}

func (o *offers) get(supervisors []*supervisor) ([]ServerTools, uint64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.dirty {
		o.dirty = false
		if now := offered(supervisors); !reflect.DeepEqual(now, o.current) {
			o.current, o.version = now, o.version+1
		}
	}
	return o.current, o.version
}

// toolKey is a tool by its own names.
type toolKey struct{ server, tool string }

// names returns the names for models.
func (o *offers) names(supervisors []*supervisor) map[toolKey]string {
	current, _ := o.get(supervisors)
	names := map[toolKey]string{}
	for _, s := range current {
		for _, t := range s.Tools {
			names[toolKey{s.Server, t.Name}] = t.Model
		}
	}
	return names
}

// mostInstructions is how much of a server's instructions models are told.
const mostInstructions = 2 << 10

// offered computes what servers offer. Their counters are left out, because they
// are not what a model sees.
func offered(supervisors []*supervisor) []ServerTools {
	var out []ServerTools
	taken := map[string]bool{}
	for _, sup := range supervisors {
		v, _ := sup.look()
		if !v.offer.open {
			continue
		}
		s := ServerTools{
			Server: sup.server.Name, Trusted: sup.server.Trusted, AlwaysShown: sup.server.AlwaysShown,
			Resources: v.offer.canRead, Instructions: shorten(v.peer.Instructions, mostInstructions),
		}
		for _, t := range v.offer.tools {
			if t.off {
				continue
			}
			status := t.ToolStatus
			if status.Problem == "" {
				status.Model = ToolName(s.Server, t.Name, func(name string) bool { return taken[name] })
				taken[status.Model] = true
			}
			s.Tools = append(s.Tools, status)
		}
		out = append(out, s)
	}
	return out
}

// status returns what is known about the server.
func (sup *supervisor) status(names map[toolKey]string) Status {
	v, _ := sup.look()
	s := Status{
		Name: sup.server.Name, Transport: sup.server.Transport, State: v.state, Reason: v.reason, Since: v.since, Next: v.next,
		Peer: v.peer, Health: v.health, Resources: v.offer.resources, Prompts: v.offer.prompts,
	}
	if v.conn != nil && v.state == StateConnected && v.conn.isLost() { // just now
		s.State, s.Reason = StateConnecting, v.conn.why()
	}
	for _, t := range v.offer.tools {
		status := t.ToolStatus
		status.Model = names[toolKey{sup.server.Name, t.Name}]
		status.Calls, status.Failures = v.calls[t.Name].calls, v.calls[t.Name].failures
		s.Tools = append(s.Tools, status)
	}
	return s
}

// keepErrors keeps what the program of a closed connection printed last.
func (sup *supervisor) keepErrors(c *conn) {
	if c.wire.program != nil {
		text := c.wire.program.errors()
		sup.count(func(v *view) { v.stderr, v.health.PID = text, 0 })
	}
}

func (sup *supervisor) stderr() string {
	v, _ := sup.look()
	if v.conn != nil && v.conn.wire.program != nil {
		return v.conn.wire.program.errors()
	}
	return v.stderr
}

// call calls a tool, over a new connection if the one that there was is gone.
func (sup *supervisor) call(ctx context.Context, r CallRequest) (CallResult, error) {
	result, err := sup.attempt(ctx, r)
	if errors.Is(err, errNotSent) && ctx.Err() == nil {
		result, err = sup.attempt(ctx, r)
	}
	var fault *Fault
	if errors.As(err, &fault) {
		err = fault
	}
	if fault != nil && fault.Kind == FaultUnknown || ctx.Err() != nil {
		return result, err
	}
	now := sup.cfg.Now()
	sup.count(func(v *view) {
		v.calls = maps.Clone(v.calls)
		t := v.calls[r.Tool]
		t.calls++
		v.health.Calls++
		if err != nil || result.IsError {
			t.failures++
			v.health.Failures++
		} else {
			v.health.Answered = now
		}
		if len(v.calls) < mostTools {
			v.calls[r.Tool] = t
		}
	})
	return result, err
}

func (sup *supervisor) attempt(ctx context.Context, r CallRequest) (CallResult, error) {
	c, v, err := sup.connection(ctx)
	if err != nil {
		return CallResult{}, err
	}
	for _, t := range v.offer.tools {
		if t.Name == r.Tool && !t.off && t.Problem == "" {
			return c.call(ctx, r, t)
		}
	}
	return CallResult{}, &Fault{Kind: FaultUnknown, Detail: shorten(r.Tool, mostText)}
}

// once connects, counts and disconnects, on the caller's goroutine.
func (sup *supervisor) once(ctx context.Context, steps *steps) error {
	stop := context.AfterFunc(ctx, sup.cancel)
	defer stop()
	c, err := sup.connect(false, steps)
	if err != nil {
		return err
	}
	sup.disconnect(c)
	return nil
}

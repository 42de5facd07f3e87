package hook

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/network"
)

// Options are what an [Engine] asks of its host. All but Handlers may be left
// out. Its functions are called from several goroutines.
type Options struct {
	// Folder is where hooks run: the session's working folder.
	Folder string
	// Agent is set for the session of an agent. Its start and its end are those
	// of a subagent, and it has no end of a session.
	Agent *Agent
	// Handlers returns the hooks, which may change from call to call. Hooks of
	// one scope run in the order in which they are returned.
	Handlers func() []Handler
	// Ready says whether a hook may run. It is asked just before it would. Without
	// it, all may.
	Ready func(Handler) Readiness
	// Applies says whether a permission rule in "if" is about a call. Without it,
	// or after an error, the hook runs.
	Applies func(rule string, call agent.HookTool) (bool, error)
	// Runner starts commands. Without it, no command runs.
	Runner Runner
	// Allow names variables of the environment that hooks always get.
	Allow []string
	// Network returns settings whose DeniedDomains hold for requests, too.
	Network func() network.Settings
	// Log receives each hook that was considered. It must not block.
	Log func(Entry)
	// Update changes the session's rules. Without it, a hook that asks for a
	// change fails.
	Update func(by Handler, u PermissionUpdate) error
}

// Agent is the agent whose session fires hooks.
type Agent struct {
	ID, Parent, Task string
	// Type is what matchers of subagents look at; empty means
	// "general-purpose".
	Type string
}

// Engine runs the hooks of one session; it is its [agent.Hooks]. It is safe for
// concurrent use.
type Engine struct {
	Options
	life context.Context // ends with Close, and ends what runs beside the session
	end  context.CancelFunc
	// beside limits what runs beside the session, lost the functions that did
	// not return in their time.
	beside, lost chan struct{}

	mu      sync.Mutex // guards what follows, and starting against Close
	running sync.WaitGroup
	closed  bool
	ran     map[string]bool // the hooks that run once, by id
}

// most of what may run beside a session, and of functions that did not return.
const most = 8

// New returns an engine. Its owner closes it.
func New(o Options) *Engine {
	e := &Engine{Options: o, beside: make(chan struct{}, most), lost: make(chan struct{}, most), ran: map[string]bool{}}
	e.life, e.end = context.WithCancel(context.Background())
	return e
}

// Close ends the hooks that run beside the session and waits for them. Hooks that
// are fired afterwards run, but none beside the session.
func (e *Engine) Close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.end()
	e.running.Wait()
}

// Has implements [agent.SelectiveHook].
func (e *Engine) Has(point agent.HookPoint) bool {
	point, ok := e.Agent.point(point)
	return ok && e.Handlers != nil && slices.ContainsFunc(e.Handlers(), func(h Handler) bool { return h.Point == point })
}

// Fire implements [agent.Hooks].
func (e *Engine) Fire(ctx context.Context, call agent.HookCall, report func(agent.Payload)) agent.HookAdvice {
	data, ok := e.Agent.adapted(call.Data)
	if !ok || e.Handlers == nil {
		return agent.HookAdvice{}
	}
	call.Data = data
	f := firing{engine: e, call: call, point: call.Point(), report: report, done: map[string]bool{}, inputs: map[string]json.RawMessage{}}
	for _, h := range e.ordered(f.point) {
		f.consider(ctx, h)
	}
	return f.advice
}

// ordered returns the hooks of a point in the order in which they run (OAS-667,
// COM-70).
func (e *Engine) ordered(point agent.HookPoint) []Handler {
	all := slices.DeleteFunc(slices.Clone(e.Handlers()), func(h Handler) bool { return h.Point != point })
	slices.SortStableFunc(all, func(a, b Handler) int {
		return cmp.Or(cmp.Compare(a.Origin.Scope.order(), b.Origin.Scope.order()), cmp.Compare(a.rest.order, b.rest.order))
	})
	return all
}

// Match says whether a hook would run for a call.
type Match struct {
	// Inputs are what it would be given, once for each time that it would run;
	// none if it would not.
	Inputs []json.RawMessage
	// Cause and Detail say why it would not.
	Cause  Cause
	Detail string
}

// Match tells whether a hook would run for a call, whatever its readiness is.
func (e *Engine) Match(h Handler, call agent.HookCall) Match {
	if h.Point != call.Point() {
		return Match{Cause: CauseMatcher, Detail: string(call.Point())}
	}
	found := e.match(h, call)
	m := Match{Cause: found.cause, Detail: found.detail}
	for _, v := range found.views {
		m.Inputs = append(m.Inputs, e.input(call, v))
	}
	return m
}

// matched is how a hook sees a call.
type matched struct {
	views  []view // none if the hook is not about the call
	cause  Cause
	detail string
	// blind says what the views do not show; empty if they show all.
	blind string
}

func (e *Engine) match(h Handler, call agent.HookCall) matched {
	if h.Defect == DefectKind {
		return matched{cause: CauseKind, detail: string(h.Kind)}
	}
	p, err := compile(h.Matcher, h.Origin.Form)
	switch {
	case h.Defect == DefectMatcher && err == nil:
		return matched{cause: CauseBadMatcher, detail: h.Matcher}
	case err != nil:
		return matched{cause: CauseBadMatcher, detail: err.Error()}
	}
	m := matched{views: []view{{own: true}}}
	if _, limited := targets[h.Point]; !limited {
		return m
	}
	name := target(call.Data, e.Agent)
	if aboutTool(h.Point) {
		m.views, m.blind = views(p, call.Tool())
	} else if !p.matches(name) {
		m.views = nil
	}
	if len(m.views) == 0 {
		return matched{cause: CauseMatcher, detail: name}
	}
	if h.If != "" && aboutTool(h.Point) && e.Applies != nil {
		if applies, err := e.Applies(h.If, call.Tool()); err == nil && !applies {
			return matched{cause: CauseRule, detail: h.If}
		}
	}
	return m
}

// Try runs a hook with an input, such as that of an entry, whatever its readiness
// is: the caller answers for that. The hook's answer has no effect, and the run
// is not logged. Functions of a program cannot be tried.
func (e *Engine) Try(ctx context.Context, h Handler, input json.RawMessage) Entry {
	var told struct {
		Tool    string `json:"tool_name"`
		CallID  string `json:"tool_call_id"`
		Session string `json:"session_id"`
	}
	_ = json.Unmarshal(input, &told) // whatever it is, the hook is given it
	r := run{
		handler: h, session: told.Session, input: input, own: true,
		about: About{Point: h.Point, Tool: told.Tool, CallID: told.CallID},
	}
	if h.Kind == KindFunction {
		r.fail(CauseKind, string(h.Kind))
		return e.entry(r)
	}
	e.execute(ctx, &r)
	r.failClosed()
	return e.entry(r)
}

// TryMatching is Try, but it runs the hook only if that is about the call that the
// input tells of. access returns what a call of a tool would touch.
func (e *Engine) TryMatching(ctx context.Context, h Handler, input json.RawMessage, access Accessing) (Entry, error) {
	data, err := readInput(h.Point, input, access)
	if err != nil {
		return Entry{}, err
	}
	if found := e.match(h, agent.HookCall{Data: data}); len(found.views) == 0 {
		r := run{handler: h, about: About{Point: h.Point, Tool: agent.HookCall{Data: data}.Tool().Tool}}
		r.outcome, r.cause, r.detail = OutcomeNotMatched, found.cause, found.detail
		return e.entry(r), nil
	}
	return e.Try(ctx, h, input), nil
}

// runsOnce reports whether a hook that runs once has not run yet, and takes note
// that it runs now.
func (e *Engine) runsOnce(id string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.ran[id] {
		return false
	}
	e.ran[id] = true
	return true
}

// startBeside runs a hook beside the session; ok is false if too many run.
func (e *Engine) startBeside(r run) (ok bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return false
	}
	select {
	case e.beside <- struct{}{}:
	default:
		return false
	}
	e.running.Add(1)
	go func() { // ends with the hook, which Close ends
		defer e.running.Done()
		ended := func() {}
		if r.call.Beside != nil {
			ended = r.call.Beside(r.handler.Name)
		}
		e.execute(e.life, &r)
		ended()
		<-e.beside
		e.log(r)
	}()
	return true
}

// log enters a run into the log.
func (e *Engine) log(r run) {
	if e.Log != nil {
		e.Log(e.entry(r))
	}
}

func (e *Engine) ready(h Handler) Readiness {
	if e.Ready == nil {
		return Readiness{State: StateReady}
	}
	return e.Ready(h)
}

// now is the time of an entry.
func now() time.Time { return time.Now().UTC() }

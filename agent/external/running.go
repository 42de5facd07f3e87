package external

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	acp "github.com/coder/acp-go-sdk"

	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/internal/text"
)

// The limits of what an agent sends while nobody reads it.
const (
	maxQueued = 8 << 20 // bytes of text
	maxAsked  = 64      // requests that wait, and terminals
	maxSteps  = 500     // of one prompt that are followed
)

var (
	errFlood     = errors.New("the agent sent more than can be kept, and was ended")
	errCancelled = errors.New("the user stopped the turn")
	errGone      = errors.New("the agent's program ended")
	errNoTurn    = errors.New("no prompt is being answered")
	errTooMany   = errors.New("too many requests at once")
	errNotRun    = errors.New("the call did not run: the turn ended before it")
)

// item is one thing that an agent sent, in the order of an answer. One of its fields is set.
type item struct {
	kind  llm.PartKind // of text
	text  string
	calls []llm.ToolCall
	end   *ended
}

// ended is how a prompt ended.
type ended struct {
	reason acp.StopReason
	usage  *acp.Usage
	err    error
}

// asked is a request of the agent that waits for the results of calls.
type asked struct {
	calls []llm.ToolCall
	taken bool // the calls are in an answer
	done  func(results []llm.ToolResult, err error)
}

// inbox is what an agent sent and asked, and where its prompt is. It is a part of [running].
type inbox struct {
	order order
	wake  chan struct{} // holds one; signals that the queue has something

	mu        sync.Mutex // guards what follows
	queue     []item
	queued    int // bytes
	asks      []*asked
	terminals map[string]*terminal
	following
	done      chan struct{}
	cancelled bool
	settle    func() bool // keeps the end of the turn from cancelling the prompt
	later     []acp.ContentBlock
	spending
}

// following is what the agent tells of its own calls.
type following struct {
	steps   map[acp.ToolCallId]*step
	unshown int // steps beyond the limit
	through int // how many requests came through the client
	plan    []plannedTask
	plans   int // that were shown of this prompt
}

// spending is what the agent says it used.
type spending struct {
	cost, charged float64 // US dollars: in total, and what answers were charged already
	counts        bool    // it counts tokens
}

// put adds something to the queue. Text joins text of its kind.
func (r *running) put(it item) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := len(r.queue)
	switch {
	case it.text != "" && r.queued+len(it.text) > maxQueued:
		if n == 0 || r.queue[n-1].end == nil {
			r.queue, r.queued = append(r.queue, item{end: &ended{err: errFlood}}), maxQueued
		}
	case it.text != "" && n > 0 && r.queue[n-1].text != "" && r.queue[n-1].kind == it.kind:
		r.queue[n-1].text += it.text
		r.queued += len(it.text)
	default:
		r.queue = append(r.queue, it)
		r.queued += len(it.text)
	}
	r.signal()
}

func (r *running) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// take returns the oldest thing in the queue.
func (r *running) take() (item, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 {
		return item{}, false
	}
	return r.shift(), true
}

// takeCalls is take if that are calls.
func (r *running) takeCalls() ([]llm.ToolCall, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.queue) == 0 || len(r.queue[0].calls) == 0 {
		return nil, false
	}
	return r.shift().calls, true
}

func (r *running) shift() item {
	it := r.queue[0]
	if it.end != nil && r.settle != nil {
		r.settle()
	}
	r.queue = r.queue[1:]
	r.queued -= min(len(it.text), r.queued)
	for _, a := range r.asks {
		if len(it.calls) > 0 && len(a.calls) > 0 && a.calls[0].ID == it.calls[0].ID {
			a.taken = true
		}
	}
	return it
}

// ask has the loop make calls, and calls done once with their results.
func (r *running) ask(calls []llm.ToolCall, done func([]llm.ToolResult, error)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.done == nil || r.cancelled:
		return errNoTurn
	case len(r.asks) >= maxAsked:
		return errTooMany
	}
	if calls[0].Name != ConsentTool { // what it is permitted, it does by itself
		r.through++
	}
	r.asks = append(r.asks, &asked{calls: calls, done: done})
	r.queue = append(r.queue, item{calls: calls})
	r.signal()
	return nil
}

// await is ask for a request that waits.
func (r *running) await(ctx context.Context, calls []llm.ToolCall) ([]llm.ToolResult, error) {
	r.order.wait()
	type outcome struct {
		results []llm.ToolResult
		err     error
	}
	out := make(chan outcome, 1)
	if err := r.ask(calls, func(results []llm.ToolResult, err error) { out <- outcome{results, err} }); err != nil {
		return nil, err
	}
	select {
	case o := <-out:
		return o.results, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.conn.Done():
		return nil, errGone
	}
}

// resolve ends the requests whose calls are in an answer: with their results, or saying that
// they did not run.
func (r *running) resolve(messages []llm.Message) {
	results := map[string]llm.ToolResult{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == llm.PartToolResult && p.Result != nil {
				results[p.Result.CallID] = *p.Result
			}
		}
	}
	r.mu.Lock()
	var over []*asked
	var left []*asked
	for _, a := range r.asks {
		if a.taken {
			over = append(over, a)
		} else {
			left = append(left, a)
		}
	}
	r.asks = left
	r.mu.Unlock()
	for _, a := range over {
		var all []llm.ToolResult
		var err error
		for _, call := range a.calls {
			result, ok := results[call.ID]
			if !ok {
				err = errNotRun
			}
			all = append(all, result)
		}
		a.done(all, err)
	}
}

// prompt sends a prompt. When ctx ends, which is that of the turn, the prompt is cancelled.
func (r *running) prompt(ctx context.Context, say []acp.ContentBlock) {
	done := make(chan struct{})
	r.mu.Lock()
	r.done, r.cancelled, r.unshown, r.plans = done, false, 0, 0
	clear(r.steps)
	r.mu.Unlock()
	settle := context.AfterFunc(ctx, r.cancel)
	r.mu.Lock()
	r.settle = settle
	r.mu.Unlock()
	go func() { // ends with the prompt or with the program
		out, err := r.conn.Prompt(context.Background(), acp.PromptRequest{SessionId: r.session, Prompt: say})
		r.mu.Lock()
		unshown := r.unshown
		r.done = nil
		r.mu.Unlock()
		r.release(errNoTurn)
		if unshown > 0 {
			r.put(item{kind: llm.PartReasoning, text: fmt.Sprintf("\n[%d more steps of the agent are not recorded.]\n", unshown)})
		}
		r.put(item{end: &ended{reason: out.StopReason, usage: out.Usage, err: err}})
		close(done)
	}()
}

// release ends every request that waits.
func (r *running) release(err error) {
	r.mu.Lock()
	all := r.asks
	r.asks = nil
	r.mu.Unlock()
	for _, a := range all {
		a.done(nil, err)
	}
}

// cancel cancels the prompt. An agent that does not end it is ended.
func (r *running) cancel() {
	r.mu.Lock()
	done := r.done
	r.cancelled = done != nil || len(r.queue) > 0
	r.mu.Unlock()
	if done == nil {
		return
	}
	r.release(errCancelled)
	patience := time.NewTimer(cancelPatience)
	defer patience.Stop()
	go func() { // it blocks while the agent does not read, until it is ended
		_ = r.conn.Cancel(context.Background(), acp.CancelNotification{SessionId: r.session})
	}()
	select {
	case <-done:
	case <-patience.C:
		r.close()
	}
}

// settled waits for a prompt that was cancelled, and forgets what came of it. It reports false
// if the agent has to be ended.
func (r *running) settled(ctx context.Context) bool {
	r.mu.Lock()
	done, cancelled := r.done, r.cancelled
	r.mu.Unlock()
	if !cancelled {
		return true
	}
	if done != nil {
		select {
		case <-done:
		case <-r.conn.Done():
			return false
		case <-ctx.Done():
			return false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.queue, r.queued, r.later, r.cancelled = nil, 0, nil, false
	return true
}

func (r *running) isPrompting() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.done != nil || len(r.queue) > 0
}

func (r *running) addLater(say []acp.ContentBlock) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.later = append(r.later, say...)
}

func (r *running) takeLater() []acp.ContentBlock {
	r.mu.Lock()
	defer r.mu.Unlock()
	later := r.later
	r.later = nil
	return later
}

// isGone reports whether the agent's program has ended.
func (r *running) isGone() bool {
	select {
	case <-r.conn.Done():
		return true
	default:
		return false
	}
}

// whyGone says of an error that the program ended, and what it printed last.
func (r *running) whyGone(err error) error {
	if !r.isGone() {
		return err
	}
	patience := time.NewTimer(leaveTime) // it may end a moment after its output
	defer patience.Stop()
	select {
	case <-r.process.Done():
	case <-patience.C:
	}
	printed := strings.TrimSpace(r.process.Errors())
	if printed == "" {
		return errGone
	}
	return fmt.Errorf("%w. It printed last:\n%s", errGone, text.Tail(printed, 1000))
}

// usage returns what an answer used: what the agent counts at the end of its prompt, and what
// its session has cost since the last answer.
func (r *running) usage(u *acp.Usage) (out llm.Usage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := func(n *int) int64 {
		if n == nil {
			return 0
		}
		return int64(max(*n, 0))
	}
	if u != nil {
		r.counts = true
		out = llm.Usage{
			Input: int64(max(u.InputTokens, 0)), Output: int64(max(u.OutputTokens, 0)),
			CacheRead: count(u.CachedReadTokens), CacheWrite: count(u.CachedWriteTokens), Reasoning: count(u.ThoughtTokens),
		}
	}
	out.Known = r.counts
	if charged, ok := llm.CostOf(r.cost - r.charged); ok {
		out.Charged, r.charged = charged, r.cost
	}
	return out
}

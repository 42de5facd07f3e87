package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	protocol "github.com/mark3labs/mcp-go/mcp"
)

const (
	defaultCall = 5 * time.Minute
	// mostCall is how long a call may take however much progress it reports.
	mostCall = time.Hour
	// progressPace is the time between two reports of progress that are passed on.
	progressPace = 100 * time.Millisecond
	cancelTime   = 5 * time.Second // to tell a server that its task is not wanted any more

	leastPoll, usualPoll, mostPoll = 100 * time.Millisecond, time.Second, 10 * time.Second
)

// call is a call of a tool in flight.
type call struct {
	ctx    context.Context
	from   Caller
	number int64         // of the calls of the connection
	news   chan struct{} // something below changed

	mu       sync.Mutex
	progress Progress
	fresh    bool // progress was not passed on yet
	asking   int  // questions to the user that wait for an answer
}

type callKey struct{}

// pause stops the clock while somebody is asked.
func (o *call) pause() (resume func()) {
	o.change(func() { o.asking++ })
	return func() { o.change(func() { o.asking-- }) }
}

func (o *call) change(f func()) {
	o.mu.Lock()
	f()
	o.mu.Unlock()
	select {
	case o.news <- struct{}{}:
	default:
	}
}

// progressed takes a report of progress.
func (c *conn) progressed(params json.RawMessage) {
	var m struct {
		Token    string  `json:"progressToken"`
		Progress float64 `json:"progress"`
		Total    float64 `json:"total"`
		Message  string  `json:"message"`
	}
	if json.Unmarshal(params, &m) != nil {
		return
	}
	c.mu.Lock()
	at := slices.IndexFunc(c.state.calls, func(o *call) bool { return token(o) == m.Token })
	var own *call
	if at >= 0 {
		own = c.state.calls[at]
	}
	c.mu.Unlock()
	if own != nil {
		own.report(Progress{Done: m.Progress, Total: m.Total, Message: shorten(m.Message, mostText)})
	}
}

func (o *call) report(p Progress) { o.change(func() { o.progress, o.fresh = p, true }) }

type outcome struct {
	result CallResult
	err    error
}

// call calls a tool. It returns when the server answers, the time is up or ctx
// ends, whatever the server does.
func (c *conn) call(ctx context.Context, r CallRequest, t tool) (CallResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // which also tells the server
	own := &call{from: Caller{Server: c.server.Name, Session: r.Session, CallID: r.CallID}, news: make(chan struct{}, 1)}
	own.ctx = context.WithValue(ctx, callKey{}, own)
	c.mu.Lock()
	c.state.count++
	own.number = c.state.count
	c.state.calls = append(c.state.calls, own)
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.calls = slices.DeleteFunc(c.state.calls, func(o *call) bool { return o == own })
	}()
	done := make(chan outcome, 1)
	go func() { // ends with ctx
		result, err := c.perform(own, r, t)
		done <- outcome{result, err}
	}()
	return c.follow(ctx, cancel, own, r, done)
}

// follow waits for the outcome of a call and passes on its progress.
func (c *conn) follow(ctx context.Context, cancel func(), own *call, r CallRequest, done <-chan outcome) (CallResult, error) {
	limit := c.server.Limits.Call
	if limit <= 0 {
		limit = defaultCall
	}
	idle, whole := time.NewTimer(limit), time.NewTimer(max(limit, mostCall))
	pace := time.NewTimer(0)
	defer idle.Stop()
	defer whole.Stop()
	defer pace.Stop()
	paced := true // the pace allows a report
	deliver := func() {
		own.mu.Lock()
		p, fresh := own.progress, own.fresh
		own.fresh = own.fresh && !paced
		own.mu.Unlock()
		if fresh && paced {
			paced = false
			pace.Reset(progressPace)
			if r.Progress != nil {
				r.Progress(p)
			}
		}
	}
	for {
		select {
		case o := <-done:
			if o.err != nil && ctx.Err() != nil {
				o.err = ctx.Err()
			}
			return o.result, o.err
		case <-ctx.Done():
			return CallResult{}, ctx.Err()
		case <-pace.C:
			paced = true
			deliver()
		case <-own.news:
			idle.Reset(limit)
			deliver()
		case <-idle.C:
			own.mu.Lock()
			asking := own.asking > 0
			own.mu.Unlock()
			if !asking {
				return CallResult{}, &Fault{Kind: FaultTimeout, Detail: limit.String()}
			}
			idle.Reset(limit)
		case <-whole.C:
			return CallResult{}, &Fault{Kind: FaultTimeout, Detail: max(limit, mostCall).String()}
		case <-c.lost:
			return c.afterLoss(cancel, done)
		}
	}
}

// afterLoss ends a call whose connection is over. Only the call knows whether the
// server saw it.
func (c *conn) afterLoss(cancel func(), done <-chan outcome) (CallResult, error) {
	cancel()
	patience := time.NewTimer(firstDelay)
	defer patience.Stop()
	select {
	case o := <-done:
		if o.err == nil || errors.Is(o.err, errNotSent) {
			return o.result, o.err
		}
	case <-patience.C: // somebody who is asked does not heed the end of the call
	}
	return CallResult{}, c.why()
}

// why says why the connection ended.
func (c *conn) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.err
}

// perform makes the requests of one call.
func (c *conn) perform(own *call, r CallRequest, t tool) (CallResult, error) {
	request := protocol.CallToolRequest{}
	request.Params.Name = t.Name
	request.Params.Arguments = r.Input
	if len(bytes.TrimSpace(r.Input)) == 0 {
		request.Params.Arguments = json.RawMessage(`{}`)
	}
	request.Params.Meta = &protocol.Meta{ProgressToken: token(own)}
	tasks := c.client.GetServerCapabilities().Tasks
	if t.task == string(protocol.TaskSupportRequired) && tasks != nil {
		request.Params.Task = &protocol.TaskParams{}
	}
	send := func() (json.RawMessage, error) {
		return c.result(own.ctx, c.headers(t, r.Input), func(ctx context.Context) error {
			_, err := c.client.CallTool(ctx, request)
			return err
		})
	}
	raw, err := send()
	var visit protocol.URLElicitationRequiredError
	if errors.As(err, &visit) && c.visited(own, visit) {
		raw, err = send()
	}
	if err != nil {
		return CallResult{}, err
	}
	result, task, err := callResult(raw)
	if err == nil && task != nil {
		result, err = c.await(own, *task)
	}
	if err == nil {
		result.SchemaFault = t.check(result)
	}
	return result, err
}

func token(o *call) string { return "call-" + strconv.FormatInt(o.number, 10) }

// visited has the user visit the addresses that a call needs first.
func (c *conn) visited(own *call, needs protocol.URLElicitationRequiredError) bool {
	const most = 3
	if c.cfg.Asker == nil || len(needs.Elicitations) == 0 || len(needs.Elicitations) > most {
		return false
	}
	for _, e := range needs.Elicitations {
		answer, err := c.ask(own.ctx, own, rawElicitation{Mode: "url", Message: e.Message, URL: e.URL, ID: e.ElicitationID})
		if err != nil || answer.Action != ActionAccept {
			return false
		}
	}
	return true
}

// await follows a task to its end and returns its result.
func (c *conn) await(own *call, task rawTask) (result CallResult, err error) {
	id := task.ID
	defer func() {
		if own.ctx.Err() != nil {
			c.forget(id)
		}
	}()
	for {
		switch protocol.TaskStatus(task.Status) {
		case protocol.TaskStatusCompleted, protocol.TaskStatusFailed, protocol.TaskStatusInputRequired:
			// A result that needs input first makes the server ask.
			raw, err := c.result(own.ctx, nil, func(ctx context.Context) error {
				_, err := c.client.TaskResult(ctx, protocol.TaskResultRequest{Params: protocol.TaskResultParams{TaskId: id}})
				return err
			})
			if err != nil {
				return CallResult{}, err
			}
			result, _, err := callResult(raw)
			return result, err
		case protocol.TaskStatusCancelled:
			return CallResult{}, &Fault{Kind: FaultAnswer, Detail: "the server cancelled its task: " + shorten(task.Message, mostText)}
		}
		own.report(Progress{Message: shorten(task.Message, mostText)})
		pause := time.Duration(task.PollMS) * time.Millisecond
		if task.PollMS <= 0 || task.PollMS > mostPoll.Milliseconds() {
			pause = usualPoll
		}
		timer := time.NewTimer(max(pause, leastPoll))
		select {
		case <-timer.C:
		case <-own.ctx.Done():
			timer.Stop()
			return CallResult{}, own.ctx.Err()
		}
		raw, err := c.result(own.ctx, nil, func(ctx context.Context) error {
			_, err := c.client.GetTask(ctx, protocol.GetTaskRequest{Params: protocol.GetTaskParams{TaskId: id}})
			return err
		})
		if err != nil {
			return CallResult{}, err
		}
		task = rawTask{}
		if err := json.Unmarshal(raw, &task); err != nil {
			return CallResult{}, &Fault{Kind: FaultProtocol, Detail: "the state of a task cannot be read", Err: err}
		}
	}
}

// forget tells the server that a task is not wanted any more. It does not wait.
func (c *conn) forget(task string) {
	go func() { // ends with the connection or after a moment
		ctx, cancel := context.WithTimeout(c.life, cancelTime)
		defer cancel()
		_, _ = c.result(ctx, nil, func(ctx context.Context) error {
			_, err := c.client.CancelTask(ctx, protocol.CancelTaskRequest{Params: protocol.CancelTaskParams{TaskId: task}})
			return err
		})
	}()
}

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
func (c *conn) progressed(params map[string]any) {
	of, _ := params["progressToken"].(string)
	done, _ := params["progress"].(float64)
	total, _ := params["total"].(float64)
	message, _ := params["message"].(string)
	c.mu.Lock()
	at := slices.IndexFunc(c.state.calls, func(o *call) bool { return token(o) == of })
	var own *call
	if at >= 0 {
		own = c.state.calls[at]
	}
	c.mu.Unlock()
	if own != nil {
		own.report(Progress{Done: done, Total: total, Message: shorten(message, mostText)})
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
	ctx, sent := withExchange(own.ctx)
	answer, err := c.client.CallTool(ctx, request)
	var visit protocol.URLElicitationRequiredError
	if errors.As(err, &visit) && c.visited(own, visit) {
		answer, err = c.client.CallTool(ctx, request)
	}
	if err != nil {
		return CallResult{}, c.failure(ctx, err)
	}
	result := callResult(answer)
	if task := taskIn(sent.text); task != nil {
		if result, err = c.await(own, *task); err != nil {
			return CallResult{}, err
		}
	}
	result.SchemaFault = t.check(result)
	return result, nil
}

// taskIn returns the task that a call became; nil if it became none. mcp-go's result of
// a call has no member for it.
func taskIn(result json.RawMessage) *protocol.Task {
	var created struct {
		Task *protocol.Task `json:"task"`
	}
	_ = json.Unmarshal(result, &created)
	return created.Task
}

func token(o *call) string { return "call-" + strconv.FormatInt(o.number, 10) }

// visited has the user visit the addresses that a call needs first.
func (c *conn) visited(own *call, needs protocol.URLElicitationRequiredError) bool {
	const most = 3
	if c.cfg.Asker == nil || len(needs.Elicitations) == 0 || len(needs.Elicitations) > most {
		return false
	}
	for _, e := range needs.Elicitations {
		answer, err := c.ask(own.ctx, own, protocol.ElicitationParams{
			Mode: protocol.ElicitationModeURL, Message: e.Message, URL: e.URL, ElicitationID: e.ElicitationID,
		}, nil)
		if err != nil || answer.Action != ActionAccept {
			return false
		}
	}
	return true
}

// await follows a task to its end and returns its result.
func (c *conn) await(own *call, task protocol.Task) (result CallResult, err error) {
	defer func() {
		if own.ctx.Err() != nil {
			c.forget(task.TaskId)
		}
	}()
	for {
		switch task.Status {
		case protocol.TaskStatusCompleted, protocol.TaskStatusFailed, protocol.TaskStatusInputRequired:
			// A result that needs input first makes the server ask.
			return c.taskResult(own.ctx, task.TaskId)
		case protocol.TaskStatusCancelled:
			return CallResult{}, &Fault{Kind: FaultAnswer, Detail: "the server cancelled its task: " + shorten(task.StatusMessage, mostText)}
		}
		own.report(Progress{Message: shorten(task.StatusMessage, mostText)})
		timer := time.NewTimer(pollPause(task.PollInterval))
		select {
		case <-timer.C:
		case <-own.ctx.Done():
			timer.Stop()
			return CallResult{}, own.ctx.Err()
		}
		id := task.TaskId
		now, err := c.client.GetTask(own.ctx, protocol.GetTaskRequest{Params: protocol.GetTaskParams{TaskId: id}})
		if err != nil {
			return CallResult{}, c.failure(own.ctx, err)
		}
		task = now.Task
		task.TaskId = id
	}
}

// pollPause returns how long to wait before a task is asked about again, given what the
// server suggests, in milliseconds.
func pollPause(suggested *int64) time.Duration {
	if suggested == nil || *suggested <= 0 || *suggested > mostPoll.Milliseconds() {
		return usualPoll
	}
	return max(time.Duration(*suggested)*time.Millisecond, leastPoll)
}

// taskResult returns the result of a task that has ended. It is that of a call, which
// mcp-go's own result of a task holds less exactly.
func (c *conn) taskResult(ctx context.Context, id string) (CallResult, error) {
	ctx, sent := withExchange(ctx)
	if _, err := c.client.TaskResult(ctx, protocol.TaskResultRequest{Params: protocol.TaskResultParams{TaskId: id}}); err != nil {
		return CallResult{}, c.failure(ctx, err)
	}
	whole := readable(string(protocol.MethodTasksResult), sent.text)
	result, err := protocol.ParseCallToolResult(&whole)
	if err != nil {
		return CallResult{}, c.failure(ctx, err)
	}
	return callResult(result), nil
}

// forget tells the server that a task is not wanted any more. It does not wait.
func (c *conn) forget(task string) {
	go func() { // ends with the connection or after a moment
		ctx, cancel := context.WithTimeout(c.life, cancelTime)
		defer cancel()
		_, _ = c.client.CancelTask(ctx, protocol.CancelTaskRequest{Params: protocol.CancelTaskParams{TaskId: task}})
	}()
}

package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"atelier.dev/atelier/agent"
)

// Question is what a person at the client is asked.
type Question struct {
	Message string
	// Choices are the answers that there are, in their order.
	Choices []Choice
}

// Choice is one answer.
type Choice struct{ Value, Title string }

// Answer is what the person chose, and what they say about it. An empty Value means
// that they did not choose.
type Answer struct{ Value, Words string }

// ErrCannotAsk is returned if the client cannot ask anybody.
var ErrCannotAsk = errors.New("the client cannot ask its user")

const (
	// questionTime is how long a question of the newest protocol waits for the
	// client to come back with the answer.
	questionTime = 10 * time.Minute
	// maxWords limits what a person says, in bytes.
	maxWords = 4000
	// heartbeat is how often a running call reports progress at least, so that the
	// client does not give it up, and calm how often at most.
	heartbeat = 5 * time.Second
	calm      = 20 * time.Millisecond
)

// pending is a call that runs. In the newest protocol it outlives the request that
// began it: a question ends that request, and its answer comes with another.
type pending struct {
	id      string
	cancel  context.CancelFunc
	done    chan agent.Result // holds one
	asked   chan question     // what a person has to decide
	answers chan Answer       // holds one
	printed chan struct{}     // signals progress; holds one

	mu   sync.Mutex
	last string // line that was printed
}

type question struct {
	Question
	failed chan<- error // holds one
}

// waiting holds the calls whose question is with the client.
type waiting struct {
	mu   sync.Mutex
	byID map[string]*pending
}

func (w *waiting) take(id string) (*pending, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.byID[id]
	delete(w.byID, id)
	return p, ok
}

func (w *waiting) put(p *pending) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.byID == nil {
		w.byID = map[string]*pending{}
	}
	w.byID[p.id] = p
}

// begin starts a call.
func (s *Server) begin(ctx context.Context, tool string, input json.RawMessage, meta *mcp.Meta) *pending {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &pending{
		id: rand.Text(), cancel: cancel, done: make(chan agent.Result, 1), asked: make(chan question),
		answers: make(chan Answer, 1), printed: make(chan struct{}, 1),
	}
	call := Call{Client: clientOf(ctx), Tool: tool, Input: input, Output: p.print, Ask: p.ask}
	if !canAsk(ctx) {
		call.Ask = func(context.Context, Question) (Answer, error) { return Answer{}, ErrCannotAsk }
	}
	go func() { // ends with the call, which obeys its context
		defer cancel()
		p.done <- s.cfg.Call(own, call)
	}()
	if meta != nil && meta.ProgressToken != nil {
		go s.report(own, ctx, p, meta.ProgressToken)
	}
	return p
}

// print remembers the newest line of what the call printed.
func (p *pending) print(text string) {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	p.mu.Lock()
	p.last = lines[len(lines)-1]
	p.mu.Unlock()
	select {
	case p.printed <- struct{}{}:
	default:
	}
}

// report tells the client what the call printed, and every few seconds that it goes
// on. It ends with the call.
func (s *Server) report(call, client context.Context, p *pending, token mcp.ProgressToken) {
	const longest = 200
	ticks := time.NewTicker(heartbeat)
	defer ticks.Stop()
	for n := 1; ; n++ {
		select {
		case <-call.Done():
			return
		case <-ticks.C:
		case <-p.printed:
		}
		p.mu.Lock()
		message := p.last
		p.mu.Unlock()
		params := map[string]any{"progressToken": token, "progress": n}
		if message != "" {
			params["message"] = strings.ToValidUTF8(message[:min(len(message), longest)], "")
		}
		if client.Err() == nil {
			_ = s.protocol.SendNotificationToClient(client, "notifications/progress", params) // the next one may arrive
		}
		select {
		case <-call.Done():
			return
		case <-time.After(calm):
		}
	}
}

// ask asks the client, and waits for the answer.
func (p *pending) ask(ctx context.Context, q Question) (Answer, error) {
	failed := make(chan error, 1)
	select {
	case p.asked <- question{q, failed}:
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
	select {
	case a := <-p.answers:
		return a, nil
	case err := <-failed:
		return Answer{}, err
	case <-ctx.Done():
		return Answer{}, ctx.Err()
	}
}

// follow waits until the call has ended or asks something. When the request ends
// first, the call is canceled.
func (s *Server) follow(ctx context.Context, p *pending) (*mcp.CallToolResult, error) {
	for {
		select {
		case r := <-p.done:
			return resultOf(r), nil
		case <-ctx.Done():
			p.cancel()
			return nil, context.Cause(ctx)
		case q := <-p.asked:
			if server.IsModernRequest(ctx) {
				return s.leaveWith(p, q), nil
			}
			answer, err := s.protocol.RequestElicitation(ctx, mcp.ElicitationRequest{
				Request: mcp.Request{Method: string(mcp.MethodElicitationCreate)}, Params: q.form(),
			})
			if err != nil {
				q.failed <- fmt.Errorf("ask the client: %w", err)
				continue
			}
			p.answers <- answerOf(answer)
		}
	}
}

// formID names the question in a result of the newest protocol.
const formID = "decision"

// leaveWith ends a request with a question. The call waits for the request that
// brings the answer, for a while.
func (s *Server) leaveWith(p *pending, q question) *mcp.CallToolResult {
	p.id = rand.Text() // each question has one answer
	s.waiting.put(p)
	id := p.id
	time.AfterFunc(questionTime, func() {
		if late, ok := s.waiting.take(id); ok {
			late.cancel()
		}
	})
	return server.NewInputRequestBuilder(p.id).Elicit(formID, q.form()).ToolResult()
}

// deliver passes on the answer that a request brought.
func (p *pending) deliver(responses mcp.InputResponses) {
	p.answers <- answerOf(server.ElicitationResponse(responses, formID))
}

// form returns a question in the form of the protocol.
func (q Question) form() mcp.ElicitationParams {
	values, titles := make([]string, len(q.Choices)), make([]string, len(q.Choices))
	for i, c := range q.Choices {
		values[i], titles[i] = c.Value, c.Title
	}
	return mcp.ElicitationParams{
		Message: q.Message,
		RequestedSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"decision": map[string]any{"type": "string", "title": "Decision", "enum": values, "enumNames": titles},
				"words":    map[string]any{"type": "string", "title": "What to do instead", "maxLength": maxWords},
			},
			"required": []string{"decision"},
		},
	}
}

// answerOf reads an answer. Anything but a person's own choice is none.
func answerOf(r *mcp.ElicitationResult) Answer {
	if r == nil || r.Action != mcp.ElicitationResponseActionAccept {
		return Answer{}
	}
	content, ok := r.Content.(map[string]any)
	if !ok {
		return Answer{}
	}
	var a Answer
	a.Value, _ = content["decision"].(string)
	a.Words, _ = content["words"].(string)
	a.Words = strings.ToValidUTF8(a.Words[:min(len(a.Words), maxWords)], "")
	return a
}

// Close cancels the calls whose question is with a client.
func (s *Server) Close() {
	s.waiting.mu.Lock()
	left := slices.Collect(maps.Values(s.waiting.byID))
	s.waiting.byID = nil
	s.waiting.mu.Unlock()
	for _, p := range left {
		p.cancel()
	}
}

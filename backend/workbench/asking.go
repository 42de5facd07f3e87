package workbench

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/generate"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend/mcp"
)

// asking is what the questions of servers need of the workbench.
type asking struct {
	bench *Workbench
	mu    sync.Mutex
	calls map[client.Caller]func(agent.SideRequest) bool // in flight, without their servers
}

// began is told of each call of a server's tool in a session.
func (a *asking) began(session string) func(string, func(agent.SideRequest) bool) func() {
	return func(call string, spent func(agent.SideRequest) bool) func() {
		who := client.Caller{Session: session, CallID: call}
		a.mu.Lock()
		defer a.mu.Unlock()
		a.calls[who] = spent
		return func() {
			a.mu.Lock()
			defer a.mu.Unlock()
			delete(a.calls, who)
		}
	}
}

// Situation implements [mcp.Host].
func (a *asking) Situation(ctx context.Context, session string) (mcp.Situation, error) {
	w := a.bench
	info, err := w.session(ctx, session)
	if err != nil {
		return mcp.Situation{}, err
	}
	set := info.Settings
	if l := w.sessions.Find(session); l != nil {
		if asked, ok := l.Asked(); ok {
			set = asked // the mode holds at once
		}
	}
	now := mcp.Situation{Provider: set.Provider, Model: set.Model, Mode: set.Mode, Unattended: w.cfg.unheard()}
	budget := set.Budget
	if budget == 0 {
		budget = w.cfg.Limits.Budget
	}
	if budget > 0 {
		left := int64(budget - info.Cost.Cost - w.delegation.OthersCost(w.ctx, account(info), info.ID))
		now.Left = &left
	}
	return now, nil
}

// bytesPerToken makes an estimate too high rather than too low.
const bytesPerToken = 3

// Estimate implements [mcp.Host].
func (a *asking) Estimate(s mcp.Situation, r client.SamplingRequest) *int64 {
	size := len(r.System)
	for _, m := range r.Messages {
		for _, c := range m.Content {
			size += len(c.Text) + len(c.Data)
		}
	}
	usage := llm.Usage{Input: int64(size/bytesPerToken) + 1, Output: int64(r.MaxTokens), Known: true}
	cost := a.bench.providers.Price(s.Provider, s.Model, usage, time.Now())
	if cost == nil {
		return nil
	}
	most := int64(*cost)
	return &most
}

// Changed implements [mcp.Host].
func (a *asking) Changed() { a.bench.tellServers() }

// samplingTime limits one request.
const samplingTime = 2 * time.Minute

// Sample implements [mcp.Host]. The request is apart from the session's conversation:
// the server sees nothing of that, and the answer goes to the server alone.
func (a *asking) Sample(ctx context.Context, from client.Caller, s mcp.Situation, r client.SamplingRequest) (client.SamplingResult, error) {
	ctx, cancel := context.WithTimeout(ctx, samplingTime)
	defer cancel()
	request := llm.Request{
		Provider: s.Provider, Model: s.Model, System: r.System, Effort: llm.EffortMinimal, MaxOutput: r.MaxTokens,
		Options: llm.Options{Stop: r.Stop, NoCache: true},
	}
	for _, m := range r.Messages {
		request.Messages = append(request.Messages, sampled(m))
	}
	got, err := generate.Text(ctx, a.bench.providers, generate.Call{Request: request, Retry: &llm.RetryPolicy{}})
	for _, usage := range got.Charged() {
		a.enter(ctx, from, agent.SideRequest{
			Purpose: agent.PurposeSampling, Provider: s.Provider, Model: s.Model,
			Usage: usage, Cost: a.bench.providers.Price(s.Provider, s.Model, usage, time.Now()),
		})
	}
	if err != nil {
		slog.Info("a server's request for sampling failed", "server", from.Server, "session", from.Session, "err", err)
		return client.SamplingResult{}, err
	}
	result := client.SamplingResult{Model: s.Model, Text: got.Text(), StopReason: "endTurn"}
	if got.Answer().Finish.Reason == llm.FinishLength {
		result.StopReason = "maxTokens"
	}
	return result, nil
}

// sampled is a server's message as one to a model.
func sampled(m client.PromptMessage) llm.Message {
	out := llm.Message{Role: llm.RoleUser}
	if m.Role == "assistant" {
		out.Role = llm.RoleAssistant
	}
	for _, c := range m.Content {
		switch {
		case c.Kind == client.ContentImage && out.Role == llm.RoleUser:
			out.Parts = append(out.Parts, llm.Part{Kind: llm.PartMedia, Media: &llm.Media{MIME: c.MIME, Data: c.Data}})
		case c.Text != "":
			out.Parts = append(out.Parts, llm.Part{Kind: llm.PartText, Text: c.Text})
		}
	}
	return out
}

// enter enters what a request cost: into the log of the call that is in flight, or
// beside it if that has ended meanwhile.
func (a *asking) enter(ctx context.Context, from client.Caller, r agent.SideRequest) {
	a.mu.Lock()
	spent := a.calls[client.Caller{Session: from.Session, CallID: from.CallID}]
	a.mu.Unlock()
	if spent != nil && spent(r) {
		return
	}
	if err := a.bench.publish(context.WithoutCancel(ctx), from.Session, r); err != nil {
		slog.Warn("could not enter the cost of a server's request", "session", from.Session, "err", err)
	}
}

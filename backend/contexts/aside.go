package contexts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/live"
)

const (
	// asideTime limits one answer.
	asideTime = 3 * time.Minute
	// maxQuestion limits a question, in bytes.
	maxQuestion = 32 << 10
)

// AsideConfig is what asides work with. All fields are required.
type AsideConfig struct {
	Log interface {
		Events(context.Context, backend.EventRange) ([]agent.Event, error)
	}
	Session func(ctx context.Context, id string) (backend.SessionInfo, error)
	// Sessions holds the session while it is asked.
	Sessions func() *live.Sessions
	// Build makes a session with a past, as that of the given row is made.
	Build func(context.Context, backend.SessionInfo, []agent.Event, agent.Approver) (*agent.Session, error)
	// Publish stores and shows an event of a session.
	Publish func(ctx context.Context, session string, p agent.Payload) error
}

// Asides answers side questions: a fork in memory sees the conversation of a session, which may be
// working meanwhile, and answers from it without tools. Nothing of the session changes except its
// ledger, which has what the answer cost. It is safe for concurrent use.
type Asides struct{ cfg AsideConfig }

// NewAsides returns what answers side questions.
func NewAsides(cfg AsideConfig) *Asides { return &Asides{cfg} }

// Register registers the method of the page.
func (a *Asides) Register(d *dispatch.Dispatcher) { dispatch.Handle(d, "aside.ask", a.Ask) }

// AsideRequest is for aside.ask.
type AsideRequest struct {
	Session  string `json:"session"`
	Question string `json:"question"`
}

// AsideReply answers aside.ask.
type AsideReply struct {
	Answer string       `json:"answer"`
	Model  string       `json:"model"`
	Cost   llm.Spending `json:"cost"`
}

// asideFrame is what the model is told with a question.
const asideFrame = "This is a side question. Answer it briefly from what you know of this conversation, and call no tools. It is no part of the work: afterwards the conversation goes on as if it had not been asked.\n\n"

// noTools is the gate of an aside.
var noTools = agent.GateFunc(func(context.Context, agent.GateCall) agent.Verdict {
	return agent.Verdict{Decision: agent.Deny, Reason: "a side question is answered without tools, from the conversation"}
})

// Ask answers a question about a session's conversation as it is now. The session stays as it was,
// also if it works meanwhile.
func (a *Asides) Ask(ctx context.Context, in AsideRequest) (AsideReply, error) {
	question := strings.TrimSpace(in.Question)
	if question == "" || len(question) > maxQuestion {
		return AsideReply{}, backend.Problem(backend.ProblemAsideQuestion)
	}
	info, err := a.cfg.Session(ctx, in.Session)
	if err != nil {
		return AsideReply{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, asideTime)
	defer cancel()
	_, release, err := a.cfg.Sessions().Open(ctx, info.ID) // which has its place while it is in memory
	if err != nil {
		return AsideReply{}, err
	}
	defer release()
	fork, err := a.fork(ctx, info)
	if err != nil {
		return AsideReply{}, err
	}
	result, err := fork.Prompt(ctx, asideFrame+question)
	for _, by := range result.ByModel {
		side := agent.SideRequest{Purpose: agent.PurposeAside, Provider: by.Provider, Model: by.Model, Usage: by.Usage}
		if by.Cost.Unknown == 0 {
			side.Cost = &by.Cost.Cost
		}
		if failed := a.cfg.Publish(context.WithoutCancel(ctx), info.ID, side); failed != nil {
			return AsideReply{}, failed
		}
	}
	switch {
	case err != nil:
		return AsideReply{}, backend.Problem(backend.ProblemAsideFailed).Detailed(err.Error()).Because(err)
	case strings.TrimSpace(result.Text) == "":
		return AsideReply{}, backend.Problem(backend.ProblemAsideFailed)
	}
	return AsideReply{Answer: result.Text, Model: fork.Transcript().Settings.Model, Cost: result.Cost}, nil
}

// fork returns a session in memory with the conversation so far. Nothing that it does is seen by
// hooks, recorded or kept.
func (a *Asides) fork(ctx context.Context, info backend.SessionInfo) (*agent.Session, error) {
	log, err := a.cfg.Log.Events(ctx, backend.EventRange{Session: info.ID, Before: info.Seq + 1})
	if err != nil {
		return nil, err
	}
	cut, err := agent.FindCut(log, agent.ForkPlace{})
	if err != nil {
		return nil, fmt.Errorf("find the end of the conversation: %w", err)
	}
	var past []agent.Event
	var t agent.Transcript
	for _, ev := range log {
		if ev.Seq <= cut.Through {
			past = append(past, ev)
			t.Apply(ev)
		}
	}
	then := t.Sever(cut)
	if t.State == agent.StateClosed {
		then = append(then, agent.SessionStart{Folder: info.Folder, Resumed: true})
	}
	for i, p := range then {
		past = append(past, agent.Event{Session: info.ID, Turn: t.Turn, Seq: cut.Through + int64(i) + 1, At: time.Now().UnixMilli(), Data: p})
	}
	built, err := a.cfg.Build(ctx, info, past, nil)
	if err != nil {
		return nil, err
	}
	cfg := built.Config()
	cfg.Gate, cfg.Approver, cfg.Hooks, cfg.Recorder, cfg.Rewritten = noTools, nil, nil, nil, nil
	cfg.Compactor, cfg.Attach, cfg.News, cfg.CleanUp = nil, nil, nil, nil
	cfg.Limits.Rounds = 2 // in case it calls a tool all the same
	fork, err := agent.New(cfg, past...)
	if err != nil {
		return nil, fmt.Errorf("read the conversation: %w", err)
	}
	return fork, nil
}

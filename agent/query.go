package agent

import (
	"context"
	"iter"
	"slices"

	"atelier.dev/atelier/agent/llm"
)

// The entries to a session (OAS-101 to OAS-103): Prompt for who wants the end,
// [Session.Run] for who wants every event, StreamInput for who has inputs as
// they come. They are one loop.

// QueryResult is what an input came to. It is a fold of the input's events:
// [NewQueryResult], then [QueryResult.Apply] for each.
type QueryResult struct {
	// Text is the newest answer's, also where it broke off.
	Text   string
	Usage  llm.Usage
	Rounds int // of tools
	Turns  int // answers
	Cost   llm.Spending
	// ByModel splits usage and cost by model, in the order of first use
	// (OAS-114, OAS-712).
	ByModel []ModelCost
	Status  Status
	// Failure says why, where Status is [StatusFailed]; nil otherwise.
	Failure *Failure
}

// ModelCost is what one model took part with.
type ModelCost struct {
	Provider string       `json:"provider"`
	Model    string       `json:"model"`
	Usage    llm.Usage    `json:"usage"`
	Cost     llm.Spending `json:"cost"`
}

// Status says how an input ended (OAS-117).
type Status string

// The statuses.
const (
	StatusSuccess   Status = "success"
	StatusMaxTurns  Status = "errorMaxTurns"
	StatusMaxBudget Status = "errorMaxBudgetUsd"
	StatusFailed    Status = "errorDuringExecution"
	StatusCancelled Status = "cancelled"
)

// statusOf is the status of an end.
func statusOf(r EndReason) Status {
	switch r {
	case EndDone:
		return StatusSuccess
	case EndLimit:
		return StatusMaxTurns
	case EndBudget:
		return StatusMaxBudget
	case EndInterrupted:
		return StatusCancelled
	default:
		return StatusFailed
	}
}

// Prompt is [Session.Run] for who wants only its result. Of inputs that were
// queued to follow, the result is the last one's, with the usage and cost of
// all.
func (s *Session) Prompt(ctx context.Context, input string) (QueryResult, error) {
	return collect(s.Run(ctx, input))
}

// StreamInput runs one input after the other as they come, each to its end. It
// stops after one that did not end well; [Session.Run] can go on.
func (s *Session) StreamInput(ctx context.Context, inputs iter.Seq[string]) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for input := range inputs {
			for ev, err := range s.Run(ctx, input) {
				if !yield(ev, err) || err != nil {
					return
				}
			}
			if s.transcript.LastEnd != EndDone {
				return
			}
		}
	}
}

// collect folds the events of a run.
func collect(events iter.Seq2[Event, error]) (QueryResult, error) {
	r := NewQueryResult()
	for ev, err := range events {
		if err != nil {
			return r, err
		}
		r.Apply(ev)
	}
	return r, nil
}

// NewQueryResult returns what no event at all comes to: nothing was used, and
// that is known.
func NewQueryResult() QueryResult { return QueryResult{Usage: llm.Usage{Known: true}} }

// Apply counts an event in. Status is there once it was a [ProcessingEnd].
func (r *QueryResult) Apply(ev Event) {
	switch d := ev.Data.(type) {
	case UserInput:
		r.Text = ""
	case TextEnd:
		if text := d.Message.Text(); text != "" {
			r.Text = text
		}
		if len(d.Message.Parts) > 0 {
			r.Turns++
		}
		r.spend(d.Provider, d.Model, d.Usage, d.Cost)
	case Retrying:
		if d.Counts() {
			r.spend(d.Provider, d.Model, d.Usage, d.Cost)
		}
	case Failure:
		r.Failure = &d
	case ProcessingEnd:
		r.Status, r.Rounds = statusOf(d.Reason), r.Rounds+d.Rounds
	}
}

// spend counts one request.
func (r *QueryResult) spend(provider, model string, u llm.Usage, cost *llm.Cost) {
	i := slices.IndexFunc(r.ByModel, func(m ModelCost) bool { return m.Provider == provider && m.Model == model })
	if i < 0 {
		i = len(r.ByModel)
		r.ByModel = append(r.ByModel, ModelCost{Provider: provider, Model: model, Usage: llm.Usage{Known: true}})
	}
	r.ByModel[i].Usage = r.ByModel[i].Usage.Add(u)
	r.ByModel[i].Cost.Add(cost)
	r.Usage = r.Usage.Add(u)
	r.Cost.Add(cost)
}

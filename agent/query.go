package agent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/llm"
)

// This file has the entries to a session besides [Session.Run], which yields
// every event: Prompt returns only the result, StreamInput takes inputs as they
// come (OAS-101 to OAS-103). All of them use the same loop.

// QueryResult is the result of an input. It is a fold of the input's events:
// [NewQueryResult], then [QueryResult.Apply] for each event.
type QueryResult struct {
	// Text is the newest answer, even if it broke off.
	Text   string
	Usage  llm.Usage
	Rounds int // of tools
	Turns  int // answers
	Cost   llm.Spending
	// ByModel splits usage and cost by model, in the order of first use
	// (OAS-114, OAS-712).
	ByModel []ModelCost
	Status  Status
	// Failure gives the reason if Status is [StatusFailed]; otherwise it is
	// nil.
	Failure *Failure
}

// Err returns nil if the input was taken to its end; otherwise it says what
// stopped it.
func (r QueryResult) Err() error {
	switch {
	case r.Status == StatusSuccess:
		return nil
	case r.Failure != nil:
		return errors.New(strings.TrimSpace(r.Failure.Message + " " + r.Failure.Next))
	case r.Status == StatusMaxTurns:
		return errors.New("the limit of rounds or turns was reached: raise Limits.Rounds or Limits.Turns, or go on with Session.Continue")
	case r.Status == StatusMaxBudget:
		return errors.New("the budget does not allow another request: raise Limits.Budget or Settings.Budget")
	case r.Status == StatusCancelled:
		return ErrInterrupted
	}
	return errors.New("the input did not run to its end")
}

// ModelCost is the usage and cost of one model.
type ModelCost struct {
	Provider string       `json:"provider"`
	Model    string       `json:"model"`
	Usage    llm.Usage    `json:"usage"`
	Cost     llm.Spending `json:"cost"`
}

// PurposeAside is a side question about a conversation, which leaves it as it was.
const PurposeAside Purpose = "aside"

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

// statusOf returns the status for an end reason.
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

// Prompt is [Session.Run] for callers that want only the result. If queued
// inputs follow, the result is that of the last one, with the usage and cost of
// all. The error is that of [Session.Run], or [QueryResult.Err], beside what
// there is of the result.
func (s *Session) Prompt(ctx context.Context, input string) (QueryResult, error) {
	return collect(s.Run(ctx, input))
}

// StreamInput runs inputs one after the other as they come, each to its end. It
// stops after one that did not succeed; [Session.Run] can then continue.
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
	return r, r.Err()
}

// NewQueryResult returns the result of no events: nothing was used, and the
// usage is known.
func NewQueryResult() QueryResult { return QueryResult{Usage: llm.Usage{Known: true}} }

// Apply folds in an event. Status is set once the event was a [ProcessingEnd].
func (r *QueryResult) Apply(ev Event) {
	if made, ok := RequestOf(ev.Data); ok {
		r.spend(made)
	}
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
	case Failure:
		r.Failure = &d
	case Warning:
		switch d.ID {
		case WarnHookStopped, WarnPromptRefused, WarnFiltered, WarnRefused:
			r.Failure = d.Failure()
		}
	case ProcessingEnd:
		if d.Reason == EndDone {
			r.Failure = nil // a hook refused only what was to steer the turn
		}
		r.Status, r.Rounds = statusOf(d.Reason), r.Rounds+d.Rounds
	}
}

// spend adds one request.
func (r *QueryResult) spend(made SideRequest) {
	i := slices.IndexFunc(r.ByModel, func(m ModelCost) bool { return m.Provider == made.Provider && m.Model == made.Model })
	if i < 0 {
		i = len(r.ByModel)
		r.ByModel = append(r.ByModel, ModelCost{Provider: made.Provider, Model: made.Model, Usage: llm.Usage{Known: true}})
	}
	r.ByModel[i].Usage = r.ByModel[i].Usage.Add(made.Usage)
	r.ByModel[i].Cost.Add(made.Cost)
	r.Usage = r.Usage.Add(made.Usage)
	r.Cost.Add(made.Cost)
}

// RequestOf returns the model request that an event reports, as a side request;
// false if it reports none that has to be accounted for.
func RequestOf(data Payload) (SideRequest, bool) {
	switch d := data.(type) {
	case Retrying:
		return SideRequest{Purpose: PurposeTurn, Provider: d.Provider, Model: d.Model, Usage: d.Usage, Cost: d.Cost}, d.Counts()
	case TextEnd:
		return SideRequest{Purpose: PurposeTurn, Provider: d.Provider, Model: d.Model, Usage: d.Usage, Cost: d.Cost}, true
	case SideRequest:
		return d, true
	}
	return SideRequest{}, false
}

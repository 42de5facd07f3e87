package reading

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// landmarkEvents limits one search for a landmark, so that a page may give it up.
const landmarkEvents = 5000

// landmark searches a session's log for the nearest landmark after an event, or
// before it. It ends at the landmark, at a limit or at an end of the log.
func (r *Reader) landmark(ctx context.Context, in LandmarkRequest) (LandmarkReply, error) {
	info, err := r.project.Session(ctx, in.Session)
	if err != nil {
		return LandmarkReply{}, err
	}
	from := min(in.From, info.Seq+1)
	for range landmarkEvents / findPage {
		part := backend.EventRange{Session: in.Session, After: from, Limit: findPage}
		if in.Back {
			part = backend.EventRange{Session: in.Session, Before: from, Limit: findPage, Newest: true}
		}
		if in.Back && from <= 1 {
			return LandmarkReply{}, nil
		}
		page, err := r.store.Events(ctx, part)
		if err != nil {
			return LandmarkReply{}, err
		}
		if len(page) == 0 {
			return LandmarkReply{}, nil
		}
		if in.Back {
			slices.Reverse(page)
		}
		for _, ev := range page {
			if of, ok := isLandmark(ev, in.Landmark); ok && (in.Of == "" && !info.TookBack(ev.Seq) || in.Of != "" && of == in.Of) {
				return LandmarkReply{Seq: ev.Seq, Kind: ev.Kind(), Of: of}, nil
			}
		}
		from = page[len(page)-1].Seq
	}
	return LandmarkReply{Next: from}, nil
}

// isLandmark reports whether an event is a landmark, and the call or command
// that it belongs to. A call that failed without having done anything, such as
// one with wrong arguments, is not an error: the model corrects it itself.
func isLandmark(ev agent.Event, landmark Landmark) (of string, is bool) {
	if landmark == LandmarkPrompt {
		switch d := ev.Data.(type) {
		case agent.UserInput:
			return "", true
		case agent.SteeringInjected:
			return "", !d.ByLoop
		}
		return "", false
	}
	if landmark == LandmarkCall {
		d, ok := ev.Data.(agent.ToolCallStart)
		return d.CallID, ok
	}
	switch d := ev.Data.(type) {
	case agent.Failure:
		return "", true
	case agent.ToolCallEnd:
		return d.CallID, d.Details != nil && hasFailed(d.Outcome, d.Details.Command)
	case agent.LocalCommandEnd:
		return d.ID, hasFailed(d.Outcome, d.Result)
	case agent.CompactionEnd:
		return "", d.Outcome == agent.OutcomeFailed
	}
	return "", false
}

func hasFailed(outcome agent.Outcome, command *agent.CommandResult) bool {
	return outcome == agent.OutcomeFailed ||
		outcome != agent.OutcomeInterrupted && command != nil && command.ExitCode != 0
}

// Landmark is what a person looks for in a long conversation.
type Landmark string

// The landmarks: what the user sent, what failed, and tool calls.
const (
	LandmarkPrompt Landmark = "prompt"
	LandmarkError  Landmark = "error"
	LandmarkCall   Landmark = "call"
)

// LandmarkRequest is for conversation.landmark, which searches from the event
// From, without it: towards the newest event, or towards the oldest if Back is
// set.
type LandmarkRequest struct {
	Session  string   `json:"session"`
	Landmark Landmark `json:"landmark"`
	// Of is the id of the only call or command that is searched for; empty finds
	// all.
	Of   string `json:"of,omitempty"`
	From int64  `json:"from"`
	Back bool   `json:"back,omitempty"`
}

// LandmarkReply names the event of a landmark. Without one, Next says where the
// search goes on; 0 means that the log was searched to its end.
type LandmarkReply struct {
	Seq  int64      `json:"seq,omitempty"`
	Kind agent.Kind `json:"kind,omitempty"`
	// Of is the id of the call or command; empty for others.
	Of   string `json:"of,omitempty"`
	Next int64  `json:"next,omitempty"`
}

package contexts

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextinfo"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/backend"
)

// CompactPreviewRequest is for context.preview. Focus names what the summary should keep
// in particular; it may be empty.
type CompactPreviewRequest struct {
	Session string `json:"session"`
	Focus   string `json:"focus,omitempty"`
}

// CompactPreview is a summary that has not replaced anything yet.
type CompactPreview struct {
	Summary string `json:"summary"`
	// Items and Results count what it would replace, and Pinned what would stay.
	Items   int   `json:"items"`
	Results int   `json:"results"`
	Pinned  int   `json:"pinned"`
	Before  int64 `json:"before"` // tokens
	After   int64 `json:"after"`
	// Cost is what the summary cost; nil if that is not known.
	Cost *llm.Cost `json:"cost,omitempty"`
}

// Preview has the conversation summarised and changes nothing. The request is paid for and
// counts as one for summaries.
func (c *Contexts) Preview(ctx context.Context, in CompactPreviewRequest) (p CompactPreview, err error) {
	err = c.cfg.Alone(ctx, in.Session, func(ctx context.Context, s *agent.Session, _ backend.SessionInfo, record func(agent.Payload) error) error {
		p, err = preview(ctx, s, in.Focus, record)
		return err
	})
	return p, err
}

func preview(ctx context.Context, s *agent.Session, focus string, record func(agent.Payload) error) (CompactPreview, error) {
	tr, cfg, set := s.Transcript(), s.Config(), s.Latest()
	past := tr.Conversation()
	keep := past.Tail(0)
	before, messages := past.Older(keep)
	model := llm.Origin{Provider: set.Provider, Model: set.Model}
	switch {
	case cfg.Compactor == nil, len(messages) == 0:
		return CompactPreview{}, backend.Problem(backend.ProblemNothingToCompact)
	case !s.Affords(model, past.Bytes()):
		return CompactPreview{}, backend.Problem(backend.ProblemPreviewBudget)
	}
	got, err := cfg.Compactor.Summarise(ctx, agent.SummaryRequest{
		Settings: set, Window: cfg.Facts.Limits(set.Provider, set.Model).Window, Before: before, Messages: messages, Focus: focus,
	})
	p := CompactPreview{Summary: got.Text, Items: past.Len() - keep, Results: past.Results(keep)}
	paid := got.SideRequests(func(by llm.Origin, u llm.Usage) *llm.Cost { return price(cfg, by, u) })
	for _, side := range paid {
		if side.Cost != nil {
			sum := *side.Cost
			if p.Cost != nil {
				sum += *p.Cost
			}
			p.Cost = &sum
		}
		if err := record(side); err != nil {
			return CompactPreview{}, err
		}
	}
	if err != nil {
		return CompactPreview{}, backend.AsError(err)
	}
	for it := range past.Items() {
		if it.Pinned {
			p.Pinned++
		}
	}
	added, _ := tr.Counted()
	p.Before = tr.Context + added
	p.After = tr.AfterCompaction(p.Before, p.Summary, keep)
	return p, nil
}

// CompactToRequest is for context.compact: Summary, as a person has read and perhaps
// changed it, replaces the conversation.
type CompactToRequest struct {
	Session string `json:"session"`
	Summary string `json:"summary"`
}

// maxSummary limits a summary, in bytes.
const maxSummary = 48 << 10

// Compact begins to replace the conversation by a summary.
func (c *Contexts) Compact(ctx context.Context, in CompactToRequest) (backend.Empty, error) {
	summary := strings.TrimSpace(in.Summary)
	if summary == "" || len(summary) > maxSummary || !utf8.ValidString(summary) {
		return backend.Empty{}, backend.Problem(backend.ProblemSummaryInvalid)
	}
	return backend.Empty{}, c.cfg.Compact(ctx, in.Session, summary)
}

// CompactUndoRequest is for context.undo. Compaction is the place of a compaction's end in
// the log.
type CompactUndoRequest struct {
	Session    string `json:"session"`
	Compaction int64  `json:"compaction"`
}

// Undo takes a compaction back, and those after it, which replaced its summary.
func (c *Contexts) Undo(ctx context.Context, in CompactUndoRequest) (backend.Empty, error) {
	return backend.Empty{}, c.cfg.Alone(ctx, in.Session, func(ctx context.Context, s *agent.Session, _ backend.SessionInfo, record func(agent.Payload) error) error {
		var done []contextinfo.Compaction
		err := c.read(ctx, in.Session, func(_ contextinfo.Session, log *contextinfo.Log) error {
			done = slices.Clone(log.Compactions())
			return nil
		})
		if err != nil {
			return err
		}
		i := slices.IndexFunc(done, func(d contextinfo.Compaction) bool { return d.Seq == in.Compaction && !d.Undone })
		if i < 0 {
			return backend.Problem(backend.ProblemCompactionGone)
		}
		added, _ := s.Transcript().Counted()
		size := s.Transcript().Context + added
		for _, d := range slices.Backward(done[i:]) {
			if d.Undone {
				continue
			}
			size += max(0, d.Before-d.After)
			if err := record(agent.CompactionUndone{Compaction: d.Seq, Tokens: size}); err != nil {
				return err
			}
		}
		return nil
	})
}

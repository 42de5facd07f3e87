package compaction

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/contextir"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/generate"
)

const (
	// maxSummary limits the length of a summary, in tokens (OAS-109).
	maxSummary = 8192
	// maxBytes is more than any model should write in that many tokens.
	maxBytes = 48 << 10
	// usualWindow is used if a model's window is unknown.
	usualWindow = 128_000
)

//go:embed instructions.md
var instructions string

// Policy sets the size at which a conversation is compacted: the smaller one of
// its two thresholds. A zero field sets no threshold.
type Policy struct {
	// Ratio is a share of the model's window (COM-16).
	Ratio float64
	// Reserve is the part of the window that stays free, in tokens; at most
	// half of the window (OAS-108).
	Reserve int64
	// Budget is how many tokens a context may have, if that is less than the window (COM-24);
	// 0 means the window.
	Budget int64
	// Rules say how each type of item makes room before a model is asked for a summary
	// (COM-13, COM-14); nil means [contextir.DefaultRules].
	Rules contextir.Rules
}

// OASPolicy is the window less 10,000 tokens, as in the Open Agent SDK, and ComatePolicy
// four fifths of the window with the rules of Comate's SDK (K-08).
var (
	OASPolicy    = Policy{Reserve: 10_000}
	ComatePolicy = Policy{Ratio: 0.80, Rules: contextir.SeedRules()}
)

// DefaultPolicy is four fifths of the window, or the window less 10,000 tokens,
// whichever is smaller (K-08).
var DefaultPolicy = Policy{Ratio: 0.80, Reserve: 10_000}

// Threshold returns the size for a window, in tokens; 0 means never.
func (p Policy) Threshold(window int64) int64 {
	if p.Budget > 0 {
		window = min(window, p.Budget)
	}
	threshold := int64(float64(window) * p.Ratio)
	if p.Reserve == 0 {
		return threshold
	}
	left := max(window-p.Reserve, window/2)
	if threshold == 0 {
		return left
	}
	return min(threshold, left)
}

// Service is an [agent.Compactor]. Any number of sessions may share it.
type Service struct {
	// Model writes the summaries. Without it, no conversation is compacted.
	Model generate.Model
	// Policy returns the current policy; nil means [DefaultPolicy].
	Policy func() Policy
	// By chooses the model that summarises; nil means the session's own. If another one
	// fails, the session's own is asked, once.
	By func(context.Context, agent.Settings) llm.Origin
	// Limits knows the windows of models; nil means that all have the session's.
	Limits func(llm.Origin) llm.ModelLimits
}

// Threshold implements [agent.Compactor]. A window that is not known is taken to
// have 128,000 tokens.
func (s *Service) Threshold(window int64) int64 {
	window = cmp.Or(window, usualWindow)
	if s.Policy == nil {
		return DefaultPolicy.Threshold(window)
	}
	return s.Policy().Threshold(window)
}

// Rules implements [agent.Selector].
func (s *Service) Rules() contextir.Rules {
	rules := DefaultPolicy.Rules
	if s.Policy != nil {
		rules = s.Policy().Rules
	}
	if rules == nil {
		return contextir.DefaultRules()
	}
	return rules
}

// Summarise implements [agent.Compactor]. A model that writes slowly is waited
// for: silence and the length of the answer bound it.
func (s *Service) Summarise(ctx context.Context, r agent.SummaryRequest) (agent.Summary, error) {
	own := llm.Origin{Provider: r.Settings.Provider, Model: r.Settings.Model}
	by := own
	if s.By != nil {
		by = s.By(ctx, r.Settings)
	}
	summary, err := s.ask(ctx, r, by)
	if err == nil || by == own || ctx.Err() != nil {
		return summary, err
	}
	again, err := s.ask(ctx, r, own)
	again.Earlier = []agent.Summary{summary}
	return again, err
}

// ask has a model write the summary.
func (s *Service) ask(ctx context.Context, r agent.SummaryRequest, by llm.Origin) (agent.Summary, error) {
	if s.Limits != nil {
		r.Window = cmp.Or(s.Limits(by).Window, r.Window)
	}
	most := int64(maxSummary)
	if r.Window > 0 {
		most = min(most, r.Window/4)
	}
	got, err := generate.Text(ctx, s.Model, generate.Call{
		Request: llm.Request{Provider: by.Provider, Model: by.Model, System: strings.TrimSpace(instructions), Effort: llm.EffortLow, MaxOutput: int(most)},
		Prompt:  prompt(r),
	})
	summary := agent.Summary{By: by, Requests: got.Charged()}
	if err != nil {
		return summary, err
	}
	summary.Text = strings.TrimSpace(got.Text())
	switch {
	case got.Answer().Finish.Reason == llm.FinishLength, len(summary.Text) > maxBytes:
		return summary, errors.New("the summary is incomplete")
	case summary.Text == "":
		return summary, errors.New("the model gave no summary")
	}
	return summary, nil
}

// prompt returns the request for a summary, which fits in half of the model's
// window.
func prompt(r agent.SummaryRequest) string {
	var b strings.Builder
	if r.Before != "" {
		b.WriteString("Your summary takes in this one, of what came before:\n\n<earlier_summary>\n" + r.Before + "\n</earlier_summary>\n\n")
	}
	room := int(cmp.Or(r.Window, usualWindow)/2) * bytesPerToken
	b.WriteString("<conversation>\n" + render(r.Messages, max(room-len(r.Before), room/2)) + "</conversation>\n")
	if r.Focus != "" {
		b.WriteString("\nKeep in particular: " + r.Focus + "\n")
	}
	return b.String()
}

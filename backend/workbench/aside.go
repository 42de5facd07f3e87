package workbench

import (
	"context"
	"log/slog"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/catalogue"
	"atelier.dev/atelier/agent/llm/generate"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/live"
)

const asideTimeout = 30 * time.Second

// aside is a job beside the conversation: one question to the provider's small
// model, whose answer may become an event.
type aside struct {
	purpose      agent.Purpose
	instructions string
	material     string
	// event makes an event from the answer; nil if the answer is useless.
	event func(answer string) agent.Payload
	// wanted reports whether the event is still wanted when the answer arrives.
	wanted func(*agent.Transcript) bool
}

// smallModel returns the model for a session's small jobs; false if there is
// none. It must be a separate small model, because these jobs are not worth a
// large one's time or cost.
func (w *Workbench) smallModel(ctx context.Context, set agent.Settings) (llm.Origin, bool) {
	low := w.providers.AtLevel(ctx, set, catalogue.LevelLow)
	return llm.Origin{Provider: low.Provider, Model: low.Model}, low.Provider != set.Provider || low.Model != set.Model
}

// ask runs an aside.
func (w *Workbench) ask(ctx context.Context, by llm.Origin, a aside) live.Outcome {
	ctx, cancel := context.WithTimeout(ctx, asideTimeout)
	defer cancel()
	got, err := generate.Text(ctx, w.providers, generate.Call{
		Request: llm.Request{Provider: by.Provider, Model: by.Model, System: a.instructions, Effort: llm.EffortMinimal},
		Prompt:  a.material,
	})
	o := live.Outcome{Wanted: a.wanted}
	for _, usage := range got.Charged() {
		o.Requests = append(o.Requests, agent.SideRequest{
			Purpose: a.purpose, Provider: by.Provider, Model: by.Model,
			Usage: usage, Cost: w.providers.Price(by.Provider, by.Model, usage, time.Now()),
		})
	}
	if err != nil {
		slog.Info("ask beside a session", "purpose", a.purpose, "provider", by.Provider, "model", by.Model, "err", err)
		return o
	}
	o.Event = a.event(got.Text())
	return o
}

// jobsBeside returns the asides after a turn, if somebody is there to see the
// results. An agent has none: its task is its title, and its parent writes its
// next prompt.
func (w *Workbench) jobsBeside(ctx context.Context, info backend.SessionInfo, session *agent.Session) ([]live.Job, error) {
	if w.cfg.Unattended || info.Helper != nil {
		return nil, nil
	}
	prefs, err := w.storedPreferences(ctx)
	if err != nil {
		return nil, err
	}
	asides := asidesAfter(session, prefs)
	if len(asides) == 0 {
		return nil, nil
	}
	by, ok := w.smallModel(ctx, session.Transcript().Settings)
	if !ok {
		return nil, nil
	}
	var jobs []live.Job
	for _, a := range asides {
		if session.Affords(by, len(a.instructions)+len(a.material)) {
			jobs = append(jobs, func(ctx context.Context) live.Outcome { return w.ask(ctx, by, a) })
		}
	}
	return jobs, nil
}

// asidesAfter returns the asides after a turn. No prompt is suggested if a
// queued message follows at once.
func asidesAfter(session *agent.Session, prefs backend.Preferences) (asides []aside) {
	t := session.Transcript()
	if !prefs.PlainTitles && t.Turn == 1 && !t.Title.ByUser {
		asides = append(asides, naming(t))
	}
	if prefs.SuggestPrompts && !session.Queue().Has(agent.FollowUp) {
		asides = append(asides, suggesting(t))
	}
	return asides
}

// said marks one side's text as material for an aside.
func said(by, text string) string { return "<" + by + ">\n" + text + "\n</" + by + ">\n" }

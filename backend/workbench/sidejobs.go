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
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/live"
)

// sideJobTimeout limits one side job.
const sideJobTimeout = 30 * time.Second

// sideJob is one question to the provider's small model, whose answer may become
// an event of the session.
type sideJob struct {
	purpose      agent.Purpose
	instructions string
	material     string
	// event makes an event from the answer; nil if the answer is useless.
	event func(answer string) agent.Payload
	// wanted reports whether the event is still wanted when the answer arrives.
	wanted func(*agent.Transcript) bool
}

// newAsides returns what answers side questions.
func newAsides(w *Workbench) *contexts.Asides {
	return contexts.NewAsides(contexts.AsideConfig{Log: w.cfg.Store, Session: w.session, Sessions: func() *live.Sessions { return w.sessions }, Build: w.newSession, Publish: w.publish})
}

// smallModel returns the model for a session's side jobs; false if there is
// none. It must be a separate small model, because these jobs are not worth a
// large one's time or cost.
func (w *Workbench) smallModel(ctx context.Context, set agent.Settings) (llm.Origin, bool) {
	low := w.providers.AtLevel(ctx, set, catalogue.LevelLow)
	return llm.Origin{Provider: low.Provider, Model: low.Model}, low.Provider != set.Provider || low.Model != set.Model
}

// summariser returns the model that writes summaries of a session: the small one.
func (w *Workbench) summariser(ctx context.Context, set agent.Settings) llm.Origin {
	by, _ := w.smallModel(ctx, set)
	return by
}

// runSideJob asks the given model.
func (w *Workbench) runSideJob(ctx context.Context, by llm.Origin, job sideJob) live.Outcome {
	answer, requests, err := w.ask(ctx, by, job)
	o := live.Outcome{Wanted: job.wanted, Requests: requests}
	if err == nil {
		o.Event = job.event(answer)
	}
	return o
}

// ask returns a model's answer to a side job, and the requests that were made
// for it, which count even if there is no answer.
func (w *Workbench) ask(ctx context.Context, by llm.Origin, job sideJob) (answer string, requests []agent.SideRequest, err error) {
	ctx, cancel := context.WithTimeout(ctx, sideJobTimeout)
	defer cancel()
	got, err := generate.Text(ctx, w.providers, generate.Call{
		Request: llm.Request{Provider: by.Provider, Model: by.Model, System: job.instructions, Effort: llm.EffortMinimal},
		Prompt:  job.material,
	})
	for _, usage := range got.Charged() {
		requests = append(requests, agent.SideRequest{
			Purpose: job.purpose, Provider: by.Provider, Model: by.Model,
			Usage: usage, Cost: w.providers.Price(by.Provider, by.Model, usage, time.Now()),
		})
	}
	if err != nil {
		slog.Info("a side job failed", "purpose", job.purpose, "provider", by.Provider, "model", by.Model, "err", err)
		return "", requests, err
	}
	return got.Text(), requests, nil
}

// sideJobs returns the side jobs after a turn, if somebody is there to see the
// results. An agent has none: its task is its title, and its parent writes its
// next prompt.
func (w *Workbench) sideJobs(ctx context.Context, info backend.SessionInfo, session *agent.Session) ([]live.Job, error) {
	if w.cfg.Unattended || info.Helper != nil {
		return nil, nil
	}
	prefs, err := backend.StoredPreferences(ctx, w.cfg.Store)
	if err != nil {
		return nil, err
	}
	all := sideJobsAfter(session, prefs)
	if len(all) == 0 {
		return nil, nil
	}
	by, ok := w.smallModel(ctx, session.Transcript().Settings)
	if !ok {
		return nil, nil
	}
	var jobs []live.Job
	for _, job := range all {
		if session.Affords(by, len(job.instructions)+len(job.material)) {
			jobs = append(jobs, func(ctx context.Context) live.Outcome { return w.runSideJob(ctx, by, job) })
		}
	}
	return jobs, nil
}

// sideJobsAfter returns the questions to ask after a turn. No prompt is suggested if a
// queued message follows at once.
func sideJobsAfter(session *agent.Session, prefs backend.Preferences) (jobs []sideJob) {
	t := session.Transcript()
	if !prefs.PlainTitles && t.Turn == 1 && !t.Title.ByUser && !t.Title.ByHook {
		jobs = append(jobs, titleJob(t))
	}
	if prefs.SuggestPrompts && len(session.Queue().Items()) == 0 {
		jobs = append(jobs, suggestionJob(t))
	}
	return jobs
}

// materialFrom marks the text of one side of a conversation for a question.
func materialFrom(by, text string) string { return "<" + by + ">\n" + text + "\n</" + by + ">\n" }

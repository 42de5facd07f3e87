package workbench

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/oklog/ulid/v2"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/agent/plan"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/agents"
	"atelier.dev/atelier/backend/contexts"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/overlap"
	"atelier.dev/atelier/backend/toolbox"
)

// newSession assembles a session. It is the only place that knows all parts.
func (w *Workbench) newSession(ctx context.Context, info backend.SessionInfo, past []agent.Event, approver agent.Approver) (*agent.Session, error) {
	folder := w.folderOf(info)
	place, err := w.workplace(ctx, info)
	if err != nil {
		return nil, err
	}
	reduce := w.reducer()
	found := w.skillsOf(ctx, info)
	member := w.overlap.Join(info)
	memory := tool.NewMemory(folder, w.journal.Objects().Contents)
	tools, err := agent.NewRegistry(shownTo(info, toolbox.Left(ctx, w.cfg.Store, append(w.tools(info, place, memory), skill.Tool(found)), w.cfg.Rules.Deny))...)
	if err != nil {
		return nil, err
	}
	profiles := profile.New(tools, profile.Surroundings{
		Folder: folder, Home: w.cfg.Home, Platform: place.env.Platform(), OS: place.env.OSVersion(),
		Naming: w.cfg.Naming, Outlive: outlive(w.cfg), CommandTimeout: w.commandTimeout, Now: time.Now, Cutoff: w.providers.KnowledgeCutoff,
		Confined: w.confinement.Sentence, Growing: growing{w.providers.External.Offer(w.offered(info.ID, past)), skill.NewOffer(found), member, agentNotes(w, info)},
		Role: roleOf(w, info), Memory: w.contexts.Memory,
		Agent: info.Helper != nil, Unattended: w.cfg.unheard(), ReadOnly: w.cfg.ReadOnly,
	})
	policy, err := w.gate(info, place.output)
	if err != nil {
		return nil, err
	}
	limits := w.cfg.Limits
	if info.Helper != nil {
		limits.Rounds = info.Helper.Rounds
	}
	limits = w.delegation.Limit(info, limits)
	limits.Rounds = cmp.Or(limits.Rounds, agent.DefaultLimits.Rounds)
	limits.Continuations = cmp.Or(limits.Continuations, agent.DefaultLimits.Continuations)
	limits.LoopWindow = cmp.Or(limits.LoopWindow, agent.DefaultLimits.LoopWindow)
	if w.cfg.unheard() {
		approver = nobody
	}
	session, err := agent.New(agent.Config{
		ID: info.ID, Model: w.model(), Gate: overlap.Gate{Policy: policy, Member: member}, Approver: approver,
		Profiles: profiles,
		Limits:   limits, Retry: w.cfg.Retry, Reduce: reduce, Shorten: shortened(w, info), Facts: w.model(),
		Compactor: contexts.Compactor(w.ctx, w.providers, w.cfg.Store, w.summariser), Hooks: w.pointsOf(info, place.hooks),
		News: place.watch, CleanUp: func(ctx context.Context) { w.cleanUp(ctx, info.ID) }, Recorder: w.recorder(info), Rewritten: memory.Rewritten, Attach: w.attached(info),
		Offload: w.contexts.Offload(place.output), Remind: toolbox.Remind,
		Now: time.Now, NewID: func() string { return ulid.Make().String() },
	}, past...)
	if err != nil || session.Transcript().Settings.Model != "" || len(past) == 0 {
		return session, err
	}
	settings, err := w.settingsWithoutEvent(ctx, info)
	if err != nil {
		return nil, err
	}
	session.Configure(settings)
	return session, nil
}

// gate returns what decides about the calls of a session, which may read in one more
// folder.
func (w *Workbench) gate(info backend.SessionInfo, output string) (*permission.Policy, error) {
	rules := w.cfg.Rules
	rules.Read = append(slices.Clone(rules.Read), output, w.attachments.Dir())
	for _, root := range skill.Roots(userHome(w.cfg), "") { // which refer to files beside them
		rules.Read = append(rules.Read, root.Path)
	}
	rules.Own, rules.Undo = []string{w.cfg.Home}, true
	rules.Set = func() *rule.Set { return w.guard.Set(w.ctx, account(info)) }
	return permission.New(w.project.Bounds(info), rules)
}

// tools returns the tools of a session.
func (w *Workbench) tools(info backend.SessionInfo, place workplace, memory *tool.Memory) []agent.Tool {
	all := tool.Builtin(place.env, tool.Options{ApplyPatch: true, Outlive: outlive(w.cfg), Tasks: place.tasks, Reduce: w.reducer(), Memory: memory})
	all = append(all, webFetch(w, info), webSearch(w, info), w.contexts.Recall(info.ID))
	all = append(all, w.languageTools(place.env)...)
	if info.Settings.Provider != callerProvider {
		all = w.boards.Tools(account(info), agents.Name(info), all)
		all = w.teams.Tools(info, info.Helper == nil, all)
	}
	all = append(all, w.delegation.Tools(w.ctx, info)...)
	if info.Helper != nil { // it answers to the one that started it
		return append(all, toolbox.ForAgents()...)
	}
	if info.Settings.Provider == callerProvider {
		return all
	}
	all = append(append(all, toolbox.ForSessions(shellOf(all), place.tasks, place.watch, place.pages, toolbox.Choices{Get: w.preferences, Change: func(ctx context.Context, before, after backend.Preferences) (backend.Preferences, error) {
		return w.changePreferences(ctx, PreferencesChange{before, after})
	}})...), w.trees.Tools(info)...)
	return append(append(all, w.schedules.Tools(info)...), plan.Tools()...)
}

// outlive reports whether commands go on as tasks when their time limit is over. The
// specification ends them.
func outlive(cfg Config) bool { return cfg.Naming != profile.NamingSpec }

// reducer returns what cuts outputs to a model's share.
func (w *Workbench) reducer() func(tool, output string, wanted int) string {
	if w.cfg.Naming == profile.NamingSpec {
		return tool.TruncateLines
	}
	return tool.Truncate
}

// model returns what answers the requests of sessions.
func (w *Workbench) model() answering { return answering{w.providers, &w.callers} }

// settingsWithoutEvent returns the settings of a session whose log has lost them:
// those in its row, or else those of a new session. No permission to run
// everything comes from either.
func (w *Workbench) settingsWithoutEvent(ctx context.Context, info backend.SessionInfo) (agent.Settings, error) {
	settings := info.Settings
	if conversation.ValidSettings(settings) != nil {
		var err error
		if settings, err = w.NewSessionSettings(ctx); err != nil {
			return settings, err
		}
	}
	if settings.Mode == agent.ModeBypass {
		settings.Mode = agent.ModeDefault
	}
	return settings, nil
}

// folderOf returns the folder where a session's tools act.
func (w *Workbench) folderOf(info backend.SessionInfo) string { return w.project.Folder(info) }

// unheard reports whether nobody hears a question.
func (c *Config) unheard() bool { return c.Unattended && !c.Answered }

// nobody is the approver if nobody can be asked.
var nobody = agent.ApproverFunc(func(context.Context, agent.ApprovalRequest) (agent.Answer, error) {
	return agent.Answer{}, errors.New("this run has no one to ask; a wider --permission-mode or --allowed-tools would let it pass")
})

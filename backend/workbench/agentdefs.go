package workbench

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/agents"
	"atelier.dev/atelier/backend/delegation"
	"atelier.dev/atelier/backend/hooks"
	"atelier.dev/atelier/backend/live"
)

// newAgents returns the definitions of agents of the folder.
func newAgents(w *Workbench) *agents.Agents {
	return agents.New(agents.Config{
		Folder: w.cfg.Folder, User: userHome(w.cfg), Given: w.cfg.Agents, Trust: w.trust,
		Changed: func() { w.feed.Publish(agent.Event{At: time.Now().UnixMilli(), Data: agent.HooksChange{}}) }, // which has pages ask what waits for trust
	})
}

// newTeams returns the teams of the sessions of the store.
func newTeams(w *Workbench) *agents.Teams {
	return agents.NewTeams(agents.TeamsConfig{
		Store: w.cfg.Store, Check: w.session, NewID: newID,
		ChangeQueue: w.queueChange,
		Wake: func(ctx context.Context, session string) error {
			info, err := w.session(ctx, session)
			if err != nil {
				return err
			}
			return w.delegation.Wake(ctx, info, func(ctx context.Context) error { return w.conversation.RunQueue(ctx, session) })
		},
	})
}

// newDelegation returns what starts and drives the agents of sessions.
func newDelegation(w *Workbench) *delegation.Delegation {
	return delegation.New(delegation.Config{
		Store: w.cfg.Store, Sessions: func() *live.Sessions { return w.sessions }, Agents: w.agents, Teams: w.teams, Trees: w.trees,
		Project: w.project, Models: w.providers, Caller: callerProvider, ReadOnly: w.cfg.ReadOnly,
		Caps: func(ctx context.Context) delegation.Caps {
			prefs, _ := backend.StoredPreferences(ctx, w.cfg.Store) // the defaults if they cannot be read
			return delegation.CapsOf(prefs)
		},
		Host: delegation.Host{
			Create: w.create, Start: w.conversation.Start, NewSettings: w.NewSessionSettings, Configure: w.Configure, NewID: newID, ChangeQueue: w.queueChange,
			Skills: func(ctx context.Context, parent backend.SessionInfo, task string, names []string) (agent.Queued, error) {
				return withSkills(ctx, w, parent, task, names)
			},
		},
	})
}

// TrustAgents trusts the definitions of agents that stand there until the program ends, and
// returns how many they are.
func (w *Workbench) TrustAgents(ctx context.Context) (int, error) { return w.agents.TrustForRun(ctx) }

// agentNotes returns what a session's models are told of agents that they can start.
func agentNotes(w *Workbench, info backend.SessionInfo) func() []agent.Note {
	if info.Helper != nil {
		return func() []agent.Note { return nil }
	}
	return w.agents.Note
}

// roleOf returns what an agent's models are told of what they are.
func roleOf(w *Workbench, info backend.SessionInfo) func() string {
	return func() string {
		if info.Helper == nil || info.Helper.Type == "" {
			return ""
		}
		def, err := w.agents.Find(w.ctx, info.Helper.Type)
		if err != nil {
			return "" // its file is gone since it was started
		}
		return def.Role()
	}
}

// queueChange is changeQueue for those that do not show the queue.
func (w *Workbench) queueChange(ctx context.Context, session string, change func(*agent.Queue) error) error {
	_, err := w.conversation.ChangeQueue(ctx, session, change)
	return err
}

// shownTo leaves out the tools that an agent can never call.
func shownTo(info backend.SessionInfo, tools []agent.Tool) []agent.Tool {
	if info.Helper == nil {
		return tools
	}
	for _, limit := range info.Helper.Skills {
		if !limit.Agent {
			continue
		}
		var left []agent.Tool
		for _, t := range tools {
			if permission.Shows(limit, t.Spec().Name) {
				left = append(left, t)
			}
		}
		tools = left
	}
	return tools
}

// ownHooks adds the hooks of an agent's definition to its session's, and the guards of those that
// started it.
func ownHooks(w *Workbench, s hooks.Session, helper *agent.Helper) hooks.Session {
	above := []*agent.Helper{helper}
	for by := helper.By; by != "" && len(above) < backend.MostAgentDepth; {
		info, err := w.cfg.Store.Session(w.ctx, by)
		if err != nil || info.Helper == nil {
			break
		}
		above, by = append(above, info.Helper), info.Helper.By
	}
	placeOf := func(h *agent.Helper) agents.Place {
		return agents.Place{Scope: h.Defined.Scope, File: h.Defined.File}
	}
	for i, h := range above {
		for _, own := range agents.Hooks(h.Defined.Hooks, placeOf(h)) {
			if i == 0 || own.Point == agent.HookPreToolUse || own.Point == agent.HookPermissionRequest { // what holds for it holds below it
				s.Own = append(s.Own, own)
			}
		}
	}
	s.Ready = func() hook.Readiness {
		for _, h := range above {
			if ready := w.agents.Ready(w.ctx, h.Type, h.Defined.Hooks, placeOf(h)); ready.State != hook.StateReady {
				return ready
			}
		}
		return hook.Readiness{State: hook.StateReady}
	}
	return s
}

// withSkills returns a task with the texts of skills that an agent is given at its start.
func withSkills(ctx context.Context, w *Workbench, parent backend.SessionInfo, task string, names []string) (agent.Queued, error) {
	input := agent.Queued{Text: task}
	found := w.skillsOf(ctx, parent)
	for _, name := range names {
		s, ok := skill.Find(found, name)
		if !ok || !s.Usage.ByModel {
			return input, fmt.Errorf("there is no skill %.100q that an agent can be given", name)
		}
		if err := w.skills.MayUse(ctx, s, w.folderOf(parent)); err != nil {
			return input, err
		}
		input.Typed = task
		input.Text += "\n\n<skill name=" + agent.EscapeTags(fmt.Sprintf("%q", s.Name)) + ">\n" +
			strings.TrimSpace(s.Expand(skill.Expansion{Session: parent.ID, Folder: w.folderOf(parent)})) + "\n</skill>"
	}
	return input, nil
}

package workbench

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/conversation"
	"atelier.dev/atelier/backend/tasklist"
)

// conversationHost says what the inputs of turns are.
func (w *Workbench) conversationHost() conversation.Host {
	return conversation.Host{
		Ready:   func(ctx context.Context, provider string) error { return w.providers.Ready(ctx, provider) },
		Prepare: w.prepare, Input: w.input, Interrupt: w.Interrupt,
		Commands: func(ctx context.Context, info backend.SessionInfo) (names []string) {
			for _, s := range w.skillsOf(ctx, info).Skills() {
				if s.Usage.ByUser {
					names = slices.Concat(names, []string{s.Name}, s.Aliases)
				}
			}
			return names
		},
		Tighten: func(ctx context.Context, session string, mode agent.Mode) error {
			return w.delegation.Tighten(ctx, session, mode)
		},
	}
}

// Send starts a turn and returns when it has begun. Its events arrive as
// envelopes. A text such as "/review main" uses the skill of the name, if there is one.
func (w *Workbench) Send(ctx context.Context, session, text string) error {
	info, err := w.session(ctx, session)
	if err != nil {
		return err
	}
	return w.conversation.Say(ctx, conversation.SendRequest{Session: session, Text: text, Command: w.CommandOf(ctx, info, text)})
}

// Interrupt ends a session's turn, if one runs here or has been requested, and
// those of the agents that it started. It does not wait for I/O.
func (w *Workbench) Interrupt(session string) { w.delegation.Interrupt(session) }

// Rest returns when no turn of a session runs here.
func (w *Workbench) Rest(ctx context.Context, session string) error {
	if l := w.sessions.Find(session); l != nil {
		return l.Wait(ctx)
	}
	return nil
}

// Configure changes a session's settings; see [conversation.Conversations.Configure].
func (w *Workbench) Configure(ctx context.Context, session string, set agent.Settings) error {
	return w.conversation.Configure(ctx, session, set)
}

// tasks returns the background commands of the sessions of this process.
func (w *Workbench) tasks() map[string]tasklist.Place {
	w.places.Lock()
	defer w.places.Unlock()
	out := map[string]tasklist.Place{}
	for session, at := range w.places.bySession {
		out[session] = tasklist.Place{Tasks: at.tasks, Folder: at.env.WorkingDirectory()}
	}
	return out
}

package live

import (
	"context"

	"atelier.dev/atelier/agent"
)

// Configure changes the settings and has the owner record them.
func (l *Session) Configure(set agent.Settings) {
	l.mu.Lock()
	l.shared.bypass = set.Mode == agent.ModeBypass
	l.shared.session.Configure(set)
	l.mu.Unlock()
	l.Wake()
}

// Wake makes the owner take the lease and record pending changes.
func (l *Session) Wake() {
	select {
	case l.inbox.settings <- struct{}{}:
	default: // the owner was already notified
	}
}

// recordSettings records settings that were requested since the last round.
func (l *Session) recordSettings(ctx context.Context) {
	session := l.session()
	isChange := session.Transcript().Settings.Model != ""
	ev, ok := session.RecordSettings()
	if !ok || !l.record(ctx, ev) || !isChange {
		return
	}
	l.Observe(agent.HookConfigChange, func(context.Context) agent.HookInput {
		return agent.ConfigChangeInput{Source: agent.SessionSettings}
	})
}

// replace puts a session that was read again in place of the old one. Settings
// that were requested of the old one are requested of the new one.
func (l *Session) replace(session *agent.Session) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if old := l.shared.session; old != nil {
		if set, ok := old.Asked(); ok {
			session.Configure(set)
		}
	}
	l.shared.session = session
}

// Latest returns the settings that were requested last, recorded or not.
func (l *Session) Latest() agent.Settings { return l.session().Latest() }

// Asked returns settings that were requested and are not recorded yet.
func (l *Session) Asked() (agent.Settings, bool) { return l.session().Asked() }

package live

import (
	"context"

	"atelier.dev/atelier/agent"
)

// The mode that allows everything holds for one session in one process. It is
// never a preference. A log that ends in this mode does not carry it into the
// next process, where the user has to choose it again.

// PermitBypass lets a new session keep the mode that it was created with.
func (l *Session) PermitBypass() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.shared.bypass = true
}

// revoke ends the mode if another process set it, before anything runs here,
// and records that in the log. It does nothing if settings were requested here,
// because the owner records those.
func (l *Session) revoke(ctx context.Context) {
	l.mu.Lock()
	session, permitted := l.shared.session, l.shared.bypass
	_, asked := session.Asked()
	l.mu.Unlock()
	set := session.Transcript().Settings
	if permitted || asked || set.Mode != agent.ModeBypass {
		return
	}
	set.Mode = agent.ModeDefault
	if l.record(ctx, session.Record(agent.SettingsChange{Settings: set})) {
		l.record(ctx, session.Record(agent.Warn(agent.WarnModeReset)))
	}
}

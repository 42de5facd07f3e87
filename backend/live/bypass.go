package live

import (
	"context"

	"atelier.dev/atelier/agent"
)

// The mode that allows everything holds for one session in one process. It is
// never a preference, and a log that ends in it does not carry it into the
// next process: whoever wants it again says so again.

// modeReset is the code of the warning that the mode has ended.
const modeReset = "mode_reset"

// Configure changes the settings and has the owner record them.
func (l *Session) Configure(set agent.Settings) {
	l.inbox.mu.Lock()
	l.inbox.bypass.Store(set.Mode == agent.ModeBypass)
	l.session.Load().Configure(set)
	l.inbox.mu.Unlock()
	l.Wake()
}

// Wake has the owner take the lease and record what was asked for meanwhile.
func (l *Session) Wake() {
	select {
	case l.inbox.nudge <- struct{}{}:
	default: // the owner has been told already
	}
}

// PermitBypass lets a new session keep the mode that it was created with.
func (l *Session) PermitBypass() { l.inbox.bypass.Store(true) }

// revoke ends the mode where another process set it, before anything runs in
// it here, and says so in the log.
func (l *Session) revoke(ctx context.Context) {
	session := l.session.Load()
	permitted := l.inbox.bypass.Load()
	set := session.Transcript().Settings
	if permitted || set.Mode != agent.ModeBypass {
		return
	}
	set.Mode = agent.ModeDefault
	if l.record(ctx, session.Record(agent.SettingsChange{Settings: set})) {
		l.record(ctx, session.Record(agent.Warning{
			Code: modeReset, Message: "Everything was allowed in this session until Atelier ended. It asks first again.",
		}))
	}
}

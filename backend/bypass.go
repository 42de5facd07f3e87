package backend

import (
	"context"
	"errors"

	"atelier.dev/atelier/agent"
)

// The mode that allows everything holds for one session in one process. It is
// never a preference, and a log that ends in it does not carry it into the
// next process: whoever wants it again says so again.

// modeReset is the code of the warning that the mode has ended.
const modeReset = "mode_reset"

// configure changes the settings and has the owner record them.
func (l *live) configure(set agent.Settings) {
	l.inbox.mu.Lock()
	l.inbox.bypass.Store(set.Mode == agent.ModeBypass)
	l.session.Load().Configure(set)
	l.inbox.mu.Unlock()
	l.wake()
}

// wake has the owner record what was asked for, unless it is about to.
func (l *live) wake() {
	select {
	case l.inbox.nudge <- struct{}{}:
	default: // the owner has been told already
	}
}

// permitBypass lets a new session keep the mode that it was created with.
func (w *Workbench) permitBypass(ctx context.Context, session string) error {
	l, release, err := w.live(ctx, session)
	if err != nil {
		return err
	}
	defer release()
	l.inbox.bypass.Store(true)
	return nil
}

// revoke ends the mode where another process set it, before anything runs in
// it here, and says so in the log.
func (l *live) revoke(ctx context.Context) {
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

// endBypassOfHelpers takes the mode from the agents that had it from their
// session.
func (w *Workbench) endBypassOfHelpers(ctx context.Context, session string, mode agent.Mode) error {
	helpers, err := w.cfg.Store.Helpers(ctx, session)
	if err != nil {
		return err
	}
	var errs []error
	for _, info := range helpers {
		if info.Settings.Mode == agent.ModeBypass {
			set := info.Settings
			set.Mode = mode
			errs = append(errs, w.Configure(ctx, info.ID, set))
		}
	}
	return errors.Join(errs...)
}

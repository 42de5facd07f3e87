package workbench

import (
	"context"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/agent/sandbox/confine"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/hooks"
)

// newHooks returns the hooks of the folder.
func (w *Workbench) newHooks() *hooks.Hooks {
	return hooks.New(hooks.Config{
		Folder: w.cfg.Folder, User: userHome(w.cfg), Store: w.cfg.Store, Access: accessOf(w.cfg.Folder), FolderOf: w.folderOfSession,
		Trust:  w.trust,
		Engine: hook.Options{Runner: hook.Local{}, Network: w.deniedHosts, Applies: w.ruleApplies}, AddRule: w.addRuleOfHook, Changed: w.tellHooks,
		Observe: w.observeEverywhere, Files: hooks.Files{Others: w.servers.Shared(), FileChanged: w.settingsChanged},
	})
}

// hooksOf returns what runs the hooks of a session.
func (w *Workbench) hooksOf(info backend.SessionInfo) *hook.Engine {
	s := hooks.Session{ID: info.ID, Account: account(info), Folder: w.folderOf(info)}
	if info.Helper != nil {
		s.Agent = &hook.Agent{ID: info.ID, Parent: info.Helper.Parent, Task: info.Helper.Task, Type: info.Helper.Type}
		s = ownHooks(w, s, info.Helper)
	}
	return w.hooks.Engine(w.ctx, s)
}

// folderOfSession returns the folder of a stored session; empty if there is none.
func (w *Workbench) folderOfSession(ctx context.Context, id string) string {
	info, err := w.session(ctx, id)
	if err != nil {
		return ""
	}
	return w.folderOf(info)
}

// deniedHosts returns the settings of the network that hold for hooks, too.
func (w *Workbench) deniedHosts() network.Settings {
	wish := confine.Combine(w.guard.Sandbox(w.ctx)...)
	return network.Settings{DeniedDomains: wish.Denied}
}

// ruleApplies says whether a rule is about a call.
func (w *Workbench) ruleApplies(text string, call agent.HookTool) (bool, error) {
	r, err := rule.Parse(text)
	if err != nil {
		return false, err
	}
	r.Decision = agent.Ask
	set := rule.New(w.guard.Place(), []rule.Rule{r})
	return set.Judge(agent.GateCall{Tool: call.Tool, Input: call.Input, Access: call.Access}, nil).Decision != "", nil
}

// addRuleOfHook adds a rule that a hook asked for to a session.
func (w *Workbench) addRuleOfHook(ctx context.Context, session, text string, d agent.Decision) error {
	_, err := w.guard.Add(ctx, guard.AddRequest{Session: session, Rule: text, Decision: d, Scope: agent.ScopeSession})
	if err == nil {
		w.rulesChanged()
	}
	return err
}

// tellHooks tells pages that the list of hooks changed, or their log of a session.
func (w *Workbench) tellHooks(session string) {
	w.feed.Publish(agent.Event{Session: session, At: time.Now().UnixMilli(), Data: agent.HooksChange{Logged: session != ""}})
}

// observeEverywhere tells the hooks of the user's sessions in memory that something
// happened outside of their turns.
func (w *Workbench) observeEverywhere(data agent.HookInput) {
	for _, l := range w.sessions.StartedBy("") {
		l.Observe(data.Point(), func(context.Context) agent.HookInput { return data })
	}
}

// dryRun says which past calls a draft would have matched.
func (w *Workbench) dryRun(ctx context.Context, in hooks.HookDryRunRequest) (hooks.HookDryRunReply, error) {
	trial, err := w.hooks.DryRun(ctx, in)
	if err != nil {
		return hooks.HookDryRunReply{}, err
	}
	defer trial.Close()
	if err := w.lookBack(ctx, trial); err != nil {
		return hooks.HookDryRunReply{}, err
	}
	return trial.Reply(ctx), nil
}

// pastCalls is a trial, which is shown past calls.
type pastCalls interface {
	Add(events []agent.Event) // before those that were added last
	Next()                    // another session begins
	Done() bool
}

// lookBack shows the events of all sessions of the folder, from the newest back and a
// page at a time.
func (w *Workbench) lookBack(ctx context.Context, to pastCalls) error {
	sessions, err := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	if err != nil {
		return err
	}
	for _, info := range sessions {
		for before := info.Seq + 1; before > 1 && !to.Done(); {
			events, err := w.cfg.Store.Events(ctx, backend.EventRange{Session: info.ID, Before: before, Limit: 1000, Newest: true})
			if err != nil {
				return err
			}
			if len(events) == 0 {
				break
			}
			to.Add(events)
			before = events[0].Seq
		}
		to.Next()
	}
	return nil
}

// TrustHooks trusts the hooks that stand there until the program ends, and returns
// how many they are.
func (w *Workbench) TrustHooks(ctx context.Context) (int, error) { return w.hooks.TrustForRun(ctx) }

package workbench

import (
	"context"
	"encoding/json"
	"path/filepath"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/agent/tool"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/guard"
)

// account returns the session whose rules hold for a session: an agent's are those
// of the session that started it.
func account(info backend.SessionInfo) string {
	if info.Helper != nil {
		return info.Helper.Parent
	}
	return info.ID
}

// accountOf is account for a session's id, which may be empty.
func (w *Workbench) accountOf(ctx context.Context, session string) (string, error) {
	if session == "" {
		return "", nil
	}
	info, err := w.session(ctx, session)
	return account(info), err
}

func (w *Workbench) listRules(ctx context.Context, in guard.RulesRequest) (guard.RulesReply, error) {
	session, err := w.accountOf(ctx, in.Session)
	if err != nil {
		return guard.RulesReply{}, err
	}
	return w.guard.Rules(ctx, session)
}

func (w *Workbench) addRule(ctx context.Context, in guard.AddRequest) (guard.RuleEntry, error) {
	session, err := w.accountOf(ctx, in.Session)
	if err != nil {
		return guard.RuleEntry{}, err
	}
	in.Session = session
	entry, err := w.guard.Add(ctx, in)
	if err == nil {
		w.rulesChanged()
	}
	return entry, err
}

func (w *Workbench) removeRule(ctx context.Context, in guard.RemoveRequest) (backend.Empty, error) {
	session, err := w.accountOf(ctx, in.Session)
	if err != nil {
		return backend.Empty{}, err
	}
	in.Session = session
	defer w.rulesChanged()
	return w.guard.Remove(ctx, in)
}

func (w *Workbench) acceptRules(ctx context.Context, in guard.AcceptRequest) (backend.Empty, error) {
	done, err := w.guard.Accept(ctx, in)
	if err == nil {
		w.rulesChanged()
	}
	return done, err
}

// rulesChanged has what waits judged again by the rules as they are now, and tells pages.
func (w *Workbench) rulesChanged() {
	w.sessions.JudgeAgain()
	w.feed.Publish(agent.Event{At: time.Now().UnixMilli(), Data: agent.RulesChange{}})
}

// settingsChanged acts on a settings file that changed, and blocks nobody.
func (w *Workbench) settingsChanged() {
	w.servers.Reload()
	w.rulesChanged()
}

// userHome returns the user's home folder; empty if it is unknown.
func userHome(cfg Config) string {
	home := cfg.Getenv("HOME")
	if !filepath.IsAbs(home) {
		return ""
	}
	return home
}

// pending returns a request that waits for an answer.
func (w *Workbench) pending(ctx context.Context, session, approval string) (agent.ApprovalRequest, backend.SessionInfo, error) {
	info, err := w.session(ctx, session)
	if err != nil {
		return agent.ApprovalRequest{}, info, err
	}
	waiting, err := w.cfg.Store.Approvals(ctx, w.cfg.Folder)
	if err != nil {
		return agent.ApprovalRequest{}, info, err
	}
	for _, a := range waiting {
		if a.Session == session && a.Request.ID == approval {
			return a.Request, info, nil
		}
	}
	return agent.ApprovalRequest{}, info, backend.Problem(backend.ProblemApprovalAnswered)
}

// gateCall is what a gate saw of a request.
func gateCall(req agent.ApprovalRequest, mode agent.Mode) agent.GateCall {
	return agent.GateCall{Tool: req.Tool, Input: []byte(req.Input), Access: req.Access, Mode: mode}
}

func (w *Workbench) suggestRules(ctx context.Context, in guard.SuggestRequest) (guard.SuggestReply, error) {
	req, info, err := w.pending(ctx, in.Session, in.Approval)
	if err != nil {
		return guard.SuggestReply{}, err
	}
	return w.suggested(gateCall(req, info.Settings.Mode)), nil
}

// suggested returns rules that mean a call, the narrowest first.
func (w *Workbench) suggested(call agent.GateCall) guard.SuggestReply {
	var reply guard.SuggestReply
	for _, r := range rule.Suggest(call, w.guard.Place()) {
		reply.Rules = append(reply.Rules, guard.SuggestedRule{Rule: r.String(), Words: guard.Words(r)})
	}
	for _, r := range rule.SuggestParts(call, w.guard.Place()) {
		reply.Parts = append(reply.Parts, guard.SuggestedRule{Rule: r.String(), Words: guard.Words(r)})
	}
	return reply
}

// tryRule says which of the folder's past calls a rule would have matched.
func (w *Workbench) tryRule(ctx context.Context, in guard.TryRequest) (guard.TryReply, error) {
	trial, err := w.guard.Try(in, accessOf(w.cfg.Folder))
	if err != nil {
		return guard.TryReply{}, err
	}
	if err := w.lookBack(ctx, trial); err != nil {
		return guard.TryReply{}, err
	}
	reply := trial.Reply()
	if in.Approval != "" {
		req, info, err := w.pending(ctx, in.Session, in.Approval)
		if err != nil {
			return guard.TryReply{}, err
		}
		drafts, err := guard.Drafts(in.Rule, in.Decision)
		reply.Misses = err != nil || !w.decides(drafts, req, info)
	}
	return reply, nil
}

// accessOf says what past calls touched, as far as their input says it. It looks at
// no file and starts nothing.
func accessOf(folder string) func(name string, input json.RawMessage) agent.Access {
	tools := sync.OnceValue(func() map[string]agent.Accessor {
		tools := map[string]agent.Accessor{}
		if local, err := env.NewLocal(folder); err == nil {
			for _, t := range tool.Builtin(local, tool.Options{ApplyPatch: true}) {
				if a, ok := t.(agent.Accessor); ok {
					tools[t.Spec().Name] = a
				}
			}
		}
		return tools
	})
	return func(name string, input json.RawMessage) agent.Access {
		var command tool.BashInput
		switch t, ok := tools()[name]; {
		case name == "Bash" && json.Unmarshal(input, &command) == nil:
			return agent.Access{Command: command.Command, Dir: absolute(folder, command.Workdir)}
		case ok && name != "Bash":
			return t.Access(context.Background(), input) // which does not block: Bash is not asked
		}
		return agent.Access{}
	}
}

// absolute returns a folder that may be relative to another; empty stays empty.
func absolute(folder, dir string) string {
	if dir == "" || filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(folder, dir)
}

// remember stores the rule of an answer, exactly as the answer has it. It refuses a
// rule that does not mean the call that was asked about.
func (w *Workbench) remember(ctx context.Context, in AnswerRequest) error {
	a := in.Answer
	switch a.Scope {
	case "", agent.ScopeOnce:
		return nil
	case agent.ScopeSession:
		if a.Rule == "" { // equal calls are remembered by the session itself
			return nil
		}
	}
	drafts, err := guard.Drafts(a.Rule, a.Decision)
	if err != nil {
		return err
	}
	req, info, err := w.pending(ctx, in.Session, in.Approval)
	if err != nil {
		return err
	}
	if !w.decides(drafts, req, info) {
		return backend.Problem(backend.ProblemRuleOther, a.Rule)
	}
	for _, draft := range drafts {
		if _, err := w.guard.Add(ctx, guard.AddRequest{Session: account(info), Rule: draft.String(), Decision: a.Decision, Scope: a.Scope, Expires: a.Expires}); err != nil {
			return err
		}
	}
	return nil
}

// decides reports whether rules decide about a pending call.
func (w *Workbench) decides(rules []rule.Rule, req agent.ApprovalRequest, info backend.SessionInfo) bool {
	return rule.New(w.guard.Place(), rules).Judge(gateCall(req, info.Settings.Mode), nil).Decision != ""
}

package guard

import (
	"context"
	"errors"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission/rule"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
)

// Draft reads a rule that a person wrote. Its errors are worded for that person.
func Draft(text string, d agent.Decision) (rule.Rule, error) {
	r, err := rule.Parse(text)
	if err != nil {
		return r, unreadable(err, shorten(text))
	}
	if d != agent.Allow && d != agent.Ask && d != agent.Deny {
		return r, backend.Problem(backend.ProblemRuleDecision)
	}
	r.Decision = d
	return r, nil
}

// maxDrafts limits how many rules one answer remembers.
const maxDrafts = 16

// Drafts reads rules that a person wrote, one a line; see [Draft].
func Drafts(text string, d agent.Decision) ([]rule.Rule, error) {
	lines := strings.FieldsFunc(text, func(c rune) bool { return c == '\n' })
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == "" })
	if len(lines) > maxDrafts {
		return nil, backend.Problem(backend.ProblemRulesFull)
	}
	if len(lines) == 0 {
		lines = []string{""}
	}
	var rules []rule.Rule
	for _, line := range lines {
		r, err := Draft(line, d)
		if err != nil {
			return nil, err
		}
		rules = append(rules, r)
	}
	return rules, nil
}

// Add stores a rule. It replaces a rule with the same text, so that the new end
// holds. A rule that the user adds here counts as accepted.
func (g *Guard) Add(ctx context.Context, in AddRequest) (RuleEntry, error) {
	r, err := Draft(in.Rule, in.Decision)
	if err != nil {
		return RuleEntry{}, err
	}
	now, state := g.cfg.Now().UnixMilli(), StateHolds
	r.Scope, r.Expires = in.Scope, in.Expires
	if in.Ended {
		r.Expires, state = now, StateExpired
	}
	if r.Expires != 0 {
		r.Expires = r.Expires / 1000 * 1000 // as a file keeps it
	}
	if r.Expires < 0 || r.Expires != 0 && r.Expired(now) && !in.Ended {
		return RuleEntry{}, backend.Problem(backend.ProblemRulePast)
	}
	g.changing.Lock()
	defer g.changing.Unlock()
	if r.Scope == agent.ScopeSession {
		err = g.changeSession(ctx, in.Session, func(rules []written) ([]written, error) {
			rules = slices.DeleteFunc(rules, func(w written) bool { return same(w.Rule, r) })
			if len(rules) >= rule.MaxRules {
				return nil, backend.Problem(backend.ProblemRulesFull)
			}
			return append(rules, written{Rule: r}), nil
		})
		return g.entry(written{Rule: r}, state), err
	}
	f, ok := g.fileOf(r.Scope)
	if !ok {
		return RuleEntry{}, backend.Problem(backend.ProblemRuleScope)
	}
	if r.Decision == agent.Allow && f.Scope != agent.ScopeUser {
		if err := g.accept(ctx, f, pin(r)); err != nil {
			return RuleEntry{}, err
		}
	}
	replaced := func(w written) bool { return w.err == nil && w.String() == r.String() }
	err = f.Edit(change(r.Decision, replaced, &r, nil))
	if err != nil {
		return RuleEntry{}, unwritten(err, f)
	}
	e := g.entry(written{Rule: r}, state)
	e.File = f.Path()
	return e, nil
}

func same(a, b rule.Rule) bool { return a.String() == b.String() && a.Decision == b.Decision }

// Remove takes a rule out of where it stands.
func (g *Guard) Remove(ctx context.Context, in RemoveRequest) (backend.Empty, error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	missing := backend.Problem(backend.ProblemRuleMissing, shorten(in.Rule))
	if in.Scope == agent.ScopeSession {
		return backend.Empty{}, g.changeSession(ctx, in.Session, func(rules []written) ([]written, error) {
			rest := slices.DeleteFunc(slices.Clone(rules), func(w written) bool { return w.String() == in.Rule && w.Decision == in.Decision })
			if len(rest) == len(rules) {
				return nil, missing
			}
			return rest, nil
		})
	}
	i := slices.IndexFunc(g.files, func(f settings.File) bool { return f.Scope == in.Scope && (in.File == "" || f.Path() == in.File) })
	if i < 0 {
		return backend.Empty{}, missing
	}
	named := func(w written) bool { return w.String() == in.Rule }
	err := g.files[i].Edit(change(in.Decision, named, nil, missing))
	return backend.Empty{}, unwritten(err, g.files[i])
}

// Accept accepts what a file allows, if it is what the user was shown.
func (g *Guard) Accept(ctx context.Context, in AcceptRequest) (backend.Empty, error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	i := slices.IndexFunc(g.files, func(f settings.File) bool { return f.Path() == in.Path && f.Scope != agent.ScopeUser })
	if i < 0 {
		return backend.Empty{}, backend.Problem(backend.ProblemRuleScope)
	}
	r, _, err := g.look(ctx, g.files[i])
	if err != nil {
		return backend.Empty{}, err
	}
	if r.err != nil || !r.text.There || r.seal() != in.Seal {
		return backend.Empty{}, backend.Problem(backend.ProblemRulesChanged, in.Path)
	}
	return backend.Empty{}, g.accept(ctx, g.files[i], r.pins()...)
}

// maxAccepted limits what is remembered of one file; the oldest is forgotten.
const maxAccepted = 2 * rule.MaxRules

// accept remembers that the user accepted parts of a file.
func (g *Guard) accept(ctx context.Context, f settings.File, pins ...string) error {
	_, accepted, err := g.look(ctx, f)
	if err != nil {
		return err
	}
	if accepted == nil {
		if accepted, err = stored[[]string](ctx, g.cfg.Store, keyAccepted+f.Path()); err != nil {
			return err
		}
	}
	accepted = slices.DeleteFunc(slices.Clone(accepted), func(p string) bool { return slices.Contains(pins, p) })
	accepted = append(accepted, pins...)
	accepted = accepted[max(0, len(accepted)-maxAccepted):]
	if err := store(ctx, g.cfg.Store, keyAccepted+f.Path(), accepted); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed()
	g.accepted[f] = accepted
	return nil
}

// changeSession changes the rules of a session.
func (g *Guard) changeSession(ctx context.Context, id string, change func([]written) ([]written, error)) error {
	if id == "" {
		return backend.Problem(backend.ProblemRuleScope)
	}
	rules, err := g.session(ctx, id)
	if err != nil {
		return err
	}
	if rules, err = change(slices.Clone(rules)); err != nil {
		return err
	}
	kept := make([]sessionRule, 0, len(rules))
	for _, w := range rules {
		kept = append(kept, sessionRule{w.String(), w.Decision, w.Expires})
	}
	if err := store(ctx, g.cfg.Store, keySession+id, kept); err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.changed()
	g.sessions[id] = rules
	return nil
}

// Forget removes the rules of sessions that were deleted.
func (g *Guard) Forget(ctx context.Context, sessions ...string) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	var errs []error
	for _, id := range sessions {
		if rules, err := g.session(ctx, id); err == nil && len(rules) > 0 {
			errs = append(errs, g.cfg.Store.SetSetting(ctx, keySession+id, ""))
		}
		g.mu.Lock()
		g.changed()
		delete(g.sessions, id)
		g.mu.Unlock()
	}
	return errors.Join(errs...)
}

// unwritten says that a file could not be changed.
func unwritten(err error, f settings.File) error {
	var told *backend.Error
	if err == nil || errors.As(err, &told) {
		return err
	}
	return backend.Problem(backend.ProblemRulesUnwritten, f.Path()).Because(err)
}

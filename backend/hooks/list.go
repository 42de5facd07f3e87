package hooks

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/settings"
	"atelier.dev/atelier/backend/trust"
)

// errMissing answers a request about a hook that is not there.
var errMissing = backend.Problem(backend.ProblemHookMissing)

// errEntry answers a request about an entry that the log does not have.
var errEntry = backend.Problem(backend.ProblemHookEntry)

// errAllows answers a hook of a project that asked for a rule that allows.
var errAllows = errors.New("a project's hook cannot allow anything for the rest of the session")

// List lists the hooks of all settings files.
func (h *Hooks) List(ctx context.Context, in HooksRequest) (HooksReply, error) {
	var reply HooksReply
	var ids []string
	for _, s := range h.current(ctx).sources {
		if !s.text.There && len(s.missing) == 0 {
			continue
		}
		f := HookFile{
			Path: s.file.Path(), Scope: s.file.Scope, Form: HookForm(form(s.file)), Problem: problemOf(s),
		}
		for _, x := range s.missing {
			f.Missing = append(f.Missing, HookMissing{x.ID(), x.Name, !s.undecided})
		}
		for i, x := range s.handlers {
			row, err := h.row(ctx, x)
			if err != nil {
				return HooksReply{}, err
			}
			row.Findings = s.about(i + 1)
			reply.Hooks = append(reply.Hooks, row)
			ids = append(ids, row.ID)
		}
		f.Findings = s.about(0)
		reply.Files = append(reply.Files, f)
	}
	last, err := h.last(ctx, in.Session, ids)
	if err != nil {
		return HooksReply{}, err
	}
	for i, row := range reply.Hooks {
		reply.Hooks[i].Last = last[row.ID]
	}
	return reply, nil
}

// about returns the findings about one hook of the file, counted from 1; with 0, those
// that are about none.
func (s *source) about(hook int) (out []HookFinding) {
	for _, f := range s.findings {
		if f.Hook == hook {
			out = append(out, finding(f))
		}
	}
	return out
}

func finding(f hook.Finding) HookFinding {
	return HookFinding{Line: f.Line, ID: string(f.ID), Args: f.Args, Message: f.Message, Harmless: f.Harmless}
}

func shown(all []hook.Finding) (out []HookFinding) {
	for _, f := range all {
		out = append(out, finding(f))
	}
	return out
}

func problemOf(s source) *backend.Error {
	var told *backend.Error
	if s.err == nil {
		return nil
	}
	if errors.As(s.err, &told) {
		return told
	}
	if line := settings.LineOf(s.err); line > 0 {
		return backend.Problem(backend.ProblemHooksFile, s.file.Path(), strconv.Itoa(line)).Because(s.err)
	}
	return backend.Problem(backend.ProblemHooksFileUnread, s.file.Path()).Because(s.err)
}

func (h *Hooks) row(ctx context.Context, x hook.Handler) (HookRow, error) {
	row := HookRow{ID: x.ID(), Draft: draftOf(x), Origin: origin(x.Origin)}
	on, err := h.on(ctx, x)
	if err != nil {
		return row, err
	}
	state, err := h.cfg.Trust.Check(ctx, row.ID, "")
	if err != nil {
		return row, err
	}
	if x.Origin.Scope != hook.ScopeUser || state != trust.StateTrusted {
		row.Trust = row.ID
	}
	switch {
	case x.Defect != "":
		row.State = StateBroken
	case !on && h.foreign(x):
		row.State = StateForeign
	case !on:
		row.State = StateOff
	case state == trust.StateTrusted:
		row.State = StateRuns
	case state == trust.StateChanged:
		row.State = StateChanged
	case state == trust.StateRefused:
		row.State = StateRefused
	default:
		row.State = StateUntrusted
	}
	return row, nil
}

// draftOf returns what a hook does, in the form of a draft.
func draftOf(x hook.Handler) HookDraft {
	d := HookDraft{
		Name: x.OwnName(), Point: x.Point, Matcher: x.Matcher, If: x.If, Timeout: x.OwnTime().Seconds(),
		Async: x.Terms.Async, Once: x.Terms.Once, Status: x.Terms.Status, Action: HookAction{Kind: KindUnknown},
	}
	switch {
	case x.Kind == hook.KindCommand && x.Command != nil:
		d.Action = HookAction{Kind: KindCommand, Command: x.Command.Line, Args: x.Command.Args, Shell: x.Command.Shell}
	case x.Kind == hook.KindHTTP && x.Request != nil:
		d.Action = HookAction{Kind: KindHTTP, URL: x.Request.URL, Headers: x.Request.Headers, EnvVars: x.Request.Allowed}
	}
	return d
}

// TrustForRun trusts the hooks that the files have now until the program ends, and
// returns their number. Hooks that are gone do not count as missed.
func (h *Hooks) TrustForRun(ctx context.Context) (int, error) {
	h.current(ctx)
	h.mu.Lock()
	h.trustedForRun = true
	h.mu.Unlock()
	n, err := h.cfg.Trust.AcceptForRun(ctx, trust.KindHook)
	h.again(ctx)
	return n, err
}

// Points says what the hooks of each point are told and may answer.
func (h *Hooks) Points(context.Context, backend.Empty) (HookPointsReply, error) {
	var reply HookPointsReply
	for _, e := range hook.Examples() {
		p := HookPointInfo{Point: e.Point, Event: e.Event, Matches: e.Target, Example: e.Input, Blocks: slices.Contains(e.May, hook.PowerDeny)}
		for _, power := range e.May {
			p.Answers = append(p.Answers, HookPower(power))
		}
		reply.Points = append(reply.Points, p)
	}
	return reply, nil
}

// Templates lists hooks to begin with.
func (h *Hooks) Templates(context.Context, backend.Empty) (HookTemplatesReply, error) {
	all := slices.Clone(templates)
	for i, t := range all {
		if all[i].Example = t.Example; t.Example == nil {
			all[i].Example = example(t.Draft.Point)
		}
	}
	return HookTemplatesReply{Templates: all}, nil
}

// example returns an input of a point.
func example(point agent.HookPoint) json.RawMessage {
	for _, e := range hook.Examples() {
		if e.Point == point {
			return e.Input
		}
	}
	return nil
}

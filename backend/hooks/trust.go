package hooks

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/trust"
)

// ListTrust lists everything that the folder can make Atelier run, and what was
// trusted and is gone. The user's own hooks are listed if they run files of the
// project.
func (h *Hooks) ListTrust(ctx context.Context, _ backend.Empty) (TrustReply, error) {
	l := h.current(ctx)
	all, err := h.cfg.Trust.List(ctx)
	if err != nil {
		return TrustReply{}, err
	}
	var reply TrustReply
	for _, s := range all {
		if !s.Own || len(s.Files) > 0 {
			reply.Items = append(reply.Items, trusted(l, s))
		}
	}
	for _, s := range l.sources {
		isCut := slices.ContainsFunc(s.findings, func(f hook.Finding) bool { return f.ID == hook.FindingTooMany })
		reply.More = reply.More || isCut && s.file.Scope != agent.ScopeUser
	}
	return reply, nil
}

func trusted(l *list, s trust.Status) TrustRow {
	row := TrustRow{
		ID: s.ID, Kind: string(s.Kind), Title: s.Title, Origin: s.Origin, Command: s.Command.Line, State: TrustState(s.State),
		Files: s.Files, Blocked: s.Blocked,
	}
	for _, f := range l.sources {
		if f.file.Path() == s.Origin {
			row.Scope = f.file.Scope
		}
	}
	if x, _, ok := l.find(s.ID); ok {
		row.Scope, row.Line = agent.Scope(x.Origin.Scope), x.Origin.Line
	}
	for _, n := range s.Notes {
		row.Notes = append(row.Notes, TrustNote{string(n.ID), n.Args, n.Message})
	}
	return row
}

// ShowTrust returns what would run.
func (h *Hooks) ShowTrust(ctx context.Context, in TrustRequest) (TrustShown, error) {
	l := h.current(ctx)
	s, err := h.cfg.Trust.Show(ctx, in.ID)
	if err != nil {
		return TrustShown{}, err
	}
	out := TrustShown{TrustRow: trusted(l, s.Status), Seal: s.Seal}
	for _, t := range s.Texts {
		out.Texts = append(out.Texts, TrustText{t.Path, t.Text, t.Diff, TrustOmission(t.Omitted)})
	}
	return out, nil
}

// AcceptTrust trusts what was shown.
func (h *Hooks) AcceptTrust(ctx context.Context, in TrustAcceptRequest) (backend.Empty, error) {
	h.current(ctx)
	err := h.cfg.Trust.Accept(ctx, in.ID, in.Seal)
	h.decide(ctx, in.ID)
	return backend.Empty{}, err
}

// RefuseTrust refuses an item.
func (h *Hooks) RefuseTrust(ctx context.Context, in TrustRequest) (backend.Empty, error) {
	h.current(ctx)
	err := h.cfg.Trust.Refuse(ctx, in.ID)
	h.decide(ctx, in.ID)
	return backend.Empty{}, err
}

// RevokeTrust forgets what was decided about an item. A guard that vanished is not
// missed any more.
func (h *Hooks) RevokeTrust(ctx context.Context, in TrustRequest) (backend.Empty, error) {
	if _, _, stands := h.current(ctx).find(in.ID); !stands {
		h.release(in.ID)
	}
	err := h.cfg.Trust.Revoke(ctx, in.ID)
	h.decide(ctx, in.ID)
	return backend.Empty{}, err
}

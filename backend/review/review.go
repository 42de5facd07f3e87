// Package review shows everything that a project can make Atelier run, and takes
// the user's decisions about it.
package review

import (
	"context"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/trust"
)

// Owner has items of one kind.
type Owner interface {
	// UpdateItems tells the [trust.Trust] that it shares which items there are now. It
	// reports whether a file of the project has more than is read.
	UpdateItems(ctx context.Context) (more bool)
	// Decided takes over a decision about an item, which may be another kind's.
	Decided(ctx context.Context, id string, d TrustDecision)
}

// TrustDecision is what the user decided about an item.
type TrustDecision string

// The decisions.
const (
	Accepted TrustDecision = "accepted"
	Refused  TrustDecision = "refused"
	Revoked  TrustDecision = "revoked"
)

// Reviewer answers pages. It is safe for concurrent use.
type Reviewer struct {
	trust  *trust.Trust
	owners []Owner
}

// New returns a reviewer.
func New(t *trust.Trust, owners ...Owner) *Reviewer { return &Reviewer{t, owners} }

func (r *Reviewer) updateItems(ctx context.Context) (more bool) {
	for _, o := range r.owners {
		more = o.UpdateItems(ctx) || more
	}
	return more
}

// List lists everything that the folder can make Atelier run, and what was trusted
// and is gone. The user's own is listed if it runs files of the project.
func (r *Reviewer) List(ctx context.Context, _ backend.Empty) (TrustReply, error) {
	reply := TrustReply{More: r.updateItems(ctx)}
	all, err := r.trust.List(ctx)
	if err != nil {
		return TrustReply{}, err
	}
	for _, s := range all {
		if !s.Own || len(s.Files) > 0 {
			reply.Items = append(reply.Items, row(s))
		}
	}
	return reply, nil
}

func row(s trust.Status) TrustRow {
	out := TrustRow{
		ID: s.ID, Kind: string(s.Kind), Title: s.Title, Scope: s.Scope, Origin: s.Origin, Line: s.Line, Command: s.Command.String(),
		State: TrustState(s.State), Files: s.Files, Blocked: s.Blocked,
	}
	for _, n := range s.Notes {
		out.Notes = append(out.Notes, TrustNote{string(n.ID), n.Args, n.Message})
	}
	return out
}

// Show returns what would run.
func (r *Reviewer) Show(ctx context.Context, in TrustRequest) (TrustShown, error) {
	r.updateItems(ctx)
	s, err := r.trust.Show(ctx, in.ID)
	if err != nil {
		return TrustShown{}, err
	}
	out := TrustShown{TrustRow: row(s.Status), Seal: s.Seal}
	for _, t := range s.Texts {
		out.Texts = append(out.Texts, TrustText{t.Path, t.Text, t.Diff, TrustOmission(t.Omitted)})
	}
	return out, nil
}

// Accept trusts what was shown.
func (r *Reviewer) Accept(ctx context.Context, in TrustAcceptRequest) (backend.Empty, error) {
	r.updateItems(ctx)
	return backend.Empty{}, r.decided(ctx, in.ID, Accepted, r.trust.Accept(ctx, in.ID, in.Seal))
}

// Refuse refuses an item.
func (r *Reviewer) Refuse(ctx context.Context, in TrustRequest) (backend.Empty, error) {
	r.updateItems(ctx)
	return backend.Empty{}, r.decided(ctx, in.ID, Refused, r.trust.Refuse(ctx, in.ID))
}

// Revoke forgets what was decided about an item.
func (r *Reviewer) Revoke(ctx context.Context, in TrustRequest) (backend.Empty, error) {
	r.updateItems(ctx)
	return backend.Empty{}, r.decided(ctx, in.ID, Revoked, r.trust.Revoke(ctx, in.ID))
}

// decided tells the owners. They hear of a decision that failed, too, because part
// of it may have been kept.
func (r *Reviewer) decided(ctx context.Context, id string, d TrustDecision, err error) error {
	for _, o := range r.owners {
		o.Decided(ctx, id, d)
	}
	return err
}

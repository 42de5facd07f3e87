package workbench

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/plan"
	"atelier.dev/atelier/backend"
)

// approvals lists what waits for the user, in all sessions of the folder.
func (w *Workbench) approvals(ctx context.Context, _ backend.Empty) (ApprovalList, error) {
	list, err := w.cfg.Store.Approvals(ctx, w.cfg.Folder)
	return ApprovalList{Approvals: list}, err
}

// leadsTo are the modes that an answer to a call may lead into. Those of a plan are the ways
// to carry it out; no answer leads to a mode that never asks.
func leadsTo(tool string) []agent.Mode {
	switch tool {
	case plan.Enter:
		return []agent.Mode{agent.ModePlan}
	case plan.Exit:
		return []agent.Mode{agent.ModeDefault, agent.ModeAcceptEdits, agent.ModeAuto}
	}
	return []agent.Mode{agent.ModeAcceptEdits}
}

// answer delivers a person's decision to the turn that waits for it, after it has
// stored the decision's rule. The request must be pending in the store, so that no
// answer counts twice. A turn that waits in the log alone is continued first.
func (w *Workbench) answer(ctx context.Context, in AnswerRequest) (backend.Empty, error) {
	d, mode := in.Answer.Decision, in.Answer.Mode
	if d != agent.Allow && d != agent.Deny || mode != "" && d != agent.Allow {
		return backend.Empty{}, backend.Problem(backend.ProblemAnswerInvalid)
	}
	session, err := w.cfg.Store.PendingApproval(ctx, in.Approval)
	if err != nil {
		return backend.Empty{}, err
	}
	if session != in.Session {
		return backend.Empty{}, backend.Problem(backend.ProblemApprovalElsewhere)
	}
	if mode != "" {
		if req, _, err := w.pending(ctx, in.Session, in.Approval); err != nil || !slices.Contains(leadsTo(req.Tool), mode) {
			return backend.Empty{}, cmp.Or[error](err, backend.Problem(backend.ProblemAnswerInvalid))
		}
	}
	return backend.Empty{}, w.deliver(ctx, in)
}

// deliver hands an answer to its session, which it opens and continues if no
// process runs it.
func (w *Workbench) deliver(ctx context.Context, in AnswerRequest) error {
	info, err := w.session(ctx, in.Session)
	if err != nil {
		return err
	}
	l, release, err := w.sessions.Open(ctx, in.Session)
	if err != nil {
		return err
	}
	defer release()
	if err := l.Start((*agent.Session).Resume); isBusy(err) {
		if !l.Busy() { // it was stopped just now, or another process runs it
			if _, err := w.cfg.Store.PendingApproval(ctx, in.Approval); err != nil {
				return err
			}
			return backend.Problem(backend.ProblemApprovalElsewhere)
		}
	} else if err != nil {
		return err
	}
	first, err := l.Answer(in.Approval, in.Answer, func() error {
		if err := w.remember(ctx, in); err != nil || in.Answer.Mode == "" {
			return err
		}
		info.Settings.Mode = in.Answer.Mode
		return w.Configure(ctx, in.Session, info.Settings)
	})
	if err != nil {
		return err
	}
	if !first {
		return backend.Problem(backend.ProblemApprovalAnswered)
	}
	if in.Answer.Scope != "" && in.Answer.Scope != agent.ScopeOnce {
		w.rulesChanged()
	}
	return nil
}

func isBusy(err error) bool {
	var e *backend.Error
	return errors.As(err, &e) && e.Code == backend.CodeBusy
}

// ApprovalList is the reply of approvals.list, the oldest first.
type ApprovalList struct {
	Approvals []backend.Approval `json:"approvals,omitempty"`
}

// AnswerRequest is for conversation.answer.
type AnswerRequest struct {
	Session  string       `json:"session"`
	Approval string       `json:"approval"`
	Answer   agent.Answer `json:"answer"`
}

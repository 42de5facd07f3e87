package workbench

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/audit"
	"atelier.dev/atelier/backend/guard"
	"atelier.dev/atelier/backend/place"
)

// ledger returns a part of what ran in a session and its agents, or in all
// sessions of the folder.
func (w *Workbench) ledger(ctx context.Context, in LedgerRequest) (audit.LedgerPage, error) {
	var sessions []backend.SessionInfo
	var err error
	if in.Session == "" {
		sessions, err = w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	} else {
		sessions, err = w.familyOf(ctx, in.Session)
	}
	if err != nil {
		return audit.LedgerPage{}, err
	}
	reader, err := w.auditor(sessions)
	if err != nil {
		return audit.LedgerPage{}, err
	}
	var from backend.CallPlace
	if in.Before != nil {
		from = *in.Before
	}
	return reader.Page(ctx, in.Filter, from, in.Limit)
}

// familyOf returns a session and those that it started.
func (w *Workbench) familyOf(ctx context.Context, session string) ([]backend.SessionInfo, error) {
	info, err := w.session(ctx, session)
	if err != nil {
		return nil, err
	}
	helpers, err := w.cfg.Store.Helpers(ctx, session)
	return append(helpers, info), err
}

// auditor reads what some sessions ran.
func (w *Workbench) auditor(sessions []backend.SessionInfo) (audit.Reader, error) {
	gate, err := permission.New(w.cfg.Folder, permission.Rules{Own: []string{w.cfg.Home}})
	if err != nil {
		return audit.Reader{}, backend.Problem(backend.ProblemFolderUnread, w.cfg.Folder).Because(err)
	}
	r := audit.Reader{Log: w.cfg.Store, Sessions: map[string]string{}, Copied: map[string]int64{}, Foretell: agent.Foreteller(gate).Foretell}
	for _, info := range sessions {
		r.Sessions[info.ID] = w.folderOf(info)
		if seq := info.CopiedThrough(); seq > 0 {
			r.Copied[info.ID] = seq
		}
	}
	return r, nil
}

// suggestForCall returns rules for a call that has ended, the narrowest first.
func (w *Workbench) suggestForCall(ctx context.Context, in place.EventRef) (guard.SuggestReply, error) {
	reply, err := w.reader.Event(ctx, in)
	if err != nil {
		return guard.SuggestReply{}, err
	}
	end, ok := reply.Event.Data.(agent.ToolCallEnd)
	if !ok {
		return guard.SuggestReply{}, backend.Problem(backend.ProblemEventMissing)
	}
	input, err := audit.Reader{Log: w.cfg.Store}.Input(ctx, reply.Event, end)
	if err != nil {
		return guard.SuggestReply{}, err
	}
	call := agent.GateCall{Tool: end.Tool, Input: []byte(input), Access: accessOf(w.cfg.Folder)(end.Tool, []byte(input))}
	return w.suggested(call), nil
}

// LedgerRequest is for permissions.ledger: the calls of a session and its agents
// or, without one, of all sessions of the project. Before is where an earlier page
// said that the reading goes on.
type LedgerRequest struct {
	Session string             `json:"session,omitempty"`
	Filter  audit.LedgerFilter `json:"filter"`
	Before  *backend.CallPlace `json:"before,omitempty"`
	Limit   int                `json:"limit,omitempty"`
}

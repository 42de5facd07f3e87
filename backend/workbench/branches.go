package workbench

import (
	"context"

	"atelier.dev/atelier/backend"
)

// maxBranches limits how many branches are listed.
const maxBranches = 500

// branches answers sessions.branches: a session with everything that was forked from
// the same beginning.
func (w *Workbench) branches(ctx context.Context, in SessionRef) (BranchList, error) {
	if _, err := w.session(ctx, in.Session); err != nil {
		return BranchList{}, err
	}
	all, err := w.cfg.Store.Sessions(ctx, w.cfg.Folder)
	if err != nil {
		return BranchList{}, err
	}
	byID := make(map[string]backend.SessionInfo, len(all))
	for _, info := range all {
		byID[info.ID] = info
	}
	own := rootOf(byID, in.Session)
	var list BranchList
	for _, info := range all {
		if rootOf(byID, info.ID) != own {
			continue
		}
		if len(list.Branches) >= maxBranches && info.ID != in.Session {
			list.More++
			continue
		}
		list.Branches = append(list.Branches, info)
	}
	return list, nil
}

// rootOf returns the session from which a session was forked, if need be over others. It
// may have been removed.
func rootOf(byID map[string]backend.SessionInfo, id string) string {
	for range len(byID) { // a damaged log may name its own fork as its origin
		info, ok := byID[id]
		if !ok || info.Origin == nil {
			break
		}
		id = info.Origin.Session
	}
	return id
}

// BranchList answers sessions.branches.
type BranchList struct {
	Branches []backend.SessionInfo `json:"branches,omitempty"`
	More     int                   `json:"more,omitempty"` // beyond those that are listed
}

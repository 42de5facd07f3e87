package branch

import (
	"context"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/place"
)

// maxListed limits how many branches are listed.
const maxListed = 500

// branches answers sessions.branches: a session with everything that was forked from
// the same beginning.
func (b *Branches) list(ctx context.Context, in place.SessionRef) (BranchList, error) {
	if _, err := b.cfg.Project.Session(ctx, in.Session); err != nil {
		return BranchList{}, err
	}
	all, err := b.cfg.Store.Sessions(ctx, b.cfg.Project.Dir)
	if err != nil {
		return BranchList{}, err
	}
	known := make(map[string]backend.SessionInfo, len(all))
	for _, info := range all {
		known[info.ID] = info
	}
	own := rootOf(known, in.Session)
	var list BranchList
	for _, info := range all {
		if rootOf(known, info.ID) != own {
			continue
		}
		if len(list.Branches) >= maxListed && info.ID != in.Session {
			list.More++
			continue
		}
		list.Branches = append(list.Branches, info)
	}
	return list, nil
}

// rootOf returns the session from which a session was forked, if need be over others. It
// may have been removed.
func rootOf(known map[string]backend.SessionInfo, id string) string {
	for range len(known) { // a damaged log may name its own fork as its origin
		info, ok := known[id]
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

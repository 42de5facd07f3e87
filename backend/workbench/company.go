package workbench

import (
	"path/filepath"
	"sync/atomic"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// company is what a session is told of another one that works in the same folder at
// the same time. Once it was told so, it stays told: the next turn of the other may
// begin at any time.
type company struct {
	bench   *Workbench
	session string
	folder  string // empty for an agent, which works beside the session that started it
	met     atomic.Bool
}

func (w *Workbench) companyOf(info backend.SessionInfo) *company {
	c := &company{bench: w, session: info.ID}
	if info.Helper == nil {
		c.folder = w.folderOf(info)
	}
	return c
}

// Notes returns at most one note. It is called before each request.
func (c *company) Notes() []agent.Note {
	if c.folder == "" || !c.met.Load() && !c.bench.othersWork(c.session, c.folder) {
		return nil
	}
	c.met.Store(true)
	return []agent.Note{{
		About: "others", Now: "there",
		Text: "Another session works in this folder at the same time as you. Files may change between two of your steps, and changes that you did not make are not yours to revert. " +
			"Read a file again before you change it, and avoid commands that touch files you do not work on, such as git stash, git checkout or a formatter over everything.",
		Gone:    "No other session is known to work in this folder now.",
		Warning: agent.Warn(agent.WarnCompany, filepath.Base(c.folder)),
	}}
}

// othersWork reports whether another session works in a folder now.
func (w *Workbench) othersWork(session, folder string) bool {
	var others []string
	w.places.Lock()
	for id, place := range w.places.bySession {
		if id != session && place.folder == folder {
			others = append(others, id)
		}
	}
	w.places.Unlock()
	for _, id := range others {
		if l := w.sessions.Find(id); l != nil && l.Busy() {
			return true
		}
	}
	return false
}

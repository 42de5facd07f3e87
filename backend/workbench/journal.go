package workbench

import (
	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// recorder returns what records the changes of a session's steps; nil if it cannot
// change anything.
func (w *Workbench) recorder(info backend.SessionInfo) agent.Recorder {
	if w.cfg.ReadOnly {
		return nil
	}
	return w.journal.Recorder(info.ID, w.folderOf(info))
}

// prepare has the journal read the folder of a session that is about to work, while
// its model thinks.
func (w *Workbench) prepare(info backend.SessionInfo) {
	if !w.cfg.ReadOnly {
		w.journal.Prepare(w.folderOf(info))
	}
}

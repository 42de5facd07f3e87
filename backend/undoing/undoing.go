package undoing

import (
	"atelier.dev/atelier/agent/journal"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/filelog"
	"atelier.dev/atelier/backend/live"
	"atelier.dev/atelier/backend/place"
)

// Config is what undoing needs of the application.
type Config struct {
	Project  *place.Project
	Store    backend.Store
	Sessions *live.Sessions
	Journal  *journal.Journal
	Home     string // the folder for what is being restored
	ReadOnly bool
}

// Undo undoes and redoes. It is safe for concurrent use.
type Undo struct {
	cfg  Config
	logs *filelog.Logs
}

// New returns an Undo.
func New(cfg Config) *Undo { return &Undo{cfg: cfg, logs: filelog.New(cfg.Store, cfg.Journal)} }

// Logs returns what the logs of sessions say of files.
func (u *Undo) Logs() *filelog.Logs { return u.logs }

// Register registers the methods of undoing.
func (u *Undo) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "undo.preview", u.preview)
	dispatch.Handle(d, "undo.apply", u.apply)
	dispatch.Handle(d, "undo.rewind", u.Rewind)
	dispatch.Handle(d, "undo.bring_back", u.bringBack)
}

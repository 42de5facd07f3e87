package filechanges

import (
	"context"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/undoing"
)

// Config is what changes need of the application.
type Config struct {
	Project *place.Project
	Store   backend.Store
	Journal *journal.Journal
	Undo    *undoing.Undo
	// Publish stores and shows an event of a session's turn from outside of it.
	Publish  func(ctx context.Context, session string, turn int, p agent.Payload) error
	ReadOnly bool
}

// Changes answers what changed. It is safe for concurrent use.
type Changes struct {
	cfg   Config
	waits chan struct{} // has one for each page that waits
}

// New returns a Changes.
func New(cfg Config) *Changes { return &Changes{cfg: cfg, waits: make(chan struct{}, maxWaiting)} }

// Register registers the methods of changes and of files.
func (c *Changes) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "changes.list", c.list)
	dispatch.Handle(d, "changes.diff", c.diff)
	dispatch.Handle(d, "changes.lines", c.lines)
	dispatch.Handle(d, "changes.put_back", c.putBack)
	dispatch.Handle(d, "changes.stage", c.stage)
	dispatch.Handle(d, "changes.unstage", c.unstage)
	dispatch.Handle(d, "changes.commit", c.commit)
	dispatch.Handle(d, "changes.branch", c.newBranch)
	dispatch.Handle(d, "files.blame", c.blame)
	dispatch.Handle(d, "files.list", c.files)
	dispatch.Handle(d, "files.wait", c.wait)
}

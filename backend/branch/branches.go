package branch

import (
	"context"
	"errors"
	"strconv"
	"time"

	"atelier.dev/atelier/agent/journal"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/backend/place"
	"atelier.dev/atelier/backend/undoing"
)

// maxTime limits how long one comparison may take.
const maxTime = 20 * time.Second

// errSlow answers a request that took too long.
var errSlow = backend.Problem(backend.ProblemChangesSlow, strconv.Itoa(int(maxTime/time.Second)))

// Config is what branches need of the application.
type Config struct {
	Project  *place.Project
	Store    backend.Store
	Journal  *journal.Journal
	Undo     *undoing.Undo
	Host     Host
	ReadOnly bool
}

// Branches lists and compares the branches of sessions. It is safe for concurrent use.
type Branches struct{ cfg Config }

// New returns a Branches.
func New(cfg Config) *Branches { return &Branches{cfg: cfg} }

// Register registers the methods of branches.
func (b *Branches) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "sessions.branches", b.list)
	dispatch.Handle(d, "sessions.compare", b.compare)
	dispatch.Handle(d, "sessions.compare_file", b.compareFile)
	dispatch.Handle(d, "sessions.take", b.take)
	dispatch.Handle(d, "sessions.runs", b.runs)
	dispatch.Handle(d, "sessions.merge_plan", b.mergePlan)
	dispatch.Handle(d, "sessions.merge", b.merge)
	dispatch.Handle(d, "sessions.race", b.race)
}

// slowError returns the reason if the time of an answer is over.
func slowError(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, errSlow) {
		return cause
	}
	return err
}

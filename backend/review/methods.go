package review

import "atelier.dev/atelier/backend/dispatch"

// Register registers the methods of what waits for trust.
func (r *Reviewer) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "trust.list", r.List)
	dispatch.Handle(d, "trust.show", r.Show)
	dispatch.Handle(d, "trust.accept", r.Accept)
	dispatch.Handle(d, "trust.refuse", r.Refuse)
	dispatch.Handle(d, "trust.revoke", r.Revoke)
}

package hooks

import "atelier.dev/atelier/backend/dispatch"

// Register registers the methods of hooks that need no session.
func (h *Hooks) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "hooks.list", h.List)
	dispatch.Handle(d, "hooks.switch", h.Switch)
	dispatch.Handle(d, "hooks.log", h.Log)
	dispatch.Handle(d, "hooks.entry", h.Entry)
	dispatch.Handle(d, "hooks.replay", h.Replay)
	dispatch.Handle(d, "hooks.test", h.Test)
	dispatch.Handle(d, "hooks.preview", h.Preview)
	dispatch.Handle(d, "hooks.save", h.Save)
	dispatch.Handle(d, "hooks.remove", h.Remove)
	dispatch.Handle(d, "hooks.points", h.Points)
	dispatch.Handle(d, "hooks.templates", h.Templates)
}

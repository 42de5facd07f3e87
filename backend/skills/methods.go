package skills

import "atelier.dev/atelier/backend/dispatch"

// Register registers the methods of skills.
func (s *Skills) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "skills.list", s.List)
	dispatch.Handle(d, "skills.show", s.Show)
	dispatch.Handle(d, "skills.file", s.File)
	dispatch.Handle(d, "skills.save", s.Save)
	dispatch.Handle(d, "skills.remove", s.Remove)
	dispatch.Handle(d, "skills.restore", s.Restore)
	dispatch.Handle(d, "skills.check", s.Check)
	dispatch.Handle(d, "skills.switch", s.Switch)
	dispatch.Handle(d, "skills.reload", s.Reload)
	dispatch.Handle(d, "skills.templates", s.Templates)
	dispatch.Handle(d, "skills.try", s.Try)
	dispatch.Handle(d, "skills.inspect", s.Inspect)
	dispatch.Handle(d, "skills.install", s.Install)
}

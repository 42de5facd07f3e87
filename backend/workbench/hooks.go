package workbench

// hookMethods registers the methods of hooks and of what they are trusted with.
func (w *Workbench) hookMethods(d *Dispatcher) {
	handle(d, "hooks.list", w.hooks.List)
	handle(d, "hooks.switch", w.hooks.Switch)
	handle(d, "hooks.log", w.hooks.Log)
	handle(d, "hooks.entry", w.hooks.Entry)
	handle(d, "hooks.replay", w.hooks.Replay)
	handle(d, "hooks.dry_run", w.hooks.DryRun)
	handle(d, "hooks.test", w.hooks.Test)
	handle(d, "hooks.save", w.hooks.Save)
	handle(d, "hooks.remove", w.hooks.Remove)
	handle(d, "hooks.points", w.hooks.Points)
	handle(d, "hooks.templates", w.hooks.Templates)
	handle(d, "trust.list", w.hooks.ListTrust)
	handle(d, "trust.show", w.hooks.ShowTrust)
	handle(d, "trust.accept", w.hooks.AcceptTrust)
	handle(d, "trust.refuse", w.hooks.RefuseTrust)
	handle(d, "trust.revoke", w.hooks.RevokeTrust)
}

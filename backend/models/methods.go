package models

import "atelier.dev/atelier/backend/dispatch"

// Register registers the methods of models, their keys and their addresses.
func (p *Providers) Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "models.list", p.List)
	dispatch.Handle(d, "models.local", p.Local)
	dispatch.Handle(d, "models.test", p.Test)
	dispatch.Handle(d, "keys.list", p.ListKeys)
	dispatch.Handle(d, "keys.set", p.SetKey)
	dispatch.Handle(d, "keys.remove", p.RemoveKey)
	dispatch.Handle(d, "endpoints.list", p.ListEndpoints)
	dispatch.Handle(d, "endpoints.set", p.SetEndpoint)
	dispatch.Handle(d, "endpoints.remove", p.RemoveEndpoint)
	p.outside().register(d)
}

// outside returns the external agents; nil if there are no providers, as when methods are only
// listed.
func (p *Providers) outside() *External {
	if p == nil {
		return nil
	}
	return p.External
}

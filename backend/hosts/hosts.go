// Package hosts shows a page which hosts were contacted from this machine.
package hosts

import (
	"context"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
	"atelier.dev/atelier/internal/outbound"
)

// HostList has the hosts that were contacted for all projects, the newest first.
type HostList struct {
	Hosts []outbound.Contact `json:"hosts,omitempty"`
	// Offline says that none but this machine may be contacted now.
	Offline bool `json:"offline,omitempty"`
}

// Register adds hosts.list, which reads the list in Atelier's folder.
func Register(d *dispatch.Dispatcher, home string) {
	dispatch.Handle(d, "hosts.list", func(context.Context, backend.Empty) (HostList, error) {
		if err := outbound.Save(home); err != nil { // what was counted a moment ago
			return HostList{}, err
		}
		list, err := outbound.Load(home)
		return HostList{Hosts: list, Offline: outbound.Offline()}, err
	})
}

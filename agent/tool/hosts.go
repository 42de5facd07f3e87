package tool

import (
	"os"
	"path/filepath"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/registry"
)

// lacks returns the hosts that a command line needs and does not reach where it is
// confined: those from which it would install something, and those that were refused
// to the same line before.
func (b *bash) lacks(confining env.Confining, in BashInput) (hosts []string) {
	if confining.Reach == nil {
		return nil
	}
	at := registry.Place{
		Dir: absolute(b.env, in.Workdir), Project: b.env.WorkingDirectory(), Kept: confining.Reach.Kept, Getenv: os.Getenv,
	}
	at.Home, _ = os.UserHomeDir()
	if real, err := filepath.EvalSymlinks(at.Project); err == nil {
		at.Project = real
	}
	seen := map[string]bool{}
	for _, host := range append(registry.Hosts(in.Command, at), confining.Reach.Refused(in.Command)...) {
		if !seen[host] && !confining.Reach.Reaches(host) {
			hosts = append(hosts, host)
		}
		seen[host] = true
	}
	return hosts
}

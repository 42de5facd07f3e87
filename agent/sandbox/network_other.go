//go:build !linux

package sandbox

// privateNetwork is a network for the confined commands of one [Scope]; there is none on
// this system.
type privateNetwork struct{}

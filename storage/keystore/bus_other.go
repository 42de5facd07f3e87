//go:build !unix || darwin

package keystore

// hasSessionBus is about D-Bus, which other systems' keyrings do not need.
func hasSessionBus() bool { return true }

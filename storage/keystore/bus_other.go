//go:build !unix || darwin

package keystore

// hasSessionBus is about D-Bus; other systems' keyrings need none.
func hasSessionBus() bool { return true }

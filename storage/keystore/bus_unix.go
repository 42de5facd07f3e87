//go:build unix && !darwin

package keystore

import (
	"fmt"
	"os"
)

// hasSessionBus reports whether a D-Bus session bus is running.
func hasSessionBus() bool {
	if os.Getenv("DBUS_SESSION_BUS_ADDRESS") != "" {
		return true
	}
	_, err := os.Stat(fmt.Sprintf("/run/user/%d/bus", os.Getuid()))
	return err == nil
}

//go:build !linux

package sandbox

import (
	"fmt"
	"net"
)

// Ports returns nothing: on this system it is not known what a command listens on.
func (p *Process) Ports() []int { return nil }

// Private reports whether the command has a loopback of its own. It has none here.
func (p *Process) Private() bool { return false }

// Dial connects to a port of the loopback.
func (p *Process) Dial(port int) (net.Conn, error) {
	return net.Dial("tcp", fmt.Sprintf("localhost:%d", port))
}

// Memory is described in ports_linux.go.
func (p *Process) Memory() int64 { return 0 }

//go:build !linux

package sandbox

// InputClosed is described in inputclosed_linux.go.
func (p *Process) InputClosed() bool { return false }

//go:build !linux

package sandbox

// guardian needs a process table that shows environments.
type guardian struct{}

var guard guardian

func (guardian) watch()   {}
func (guardian) dismiss() {}

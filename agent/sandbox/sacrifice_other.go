//go:build unix && !linux

package sandbox

// sacrifice does nothing, because other systems have no such score.
func sacrifice(int) {}

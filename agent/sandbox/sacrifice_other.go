//go:build unix && !linux

package sandbox

// sacrifice does nothing: other systems have no such score.
func sacrifice(int) {}

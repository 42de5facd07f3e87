//go:build !linux || !webkit2_41

package main

// Other web views stay on their page and restart themselves, and the builds
// without a window have nothing to guard.

func guardWindow(func()) {}

func moveWindow(int, int) {}

// These web views have zoom keys of their own.
func zoomWindow(int) {}

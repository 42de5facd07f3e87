//go:build linux || darwin

package journal

import "io/fs"

// modeOf returns the permission bits of a file; 0 for what is none.
func modeOf(mode fs.FileMode) fs.FileMode {
	if !mode.IsRegular() {
		return 0
	}
	return mode.Perm()
}

//go:build linux || darwin

package journal

import "io/fs"

// isPrivate reports whether nobody but its owner may read a file.
func isPrivate(mode fs.FileMode) bool { return mode.IsRegular() && mode&0o077 == 0 }

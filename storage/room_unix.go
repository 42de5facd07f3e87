//go:build linux || darwin

package storage

import "syscall"

// freeBytes returns how much this user can write to the disk that has a folder.
func freeBytes(dir string) (free int64, known bool) {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(dir, &fs); err != nil {
		return 0, false
	}
	return int64(fs.Bavail) * int64(fs.Bsize), true //nolint:unconvert // the types differ between systems
}

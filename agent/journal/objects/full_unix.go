//go:build !windows

package objects

import "syscall"

// What a system says if a file finds no room.
const (
	noSpace   = syscall.ENOSPC
	overQuota = syscall.EDQUOT
)

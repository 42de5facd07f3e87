//go:build !windows

package objects

import "syscall"

// The errors of a system without room for a file.
const (
	noSpace   = syscall.ENOSPC
	overQuota = syscall.EDQUOT
)

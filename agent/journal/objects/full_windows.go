package objects

import "golang.org/x/sys/windows"

// The errors of a system without room for a file.
const (
	noSpace   = windows.ERROR_DISK_FULL
	overQuota = windows.ERROR_DISK_QUOTA_EXCEEDED
)

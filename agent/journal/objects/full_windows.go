package objects

import "golang.org/x/sys/windows"

// What a system says if a file finds no room.
const (
	noSpace   = windows.ERROR_DISK_FULL
	overQuota = windows.ERROR_DISK_QUOTA_EXCEEDED
)

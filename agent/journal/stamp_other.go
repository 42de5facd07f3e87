//go:build !linux && !darwin

package journal

import (
	"io/fs"
	"time"
)

// stampOf returns the stamp of a file.
func stampOf(info fs.FileInfo) stamp {
	return stamp{kind: kindOf(info.Mode()), size: info.Size(), changed: time.Duration(info.ModTime().UnixNano())}
}

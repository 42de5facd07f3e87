//go:build unix

package project

import (
	"io/fs"
	"os"
	"syscall"
)

// ours reports whether a file belongs to this user or to the system.
func ours(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && (st.Uid == 0 || int(st.Uid) == os.Geteuid())
}

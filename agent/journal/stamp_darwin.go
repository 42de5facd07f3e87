package journal

import (
	"io/fs"
	"syscall"
	"time"
)

// stampOf returns the stamp of a file.
func stampOf(info fs.FileInfo) stamp {
	s := stamp{kind: kindOf(info.Mode()), mode: modeOf(info.Mode()), size: info.Size(), changed: time.Duration(info.ModTime().UnixNano())}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.touched, s.file = time.Duration(st.Ctimespec.Nano()), st.Ino
	}
	return s
}

package fileattr

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxExtended is how much the kernel returns at once, of names or of a value.
const maxExtended = 64 << 10

// extended returns the attributes in the users' name space; only the system
// sets the others.
func extended(f *os.File) map[string][]byte {
	if n, err := unix.Flistxattr(int(f.Fd()), nil); err != nil || n == 0 {
		return nil // as most files have none
	}
	buffer := make([]byte, maxExtended)
	n, err := unix.Flistxattr(int(f.Fd()), buffer)
	if err != nil {
		return nil
	}
	found := map[string][]byte{}
	for name := range strings.SplitSeq(string(buffer[:n]), "\x00") {
		if !strings.HasPrefix(name, "user.") {
			continue
		}
		if n, err := unix.Fgetxattr(int(f.Fd()), name, buffer); err == nil {
			found[name] = append([]byte{}, buffer[:n]...)
		}
	}
	return found
}

func extend(f *os.File, attributes map[string][]byte) {
	for name, value := range attributes {
		_ = unix.Fsetxattr(int(f.Fd()), name, value, 0)
	}
}

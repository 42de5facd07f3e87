package sandbox

import (
	"math"

	"golang.org/x/sys/unix"
)

// closeDescriptorsOnExec keeps descriptors that others opened without
// close-on-exec, as WebKit does, from children: a child that inherits one keeps
// the page waiting for it. Kernels before 5.11 lack the call and have no
// replacement.
func closeDescriptorsOnExec() {
	_ = unix.CloseRange(3, math.MaxUint32, unix.CLOSE_RANGE_CLOEXEC)
}

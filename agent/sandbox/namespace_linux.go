package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// namespace is what the processes of a command live in. It ends with its first
// one, which the kernel lets end all others.
type namespace struct {
	known  atomic.Int64 // the first process, once there is a handle to it
	handle int
}

// first returns the number of the first process, or 0 if it is not known. A command
// may be told to end while it is being started, so it is asked for at any time.
func (n *namespace) first() int { return int(n.known.Load()) }

// enter opens a handle to the first process while that certainly exists, so that
// its number cannot mean another one later.
func (n *namespace) enter(first int) error {
	handle, err := unix.PidfdOpen(first, 0)
	if errors.Is(err, unix.ESRCH) {
		return nil // the launcher says what is wrong
	}
	if err != nil {
		return fmt.Errorf("open a handle to the command: %w", err)
	}
	n.handle = handle
	n.known.Store(int64(first))
	return nil
}

func (n *namespace) kill() {
	if n.first() != 0 {
		_ = unix.PidfdSendSignal(n.handle, unix.SIGKILL, nil, 0)
	}
}

// empty kills all processes and waits until none is left: the first one disappears
// after all others.
func (n *namespace) empty() {
	if n.first() == 0 {
		return
	}
	n.kill()
	_, _ = unix.Poll([]unix.PollFd{{Fd: int32(n.handle), Events: unix.POLLIN}}, int(dying.Milliseconds()))
	_ = unix.Close(n.handle)
}

// leaderBelow returns the leader of the command's process group: on a terminal
// the child of the namespace's first process, else that process itself, which
// ignores signals. It returns 0 until there is a command: a signal to the first
// process alone would be lost, and the command would begin.
func leaderBelow(first int) int {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", first, first))
	children := strings.Fields(string(list))
	for _, child := range children {
		pid, err := strconv.Atoi(child)
		if err != nil {
			continue
		}
		if group, err := unix.Getpgid(pid); err == nil && group == pid {
			return pid
		}
	}
	if group, err := unix.Getpgid(first); err != nil || group != first || len(children) == 0 {
		return 0
	}
	return first
}

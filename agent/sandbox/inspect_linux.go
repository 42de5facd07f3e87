package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent/sandbox/confine"
	"golang.org/x/sys/unix"
)

// Bubblewrap follows links in what it mounts. A command that runs on can exchange
// a folder for a link after the plan for the next command was made, and so have a
// secret mounted where that one reads it. Such a command may also begin after the
// plan, or belong to another Atelier that works in a folder above or below.
// Bubblewrap is therefore always held after its last mount until what it mounted
// is found to be what was planned.

// guarded reports whether the mounts for a profile are inspected: all but the
// system's own are in folders that a command may be able to change.
func guarded(p confine.Profile) bool {
	return len(p.Writable)+len(p.Readable)+len(p.Hidden)+len(p.Protected) > 0
}

// inspect compares what was mounted for the first process of a namespace with
// the plan.
func (m *mounts) inspect(first int) error {
	proc := "/proc/" + strconv.Itoa(first)
	table, err := os.ReadFile(proc + "/mountinfo")
	if err != nil {
		return fmt.Errorf("read what was mounted for the command: %w", err)
	}
	mounted := map[string]bool{}
	for line := range strings.Lines(string(table)) {
		if fields := strings.Fields(line); len(fields) > 4 {
			mounted[unescaped.Replace(fields[4])] = true
		}
	}
	for _, step := range m.steps {
		if step.rank == base {
			continue // nobody confined can change the system's folders
		}
		if right := mounted[step.path] && (step.kind == emptyFolder || step.isAt(proc+"/root"+step.path)); !right {
			return step.changed()
		}
	}
	return nil
}

// changed is why a command is not confined whose plan does not hold any more.
func (s mount) changed() error {
	return fmt.Errorf("%w: another command changed %s while this one was being confined; try again, or stop the other one", ErrNoConfinement, s.path)
}

// isAt reports whether what the plan saw is at a path.
func (s mount) isAt(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && s.what != nil && os.SameFile(info, s.what)
}

// unescaped undoes how the table of mounts writes paths.
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// hold keeps bubblewrap from going on. It reads the rules for system calls when
// all mounts are made; the last of these rules is held back.
type hold struct {
	write *os.File // nil if nothing is held
	last  []byte
}

// holdRules writes all rules but the last to a pipe that has room for one packet
// and no more, so that there is room again once bubblewrap has read it. Without
// the last rule they are not valid: if this program dies, nothing begins.
func holdRules(rules []unix.SockFilter, write *os.File) (hold, error) {
	raw, err := write.SyscallConn()
	if err != nil {
		return hold{}, err
	}
	var failed error
	err = raw.Control(func(fd uintptr) {
		_, resized := unix.FcntlInt(fd, unix.F_SETPIPE_SZ, os.Getpagesize())
		_, packets := unix.FcntlInt(fd, unix.F_SETFL, unix.O_DIRECT|unix.O_NONBLOCK)
		failed = errors.Join(resized, packets)
	})
	if err := errors.Join(err, failed); err != nil {
		return hold{}, fmt.Errorf("limit a pipe: %w", err)
	}
	last := len(rules) - 1
	text, err := binary.Append(nil, binary.NativeEndian, rules[:last])
	if err == nil {
		_, err = write.Write(text)
	}
	rest, unwritable := binary.Append(nil, binary.NativeEndian, rules[last:])
	return hold{write, rest}, errors.Join(err, unwritable)
}

// release waits until bubblewrap has made all mounts, and lets it go on if they
// are right.
func (h *hold) release(inspect func() error) error {
	if h.write == nil {
		return nil
	}
	raw, err := h.write.SyscallConn()
	if err != nil {
		return err
	}
	err = raw.Write(func(fd uintptr) bool {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLOUT}}, 0)
		return n > 0 || err != nil && !errors.Is(err, unix.EINTR)
	})
	if err != nil {
		return err
	}
	if err := inspect(); err != nil {
		return err
	}
	if _, err := h.write.Write(h.last); err != nil && !errors.Is(err, unix.EPIPE) {
		return fmt.Errorf("let bubblewrap go on: %w", err)
	}
	return h.close() // a bubblewrap that has ended says what is wrong
}

func (h *hold) close() error {
	if h.write == nil {
		return nil
	}
	write := h.write
	h.write = nil
	return write.Close()
}

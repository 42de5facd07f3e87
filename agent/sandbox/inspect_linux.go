package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// Bubblewrap follows links in what it mounts. A command that still runs can
// exchange a folder for a link after the plan for the next command was made, and
// so have a secret mounted where that one reads it. While other commands may
// change files, bubblewrap is therefore held after its last mount until what it
// mounted is found to be what was planned.

// changing counts the confined commands of this program that may change files,
// from the plan until no process of theirs is left.
var changing atomic.Int32

// guard finds out whether others could interfere with the mounts of a command
// that has something to hide or to keep. It is called before the plan is made.
func (m *mounts) guard() {
	others := changing.Load()
	if len(m.profile.Writable) > 0 {
		others = changing.Add(1) - 1
		m.jail.undo = append(m.jail.undo, func() { changing.Add(-1) })
	}
	m.guarded = others > 0 && len(m.profile.Hidden)+len(m.profile.Protected) > 0
}

// inspect compares what was mounted for the first process of a namespace with
// the plan, whose steps are in order.
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
	for i, step := range m.steps {
		if step.rank == base || i+1 < len(m.steps) && m.steps[i+1].path == step.path {
			continue // nobody confined can change the system's folders; the next step covers this one
		}
		if right := mounted[step.path] && (!step.binds() || step.isAt(proc+"/root"+step.path)); !right {
			return fmt.Errorf("%w: another command changed %s while this one was being confined; try again, or stop the other one", ErrNoConfinement, step.path)
		}
	}
	return nil
}

// binds reports whether a step shows something that exists elsewhere.
func (s mount) binds() bool { return s.args[0] == "--bind" || s.args[0] == "--ro-bind" }

// isAt reports whether what the plan saw is at a path.
func (s mount) isAt(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && s.what != nil && os.SameFile(info, s.what)
}

// unescaped undoes how the table of mounts writes paths.
var unescaped = strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)

// hold keeps bubblewrap from going on. It reads the rules for system calls when
// all mounts are made; the last of these rules are held back.
type hold struct {
	write *os.File // nil if nothing is held
	rest  []byte
}

// holdRules fills a pipe with the first rules, so that the next ones can only be
// written once bubblewrap reads. It adds rules that are never reached, as many as
// the pipe needs.
func holdRules(rules []unix.SockFilter, write *os.File) (hold, error) {
	raw, err := write.SyscallConn()
	if err != nil {
		return hold{}, err
	}
	size, failed := 0, error(nil)
	err = raw.Control(func(fd uintptr) { size, failed = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, os.Getpagesize()) })
	if err := errors.Join(err, failed); err != nil {
		return hold{}, fmt.Errorf("limit a pipe: %w", err)
	}
	const most = 4096 // rules, for the kernel
	for len(rules)*unix.SizeofSockFilter <= size {
		rules = append(rules, unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_KILL_PROCESS})
	}
	if len(rules) > most {
		return hold{}, fmt.Errorf("%w: another command runs, and the pages of this system are too large to wait for it", ErrNoConfinement)
	}
	text, err := binary.Append(nil, binary.NativeEndian, rules)
	if err == nil {
		_, err = write.Write(text[:size])
	}
	return hold{write, text[size:]}, err
}

// release waits until bubblewrap has made all mounts, and lets it go on if they
// are right.
func (h *hold) release(inspect func() error) error {
	if h.write == nil {
		return nil
	}
	if _, err := h.write.Write(h.rest[:1]); err != nil {
		return nil //nolint:nilerr // bubblewrap has ended, and says what is wrong
	}
	if err := inspect(); err != nil {
		return err
	}
	_, err := h.write.Write(h.rest[1:])
	return errors.Join(err, h.close())
}

func (h *hold) close() error {
	if h.write == nil {
		return nil
	}
	write := h.write
	h.write = nil
	return write.Close()
}

package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// watch learns from the kernel which names of directories changed. The kernel queues
// an event before the call that caused it returns, so that whoever reads the queue
// after a command has ended knows everything that it did. Nothing reads the queue
// in between: what does not fit makes it overflow, and everything is looked at.
//
// A file that is changed through another of its names, in a directory that is not
// watched, goes unnoticed.
type watch struct {
	fd     int
	dirs   map[int32]*dir
	at     map[*dir]int32 // the other way round
	limit  int
	buffer [64 << 10]byte
}

const (
	// mostWatches limits the directories of one tree; more are swept instead.
	mostWatches = 8192
	// mostEvents limits what is read at once; more count as an overflow.
	mostEvents = 200_000

	watched = unix.IN_MODIFY | unix.IN_CLOSE_WRITE | unix.IN_ATTRIB | unix.IN_CREATE | unix.IN_DELETE |
		unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW
)

// newWatch returns a watch without directories; nil if the system has none left.
func newWatch() *watch {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil
	}
	return &watch{fd: fd, dirs: map[int32]*dir{}, at: map[*dir]int32{}, limit: min(mostWatches, allowedWatches()/4)}
}

// allowedWatches is how many directories the user's programs may watch together.
func allowedWatches() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return n
}

func (w *watch) close() {
	if w != nil {
		_ = unix.Close(w.fd)
	}
}

var errTooMany = errors.New("there are too many directories")

// add watches a directory, of which path is the absolute path.
func (w *watch) add(d *dir, path string) error {
	if len(w.dirs) >= w.limit {
		return errTooMany
	}
	wd, err := unix.InotifyAddWatch(w.fd, path, watched)
	if err != nil {
		return fmt.Errorf("watch a directory: %w", err)
	}
	w.dirs[int32(wd)], w.at[d] = d, int32(wd)
	return nil
}

// remove ends the watch over a directory, unless another one has taken it over:
// the same directory under another name has the same watch.
func (w *watch) remove(d *dir) {
	wd, ok := w.at[d]
	delete(w.at, d)
	if ok && w.dirs[wd] == d {
		delete(w.dirs, wd)
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd)) // it may be gone
	}
}

// drain reads the events that wait. It reports false if some may be missing.
func (w *watch) drain(changed func(d *dir, name string, isDir bool)) bool {
	for n := 0; n < mostEvents; {
		size, err := unix.Read(w.fd, w.buffer[:])
		switch {
		case errors.Is(err, unix.EINTR):
			n++
			continue
		case errors.Is(err, unix.EAGAIN):
			return true
		case err != nil || size <= 0:
			return false
		}
		for rest := w.buffer[:size]; len(rest) >= unix.SizeofInotifyEvent; n++ {
			wd := int32(binary.NativeEndian.Uint32(rest))
			mask := binary.NativeEndian.Uint32(rest[4:])
			length := int(binary.NativeEndian.Uint32(rest[12:]))
			name := strings.TrimRight(string(rest[unix.SizeofInotifyEvent:unix.SizeofInotifyEvent+length]), "\x00")
			rest = rest[unix.SizeofInotifyEvent+length:]
			d := w.dirs[wd]
			switch {
			case mask&unix.IN_Q_OVERFLOW != 0:
				return false
			case mask&unix.IN_IGNORED != 0:
				delete(w.dirs, wd)
				delete(w.at, d)
			case d == nil:
			case name == "" && d.parent == nil && mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0:
				return false // the folder itself
			case name == "" && d.parent != nil && mask&(unix.IN_DELETE_SELF|unix.IN_MOVE_SELF|unix.IN_UNMOUNT) != 0:
				changed(d.parent, path.Base(d.path), true)
			case name != "":
				changed(d, name, mask&unix.IN_ISDIR != 0)
			}
		}
	}
	return false
}

package journal

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
)

// stamp is what a file shows without being read. If it is the same, so are the
// contents, unless they were looked at within [tick] of a change.
type stamp struct {
	kind    agent.FileKind // empty if the journal ignores what stands there
	mode    fs.FileMode    // the permission bits of a file; 0 where the system has none
	size    int64
	changed time.Duration // since 1970: the contents
	touched time.Duration // since 1970: anything; 0 where the system does not tell
	file    uint64        // its number in the file system; 0 where there is none
}

const (
	// tick is about how coarse the clocks of file systems are: two changes within it
	// may bear the same time.
	tick = 50 * time.Millisecond
	// coarseTick is that of file systems that count in seconds.
	coarseTick = 2 * time.Second
)

// recent reports whether a file with the stamp may change at the given time without
// getting another one.
func (s stamp) recent(at time.Time) bool {
	limit := tick
	if s.changed%time.Second == 0 {
		limit = coarseTick
	}
	return time.Duration(at.UnixNano())-max(s.changed, s.touched) < limit
}

// kindOf returns the kind of what stands under a name; empty for directories and
// what is not a file.
func kindOf(mode fs.FileMode) agent.FileKind {
	switch {
	case mode&fs.ModeSymlink != 0:
		return agent.SymbolicLink
	case !mode.IsRegular():
		return ""
	case mode&0o100 != 0:
		return agent.ExecutableFile
	}
	return agent.PlainFile
}

// hash is the SHA-256 of contents.
type hash [32]byte

// entry is a file as the journal knows it.
type entry struct {
	stamp stamp
	hash  hash
	// unkept says why the contents are not in the store; while they were not read, it
	// is [agent.UnkeptUnseen].
	unkept agent.Unkept
	// recent says that the file was read so soon after a change that another one may
	// have left the stamp as it is.
	recent bool
}

// version is what the log says of the entry; nil says that nothing was there.
func (e *entry) version() agent.FileVersion {
	if e == nil {
		return agent.FileVersion{}
	}
	v := agent.FileVersion{Size: e.stamp.size, Kind: e.stamp.kind, Private: e.stamp.mode != 0 && e.stamp.mode&0o077 == 0, Mode: uint32(e.stamp.mode), Unkept: e.unkept}
	if e.hash != (hash{}) {
		v.Hash = hex.EncodeToString(e.hash[:])
	}
	return v
}

// same reports whether two entries are surely the same version.
func (e *entry) same(o *entry) bool {
	if e == nil || o == nil {
		return e == o
	}
	if e.stamp.kind != o.stamp.kind || e.stamp.mode != o.stamp.mode || e.stamp.size != o.stamp.size || e.hash != o.hash {
		return false
	}
	return e.hash != (hash{}) || e.stamp == o.stamp
}

// attempts is how often a file is read that changes meanwhile.
const attempts = 3

// read keeps what stands under a name of an open directory. It returns nil if
// nothing does. It never follows a link, waits for a pipe, or reads more than the
// store takes.
func read(ctx context.Context, store *objects.Store, dir *os.Root, name string) *entry {
	var e *entry
	for range attempts {
		info, err := dir.Lstat(name)
		if err != nil {
			return unreadable(err)
		}
		e = &entry{stamp: stampOf(info), unkept: agent.UnkeptFailed}
		switch {
		case e.stamp.kind == "":
			return nil
		case e.stamp.kind == agent.SymbolicLink:
			target, err := dir.Readlink(name)
			if err != nil {
				continue
			}
			e.keep(ctx, store, []byte(target))
		case e.stamp.size > store.MaxFile():
			e.unkept = agent.UnkeptLarge
			return e
		default:
			contents, err := e.stable(dir, name)
			if errors.Is(err, fs.ErrPermission) {
				return e
			}
			if err != nil {
				continue
			}
			e.keep(ctx, store, contents)
		}
		return e
	}
	return e
}

// unreadable is the entry of a name that cannot be looked at.
func unreadable(err error) *entry {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil
	}
	return &entry{stamp: stamp{kind: agent.PlainFile}, unkept: agent.UnkeptFailed}
}

// keep stores the contents of an entry.
func (e *entry) keep(ctx context.Context, store *objects.Store, contents []byte) {
	v := store.Keep(ctx, e.stamp.kind, contents)
	e.stamp.size, e.unkept = v.Size, v.Unkept
	_, _ = hex.Decode(e.hash[:], []byte(v.Hash))
	e.recent = e.stamp.recent(time.Now())
}

var errUnstable = errors.New("the file changes while it is read")

// stable reads a regular file. It fails if the file is not the one with the stamp,
// or changes meanwhile.
func (e *entry) stable(dir *os.Root, name string) ([]byte, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || stampOf(info) != e.stamp {
		return nil, errors.Join(errUnstable, err)
	}
	contents := make([]byte, e.stamp.size+1)
	n, err := io.ReadFull(f, contents)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || stampOf(info) != e.stamp || int64(n) != e.stamp.size {
		return nil, errors.Join(errUnstable, err)
	}
	return contents[:n], nil
}

package objects

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// This file bounds the store. When it is full, the objects that were needed last
// long ago are removed, in the background of whoever keeps something new. Meanwhile
// the store may become a little larger.

const (
	// recent is the age up to which an object is not removed, because the sessions
	// that work now need it.
	recent = time.Hour
	// batch is how many bytes a process adds before it tells the others.
	batch = 4 << 20
	// patience limits the wait for the lock of the store.
	patience = time.Second
	// pause follows a removal that made no room.
	pause = time.Minute
	// maxObjects limits a removal.
	maxObjects = 2_000_000
	block      = 4096
)

// onDisk estimates how much a file of size bytes takes on the disk.
func onDisk(size int64) int64 { return (size + block - 1) / block * block }

// usage is what a process knows about the size of the store.
type usage struct {
	known bool
	total int64 // of all processes
	added int64 // the part that the file of the size does not have yet
}

// reserve makes room for a new object of size bytes, if there is any.
func (s *Store) reserve(size int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if !s.use.known {
		s.use.known = true
		s.use.total = s.stored(s.ctx)
	}
	if s.use.total+size > s.limits.Total {
		s.clear()
		s.await(size)
		if s.closed || s.use.total+size > s.utmost() {
			return false
		}
	}
	s.use.total += size
	s.use.added += size
	if s.use.added >= min(batch, s.limits.Total/16) {
		s.settle()
	}
	return true
}

// release takes back what reserve counted.
func (s *Store) release(size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.use.total -= size
	s.use.added -= size
}

// settle tells other processes what was added, and learns what they added. It does
// without if another process has the lock. s.mu is held.
func (s *Store) settle() {
	if s.use.added == 0 {
		return
	}
	lock, ok := s.lock(0)
	if !ok {
		return
	}
	defer lock()
	s.use.total = s.stored(s.ctx) + s.use.added
	if s.writeSize(s.use.total) == nil {
		s.use.added = 0
	}
}

// lock takes the lock that processes share.
func (s *Store) lock(wait time.Duration) (unlock func(), ok bool) {
	if os.MkdirAll(s.dir, 0o700) != nil {
		return nil, false
	}
	l := flock.New(filepath.Join(s.dir, "lock"), flock.SetPermissions(0o600))
	ctx, cancel := context.WithTimeout(s.ctx, wait)
	defer cancel()
	ok, err := l.TryLock()
	if !ok && err == nil && wait > 0 {
		ok, err = l.TryLockContext(ctx, 10*time.Millisecond)
	}
	if err != nil || !ok {
		return nil, false
	}
	return func() { _ = l.Unlock() }, true
}

func (s *Store) sizeFile() string { return filepath.Join(s.dir, "size") }

// stored returns the size that the store's file says. If there is none, it counts.
func (s *Store) stored(ctx context.Context) int64 {
	text, err := os.ReadFile(s.sizeFile())
	if err == nil {
		if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n >= 0 {
			return n
		}
	}
	_, total := s.list(ctx)
	return total
}

func (s *Store) writeSize(n int64) error {
	return write(s.dir, "size", []byte(strconv.FormatInt(n, 10)+"\n"))
}

// utmost is what the store may grow to while old objects are being removed.
func (s *Store) utmost() int64 { return s.limits.Total + s.limits.Total/16 }

// clear begins to remove old objects, unless that is being done or was in vain a
// moment ago. s.mu is held.
func (s *Store) clear() {
	if s.clearing != nil || time.Since(s.inVain) < pause {
		return
	}
	done := make(chan struct{})
	s.clearing = done
	go func() { // ends with its list, or with the store, which waits for it
		defer close(done)
		total, ok := s.removeOldest()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.clearing = nil
		if ok {
			s.use.total = total + s.use.added
		}
		if s.use.total > s.limits.Total {
			s.inVain = time.Now()
		}
	}()
}

// await waits a moment for a removal if the store cannot grow until then. s.mu is
// held before and after.
func (s *Store) await(size int64) {
	clearing := s.clearing
	if clearing == nil || s.use.total+size <= s.utmost() {
		return
	}
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-clearing:
	case <-time.After(patience):
	}
}

// object is a stored object as a removal sees it.
type object struct {
	path string
	size int64
	used time.Time
}

// removeOldest removes objects until an eighth of the store is free, and returns
// what is left. Objects that were needed in the last hour stay.
func (s *Store) removeOldest() (total int64, ok bool) {
	unlock, ok := s.lock(patience)
	if !ok {
		return 0, false
	}
	defer unlock()
	all, total := s.list(s.ctx)
	slices.SortFunc(all, func(a, b object) int {
		return cmp.Or(a.used.Compare(b.used), strings.Compare(a.path, b.path))
	})
	for _, o := range all {
		if s.ctx.Err() != nil || total <= s.limits.Total-s.limits.Total/8 || time.Since(o.used) < recent {
			break
		}
		if info, err := os.Lstat(o.path); err != nil || !info.ModTime().Equal(o.used) {
			continue // it was needed again meanwhile
		}
		if os.Remove(o.path) == nil {
			total -= o.size
		}
	}
	return total, s.writeSize(total) == nil
}

// list returns the objects and their size. A file that a killed process left half
// written is listed like an object, so it is removed when it is old.
func (s *Store) list(ctx context.Context) (all []object, total int64) {
	_ = filepath.WalkDir(s.dir, func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil || len(all) >= maxObjects {
			return fs.SkipAll
		}
		if err != nil || d.IsDir() || filepath.Dir(name) == s.dir {
			return nil // nothing, or one of the store's own files
		}
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			o := object{path: name, size: onDisk(info.Size()), used: info.ModTime()}
			all = append(all, o)
			total += o.size
		}
		return nil
	})
	return all, total
}

// isFull reports whether an error says that the disk is full.
func isFull(err error) bool { return errors.Is(err, noSpace) || errors.Is(err, overQuota) }

package objects

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"atelier.dev/atelier/agent"
)

// Limits bound a store. A zero limit means its default.
type Limits struct {
	Total int64 // bytes on the disk, about; [DefaultTotal]
	File  int64 // bytes of one file's contents; [DefaultFile]
}

// The default limits.
const (
	DefaultTotal = 2 << 30
	DefaultFile  = 4 << 20
)

// ErrUnkept says that the contents of a version are not in the store.
var ErrUnkept = errors.New("the journal does not have these contents")

// UnkeptError is an [ErrUnkept] with its reason.
type UnkeptError struct{ Reason agent.Unkept }

func (e *UnkeptError) Error() string { return fmt.Sprintf("%v (%s)", ErrUnkept, e.Reason) }

// Is reports whether the target is [ErrUnkept].
func (e *UnkeptError) Is(target error) bool { return target == ErrUnkept }

// Store is a directory of objects, which only this user can read. It is safe for
// concurrent use. Objects are not synced: what a power failure damages is noticed
// when it is read, because its hash does not fit any more.
type Store struct {
	dir    string
	limits Limits
	ctx    context.Context // ends with the store
	stop   context.CancelFunc

	mu     sync.Mutex
	use    usage
	closed bool
	// clearing is closed when old objects have been removed; nil if none are being
	// removed. In vain is when that last made no room.
	clearing chan struct{}
	inVain   time.Time
}

// Open returns the store in a directory, which is made when something is kept.
func Open(dir string, limits Limits) *Store {
	if limits.Total <= 0 {
		limits.Total = DefaultTotal
	}
	if limits.File <= 0 {
		limits.File = DefaultFile
	}
	s := &Store{dir: dir, limits: limits}
	s.ctx, s.stop = context.WithCancel(context.Background())
	return s
}

// Close ends what the store does in the background. Nothing is kept afterwards.
func (s *Store) Close() {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		s.settle()
	}
	clearing := s.clearing
	s.mu.Unlock()
	s.stop()
	if clearing != nil {
		<-clearing
	}
}

// MaxFile is the size in bytes of the largest contents that are kept.
func (s *Store) MaxFile() int64 { return s.limits.File }

// renewal is the age at which an object that is needed again counts as new.
const renewal = 10 * time.Minute

// Keep stores contents and returns their version. It never fails: what could not
// be stored says why in Unkept.
func (s *Store) Keep(ctx context.Context, kind agent.FileKind, contents []byte) agent.FileVersion {
	sum := sha256.Sum256(contents)
	v := agent.FileVersion{Hash: hex.EncodeToString(sum[:]), Size: int64(len(contents)), Kind: kind}
	switch {
	case len(contents) == 0:
	case v.Size > s.limits.File:
		v.Unkept = agent.UnkeptLarge
	case ctx.Err() != nil:
		v.Unkept = agent.UnkeptFailed
	case s.Renew(v):
	default:
		v.Unkept = s.add(v.Hash, contents)
	}
	return v
}

// Renew reports whether the contents of a version are here. If they are, they count
// as new, and so they are removed later than others.
func (s *Store) Renew(v agent.FileVersion) bool {
	name, ok := s.path(v)
	if !ok || v.Size == 0 {
		return ok
	}
	info, err := os.Lstat(name)
	if err != nil || info.Size() == 0 || !info.Mode().IsRegular() {
		return false // an empty object is what a power failure left
	}
	if now := time.Now(); now.Sub(info.ModTime()).Abs() > renewal {
		return os.Chtimes(name, now, now) == nil
	}
	return true
}

// Contents returns the contents of a version. The error is an [UnkeptError] if they
// are not here, or not as they were kept.
func (s *Store) Contents(ctx context.Context, v agent.FileVersion) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("read contents from the journal: %w", err)
	}
	name, ok := s.path(v)
	switch {
	case v.Unkept != "":
		return nil, &UnkeptError{Reason: v.Unkept}
	case !ok || v.Size > s.limits.File:
		return nil, &UnkeptError{Reason: agent.UnkeptFailed}
	case v.Size == 0:
		return nil, verify(v, nil)
	}
	packed, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &UnkeptError{Reason: agent.UnkeptDropped}
	case err != nil:
		return nil, fmt.Errorf("read contents from the journal: %w", err)
	}
	contents, err := unpack(packed, v.Size)
	if err == nil {
		err = verify(v, contents)
	}
	if err != nil {
		_ = os.Remove(name) // so that the next one to keep the same contents writes them again
		return nil, &UnkeptError{Reason: agent.UnkeptFailed}
	}
	return contents, nil
}

// verify compares contents with the version that they are said to be.
func verify(v agent.FileVersion, contents []byte) error {
	sum := sha256.Sum256(contents)
	if hex.EncodeToString(sum[:]) != v.Hash || int64(len(contents)) != v.Size {
		return &UnkeptError{Reason: agent.UnkeptFailed}
	}
	return nil
}

// path returns an object's path; ok is false if the version has no proper hash.
func (s *Store) path(v agent.FileVersion) (name string, ok bool) {
	if len(v.Hash) != 2*sha256.Size {
		return "", false
	}
	for _, c := range []byte(v.Hash) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", false
		}
	}
	return filepath.Join(s.dir, v.Hash[:2], v.Hash[2:]), true
}

// add writes a new object and says why it could not.
func (s *Store) add(hash string, contents []byte) agent.Unkept {
	packed := pack(contents)
	size := onDisk(int64(len(packed)))
	if !s.reserve(size) {
		return agent.UnkeptFull
	}
	err := write(filepath.Join(s.dir, hash[:2]), hash[2:], packed)
	if err == nil {
		return ""
	}
	s.release(size)
	if isFull(err) {
		return agent.UnkeptFull
	}
	return agent.UnkeptFailed
}

// temporary begins the names of files that are being written.
const temporary = "tmp-"

// write creates a file with all of its contents at once.
func write(dir, name string, data []byte) error {
	f, err := os.CreateTemp(dir, temporary)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return fmt.Errorf("make a directory of the journal: %w", err)
		}
		f, err = os.CreateTemp(dir, temporary)
	}
	if err != nil {
		return fmt.Errorf("create a file of the journal: %w", err)
	}
	_, err = bytes.NewReader(data).WriteTo(f)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write a file of the journal: %w", err)
	}
	return nil
}

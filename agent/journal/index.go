package journal

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"github.com/moby/sys/atomicwriter"

	"atelier.dev/atelier/agent"
)

// index is a file with what is known of a folder, so that the next process need not
// read the same files again, and knows what a step changed that was cut off. It
// consists of records; each says what is known of one path, and the last one counts.
// Only one process writes it at a time. A nil index writes nothing.
type index struct {
	name    string
	lock    *flock.Flock
	file    *os.File // open for appending; nil if it cannot be written
	records int
	pending []byte
}

const (
	magic = "atelier journal 2\n"
	// maxIndex limits the size of an index in bytes, and maxPath that of a path in it.
	maxIndex = 64 << 20
	maxPath  = 4096
	// maxPending is about how many bytes are written at once.
	maxPending = 64 << 10
	// slack is how many records of an index may be out of date.
	slack = 2 * maxFiles
	// maxIndexes limits the folders that are remembered.
	maxIndexes = 200
)

// openIndex takes an index for writing, unless another process has it. It returns
// the files that the index knows.
func openIndex(name string) (x *index, known map[string]*entry) {
	known = map[string]*entry{}
	if data, err := readIndex(name); err == nil {
		known = parseIndex(data)
	}
	if os.MkdirAll(filepath.Dir(name), 0o700) != nil {
		return nil, known
	}
	lock := flock.New(name+".lock", flock.SetPermissions(0o600))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil, known
	}
	return &index{name: name, lock: lock}, known
}

func readIndex(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxIndex))
}

// parseIndex reads an index up to its first damaged record.
func parseIndex(data []byte) map[string]*entry {
	known := map[string]*entry{}
	data, ok := bytes.CutPrefix(data, []byte(magic))
	for ok && len(data) > 0 {
		size, n := binary.Uvarint(data)
		if n <= 0 || size > maxPath+200 || uint64(len(data)-n) < size+4 {
			break
		}
		record, rest := data[n:n+int(size)], data[n+int(size):]
		if binary.LittleEndian.Uint32(rest) != crc32.ChecksumIEEE(record) {
			break
		}
		data = rest[4:]
		at, e, valid := parseRecord(record)
		if !valid || len(known) > maxFiles {
			break
		}
		if known[at] = e; e == nil {
			delete(known, at)
		}
	}
	return known
}

// The kinds of entries and the reasons in a record, by their numbers.
var (
	kinds   = []agent.FileKind{"", agent.PlainFile, agent.ExecutableFile, agent.SymbolicLink}
	reasons = []agent.Unkept{"", agent.UnkeptLarge, agent.UnkeptFull, agent.UnkeptUnseen, agent.UnkeptFailed, agent.UnkeptDropped}
)

// flagRecent is the other fact that a record has about an entry.
const flagRecent = 1

// appendRecord appends what is known of a path; nil means that nothing is there.
func appendRecord(out []byte, at string, e *entry) []byte {
	if e == nil {
		e = &entry{}
	}
	flags := byte(0)
	if e.recent {
		flags |= flagRecent
	}
	record := []byte{byte(slices.Index(kinds, e.stamp.kind)), byte(slices.Index(reasons, e.unkept)), flags}
	record = binary.AppendVarint(record, e.stamp.size)
	record = binary.AppendVarint(record, int64(e.stamp.changed))
	record = binary.AppendVarint(record, int64(e.stamp.touched))
	record = binary.AppendUvarint(record, e.stamp.file)
	record = binary.AppendUvarint(record, uint64(e.stamp.mode))
	record = append(record, e.hash[:]...)
	record = append(record, at...)
	out = binary.AppendUvarint(out, uint64(len(record)))
	out = append(out, record...)
	return binary.LittleEndian.AppendUint32(out, crc32.ChecksumIEEE(record))
}

func parseRecord(record []byte) (at string, e *entry, ok bool) {
	if len(record) < 3 || int(record[0]) >= len(kinds) || int(record[1]) >= len(reasons) {
		return "", nil, false
	}
	e = &entry{stamp: stamp{kind: kinds[record[0]]}, unkept: reasons[record[1]], recent: record[2]&flagRecent != 0}
	record = record[3:]
	var changed, touched int64
	for _, to := range []*int64{&e.stamp.size, &changed, &touched} {
		value, n := binary.Varint(record)
		if n <= 0 {
			return "", nil, false
		}
		*to, record = value, record[n:]
	}
	e.stamp.changed, e.stamp.touched = time.Duration(changed), time.Duration(touched)
	var mode uint64
	for _, to := range []*uint64{&e.stamp.file, &mode} {
		value, n := binary.Uvarint(record)
		if n <= 0 {
			return "", nil, false
		}
		*to, record = value, record[n:]
	}
	if len(record) < len(e.hash) || mode > uint64(fs.ModePerm) {
		return "", nil, false
	}
	e.stamp.mode = fs.FileMode(mode)
	copy(e.hash[:], record)
	at = string(record[len(e.hash):])
	if at == "" || !filepath.IsLocal(filepath.FromSlash(at)) || e.stamp.size < 0 {
		return "", nil, false
	}
	if e.stamp.kind == "" {
		e = nil
	}
	return at, e, true
}

// put enters what is known of a path now. flush writes it.
func (x *index) put(at string, e *entry) {
	if x != nil && x.file != nil && len(at) <= maxPath {
		x.pending = appendRecord(x.pending, at, e)
		x.records++
		if len(x.pending) > maxPending {
			x.flush()
		}
	}
}

// flush writes what was entered. It need not be synced: what a power failure takes,
// is looked at again.
func (x *index) flush() {
	if x == nil || x.file == nil || len(x.pending) == 0 {
		return
	}
	if _, err := x.file.Write(x.pending); err != nil {
		_ = x.file.Close()
		x.file = nil // a later rewriting may succeed
	}
	x.pending = x.pending[:0]
}

// crowded reports whether most of the index is out of date.
func (x *index) crowded() bool { return x != nil && x.records > slack }

// rewrite replaces the index.
func (x *index) rewrite(top *dir) error {
	if x == nil {
		return nil
	}
	out := []byte(magic)
	records := 0
	top.each(func(at string, e *entry) {
		if len(at) <= maxPath {
			out = appendRecord(out, at, e)
			records++
		}
	})
	if err := atomicwriter.WriteFile(x.name, out, 0o600); err != nil {
		return fmt.Errorf("write the journal's index: %w", err)
	}
	if x.file != nil {
		_ = x.file.Close()
	}
	file, err := os.OpenFile(x.name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		x.file = nil
		return fmt.Errorf("open the journal's index: %w", err)
	}
	x.file, x.records, x.pending = file, records, nil
	return nil
}

// close lets another process write the index.
func (x *index) close() {
	if x == nil {
		return
	}
	if x.file != nil {
		_ = x.file.Close()
	}
	_ = x.lock.Unlock()
}

// limitIndexes removes the indexes that were written longest ago if there are many.
// Folders without one are read again.
func limitIndexes(ctx context.Context, folder string) {
	entries, err := os.ReadDir(folder)
	if err != nil || len(entries) <= 2*maxIndexes {
		return
	}
	type index struct {
		name string
		at   time.Time
	}
	var all []index
	for _, e := range entries {
		if info, err := e.Info(); err == nil && !strings.HasSuffix(e.Name(), ".lock") {
			all = append(all, index{filepath.Join(folder, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b index) int { return a.at.Compare(b.at) })
	for _, x := range all[:max(len(all)-maxIndexes, 0)] {
		if ctx.Err() != nil {
			return
		}
		lock := flock.New(x.name + ".lock")
		if ok, err := lock.TryLock(); err != nil || !ok {
			continue // it is in use
		}
		if err := errors.Join(os.Remove(x.name), lock.Unlock()); err != nil {
			return
		}
	}
}

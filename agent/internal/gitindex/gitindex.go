// Package gitindex reads which files an index of git lists, in the format of
// gitformat-index(5).
package gitindex

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"atelier.dev/atelier/internal/regular"
)

// maxSize is the size of an index with about half a million files.
const maxSize = 64 << 20

// Read returns the content of an index, or of another file of a git folder, of at most 64 MB.
// The error is [regular.ErrUnfit] or one of the system.
func Read(path string) ([]byte, error) {
	data, err := regular.Read(path, maxSize)
	if err != nil {
		return nil, fmt.Errorf("read a file of git: %w", err)
	}
	return data, nil
}

// Names returns the names in an index, relative to the working tree and with slashes. It
// reports false for one that it cannot read: one of object names other than SHA-1, one
// that is split over several files, and one whose names are larger than 64 MB together.
func Names(data []byte) (names []string, ok bool) {
	all, ok := entries(data)
	for _, e := range all {
		names = append(names, e.name)
	}
	return names, ok
}

// Repositories returns the names of the repositories inside of the working tree that an
// index lists: submodules, with .gitmodules or without. It reports false as [Names] does.
func Repositories(data []byte) (names []string, ok bool) {
	const gitlink = 0o160000
	all, ok := entries(data)
	for _, e := range all {
		if e.mode == gitlink {
			names = append(names, e.name)
		}
	}
	return names, ok
}

// entry is a file of an index.
type entry struct {
	name string
	mode uint32
}

func entries(data []byte) (found []entry, ok bool) {
	const header, modeAt, fixed, extended = 12, 24, 62, 0x4000 // fixed is an entry up to its name, for SHA-1
	if len(data) < header || string(data[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(data[4:]), binary.BigEndian.Uint32(data[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	previous, at, all := "", header, 0
	for range count {
		if at+fixed > len(data) {
			return nil, false
		}
		begin := at + fixed
		flags := binary.BigEndian.Uint16(data[begin-2:])
		if flags&extended != 0 {
			begin += 2
		}
		keep := 0
		if version == 4 { // the name is given by what differs from the one before
			drop, size := offset(data, begin)
			if size == 0 || drop > len(previous) {
				return nil, false
			}
			keep, begin = len(previous)-drop, begin+size
		}
		if begin > len(data) {
			return nil, false
		}
		length := bytes.IndexByte(data[begin:], 0)
		if length < 0 {
			return nil, false
		}
		previous = previous[:keep] + string(data[begin:begin+length])
		if size := int(flags & 0xfff); size != min(len(previous), 0xfff) { // the numbers are longer ones than SHA-1
			return nil, false
		}
		if all += len(previous); all > maxSize { // a version that shares beginnings may stand for any amount
			return nil, false
		}
		found = append(found, entry{previous, binary.BigEndian.Uint32(data[at+modeAt:])})
		if at, begin = begin+length+1, at; version < 4 { // filled up with zeros
			at = begin + (at-begin+7)/8*8
		}
	}
	if isSplit(data[min(at, len(data)):]) {
		return nil, false
	}
	return found, true
}

// isSplit reports whether an index that ends with some extensions and a hash has
// only some of the entries, and refers to another file for the others.
func isSplit(end []byte) bool {
	const head, hash = 8, 20
	for len(end) >= head+hash {
		if string(end[:4]) == "link" {
			return true
		}
		end = end[min(uint64(len(end)), head+uint64(binary.BigEndian.Uint32(end[4:]))):]
	}
	return false
}

// offset reads a number in git's variable length, and returns its size, which is 0
// if there is none.
func offset(data []byte, at int) (n, size int) {
	for i := at; i < len(data) && i < at+5; i++ {
		n = n<<7 | int(data[i]&0x7f)
		if data[i]&0x80 == 0 {
			return n, i - at + 1
		}
		n++
	}
	return 0, 0
}

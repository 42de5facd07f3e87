// Package gitindex reads which files an index of git lists, in the format of
// gitformat-index(5).
package gitindex

import (
	"bytes"
	"encoding/binary"
)

// MaxSize is the size of an index with about half a million files; a larger one is
// not to be read.
const MaxSize = 64 << 20

// Names returns the names in an index, relative to the work tree and with slashes. It
// reports false for one that it cannot read: one of object names other than SHA-1, one
// that is split over several files, and one whose names are larger than [MaxSize]
// together.
func Names(data []byte) (names []string, ok bool) {
	const header, fixed, extended = 12, 62, 0x4000 // fixed is an entry up to its name, for SHA-1
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
		if all += len(previous); all > MaxSize { // a version that shares beginnings may stand for any amount
			return nil, false
		}
		names = append(names, previous)
		if at, begin = begin+length+1, at; version < 4 { // filled up with zeros
			at = begin + (at-begin+7)/8*8
		}
	}
	if isSplit(data[min(at, len(data)):]) {
		return nil, false
	}
	return names, true
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

package rule

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
)

// maxIndex limits how large an index of git is read.
const maxIndex = 64 << 20

// gitFolder returns the folder of the repository that a folder belongs to. That
// of a second work tree refers to it.
func gitFolder(dir string) (string, bool) {
	for {
		path := filepath.Join(dir, ".git")
		if info, err := os.Stat(path); err == nil {
			if info.IsDir() {
				return path, true
			}
			text, err := os.ReadFile(path)
			at, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if !filepath.IsAbs(at) {
				at = filepath.Join(dir, at)
			}
			return at, err == nil && ok
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
		dir = filepath.Dir(dir)
	}
}

// tracked returns the files that the index of a folder's repository lists, by
// their paths in the work tree, which begins at root. It reports false if the
// index cannot be read. Without an index nothing is tracked.
func tracked(dir string) (root string, names []string, ok bool) {
	repository, ok := gitFolder(dir)
	if !ok {
		return "", nil, false
	}
	for root = dir; ; root = filepath.Dir(root) {
		if _, err := os.Lstat(filepath.Join(root, ".git")); err == nil {
			break
		}
	}
	path := filepath.Join(repository, "index")
	info, err := os.Stat(path)
	if os.IsNotExist(err) {
		return root, nil, true
	}
	if err != nil || info.Size() > maxIndex {
		return "", nil, false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return "", nil, false
	}
	names, ok = indexed(data)
	return root, names, ok
}

// indexed returns the names in an index, whose format is that of
// gitformat-index(5). It reports false for one that it cannot read, such as one
// that is split over several files.
func indexed(data []byte) (names []string, ok bool) {
	const header, fixed, extended = 12, 62, 0x4000 // fixed is an entry up to its name, for SHA-1
	if len(data) < header || string(data[:4]) != "DIRC" || bytes.Contains(data, []byte("link\x00\x00")) {
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
		if all += len(previous); all > maxIndex { // a version that shares beginnings may stand for any amount
			return nil, false
		}
		names = append(names, previous)
		if at, begin = begin+length+1, at; version < 4 { // filled up with zeros
			at = begin + (at-begin+7)/8*8
		}
	}
	return names, true
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

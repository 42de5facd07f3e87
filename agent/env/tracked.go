package env

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent/internal/sensitive"
)

// maxIndex is the size of an index with about half a million files.
const maxIndex = 64 << 20

// trackedSecrets returns the files that may hold secrets among those that git
// tracks in the repository of dir, which must be plain. It reports false if
// that is unknown. Files that exist only in commits are not included; see
// committedSecrets.
func trackedSecrets(dir string) (paths []string, ok bool) {
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, false
	}
	for !exists(filepath.Join(root, ".git")) {
		if root == filepath.Dir(root) {
			return nil, false
		}
		root = filepath.Dir(root)
	}
	git := filepath.Join(root, ".git")
	if named, ok := strings.CutPrefix(textOf(git), "gitdir: "); ok { // a worktree
		git = named
	}
	f, err := os.Open(filepath.Join(git, "index"))
	if os.IsNotExist(err) {
		return nil, true // nothing was added yet
	}
	if err != nil {
		return nil, false
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, false
	}
	index, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if err != nil || len(index) > maxIndex {
		return nil, false
	}
	names, ok := tracked(index)
	for _, name := range names {
		if sensitive.Secret("/" + name) {
			paths = append(paths, filepath.Join(root, filepath.FromSlash(name)))
		}
	}
	return paths, ok
}

// tracked reads the names of the files in a git index, as gitformat-index(5)
// describes it; it reports false for any other file. Repositories with object
// names other than SHA-1 are not plain. An index that is split over several files
// has only some of the names.
func tracked(index []byte) (names []string, ok bool) {
	const header, flags, fixed = 12, 60, 62
	if len(index) < header || string(index[:4]) != "DIRC" {
		return nil, false
	}
	version, count := binary.BigEndian.Uint32(index[4:]), binary.BigEndian.Uint32(index[8:])
	if version < 2 || version > 4 {
		return nil, false
	}
	name, all, rest := "", 0, index[header:]
	for range count {
		if len(rest) <= fixed {
			return nil, false
		}
		begin := fixed
		if rest[flags]&0x40 != 0 { // two more bytes of flags
			begin += 2
		}
		kept := 0 // of the name before
		if version == 4 {
			cut, n := offset(rest[min(begin, len(rest)):])
			if n == 0 || cut > len(name) {
				return nil, false
			}
			begin, kept = begin+n, len(name)-cut
		}
		length := bytes.IndexByte(rest[min(begin, len(rest)):], 0)
		if length < 0 {
			return nil, false
		}
		name = name[:kept] + string(rest[begin:begin+length])
		if all += len(name); all > maxIndex { // a version that shares beginnings may stand for any amount
			return nil, false
		}
		names = append(names, name)
		next := begin + length + 1
		if version < 4 {
			next = (begin + length + 8) &^ 7
		}
		rest = rest[min(next, len(rest)):]
	}
	if isSplit(rest) {
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

// offset reads a number in git's variable-length form, and returns its length
// in bytes; 0 if there is none.
func offset(b []byte) (number, length int) {
	for i, c := range b[:min(len(b), 4)] {
		number = number<<7 | int(c&0x7f)
		if c&0x80 == 0 {
			return number, i + 1
		}
		number++
	}
	return 0, 0
}

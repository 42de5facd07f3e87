package project

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// unsaid is what HEAD has as a file in a repository that keeps its references in
	// reftables, for programs that do not know them.
	unsaid = "ref: refs/heads/.invalid"
	// maxTable is how much of a table is read: HEAD is in its first block.
	maxTable = 64 << 10
	maxList  = 64 << 10
	maxRef   = 4 << 10 // of a reference's name
)

// reftableHead returns what HEAD is in the reftables of a git folder, as a file would
// say it; empty if that cannot be told. The newest table that names it counts.
func reftableHead(git string) string {
	folder := filepath.Join(git, "reftable")
	for range 3 { // while git joins tables, one of them may be gone
		list := strings.Fields(string(beginning(filepath.Join(folder, "tables.list"), maxList)))
		head, err := headOf(folder, list)
		if err == nil {
			return head
		}
	}
	return ""
}

func headOf(folder string, tables []string) (string, error) {
	for _, name := range slices.Backward(tables) { // the newest is the last
		if name != filepath.Base(name) {
			return "", errTable
		}
		if head, here, err := headIn(beginning(filepath.Join(folder, name), maxTable)); here || err != nil {
			return head, err
		}
	}
	return "", nil
}

// errTable says that the beginning of a table cannot be read.
var errTable = errors.New("read a reftable: it is not one that is known")

// headIn looks for HEAD in the first block of a table, as git's reftable
// documentation describes it. here is false if the table does not name HEAD; one that
// it names as deleted is empty.
func headIn(table []byte) (head string, here bool, err error) {
	const magic, kinds = "REFT", 4
	if len(table) < 28 || string(table[:4]) != magic {
		return "", false, errTable
	}
	start, hash := 24, 20
	switch version := table[4]; {
	case version == 2 && string(table[24:28]) == "s256":
		start, hash = 28, 32
	case version == 2:
		start = 28
	case version != 1:
		return "", false, errTable
	}
	if len(table) < start+4 || table[start] != 'r' {
		return "", false, nil // it has no references
	}
	end := uint24(table[start+1:])
	if end > len(table) || end < start+6 {
		return "", false, errTable
	}
	last := end - 2 - 3*int(binary.BigEndian.Uint16(table[end-2:]))
	if last < start+4 {
		return "", false, errTable
	}
	r := record{rest: table[start+4 : last]}
	for name := ""; len(r.rest) > 0; {
		prefix, suffix := r.number(), r.number()
		if prefix > len(name) || prefix+suffix>>3 > maxRef {
			return "", false, errTable
		}
		name = name[:prefix] + string(r.take(suffix>>3))
		r.number() // when it was changed
		var value []byte
		kind := suffix & 7
		switch kind {
		case 1, 2:
			value = r.take(kind * hash)
		case 3:
			value = r.take(r.number())
		}
		switch {
		case r.short || kind >= kinds:
			return "", false, errTable
		case name > "HEAD":
			return "", false, nil // names are sorted
		case name < "HEAD":
		case kind == 3 && len(value) <= maxHead:
			return "ref: " + string(value), true, nil
		case kind == 1 || kind == 2:
			return hex.EncodeToString(value[:hash]), true, nil
		default:
			return "", true, nil
		}
	}
	next := max(end, uint24(table[5:])) // blocks are as long as the header says
	if next < len(table) && table[next] == 'r' || len(table) == maxTable {
		return "", false, errTable // HEAD may be in another block
	}
	return "", false, nil
}

func uint24(b []byte) int { return int(b[0])<<16 | int(b[1])<<8 | int(b[2]) }

// record reads what records are made of. Once something is missing it returns nothing.
type record struct {
	rest  []byte
	short bool
}

func (r *record) take(n int) []byte {
	if n > len(r.rest) {
		r.short, r.rest, n = true, nil, 0
	}
	taken := r.rest[:n]
	r.rest = r.rest[n:]
	return taken
}

// number reads a varint of git: each byte that goes on adds one, so that every number
// is written in one way.
func (r *record) number() int {
	n := -1
	for range 4 { // no length is as large
		b := r.take(1)
		if r.short {
			return 0
		}
		n = (n+1)<<7 | int(b[0]&0x7f)
		if b[0] < 0x80 {
			return n
		}
	}
	r.short, r.rest = true, nil
	return 0
}

package project

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"path/filepath"
	"strings"
	"testing"
)

// ref is a record of a table; its kind is that of its value.
type ref struct {
	name  string
	kind  int
	value string
}

func three(n int) []byte { return []byte{byte(n >> 16), byte(n >> 8), byte(n)} }

// varint encodes a number as git's documentation of pack files says it.
func varint(n int) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append([]byte{byte(n&0x7f) | 0x80}, out...)
	}
	return out
}

// tableOf makes a table with one block of references, as git's documentation of reftables
// says it, and a footer. Without references it begins with what follows them.
func tableOf(version byte, blockSize int, refs ...ref) []byte {
	out := append([]byte("REFT"), version)
	out = append(out, three(blockSize)...)
	out = append(out, make([]byte, 16)...) // the update indices
	if version == 2 {
		out = append(out, "s256"...)
	}
	head := len(out)
	if len(refs) == 0 {
		return append(out, "g\x00\x00\x10"+strings.Repeat("z", 40)...)
	}
	out = append(out, "r\x00\x00\x00"...)
	before := ""
	for i, x := range refs {
		prefix := 0
		for i > 0 && prefix < min(len(before), len(x.name)) && before[prefix] == x.name[prefix] {
			prefix++
		}
		out = append(out, varint(prefix)...)
		out = append(out, varint((len(x.name)-prefix)<<3|x.kind)...)
		out = append(out, x.name[prefix:]...)
		out = append(out, varint(300)...)
		if x.kind == 3 {
			out = append(out, varint(len(x.value))...)
		}
		out = append(out, x.value...)
		before = x.name
	}
	out = append(out, three(head+4)...) // where a name is whole
	out = binary.BigEndian.AppendUint16(out, 1)
	copy(out[head+1:], three(len(out)))
	if pad := blockSize - len(out); pad > 0 {
		out = append(out, make([]byte, pad)...)
	}
	return append(out, "REFT and the rest of a footer"...)
}

// A16, LOOP-45: of a repository with reftables the branch is that of the newest table which names
// HEAD, also in a linked worktree. What cannot be read has none, but is a repository.
func TestBranchOfReftables(t *testing.T) {
	t.Parallel()
	on := func(branch string) ref { return ref{"HEAD", 3, "refs/heads/" + branch} }
	hash := strings.Repeat("\xab\x01", 10)
	long := strings.Repeat("b", 300)
	main, other := ref{"refs/heads/main", 1, hash}, tableOf(1, 4096, on("old"), ref{"refs/heads/old", 1, hash})
	for name, tt := range map[string]struct {
		tables []string // the oldest first
		want   string
	}{
		"one table":               {[]string{string(tableOf(1, 4096, on("main"), main))}, "main"},
		"not aligned":             {[]string{string(tableOf(1, 0, on("a/ü"), main))}, "a/ü"},
		"a name of two bytes":     {[]string{string(tableOf(1, 4096, on(long), main))}, long},
		"the newest counts":       {[]string{string(other), string(tableOf(1, 4096, on("new")))}, "new"},
		"the newest that says":    {[]string{string(other), string(tableOf(1, 4096, main)), string(tableOf(1, 4096))}, "old"},
		"names that come before":  {[]string{string(tableOf(1, 4096, ref{"AUTO_MERGE", 1, hash}, ref{"CHERRY_PICK_HEAD", 3, "x"}, ref{"H", 0, ""}, ref{"HEAC", 2, hash + hash}, on("main")))}, "main"},
		"only names before":       {[]string{string(other), string(tableOf(1, 4096, ref{"AUTO_MERGE", 1, hash}))}, "old"},
		"a commit":                {[]string{string(tableOf(1, 4096, ref{"HEAD", 1, hash}, main))}, "ab01ab01"},
		"a commit of 32 bytes":    {[]string{string(tableOf(2, 4096, ref{"HEAC", 1, hash + hash[:12]}, ref{"HEAD", 2, hash + strings.Repeat("x", 44)}))}, "ab01ab01"},
		"escape sequences":        {[]string{string(tableOf(1, 4096, on("m\x1b[2Ja\nin")))}, "m[2Jain"},
		"deleted":                 {[]string{string(other), string(tableOf(1, 4096, ref{"HEAD", 0, ""}))}, ""},
		"a kind of the future":    {[]string{string(tableOf(1, 4096, ref{"HEAC", 5, ""}, on("main")))}, ""},
		"a version of the future": {[]string{string(other), string(tableOf(3, 4096, on("main")))}, ""},
		"not a table":             {[]string{string(other), "ref: refs/heads/main\n and more than that"}, ""},
		"an empty file":           {[]string{string(other), ""}, ""},
		"cut":                     {[]string{string(other[:40])}, ""},
		"too long a branch":       {[]string{string(tableOf(1, 4096, on(strings.Repeat("x", maxHead))))}, ""},
		"still not said":          {[]string{string(tableOf(1, 4096, on(".invalid")))}, ""},
		"another block of names":  {[]string{string(other), string(append(bytes.TrimSuffix(tableOf(1, 200, ref{"AUTO_MERGE", 1, hash}), []byte("REFT and the rest of a footer")), 'r', 0, 0, 9))}, ""},
		"no tables":               {nil, ""},
	} {
		dir := t.TempDir()
		put(t, dir, ".git/HEAD", "ref: refs/heads/.invalid\n")
		put(t, dir, ".git/worktrees/w/HEAD", "ref: refs/heads/.invalid\n")
		put(t, dir, ".git/worktrees/w/reftable/tables.list", "t\n")
		put(t, dir, ".git/worktrees/w/reftable/t", string(tableOf(1, 4096, on("in-the-worktree"))))
		put(t, dir, "tree/.git", "gitdir: ../.git/worktrees/w\n")
		var list strings.Builder
		for i, table := range tt.tables {
			file := hex.EncodeToString([]byte{byte(i)}) + ".ref"
			put(t, dir, ".git/reftable/"+file, table)
			list.WriteString(file + "\n")
		}
		put(t, dir, ".git/reftable/tables.list", list.String())
		if got := Branch(dir); got != tt.want || Root(filepath.Join(dir)) != dir {
			t.Errorf("%s: branch %q, root %s", name, got, Root(dir))
		}
		if got := Branch(filepath.Join(dir, "tree")); got != "in-the-worktree" {
			t.Errorf("%s: the worktree is on %q", name, got)
		}
		if snap, ok := Snap(t.Context(), dir); !ok || snap.Branch != tt.want {
			t.Errorf("%s: %+v, %t", name, snap, ok)
		}
	}
}

// A16: only tables in the folder of the tables are read, whatever their list says.
func TestReftablesOutside(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../t", "sub/t", "..", ".", "/etc/passwd"} {
		dir := t.TempDir()
		put(t, dir, ".git/HEAD", "ref: refs/heads/.invalid\n")
		for _, at := range []string{".git/t", ".git/reftable/sub/t"} {
			put(t, dir, at, string(tableOf(1, 4096, ref{"HEAD", 3, "refs/heads/main"})))
		}
		put(t, dir, ".git/reftable/tables.list", name+"\n")
		if got := Branch(dir); got != "" {
			t.Errorf("%s: branch %q", name, got)
		}
	}
}

// FuzzReftable finds no table that ends the program, and none whose HEAD is not one line in it.
func FuzzReftable(f *testing.F) {
	hash := strings.Repeat("h", 20)
	f.Add(tableOf(1, 4096, ref{"AUTO_MERGE", 1, hash}, ref{"HEAD", 3, "refs/heads/main"}))
	f.Add(tableOf(2, 0, ref{"HEAD", 2, hash + hash + hash + hash[:4]}))
	f.Add(tableOf(1, 64, ref{"HEAC", 0, ""}))
	f.Add(tableOf(1, 4096))
	f.Fuzz(func(t *testing.T, table []byte) {
		head, here, err := headIn(table)
		target, isRef := strings.CutPrefix(head, "ref: ")
		commit, notHex := hex.DecodeString(head)
		switch {
		case head != "" && (!here || err != nil):
			t.Errorf("%q, %t, %v", head, here, err)
		case isRef && (len(target) > maxHead || !bytes.Contains(table, []byte(target))):
			t.Errorf("%q is not in the table", target)
		case !isRef && (notHex != nil || !bytes.Contains(table, commit)):
			t.Errorf("%q is not in the table", head)
		}
	})
}

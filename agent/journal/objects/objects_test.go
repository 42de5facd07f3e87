package objects_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/journal/objects"
)

func open(t *testing.T, dir string, limits objects.Limits) *objects.Store {
	t.Helper()
	s := objects.Open(dir, limits)
	t.Cleanup(s.Close)
	return s
}

func random(size int) []byte {
	data := make([]byte, size)
	source := rand.NewChaCha8([32]byte{byte(size), byte(size >> 8)})
	_, _ = source.Read(data)
	return data
}

// contents expects the version to be there.
func contents(t *testing.T, s *objects.Store, v agent.FileVersion) []byte {
	t.Helper()
	data, err := s.Contents(t.Context(), v)
	if err != nil {
		t.Fatalf("contents of %+v: %v", v, err)
	}
	return data
}

// reason is why the contents of a version are not there.
func reason(t *testing.T, s *objects.Store, v agent.FileVersion) agent.Unkept {
	t.Helper()
	data, err := s.Contents(t.Context(), v)
	var unkept *objects.UnkeptError
	if !errors.Is(err, objects.ErrUnkept) || !errors.As(err, &unkept) || data != nil {
		t.Fatalf("contents of %+v: %q, %v", v, data, err)
	}
	return unkept.Reason
}

// files lists the objects of a store and checks that others cannot read them.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if name != dir && info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
		if !d.IsDir() && filepath.Dir(name) != dir {
			names = append(names, name)
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return names
}

func TestKeptContentsComeBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "journal", "objects")
	s := open(t, dir, objects.Limits{})
	for _, data := range [][]byte{{}, []byte("a"), []byte("p"), []byte("d\x00\xff"), []byte(strings.Repeat("line\n", 10_000)), random(100_000), make([]byte, objects.DefaultFile)} {
		v := s.Keep(t.Context(), agent.ExecutableFile, data)
		if v.Unkept != "" || v.Kind != agent.ExecutableFile || v.Size != int64(len(data)) || len(v.Hash) != 64 {
			t.Errorf("%d bytes are kept as %+v", len(data), v)
		}
		if got := contents(t, open(t, dir, objects.Limits{}), v); !bytes.Equal(got, data) {
			t.Errorf("%d bytes come back as %d others", len(data), len(got))
		}
		if again := s.Keep(t.Context(), agent.PlainFile, data); again.Hash != v.Hash {
			t.Errorf("the same contents have the hashes %s and %s", v.Hash, again.Hash)
		}
	}
	if n := len(files(t, dir)); n != 6 {
		t.Errorf("%d objects are stored", n)
	}
}

func TestTextIsCompressed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	open(t, dir, objects.Limits{}).Keep(t.Context(), agent.PlainFile, []byte(strings.Repeat("return nil, err\n", 10_000)))
	info, err := os.Stat(files(t, dir)[0])
	if err != nil || info.Size() > 8000 {
		t.Errorf("160,000 bytes of text take %d, %v", info.Size(), err)
	}
}

func TestLargeContentsAreNotKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, objects.Limits{File: 1000})
	v := s.Keep(t.Context(), agent.PlainFile, random(1001))
	if v.Unkept != agent.UnkeptLarge || v.Hash == "" || len(files(t, dir)) > 0 {
		t.Errorf("kept as %+v", v)
	}
	if r := reason(t, s, v); r != agent.UnkeptLarge {
		t.Errorf("not kept because it is %q", r)
	}
}

// A damaged object is never returned, and is rewritten when it is kept again.
func TestDamagedObjectsCountAsUnkept(t *testing.T) {
	t.Parallel()
	text := []byte(strings.Repeat("line\n", 1000))
	damages := map[string]func([]byte) []byte{
		"emptied":   func([]byte) []byte { return nil },
		"truncated": func(b []byte) []byte { return b[:len(b)/2] },
		"zeroed":    func(b []byte) []byte { return make([]byte, len(b)) },
		"replaced":  func([]byte) []byte { return append([]byte("p"), bytes.Repeat([]byte("Line\n"), 1000)...) },
		"changed":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"grown":     func(b []byte) []byte { return append([]byte("p"), bytes.Repeat([]byte("line\n"), 2000)...) },
	}
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := open(t, dir, objects.Limits{})
			v := s.Keep(t.Context(), agent.PlainFile, text)
			file := files(t, dir)[0]
			packed, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, damage(packed), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			if r := reason(t, s, v); r != agent.UnkeptFailed {
				t.Errorf("not kept because it is %q", r)
			}
			if again := s.Keep(t.Context(), agent.PlainFile, text); again != v || !bytes.Equal(contents(t, s, again), text) {
				t.Errorf("kept again as %+v", again)
			}
		})
	}
}

// A version comes from a log, which may be damaged.
func TestFalseVersionsLeadNowhere(t *testing.T) {
	t.Parallel()
	s := open(t, t.TempDir(), objects.Limits{})
	hash := s.Keep(t.Context(), agent.PlainFile, []byte("text")).Hash
	for _, v := range []agent.FileVersion{
		{}, {Hash: "x"}, {Hash: strings.Repeat("/", 64), Size: 4}, {Hash: "../" + hash[3:], Size: 4}, {Hash: strings.ToUpper(hash), Size: 4},
		{Hash: hash, Size: 5}, {Hash: hash, Size: 3}, {Hash: hash, Size: -1}, {Hash: hash}, {Hash: hash, Size: 1 << 40},
	} {
		_ = reason(t, s, v)
	}
}

// age makes all objects so old.
func age(t *testing.T, dir string, by time.Duration) {
	t.Helper()
	for _, name := range files(t, dir) {
		then := time.Now().Add(-by)
		if err := os.Chtimes(name, then, then); err != nil {
			t.Fatal(err)
		}
	}
}

func TestOldObjectsMakeRoom(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	limits := objects.Limits{Total: 160 << 10}
	s := objects.Open(dir, limits)
	var old []agent.FileVersion
	for i := range 30 {
		old = append(old, s.Keep(t.Context(), agent.PlainFile, random(4000+i)))
	}
	age(t, dir, 48*time.Hour)
	needed := old[3]
	if !s.Renew(needed) {
		t.Fatal("an object is missing")
	}
	s.Close()

	other := objects.Open(dir, limits) // as another process
	var young []agent.FileVersion
	for i := range 12 {
		young = append(young, other.Keep(t.Context(), agent.PlainFile, random(3000+i)))
	}
	other.Close() // the removal has ended

	s = open(t, dir, limits)
	for _, v := range append(young, needed) {
		if v.Unkept != "" {
			t.Errorf("%+v was not kept", v)
		}
		_ = contents(t, s, v)
	}
	dropped := 0
	for _, v := range old {
		if _, err := s.Contents(t.Context(), v); err != nil {
			dropped++
			if r := reason(t, s, v); r != agent.UnkeptDropped {
				t.Errorf("not kept because it is %q", r)
			}
		}
	}
	if dropped == 0 || dropped > 8 {
		t.Errorf("%d of 30 old objects were removed", dropped)
	}
}

// Objects of the last hour stay, and the store does not grow beyond its limit
// for new ones.
func TestAFullStoreSaysSo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir, objects.Limits{Total: 64 << 10})
	kept, full := 0, 0
	for i := range 40 {
		switch v := s.Keep(t.Context(), agent.PlainFile, random(4000+i)); v.Unkept {
		case "":
			kept++
			_ = contents(t, s, v)
		case agent.UnkeptFull:
			full++
		default:
			t.Errorf("not kept because it is %q", v.Unkept)
		}
	}
	if kept < 16 || kept > 20 || full != 40-kept {
		t.Errorf("%d were kept, %d found no room", kept, full)
	}
}

func TestAStoreThatCannotBeWrittenSaysSo(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, filepath.Join(file, "objects"), objects.Limits{})
	if v := s.Keep(t.Context(), agent.PlainFile, []byte("text")); v.Unkept != agent.UnkeptFailed || v.Hash == "" {
		t.Errorf("kept as %+v", v)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if v := open(t, t.TempDir(), objects.Limits{}).Keep(ended, agent.PlainFile, []byte("text")); v.Unkept != agent.UnkeptFailed {
		t.Errorf("kept as %+v", v)
	}
}

// Stores in the same directory, as of several processes, do not disturb each
// other.
func TestStoresShareADirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var wg sync.WaitGroup
	for n := range 4 {
		s := open(t, dir, objects.Limits{Total: 1 << 20})
		wg.Go(func() {
			for i := range 60 {
				data := fmt.Appendf(nil, "%d %s", i+n*30, random(300))
				v := s.Keep(t.Context(), agent.PlainFile, data)
				got, err := s.Contents(t.Context(), v)
				if err != nil || !bytes.Equal(got, data) {
					t.Errorf("%+v: %v", v, err)
				}
			}
		})
	}
	wg.Wait()
	for _, name := range files(t, dir) {
		if strings.HasPrefix(filepath.Base(name), "tmp-") {
			t.Errorf("%s was left", name)
		}
	}
}

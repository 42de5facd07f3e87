//go:build sqlite_fts5 || fts5

package search_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/storage"
	"atelier.dev/atelier/storage/search"
)

func TestADamagedIndexIsMadeAnew(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(path string) error{
		"missing": os.Remove,
		"not one": func(path string) error {
			return os.WriteFile(path, []byte("This is no database at all, and quite long."), 0o600)
		},
		"empty":     func(path string) error { return os.Truncate(path, 0) },
		"truncated": func(path string) error { return os.Truncate(path, 8<<10) },
		"other": func(path string) error {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = f.WriteAt([]byte{0, 0, 0, 99}, 60) // the version
			return err
		},
		"garbled": func(path string) error {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			for i := 4096; i < len(data); i++ {
				data[i] ^= 0x5a
			}
			return os.WriteFile(path, data, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.story("a")
			s.expect("hurry", "a@9")
			if err := s.index.Close(); err != nil {
				t.Fatal(err)
			}
			if err := damage(filepath.Join(s.home, search.File)); err != nil {
				t.Fatal(err)
			}
			s.index = search.Open(s.home, s.store.Logs())
			s.expect("hurry", "a@9")
			s.append("a", agent.UserInput{Text: "go on"})
			s.expect(`"go on"`, "a@13")
		})
	}
}

// A file that cannot be used is named with what may be done about it, and left
// alone: it may be somebody's.
func TestAnIndexThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	for name, put := range map[string]func(path string) error{
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"a full folder": func(path string) error {
			return errors.Join(os.Mkdir(path, 0o700), os.WriteFile(filepath.Join(path, "mine"), nil, 0o600))
		},
		"a link to nowhere": func(path string) error { return os.Symlink("gone/search.db", path) },
		"a link to itself":  func(path string) error { return os.Symlink(filepath.Base(path), path) },
		"a link to a folder": func(path string) error {
			return os.Symlink(filepath.Dir(path), path)
		},
		"a device":                func(path string) error { return os.Symlink("/dev/null", path) },
		"a folder for its lock":   func(path string) error { return os.Mkdir(path+".lock", 0o700) },
		"a folder beside, of SQL": func(path string) error { return os.MkdirAll(filepath.Join(path+"-wal", "x"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t)
			s.story("a")
			path := filepath.Join(s.home, search.File)
			if err := put(path); err != nil {
				t.Fatal(err)
			}
			_, found := s.index.Search(t.Context(), backend.Search{Text: "hurry"})
			for what, err := range map[string]error{"catching up": s.index.CatchUp(t.Context()), "the search": found} {
				var problem *backend.Error
				if !errors.As(err, &problem) || problem.ID != backend.ProblemSearchFailed || !strings.Contains(problem.Next, path) {
					t.Errorf("%s says %v", what, err)
				}
			}
			if entries, _ := filepath.Glob(path + "*"); len(entries) == 0 {
				t.Error("it is gone")
			}
		})
	}
}

func TestAnIndexThatIsRemovedWhileItIsOpenIsMadeAnew(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.story("a")
	s.expect("hurry", "a@9")
	if err := os.Remove(filepath.Join(s.home, search.File)); err != nil {
		t.Skip("the system does not remove open files:", err)
	}
	s.expect("hurry", "a@9")
	info, err := os.Stat(filepath.Join(s.home, search.File))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}

func TestAnIndexCanBeMadeAnew(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.story("a")
	s.expect("hurry", "a@9")
	if err := s.index.Rebuild(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.expect("hurry", "a@9")
}

// A log that was replaced, such as by a backup, is read anew.
func TestAnotherLogOfTheSameSession(t *testing.T) {
	t.Parallel()
	for _, inputs := range []int{3, 11, 14} { // shorter, as long, longer
		s := newStage(t)
		s.story("a")
		s.expect("hurry", "a@9")
		if err := s.store.DeleteSessions(t.Context(), "a"); err != nil {
			t.Fatal(err)
		}
		s.create(backend.SessionInfo{ID: "a"})
		for range inputs {
			s.append("a", agent.UserInput{Text: "patience"})
		}
		s.expect("hurry", "")
		s.append("a", agent.UserInput{Text: "gladly"})
		s.expect("gladly", fmt.Sprintf("a@%d", inputs+2))
	}
}

func TestEventsAreIndexedOnceTheyAreQuiet(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		log := &countedLog{}
		index := search.Open(t.TempDir(), log)
		for range 10 {
			index.Changed()
			time.Sleep(2 * time.Second) // of the test's own clock
		}
		if n := log.listed.Load(); n != 0 {
			t.Errorf("the logs were listed %d times while more events followed", n)
		}
		time.Sleep(time.Minute)
		if n := log.listed.Load(); n != 1 {
			t.Errorf("the logs were listed %d times", n)
		}
		for range 100 {
			index.Changed()
			time.Sleep(time.Second)
		}
		if n := log.listed.Load(); n != 2 {
			t.Errorf("the logs were listed %d times, which is not once a minute", n)
		}
		if err := index.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestALogThatCannotBeRead does not keep the others from being searched.
func TestALogThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.story("a")
	s.create(backend.SessionInfo{ID: "b"})
	s.append("b", agent.UserInput{Text: strings.Repeat("large ", 60<<10)})
	blobs := filepath.Join(s.home, "blobs", "b")
	files, err := os.ReadDir(blobs)
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	file := filepath.Join(blobs, files[0].Name())
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil { // it exists, but is not a file
		t.Fatal(err)
	}
	s.expect("hurry", "a@9")
}

// countedLog is a log without sessions that counts how often it is listed.
type countedLog struct{ listed atomic.Int64 }

func (l *countedLog) Version(context.Context) (int64, error) { return l.listed.Load(), nil }

func (l *countedLog) Heads(context.Context) ([]backend.LogHead, error) {
	l.listed.Add(1)
	return nil, nil
}

func (l *countedLog) Session(_ context.Context, id string) (backend.SessionInfo, error) {
	return backend.SessionInfo{}, backend.Problem(backend.ProblemSessionMissing, id)
}

func (l *countedLog) Events(context.Context, backend.EventRange) ([]agent.Event, error) {
	return nil, nil
}

func (l *countedLog) Close() error { return nil }

// TestTwoProcesses searches and indexes in this process and in others, which are
// killed in the middle.
func TestTwoProcesses(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts processes")
	}
	s := newStage(t)
	for n := range 12 {
		id := fmt.Sprintf("s%02d", n)
		s.create(backend.SessionInfo{ID: id})
		for k := range 20 {
			s.append(id, agent.UserInput{Text: fmt.Sprintf("place%d.%d. %s", n, k, strings.Repeat("filling text ", 200))})
		}
	}
	for n := range 4 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=TestHelperProcess")
		cmd.Env = append(os.Environ(), "ATELIER_SEARCH_HOME="+s.home)
		_, inErr := cmd.StdinPipe()
		out, outErr := cmd.StdoutPipe()
		if err := errors.Join(inErr, outErr); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		for range n { // it is killed earlier or later in its work
			lines.Scan()
		}
		if n == 1 { // this process indexes at the same time
			s.expect("place7.3.", "s07@5")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait() // it was killed
		s.append("s00", agent.UserInput{Text: "after " + strconv.Itoa(n)})
	}
	for n := range 12 {
		s.expect(fmt.Sprintf("place%d.19.", n), fmt.Sprintf("s%02d@21", n))
	}
	s.expect(`"after 3"`, "s00@25")
}

// TestHelperProcess is the other process of TestTwoProcesses.
func TestHelperProcess(t *testing.T) {
	home := os.Getenv("ATELIER_SEARCH_HOME")
	if home == "" {
		t.Skip("only as a process of another test")
	}
	store, err := storage.Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	index := search.Open(home, store.Logs())
	// Without an end it could keep the lock from the other process until that gives up.
	for range 8 {
		if err := index.Rebuild(t.Context()); err != nil {
			t.Fatal(err)
		}
		fmt.Println("indexed")
	}
	_, _ = io.Copy(io.Discard, os.Stdin) // until it is killed
}

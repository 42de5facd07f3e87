package instance_test

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/backend/instance"
	"github.com/google/go-cmp/cmp"
)

// TestMain turns the test binary into an instance if a test starts it as a
// process of its own.
func TestMain(m *testing.M) {
	if home := os.Getenv("INSTANCE_TEST_HOME"); home != "" {
		hold(home, os.Getenv("INSTANCE_TEST_FOLDER"))
		return
	}
	os.Exit(m.Run())
}

// hold is the other process: it takes the folder, reports that, and serves
// until its input ends.
func hold(home, folder string) {
	held, err := instance.Acquire(home, folder)
	if err != nil {
		println(err.Error())
		os.Exit(1)
	}
	held.Serve(func(r instance.Request) instance.Reply {
		if r.Do == instance.URL {
			return instance.Reply{URL: "http://127.0.0.1:1/"}
		}
		return instance.Reply{}
	})
	os.Stdout.WriteString("held\n")
	bufio.NewReader(os.Stdin).ReadByte()
	held.Close()
}

// other starts a process that holds folder, and returns a function that ends
// it, by closing its input or by killing it.
func other(t *testing.T, home, folder string) (end func(kill bool)) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "INSTANCE_TEST_HOME="+home, "INSTANCE_TEST_FOLDER="+folder)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := false
	end = func(kill bool) {
		if ended {
			return
		}
		ended = true
		if kill {
			cmd.Process.Kill()
		}
		stdin.Close()
		cmd.Wait()
	}
	t.Cleanup(func() { end(true) })
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "held\n" {
		t.Fatalf("the other process said %q, %v", line, err)
	}
	return end
}

func ask(t *testing.T, home, folder string, do instance.Action) (instance.Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return instance.Ask(ctx, home, folder, instance.Request{Do: do})
}

func TestSecondStart(t *testing.T) {
	for name, runtime := range map[string]string{"runtime folder": t.TempDir(), "home": ""} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("XDG_RUNTIME_DIR", runtime)
			home, folder := t.TempDir(), t.TempDir()
			t.Setenv("TMPDIR", t.TempDir()) // the place of the sockets of a long home
			end := other(t, home, folder)

			link := filepath.Join(t.TempDir(), "link")
			if err := os.Symlink(folder, link); err != nil {
				t.Fatal(err)
			}
			for _, way := range []string{folder, link, folder + "/."} {
				if _, err := instance.Acquire(home, way); !errors.Is(err, instance.ErrHeld) {
					t.Fatalf("acquire %s: %v, want ErrHeld", way, err)
				}
			}
			reply, err := ask(t, home, link, instance.URL)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(instance.Reply{URL: "http://127.0.0.1:1/"}, reply); diff != "" {
				t.Error(diff)
			}
			end(false)
			again, err := instance.Acquire(home, folder)
			if err != nil {
				t.Fatalf("acquire after the first closed: %v", err)
			}
			again.Close()
		})
	}
}

func TestKilledInstanceLeavesNothingInTheWay(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	home, folder := t.TempDir(), t.TempDir()
	other(t, home, folder)(true)

	again, err := instance.Acquire(home, folder)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.Serve(func(instance.Request) instance.Reply { return instance.Reply{URL: "second"} })
	if reply, err := ask(t, home, folder, instance.URL); err != nil || reply.URL != "second" {
		t.Errorf("ask: %v, %v", reply, err)
	}
}

func TestFoldersAndHomesAreApart(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	home, folder := t.TempDir(), t.TempDir()
	other(t, home, folder)
	for _, pair := range [][2]string{{home, t.TempDir()}, {t.TempDir(), folder}} {
		own, err := instance.Acquire(pair[0], pair[1])
		if err != nil {
			t.Errorf("acquire %v: %v", pair, err)
			continue
		}
		own.Close()
	}
}

func TestAskWaitsForAnInstanceThatIsStarting(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	home, folder := t.TempDir(), t.TempDir()
	answered := make(chan error, 1)
	go func() {
		_, err := ask(t, home, folder, instance.Focus)
		answered <- err
	}()
	own, err := instance.Acquire(home, folder)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	own.Serve(func(instance.Request) instance.Reply { return instance.Reply{} })
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// A process that ends while it is asked gives no answer. The one that asked takes
// its place.
func TestEnterAfterAnInstanceThatEnds(t *testing.T) {
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	held, err := instance.Acquire(home, folder)
	if err != nil {
		t.Fatal(err)
	}
	sockets, err := filepath.Glob(filepath.Join(home, "run", "*.sock"))
	if err != nil || len(sockets) != 1 {
		t.Fatal(sockets, err)
	}
	if err := os.Remove(sockets[0]); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", sockets[0])
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			err = errors.Join(held.Close(), conn.Close())
		}
		ended <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	inst, _, err := instance.Enter(ctx, home, folder, instance.Request{Do: instance.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(<-ended, inst.Close()); err != nil {
		t.Error(err)
	}
}

func TestAskGivesUpWithItsContext(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	home, folder := t.TempDir(), t.TempDir()
	own, err := instance.Acquire(home, folder) // it has the lock and never answers
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := instance.Ask(ctx, home, folder, instance.Request{Do: instance.Focus}); err == nil {
		t.Error("an instance that never answers answered")
	}
}

// A question to a running instance does not wait for one that might start.
func TestAskRunning(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	home, folder := t.TempDir(), t.TempDir()
	running := func() (instance.Reply, error) {
		return instance.AskRunning(t.Context(), home, folder, instance.Request{Do: instance.URL})
	}
	if _, err := running(); !errors.Is(err, instance.ErrNotRunning) {
		t.Errorf("before the first: %v, want ErrNotRunning", err)
	}
	end := other(t, home, folder)
	if reply, err := running(); err != nil || reply.URL != "http://127.0.0.1:1/" {
		t.Errorf("while it runs: %v, %v", reply, err)
	}
	end(true)
	if _, err := running(); !errors.Is(err, instance.ErrNotRunning) {
		t.Errorf("after it was killed: %v, want ErrNotRunning", err)
	}
}

func TestNonsenseGetsNoAnswer(t *testing.T) {
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	own, err := instance.Acquire(t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	own.Serve(func(instance.Request) instance.Reply {
		t.Error("nonsense was taken for a request")
		return instance.Reply{}
	})
	sockets, err := filepath.Glob(filepath.Join(runtime, "atelier", "*.sock"))
	if err != nil || len(sockets) != 1 {
		t.Fatalf("sockets: %v, %v", sockets, err)
	}
	conn, err := net.Dial("unix", sockets[0])
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.Write([]byte(strings.Repeat("x", 10_000)))
	conn.SetDeadline(time.Now().Add(5 * time.Second))
	if n, _ := conn.Read(make([]byte, 10)); n != 0 {
		t.Errorf("answered %d bytes", n)
	}
}

func TestOpenRunFolderIsRefused(t *testing.T) {
	runtime := t.TempDir()
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	open := filepath.Join(runtime, "atelier")
	if err := os.Mkdir(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := instance.Acquire(t.TempDir(), t.TempDir()); err == nil {
		t.Error("a folder that others can enter was used")
	}
}

func TestMissingFolder(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	if _, err := instance.Acquire(t.TempDir(), filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("acquire a missing folder: %v", err)
	}
}

// A home whose path is too long for a socket below it still works.
func TestLongHome(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "")
	home := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	folder := t.TempDir()
	t.Setenv("TMPDIR", t.TempDir())
	own, err := instance.Acquire(home, folder)
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	own.Serve(func(instance.Request) instance.Reply { return instance.Reply{} })
	if _, err := ask(t, home, folder, instance.Focus); err != nil {
		t.Error(err)
	}
}

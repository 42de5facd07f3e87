package sandbox

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// server is a line of Python that answers on a port of its own and prints it.
const server = `exec python3 -u -c '
import http.server, sys
s = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(s.server_port)
s.serve_forever()'`

// Commands of one scope reach each other's servers, those of another one do not, and
// neither does this machine. K-47.
func TestCommandsShareANetwork(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	y := newYard(t)
	y.by = l
	scope := NewScope()
	t.Cleanup(scope.End)
	port := make(chan string, 1)
	spec := y.spec(server)
	spec.Confine, spec.Scope, spec.Timeout = &y.profile, scope, time.Minute
	spec.Output = func(text string) {
		select {
		case port <- strings.TrimSpace(text):
		default: // what the server says of requests
		}
	}
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	at := <-port
	other := NewScope()
	t.Cleanup(other.End)
	for _, row := range []struct {
		name  string
		scope Scope
		want  string
	}{{"the same scope", scope, "package main"}, {"another scope", other, "refused"}, {"no scope", Scope{}, "refused"}} {
		spec := y.spec("exec 3<>/dev/tcp/127.0.0.1/" + at + "; printf 'GET /main.go HTTP/1.0\r\n\r\n' >&3; cat <&3")
		spec.Confine, spec.Scope = &y.profile, row.scope
		if r := y.run(t, spec); !strings.Contains(r.Stdout, row.want) {
			t.Errorf("%s: %s", row.name, r.Stdout)
		}
	}
	if _, err := net.Dial("tcp", "127.0.0.1:"+at); err == nil {
		t.Error("this machine reaches it")
	}
}

// What a command listens on is known, and this program can connect to it.
func TestPortsOfACommand(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	for name, confined := range map[string]bool{"confined": true, "unconfined": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			y.by = l
			scope := NewScope()
			t.Cleanup(scope.End)
			printed := make(chan string, 1)
			spec := y.spec("(" + server + ") & wait")
			spec.Scope, spec.Timeout = scope, time.Minute
			if confined {
				spec.Confine = &y.profile
			}
			spec.Output = func(text string) {
				select {
				case printed <- strings.TrimSpace(text):
				default: // what the server says of requests
				}
			}
			p, err := Start(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Stop()
			var want int
			if _, err := fmt.Sscan(<-printed, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]int{want}, p.Ports()); diff != "" {
				t.Error(diff)
			}
			conn, err := p.Dial(want)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			if _, err := io.WriteString(conn, "GET /main.go HTTP/1.0\r\n\r\n"); err != nil {
				t.Fatal(err)
			}
			if page, err := io.ReadAll(conn); err != nil || !strings.Contains(string(page), "package main") {
				t.Errorf("%v: %s", err, page)
			}
			if conn, err := p.Dial(1); err == nil {
				_ = conn.Close()
				t.Error("nothing listens there")
			}
		})
	}
}

// Sockets of confined commands work across commands, and those of other programs are
// not there, wherever they are and however they are named.
func TestForeignSocketsAreNotThere(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	y := newYard(t)
	y.by = l
	y.profile.Sockets = confine.SocketsOwn
	scope := NewScope()
	t.Cleanup(scope.End)
	for _, path := range []string{"home/open.sock", "outside/other project.sock", "project/dev.sock"} {
		listener, err := net.Listen("unix", filepath.Join(y.base, path))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
	}
	if os.Getuid() == 0 { // one that even the launcher cannot reach, because the folder is another user's
		locked := filepath.Join(y.base, "outside/locked")
		if err := os.Mkdir(locked, 0o700); err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("unix", filepath.Join(locked, "socket"))
		if err == nil {
			err = os.Chown(locked, 65534, 65534)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = listener.Close() })
	}
	const connect = `python3 -c '
import socket, sys
for path in sys.argv[1:]:
    try:
        socket.socket(socket.AF_UNIX).connect(path)
        print("reached", path)
    except OSError as e:
        print("failed")
' `
	run := func(line string) string {
		spec := y.spec(line)
		spec.Confine, spec.Scope = &y.profile, scope
		r := y.run(t, spec)
		return fmt.Sprintf("%sexit %d after %v", r.Stdout, r.ExitCode, r.Duration)
	}
	foreign := connect + `BASE/home/open.sock "BASE/outside/other project.sock" dev.sock socket`
	if got := run(foreign); strings.Contains(got, "reached") || strings.Count(got, "failed") != 4 {
		t.Error(got)
	}
	own := `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.bind("own.sock"); s.listen(); print("open", flush=True); s.accept()'`
	spec := y.spec(own)
	open := make(chan struct{})
	var once sync.Once
	spec.Confine, spec.Scope, spec.Output = &y.profile, scope, func(string) { once.Do(func() { close(open) }) }
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	<-open
	if got := run(connect + "own.sock"); !strings.Contains(got, "reached own.sock") {
		t.Error(got)
	}
}

// A pipe with a name outside of what the command may change cannot be written, although
// a mount that is read-only does not keep it from that.
func TestPipesOutsideAreNotWritten(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	y := newYard(t)
	y.by = l
	for _, name := range []string{"outside/control", "project/pipe"} {
		path := filepath.Join(y.base, name)
		if err := unix.Mkfifo(path, 0o666); err != nil {
			t.Fatal(err)
		}
		reader, err := os.OpenFile(path, os.O_RDWR, 0) // else a writer would wait
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = reader.Close() })
	}
	if r := y.confined(t, "echo evil >BASE/outside/control"); !strings.Contains(r.Stdout, "Permission denied") {
		t.Error(r.Stdout)
	}
	if r := y.confined(t, "echo own >pipe && mkfifo other && (echo x >other & cat other)"); r.ExitCode != 0 || !strings.Contains(r.Stdout, "x") {
		t.Error(r.Stdout)
	}
}

// No command leaves a file that runs with the rights of its owner.
func TestNoFileRunsAsItsOwner(t *testing.T) {
	t.Parallel()
	everyMeans(t, func(t *testing.T, y *yard) {
		dir := filepath.Join(y.project, "sub")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		for _, line := range []string{
			`cp /bin/true sub/t && chmod 4755 sub/t`, `cp /bin/true sub/t && chmod g+s sub/t`, `cp -p $(command -v su) sub/su`,
			`install -m 6755 /bin/true sub/t`, `python3 -c 'import os; os.open("sub/p", os.O_CREAT|os.O_WRONLY, 0o4755)'`,
			`python3 -c 'import os; os.mknod("sub/n", 0o104755)'`, `python3 -c 'import os; f = os.open("sub/f", os.O_CREAT|os.O_RDWR); os.fchmod(f, 0o2755)'`,
			`python3 -c 'import ctypes; ctypes.CDLL(None).syscall(437, -100, b"sub/o", (ctypes.c_ulong * 3)(0o101, 0o4755, 0), 24)'`,
			`python3 -c 'import os; os.close(os.open("sub", os.O_TMPFILE|os.O_WRONLY, 0o4755))'`,
		} {
			y.confined(t, line)
			_ = filepath.WalkDir(y.project, func(path string, d os.DirEntry, err error) error {
				if info, err := d.Info(); err == nil && !info.IsDir() && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
					t.Errorf("%s: %s is %v", line, path, info.Mode())
				}
				return nil
			})
		}
		if r := y.confined(t, `: >sub/x; cp main.go sub/y; chmod 755 sub/y; cd sub; umask 002; echo z >z; python3 -c 'open("w", "w")'`); y.by.level().By == confine.Namespaces && r.ExitCode != 0 {
			t.Error(r.Stdout)
		}
	})
}

// What takes memory is limited.
func TestMemoryOfFoldersIsLimited(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	y := newYard(t)
	y.by = l
	r := y.confined(t, `df --output=target,size -k /dev /dev/shm /run | awk '$2+0 > 1048576 {print "too large:", $0; bad=1} END {exit bad}'`)
	if r.ExitCode != 0 {
		t.Error(r.Stdout)
	}
}

// The processes of a line are limited, which it cannot change, and those of the machine
// stay as they are.
func TestProcessesAreLimited(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.by = needsLauncher(t)
	const file = "/proc/sys/kernel/pid_max"
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	r := y.confined(t, `(echo 99999 >`+file+`) 2>/dev/null; ulimit -u 99999 2>/dev/null; ulimit -Hu; cat `+file)
	want := "8192\n8192\n"
	if !limitsNamespaces() {
		want = "8192\n" + string(before)
	}
	if r.Stdout != want {
		t.Errorf("the limits are %q, want %q", r.Stdout, want)
	}
	if after, err := os.ReadFile(file); err != nil || string(after) != string(before) {
		t.Errorf("the machine's was %q, and is %q, %v", before, after, err)
	}
}

// limitsNamespaces reports whether the kernel is at least 6.14.
func limitsNamespaces() bool {
	var name unix.Utsname
	var major, minor int
	if unix.Uname(&name) == nil {
		_, _ = fmt.Sscanf(unix.ByteSliceToString(name.Release[:]), "%d.%d", &major, &minor)
	}
	return major > 6 || major == 6 && minor >= 14
}

// A command sees the caches of its user, and what it changes there only confined
// commands see. A cache that the user does not have is its own from the beginning.
func TestCachesAreLayered(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	y := newYard(t)
	y.by = l
	user := filepath.Join(y.base, "home/.cache")
	for name, text := range map[string]string{"warm": "of the user", "go-build/x": "built", "doomed": "x"} {
		path := filepath.Join(user, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	own := filepath.Join(y.base, "own")
	y.profile.Writable = append(y.profile.Writable, own)
	y.profile.Caches = []confine.Cache{
		{Path: user, Own: filepath.Join(own, "xdg"), Variable: "XDG_CACHE_HOME"},
		{Path: filepath.Join(user, "go-build"), Own: filepath.Join(own, "go"), Variable: "GOCACHE"},
		{Path: filepath.Join(y.base, "home/.npm"), Own: filepath.Join(own, "npm"), Variable: "npm_config_cache"},
	}
	if err := os.Mkdir(own, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		`cd ~/.cache && cat warm go-build/x && echo poisoned >warm && echo new >new && mkdir -p deep/er && echo y >go-build/y && rm doomed`,
		`cd ~/.cache && grep poisoned warm && grep new new && test -d deep/er && test ! -e doomed && grep y go-build/y`, // by the command before
		`test -z "$XDG_CACHE_HOME$GOCACHE" && test "$npm_config_cache" = BASE/own/npm && mkdir -p "$npm_config_cache" && echo z >"$npm_config_cache/z"`,
	} {
		if r := y.confined(t, line); r.ExitCode != 0 {
			t.Errorf("%s: exit %d\n%s", line, r.ExitCode, r.Stdout)
		}
	}
	if r := y.free(t, `cd ~/.cache && cat warm && find . -type f | sort`); r.Stdout != "of the user./doomed\n./go-build/x\n./warm\n" {
		t.Errorf("the user sees: %s", r.Stdout)
	}
	env := confine.Profile{Caches: y.profile.Caches}.WithoutLayers().Env
	if want := []string{"XDG_CACHE_HOME=" + own + "/xdg", "GOCACHE=" + own + "/go", "npm_config_cache=" + own + "/npm"}; !cmp.Equal(env, want) {
		t.Error(cmp.Diff(want, env))
	}
}

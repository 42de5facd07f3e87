//go:build unix

package cli_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
	"github.com/google/go-cmp/cmp"
)

// A project that is opened from a window gets a window of its own, a second time
// the same one. It has the user's keys and survives the first window, even when
// that is killed and the guard kills what its sessions run.
func TestProjectGetsItsOwnWindow(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	traces := t.TempDir()
	p.env = append(p.env, withWindow+"="+traces)
	other := filepath.Join(t.TempDir(), "-shop with a space")
	fifo := filepath.Join(t.TempDir(), "fifo")
	for _, err := range []error{os.Mkdir(other, 0o700), syscall.Mkfifo(fifo, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	first := startWindow(t, p)
	lines := func() []string {
		b, err := os.ReadFile(filepath.Join(traces, filepath.Base(other)))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Split(strings.TrimSpace(string(b)), "\n")
	}
	for range 2 {
		if got, want := first.call("projects.open", map[string]string{"folder": other}), `{"ok":{"folder":`+quoted(other)+`}}`; got != want {
			t.Fatalf("open: %s, want %s", got, want)
		}
	}
	seen := lines()
	id, keys, _ := strings.Cut(seen[0], " ")
	pid, err := strconv.Atoi(id)
	if err != nil || pid == first.cmd.Process.Pid || keys != "true" {
		t.Fatalf("the second window says %q", seen[0])
	}
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if diff := cmp.Diff([]string{"focus", "focus"}, seen[1:]); diff != "" {
		t.Error(diff)
	}

	var session struct{ OK struct{ ID string } }
	if err := json.Unmarshal([]byte(first.call("sessions.create", struct{}{})), &session); err != nil {
		t.Fatal(err)
	}
	first.call("conversation.command", map[string]string{"session": session.OK.ID, "command": "exec 3>'" + fifo + "'; echo up >&3; sleep 600"})
	pipe, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	said := make([]byte, len("up\n"))
	if _, err := io.ReadFull(pipe, said); err != nil || string(said) != "up\n" {
		t.Fatalf("the command said %q, %v", said, err)
	}
	_ = first.cmd.Process.Kill()
	if more, err := io.ReadAll(pipe); err != nil || len(more) > 0 { // to its end, which the guard brings
		t.Fatalf("then the command said %q, %v", more, err)
	}
	if _, errs, code := p.run(other); code != 0 {
		t.Fatalf("the second window is gone: exit %d, %s", code, errs)
	}
	if diff := cmp.Diff([]string{"focus", "focus", "focus"}, lines()[1:]); diff != "" {
		t.Error(diff)
	}
}

// What cannot be opened is an error, and nothing is left of the attempt.
func TestProjectThatCannotBeOpened(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = append(p.env, withWindow+"="+t.TempDir())
	broken, served := filepath.Join(t.TempDir(), "broken"), t.TempDir()
	if err := os.Mkdir(broken, 0o700); err != nil {
		t.Fatal(err)
	}
	server, address := p.start("serve", served)
	if !address.Scan() {
		t.Fatal("no address")
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	first := startWindow(t, p)
	for folder, want := range map[string]string{
		broken:                        "project_unopened",
		served:                        "project_served",
		p.folder:                      "project_here",
		"shop":                        "project_path",
		filepath.Join(broken, "none"): "folder_missing",
	} {
		if got := first.call("projects.open", map[string]string{"folder": folder}); !strings.Contains(got, `"id":"`+want+`"`) || strings.Contains(got, "token=") {
			t.Errorf("open %s: %s, want %s", folder, got, want)
		}
	}
}

// A project that is opened from a browser is served by a process of its own,
// which ends with the first one, even when that is killed.
func TestProjectIsServedAsLongAsTheFirst(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	other := t.TempDir()
	server, lines := p.start("serve")
	if !lines.Scan() {
		t.Fatal("no address")
	}
	t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	first := signIn(t, lines.Text())
	var origins []string
	var address string
	for range 2 {
		var opened struct {
			OK struct{ Folder, Address string }
		}
		first.call("projects.open", map[string]string{"folder": other}, &opened)
		if opened.OK.Folder != other || !strings.HasPrefix(opened.OK.Address, "http://127.0.0.1:") {
			t.Fatalf("opened %+v", opened)
		}
		address = opened.OK.Address
		origin, _, _ := strings.Cut(address, "/#")
		origins = append(origins, origin)
	}
	if origins[0] != origins[1] || strings.HasPrefix(lines.Text(), origins[0]+"/") {
		t.Errorf("served at %v; the first project at %s", origins, lines.Text())
	}
	second := signIn(t, address)
	var list struct {
		OK struct {
			Projects []struct {
				Folder  string
				Current bool
			}
		}
	}
	second.call("projects.list", struct{}{}, &list)
	if ps := list.OK.Projects; len(ps) != 2 || ps[0].Folder != other || !ps[0].Current || ps[1].Folder != p.folder {
		t.Errorf("recent projects: %+v", ps)
	}
	_ = server.Process.Kill()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		if _, _, err := second.conn.Read(ctx); err != nil {
			break
		}
	}
	if ctx.Err() != nil {
		t.Error("the second server outlived the first")
	}
}

type testWindow struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.Writer
	out *bufio.Scanner
}

func startWindow(t *testing.T, p *place) *testWindow {
	t.Helper()
	cmd := p.command()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return &testWindow{t, cmd, in, bufio.NewScanner(out)}
}

func (w *testWindow) call(method string, args any) string {
	w.t.Helper()
	b, err := json.Marshal(args)
	if err != nil {
		w.t.Fatal(err)
	}
	if _, err := fmt.Fprintln(w.in, method, string(b)); err != nil {
		w.t.Fatal(err)
	}
	if !w.out.Scan() {
		w.t.Fatalf("%s: the window ended", method)
	}
	return w.out.Text()
}

func quoted(text string) string {
	b, _ := json.Marshal(text)
	return string(b)
}

type testPage struct {
	t    *testing.T
	conn *websocket.Conn
	last int
}

// signIn opens a page at a printed address.
func signIn(t *testing.T, address string) *testPage {
	t.Helper()
	origin, token, _ := strings.Cut(address, "/#token=")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/session", strings.NewReader(`{"token":"`+token+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Origin", origin)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var signed struct {
		Secret string `json:"secret"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&signed); err != nil {
		t.Fatal(err)
	}
	conn, _, err := websocket.Dial(t.Context(), "ws"+strings.TrimPrefix(origin, "http")+"/ws", &websocket.DialOptions{HTTPHeader: http.Header{"Origin": {origin}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	if err := wsjson.Write(t.Context(), conn, signed); err != nil {
		t.Fatal(err)
	}
	return &testPage{t: t, conn: conn}
}

func (p *testPage) call(method string, args, reply any) {
	p.t.Helper()
	p.last++
	if err := wsjson.Write(p.t.Context(), p.conn, map[string]any{"id": p.last, "method": method, "args": args}); err != nil {
		p.t.Fatal(err)
	}
	for {
		_, b, err := p.conn.Read(p.t.Context())
		if err != nil {
			p.t.Fatal(err)
		}
		var head struct{ ID int }
		if json.Unmarshal(b, &head) == nil && head.ID == p.last {
			if err := json.Unmarshal(b, reply); err != nil {
				p.t.Fatal(err)
			}
			return
		}
	}
}

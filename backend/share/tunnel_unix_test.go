//go:build unix

package share_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/share"
)

// script makes a program of a name the only one on PATH before the system's.
func script(t *testing.T, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	text = "#!/bin/sh\ncd '" + dir + "'\n" + text
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	return dir
}

// LIVE-03: a tunnel is started for a share, and answers by its own name only. When it dies,
// the share ends.
func TestTunnel(t *testing.T) {
	dir := script(t, "cloudflared", `echo "$@" > args
echo 'INF https://example.com/docs' >&2
echo 'INF |  https://quick-river.trycloudflare.com  |' >&2
read line < end
`)
	if err := syscall.Mkfifo(filepath.Join(dir, "end"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := newBench(t)
	list, err := b.List(t.Context(), backend.Empty{})
	if err != nil || list.Tunnel != "cloudflared" {
		t.Fatalf("%+v, %v", list, err)
	}
	address, token, _ := b.start(share.ShareRequest{Reach: share.ReachTunnel})
	if address != "https://quick-river.trycloudflare.com/" {
		t.Fatalf("the address is %s", address)
	}
	args, err := os.ReadFile(filepath.Join(dir, "args"))
	if err != nil {
		t.Fatal(err)
	}
	_, local, _ := strings.Cut(strings.TrimSpace(string(args)), "--url ")
	v := watch(t, local+"/", token)
	v.until(has("Name a river."))
	for host, want := range map[string]int{"quick-river.trycloudflare.com": 200, "slow-river.trycloudflare.com": 421} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, local, nil)
		r.Host = host
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want {
			t.Errorf("as %s: %d", host, answer.StatusCode)
		}
	}
	end, err := os.OpenFile(filepath.Join(dir, "end"), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_ = end.Close()
	if all := v.until(func(ev sent) bool { return ev.Name == "end" }); all[len(all)-1].Data.Why != "tunnel" {
		t.Errorf("%+v", all)
	}
}

// Without a tunnel nothing is shared, and the user is told what is missing or what was said.
func TestNoTunnel(t *testing.T) {
	b := newBench(t)
	t.Setenv("PATH", t.TempDir())
	var problem *backend.Error
	if _, err := b.Start(t.Context(), share.ShareRequest{Session: session, Reach: share.ReachTunnel}); !errors.As(err, &problem) || problem.ID != backend.ProblemShareTunnel {
		t.Errorf("without a program: %v", err)
	}
	script(t, "ngrok", "echo 'ERR: no account, token=aB3dE5gH7jK9mN1pQ3sTuV5wX7yZ9 password=hunter22' >&2\nexit 1\n")
	_, err := b.Start(t.Context(), share.ShareRequest{Session: session, Reach: share.ReachTunnel})
	if !errors.As(err, &problem) || problem.ID != backend.ProblemShareTunnelFailed || !strings.Contains(problem.Details, "no account") || strings.Contains(problem.Details, "hunter22") {
		t.Errorf("a program that fails: %v, %+v", err, problem)
	}
	if list, err := b.List(t.Context(), backend.Empty{}); err != nil || len(list.Shares) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
}

package desktop

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/cmd/cli"
	"github.com/google/go-cmp/cmp"
)

func TestWindowStateIsKeptPerProject(t *testing.T) {
	t.Parallel()
	home, one, other := t.TempDir(), t.TempDir(), t.TempDir()
	first := windowState{Width: firstWidth, Height: firstHeight}
	want := windowState{X: -40, Y: 12, Width: 900, Height: 700, Placed: true, Maximised: true}

	if diff := cmp.Diff(first, loadWindowState(home, one)); diff != "" {
		t.Errorf("before any was kept:\n%s", diff)
	}
	if err := want.save(home, one); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, loadWindowState(home, one)); diff != "" {
		t.Errorf("kept:\n%s", diff)
	}
	if diff := cmp.Diff(first, loadWindowState(home, other)); diff != "" {
		t.Errorf("another project's:\n%s", diff)
	}
}

func TestNonsenseWindowStateIsIgnored(t *testing.T) {
	t.Parallel()
	for _, content := range []string{
		"", "{", "null", `{"Width":1,"Height":800}`, `{"Width":1280,"Height":-5}`,
		`{"Width":1280,"Height":800,"X":9999999}`, `{"Width":"wide"}`,
	} {
		home, folder := t.TempDir(), t.TempDir()
		path, err := stateFile(home, folder)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := loadWindowState(home, folder)
		if diff := cmp.Diff(windowState{Width: firstWidth, Height: firstHeight}, got); diff != "" {
			t.Errorf("%q:\n%s", content, diff)
		}
	}
}

func TestReloadsAreLimitedPerMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r reloads
		for n := range reloadLimit {
			if !r.allow() {
				t.Errorf("reload %d was refused", n+1)
			}
		}
		if r.allow() {
			t.Error("one reload too many was allowed")
		}
		<-time.After(time.Minute)
		if !r.allow() {
			t.Error("a reload was refused a minute later")
		}
	})
}

func TestEveryAssetCarriesThePolicy(t *testing.T) {
	t.Parallel()
	served := httptest.NewRecorder()
	handler := assets().Middleware(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	handler.ServeHTTP(served, httptest.NewRequest(http.MethodGet, "/nothing", nil))
	policy := served.Header().Get("Content-Security-Policy")
	for _, rule := range []string{"default-src 'none'", "script-src 'self';", "frame-src 'self'", "frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, rule) {
			t.Errorf("the policy lacks %q: %s", rule, policy)
		}
	}
	if strings.Contains(policy, "unsafe") {
		t.Errorf("the policy has a hole: %s", policy)
	}
}

func TestCallsSayWhyOpeningFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testOpeningFailed)
}

func testOpeningFailed(t *testing.T) {
	why := &backend.Error{
		Code: backend.CodeStoreNewer, Message: "The database is newer.",
		Kept: "It was not touched.", Next: "Update Atelier.",
	}
	tries := 0
	window := &Window{up: make(chan struct{}), launch: cli.Launch{
		Open: func(context.Context, cli.Desktop) (cli.Host, error) {
			tries++
			return nil, errors.Join(errors.New("open"), why)
		},
	}}
	close(window.up)
	var reply struct{ Error backend.Error }
	if err := json.Unmarshal([]byte(window.Call("sessions.list", "{}")), &reply); err != nil {
		t.Fatal(err)
	}
	got := [4]string{string(reply.Error.Code), reply.Error.Message, reply.Error.Kept, reply.Error.Next}
	window.Call("models.list", "{}")
	if tries != 1 {
		t.Errorf("opened %d times for the calls of one page", tries)
	}
	<-time.After(retryAfter)
	window.Call("sessions.list", "{}")
	if tries != 2 {
		t.Errorf("opened %d times after another try", tries)
	}
	if diff := cmp.Diff([4]string{"store_newer", "The database is newer.", "It was not touched.", "Update Atelier."}, got); diff != "" {
		t.Error(diff)
	}
}

func TestInspectorVariablesAreDropped(t *testing.T) {
	t.Setenv("WEBKIT_INSPECTOR_HTTP_SERVER", "127.0.0.1:1")
	t.Setenv("WEBKIT_INSPECTOR_SERVER", "127.0.0.1:1")
	t.Setenv("ATELIER_AUTOMATION", "")
	closeInspector()
	for _, name := range []string{"WEBKIT_INSPECTOR_HTTP_SERVER", "WEBKIT_INSPECTOR_SERVER"} {
		if _, set := os.LookupEnv(name); set {
			t.Errorf("%s is still set", name)
		}
	}
}

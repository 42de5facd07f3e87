package env_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/env"
)

// K-47: npm ci whose network ends before everything is there leaves node_modules as it was,
// whether somebody waits for the command or it runs beside the session.
func TestInstalledPackagesSurviveTheNetwork(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("npm"); err != nil {
		t.Skip("npm is not here")
	}
	l, project, _ := confinedProject(t)
	half := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Length", "1000000")
		_, _ = w.Write([]byte("\x1f\x8b the first bytes")) // and then the connection ends
	}))
	t.Cleanup(half.Close)
	lock := `{"name":"shop","version":"1.0.0","lockfileVersion":3,"requires":true,"packages":{
		"":{"name":"shop","version":"1.0.0","dependencies":{"left":"1.0.0"}},
		"node_modules/left":{"version":"1.0.0","resolved":"URL/left.tgz","integrity":"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg=="}}}`
	put(t, project, map[string]string{
		"package.json":                    `{"name":"shop","version":"1.0.0","dependencies":{"left":"1.0.0"}}`,
		"package-lock.json":               strings.ReplaceAll(lock, "URL", half.URL),
		"node_modules/left/package.json":  `{"name":"left","version":"1.0.0"}`,
		"node_modules/.package-lock.json": "{}",
	})
	command := env.Command{Line: "npm ci --fetch-retries=0 --no-audit", Merge: true}
	whole := func(notes []string) {
		t.Helper()
		if _, err := os.Stat(filepath.Join(project, "node_modules/left/package.json")); err != nil || len(notes) == 0 || !strings.Contains(notes[0], "node_modules") {
			t.Errorf("%v; it says %q", err, notes)
		}
		if _, err := os.Stat(filepath.Join(project, ".before-npm-ci")); err == nil {
			t.Error("a copy is left")
		}
	}
	r, err := l.Exec(t.Context(), command)
	if err != nil || r.ExitCode == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	whole(r.Notes)
	p, err := l.Start(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	if r, err = p.Wait(t.Context()); err != nil || r.ExitCode == 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	whole(r.Notes)
}

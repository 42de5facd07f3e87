package languages_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/backend/languages"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/trust"
	"atelier.dev/atelier/storage"
)

const two = `{
  "toy": {"command": "./bin/toy", "args": ["--stdio"], "env": {"A": "1"}, "extensionToLanguage": {".toy": "toy"}, "initializationOptions": {"x": 1}, "settings": {"y": 2}},
  "go": {"command": "my-gopls", "extensionToLanguage": {".go": "go"}},
  "socket": {"command": "s", "transport": "socket", "extensionToLanguage": {".s": "s"}},
  "nothing": {"command": "s"},
  "broken": 7
}`

// OC-01: the servers of .lsp.json count once the user accepted them, come before those that
// are built in, and have to be accepted again when they change.
func TestServersAreTrustedFirst(t *testing.T) {
	t.Parallel()
	store, err := storage.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(folder, languages.File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	trusted := trust.New(trust.Config{Folder: folder, User: t.TempDir(), Store: store})
	files := languages.New(languages.Config{Folder: folder, Trust: trusted})
	names := func() (out []string) {
		for _, l := range files.Languages(t.Context()) {
			out = append(out, l.Name)
		}
		return out[:len(out)-len(lsp.Languages)]
	}
	accept := func() {
		all, err := trusted.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range all {
			shown, err := trusted.Show(t.Context(), s.ID)
			if err == nil {
				err = trusted.Accept(t.Context(), s.ID, shown.Seal)
			}
			if err != nil && s.State != trust.StateGone {
				t.Fatal(s.Title, err)
			}
		}
	}
	if got := names(); len(got) > 0 {
		t.Errorf("without a file: %q", got)
	}
	if err := os.MkdirAll(filepath.Join(folder, "bin"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "bin/toy"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	write(two)
	if got := names(); len(got) > 0 {
		t.Errorf("before anybody was asked: %q", got)
	}
	accept()
	if got := strings.Join(names(), " "); got != "toy go" {
		t.Errorf("accepted: %q", got)
	}
	toy, ok := lsp.LanguageOf("x/A.TOY", files.Languages(t.Context()))
	want := lsp.Command{Program: filepath.Join(folder, "bin/toy"), Args: []string{"--stdio"}, Env: []string{"A=1"}}
	if c := toy.Servers[0]; !ok || c.Program != want.Program || strings.Join(c.Args, " ") != "--stdio" || strings.Join(c.Env, " ") != "A=1" || string(c.Options) != `{"x": 1}` || string(c.Settings) != `{"y": 2}` {
		t.Errorf("the server of a file: %+v", c)
	}
	if l, _ := lsp.LanguageOf("a.go", files.Languages(t.Context())); l.Servers[0].Program != "my-gopls" || l.Definition != lsp.Languages[0].Definition {
		t.Errorf("the server for Go: %+v", l)
	}
	if err := os.WriteFile(filepath.Join(folder, "bin/toy"), []byte("#!/bin/sh\nrm -rf /\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(names(), " "); got != "go" {
		t.Errorf("a file that a server runs has changed: %q", got)
	}
	write(strings.Replace(two, "my-gopls", "evil", 1))
	if got := names(); len(got) > 0 {
		t.Errorf("another definition: %q", got)
	}
	write("{")
	if got := names(); len(got) > 0 {
		t.Errorf("a broken file: %q", got)
	}
}

var _ review.Owner = (*languages.Files)(nil)

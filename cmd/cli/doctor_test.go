package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/backend/models"
	"atelier.dev/atelier/storage"
)

type finding struct {
	OK     bool
	Checks []struct{ Kind, Name, State, Detail, Next, Model string }
}

// state returns the finding about a name.
func (f finding) state(name string) (state, text string) {
	for _, c := range f.Checks {
		if c.Name == name {
			return c.State, c.Detail + " " + c.Next
		}
	}
	return "", ""
}

// The doctor says which providers are configured and reachable and whether the
// database is sound. It fails if Atelier could not work.
func TestDoctor(t *testing.T) {
	t.Parallel()
	without := func(p *place, names ...string) {
		p.env = slices.DeleteFunc(p.env, func(v string) bool {
			name, _, _ := strings.Cut(v, "=")
			return slices.Contains(names, name)
		})
	}
	confined := "off"
	if sandbox.CanConfine(t.Context()) {
		confined = "ok"
	}
	for _, tt := range []struct {
		name        string
		prepare     func(*place)
		code        int
		check, says string
		state       string
	}{
		{"a key", func(*place) {}, 0, "openai", "key from the environment", "ok"},
		{"a local provider", func(*place) {}, 0, "compat", "no key, http://127.0.0.1", "ok"},
		{"the database", func(*place) {}, 0, "database", storage.File, "ok"},
		{"the shell", func(*place) {}, 0, "bash", "/bash", "ok"},
		{"no key", func(p *place) { without(p, "OPENAI_API_KEY") }, 0, "openai", "Set OPENAI_API_KEY", "off"},
		{"a preset", func(p *place) {
			p.env = append(p.env, "DEEPSEEK_API_KEY=sk-test-0123456789", "DEEPSEEK_BASE_URL="+p.server.URL)
		}, 0, "deepseek", "key from the environment", "ok"},
		{"no preset", func(*place) {}, 0, "deepseek", "DEEPSEEK_API_KEY", "off"},
		{"a preset without its address", func(p *place) { p.env = append(p.env, "AZURE_OPENAI_API_KEY=sk-test-0123456789") }, 0, "azure", "AZURE_OPENAI_ENDPOINT", "off"},
		{"nothing", func(p *place) { without(p, "OPENAI_API_KEY", "COMPAT_BASE_URL") }, 0, "demo", "offline script", "ok"},
		{"the chosen one unreachable", func(p *place) { p.env = append(p.env, "OPENAI_BASE_URL=http://me:pass-word-1@127.0.0.1:1/v1") }, 1, "openai", "refused", "failed"},
		{"a secret in the address", func(p *place) {
			p.env = append(p.env, "COMPAT_BASE_URL=http://me:pass-word-1@127.0.0.1:1/v1?api_key=pass-word-2#pass-word-3")
		}, 0, "compat", "no key, http://127.0.0.1:1/v1. ", "failed"},
		{"another one unreachable", func(p *place) { p.env = append(p.env, "COMPAT_BASE_URL=http://127.0.0.1:1/v1") }, 0, "compat", "refused", "failed"},
		{"a damaged database", func(p *place) {
			put(t, filepath.Join(p.home, storage.File), strings.Repeat("not a database ", 500))
		}, 1, "database", "damaged", "failed"},
		{"a huge models file", func(p *place) {
			put(t, filepath.Join(p.home, models.ModelsFile), strings.Repeat(" ", 17<<20))
		}, 0, models.ModelsFile, "larger than 16 MB", "failed"},
		{"a bad models file", func(p *place) { put(t, filepath.Join(p.home, models.ModelsFile), "{\n{") }, 0, models.ModelsFile, "line 2", "failed"},
		{"how commands are confined", func(*place) {}, 0, "sandbox", "Commands can", confined},
		{"no programs", func(p *place) { p.env = append(p.env, "PATH=/nowhere") }, 0, "rg", "not found", "off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			tt.prepare(p)
			out, errs, code := p.run("doctor", "--json")
			var found finding
			if err := json.Unmarshal([]byte(out), &found); err != nil || code != tt.code || found.OK != (code == 0) {
				t.Fatalf("exit %d: %s%s (%v)", code, out, errs, err)
			}
			if state, text := found.state(tt.check); state != tt.state || !strings.Contains(text, tt.says) {
				t.Errorf("%s is %s: %s", tt.check, state, text)
			}
			lines, _, code := p.run("doctor")
			if code != tt.code || !strings.Contains(lines, tt.check) || !strings.Contains(lines, tt.says) && tt.state != "ok" {
				t.Errorf("exit %d: %s", code, lines)
			}
			if strings.Contains(out+lines, "sk-test") || strings.Contains(out+lines, "pass-word") {
				t.Errorf("a secret was printed: %s", out)
			}
		})
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

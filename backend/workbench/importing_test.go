package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/mcp"
)

// writer returns what writes files in folders that it makes.
func writer(t *testing.T) func(path, text string) string {
	return func(path, text string) string {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
}

// othersFiles writes the files of other programs.
func othersFiles(p *page, home string, put func(path, text string) string) (code, codex string) {
	p.t.Helper()
	quoted, err := json.Marshal(p.folder)
	if err != nil {
		p.t.Fatal(err)
	}
	put(filepath.Join(home, ".claude.json"), `{"numStartups": 3, "mcpServers": {"git": {"command": "uvx", "args": ["mcp-server-git"], "env": {"GIT_TOKEN": "ghp_secret"}}},
		"projects": {`+string(quoted)+`: {"mcpServers": {"here": {"type": "http", "url": "https://here.example/mcp", "headers": {"Authorization": "Bearer ${HERE}"}}}}, "/elsewhere": {"mcpServers": {"no": {"command": "no"}}}}}`)
	code = put(filepath.Join(p.folder, ".vscode", "mcp.json"), `{
		// comments are common here
		"inputs": [{"type": "promptString", "id": "key", "description": "The key", "password": true}, {"id": "team"}],
		"servers": {"paint": {"type": "http", "url": "https://paint.example/${input:team}", "headers": {"X-Key": "${input:key}"}}, "odd": 7,},
	}`)
	codex = put(filepath.Join(home, ".codex", "config.toml"), "model = \"x\"\n[mcp_servers.docs]\nurl = \"https://docs.example\"\nbearer_token_env_var = \"DOCS\"\nstartup_timeout_sec = 20\n"+
		"[mcp_servers.files]\ncommand = \"npx\"\nargs = [\"-y\", \"files\"]\nenv_vars = [\"ROOT\"]\n[mcp_servers.switch]\nenabled = false\n")
	put(filepath.Join(home, ".cursor", "mcp.json"), "no JSON")
	return code, codex
}

// Servers of other programs are found in the form that each has, and imported without
// their secrets' values: these go into the keyring, and variables stay variables.
func TestImportServers(t *testing.T) {
	t.Parallel()
	home, folder := t.TempDir(), t.TempDir()
	p := newPage(t, folder, t.TempDir(), func(name string) string {
		return map[string]string{"HOME": home, "USERPROFILE": home}[name]
	})
	put := writer(t)
	code, codex := othersFiles(p, home, put)
	list := must[mcp.ServerImportReply](p, "mcp.importable", backend.Empty{})
	source := func(path string) mcp.ServerImportSource {
		t.Helper()
		i := slices.IndexFunc(list.Sources, func(s mcp.ServerImportSource) bool { return s.Path == path })
		if i < 0 {
			t.Fatalf("%s is not among %+v", path, list.Sources)
		}
		return list.Sources[i]
	}
	names := func(s mcp.ServerImportSource) (out []string) {
		for _, server := range s.Servers {
			out = append(out, server.Draft.Name)
		}
		return out
	}
	if diff := cmp.Diff([]string{"here", "git"}, names(source(filepath.Join(home, ".claude.json")))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"docs", "files"}, names(source(codex))); diff != "" {
		t.Error(diff)
	}
	if source(filepath.Join(home, ".cursor", "mcp.json")).Problem == nil {
		t.Error("a file that cannot be read is not said to be one")
	}
	if b, err := json.Marshal(list); err != nil || strings.Contains(string(b), "ghp_secret") {
		t.Errorf("the page is told a secret: %s, %v", b, err)
	}
	paint := source(code).Servers[0]
	wanted := []mcp.ServerImportInput{{ID: "key", Description: "The key", Secret: true}, {ID: "team"}}
	slices.SortFunc(paint.Inputs, func(a, b mcp.ServerImportInput) int { return strings.Compare(a.ID, b.ID) })
	if diff := cmp.Diff(wanted, paint.Inputs); diff != "" {
		t.Error(diff)
	}

	take := func(s mcp.ServerImportSource, inputs map[string]string, names ...string) {
		t.Helper()
		must[backend.Empty](p, "mcp.import", mcp.ServerImportRequest{Path: s.Path, Seal: s.Seal, Names: names, Scope: agent.ScopeUser, Inputs: inputs})
	}
	take(source(code), map[string]string{"key": "k-123", "team": "blue"}, "paint")
	take(source(filepath.Join(home, ".claude.json")), nil, "git", "here")
	take(source(codex), nil, "docs", "files")
	b, err := os.ReadFile(filepath.Join(home, ".agent", "settings.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`https://paint.example/blue`, `"X-Key": "${secret}"`, `"GIT_TOKEN": "${secret}"`, `Bearer ${HERE}`, `Bearer ${DOCS}`, `"ROOT": "${ROOT}"`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("%s is not in the file:\n%s", want, b)
		}
	}
	if strings.Contains(string(b), "k-123") || strings.Contains(string(b), "ghp_secret") {
		t.Errorf("a secret stands in the file:\n%s", b)
	}
	put(code, `{"servers": {"paint": {"command": "rm"}}}`)
	if _, err := call[backend.Empty](p, "mcp.import", mcp.ServerImportRequest{Path: code, Seal: source(code).Seal, Names: []string{"paint"}, Scope: agent.ScopeUser}); err == nil {
		t.Error("another server was imported than the one that was shown")
	}
	if _, err := call[backend.Empty](p, "mcp.import", mcp.ServerImportRequest{Path: "/etc/passwd", Names: []string{"x"}, Scope: agent.ScopeUser}); err == nil {
		t.Error("servers were imported from anywhere")
	}
}

//go:build unix

package mcp

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
)

// An import keeps references and switches, asks for what the file asks for, and puts
// secrets into the keyring.
func TestImport(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.env["MY_KEY"] = "from the environment"
	y.put(filepath.Join(y.user, ".codex/config.toml"), `
[mcp_servers.codex]
command = "sh"
env_vars = ["MY_KEY"]
enabled = false
disabled_tools = ["drop"]
[mcp_servers.codex.env]
API_TOKEN = "tok-in-the-file"
[mcp_servers.only_a_switch]
enabled = false
`)
	y.put(".vscode/mcp.json", `{
		// with comments
		"inputs": [{"id": "key", "type": "promptString", "description": "The key", "password": true}],
		"servers": {"code": {"command": "sh", "trust": true, "env": {"KEY": "${input:key}"}}, "a__b": {"command": "sh"}},
	}`)
	reply, err := y.Importable(t.Context(), backend.Empty{})
	if err != nil || len(reply.Sources) != 2 {
		t.Fatalf("%+v, %v", reply, err)
	}
	codex, code := reply.Sources[0], reply.Sources[1]
	if len(codex.Servers) != 1 || codex.Servers[0].Draft.Env["MY_KEY"] != "${MY_KEY}" || codex.Servers[0].Draft.Env["API_TOKEN"] != "" {
		t.Errorf("%+v", codex)
	}
	if in := code.Servers[0].Inputs; len(in) != 1 || in[0] != (ServerImportInput{ID: "key", Description: "The key", Secret: true}) {
		t.Errorf("%+v", in)
	}
	take := func(s ServerImportSource, names ...string) error {
		_, err := y.Import(t.Context(), ServerImportRequest{
			Path: s.Path, Seal: s.Seal, Names: names, Scope: agent.ScopeUser, Inputs: map[string]string{"key": "tok-entered"},
		})
		return err
	}
	if err := take(code, "code", "a__b"); err == nil || len(y.rows()) != 0 {
		t.Errorf("%v, and there is %s", err, y.states())
	}
	for _, err := range []error{take(codex, "codex"), take(code, "code")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	text := y.read(filepath.Join(y.user, userFile))
	for _, secret := range []string{"tok-in-the-file", "tok-entered", "from the environment", "trust"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q is in %s", secret, text)
		}
	}
	for _, want := range []string{"${MY_KEY}", `"enabled": false`, `"drop"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
	if len(y.keys.held) != 2 {
		t.Errorf("the keyring has %d secrets", len(y.keys.held))
	}
	var told *backend.Error
	if err := take(code, "code"); !errors.As(err, &told) || told.ID != backend.ProblemServerTaken {
		t.Errorf("%v", err)
	}
	y.put(".vscode/mcp.json", `{"servers": {"code": {"command": "rm"}}}`)
	if err := take(code, "code"); !errors.As(err, &told) || told.ID != backend.ProblemServerImport {
		t.Errorf("%v", err)
	}
}

// Other programs keep their files where variables say, if these name a folder.
func TestImportFromFoldersOfVariables(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "darwin" {
		t.Skip("VS Code has one place there")
	}
	y := newYard(t)
	other := t.TempDir()
	y.put(filepath.Join(other, "Code/User/mcp.json"), `{"servers": {"code": {"command": "sh"}}}`)
	y.put(filepath.Join(other, "config.toml"), "[mcp_servers.codex]\ncommand = \"sh\"\n")
	for named, want := range map[string]int{"": 0, "relative": 0, other: 2} {
		y.env["XDG_CONFIG_HOME"], y.env["CODEX_HOME"] = named, named
		if reply, err := y.Importable(t.Context(), backend.Empty{}); err != nil || len(reply.Sources) != want {
			t.Errorf("%q: %+v, %v", named, reply, err)
		}
	}
}

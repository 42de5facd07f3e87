package cli_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent/llm/llmtest"
)

// nobody is a user without rights, because root may look into every process.
const nobody = 65534

// asOrdinaryUser makes the program run as a user other than root.
func (p *place) asOrdinaryUser(cmd *exec.Cmd) {
	p.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	program := filepath.Join(p.t.TempDir(), "atelier")
	from, err := os.Open(cmd.Path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(program, os.O_CREATE|os.O_WRONLY, 0o755) // readable, or the kernel hides the process itself
	if err != nil {
		p.t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		p.t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		p.t.Fatal(err)
	}
	cmd.Path = program
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	for _, dir := range []string{p.folder, filepath.Dir(p.home), filepath.Dir(program)} {
		for _, path := range []string{dir, filepath.Dir(dir)} {
			if err := os.Chmod(path, 0o755); err != nil {
				p.t.Fatal(err)
			}
		}
		if err := os.Chown(dir, nobody, nobody); err != nil {
			p.t.Fatal(err)
		}
	}
	for _, entry := range p.env { // HOME, XDG_RUNTIME_DIR
		if name, dir, _ := strings.Cut(entry, "="); name == "HOME" || name == "XDG_RUNTIME_DIR" {
			if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil {
				p.t.Fatal(err)
			}
			if err := os.Chown(dir, nobody, nobody); err != nil {
				p.t.Fatal(err)
			}
		}
	}
}

// LOOP-36, LOOP-124, K-35: a command finds no secret in its own environment,
// nor in that of the program or of its other children.
func TestCommandsFindNoSecrets(t *testing.T) {
	t.Parallel()
	const look = `env > mine; for p in /proc/[0-9]*; do tr '\0' '\n' < $p/environ; echo; done > all 2>/dev/null; echo looked`
	p := newPlace(t,
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": "true"})}},
		llmtest.Round{Calls: []llmtest.Call{llmtest.Use("Bash", map[string]string{"command": look})}},
		llmtest.Round{Text: "Done."})
	p.env = append(p.env, "GITHUBTOKEN=canary-of-the-test", "authToken=canary-of-the-test", "SLACK=https://hooks.slack.com/services/canary-of-the-test", "PLAIN=seen")
	cmd := p.command("run", "--model", "openai/test-model", "--permission-mode", "bypassPermissions", "go")
	p.asOrdinaryUser(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if n := len(p.server.Requests()); n != 3 {
		t.Errorf("%d requests", n)
	}
	for _, name := range []string{"mine", "all"} {
		data, err := os.ReadFile(filepath.Join(p.folder, name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), "PLAIN=seen") {
			t.Errorf("%s: a name that is not a secret is missing", name)
		}
		for _, secret := range []string{"sk-test-0123456789", "canary-of-the-test"} {
			if strings.Contains(string(data), secret) {
				t.Errorf("%s: shows %s", name, secret)
			}
		}
	}
}

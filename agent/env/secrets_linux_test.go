package env_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// confinedProject returns an environment whose commands are confined, in a folder that
// they see, and the home that they have.
func confinedProject(t *testing.T) (l *env.Local, project, home string) {
	t.Helper()
	if level := sandbox.Confinement(t.Context(), false); !level.Whole() {
		t.Skip(level.Sentence())
	}
	base, err := os.MkdirTemp("/var/tmp", "secrets") // commands have a /tmp of their own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	project, home = filepath.Join(base, "project"), filepath.Join(base, "home")
	put(t, home, map[string]string{".keep": ""})
	put(t, project, map[string]string{"main.go": "package main\n"})
	if l, err = env.NewLocal(project); err != nil {
		t.Fatal(err)
	}
	l.SpillDir = filepath.Join(base, "output")
	l.Confine = func(context.Context) (env.Confining, bool) {
		profile := func(c env.Command) confine.Profile {
			p := confine.Combine().At(confine.Place{Project: project, Home: home, Visible: []string{l.SpillDir}})
			if c.Exposed {
				p.Env = append(p.Env, "EXPOSED=1")
			}
			return p
		}
		return env.Confining{Profile: profile, Always: true}, true
	}
	t.Cleanup(func() { _ = l.Cleanup(context.Background()) })
	return l, project, home
}

func put(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func says(t *testing.T, l *env.Local, line string) string {
	t.Helper()
	r, err := l.Exec(t.Context(), env.Command{Line: line, Merge: true})
	if err != nil {
		t.Fatal(err)
	}
	return r.Stdout
}

// K-47: confined commands read neither the secrets of the project nor those of the
// home, and go on seeing where packages come from.
func TestSecretsAreHiddenFromConfinedCommands(t *testing.T) {
	t.Parallel()
	l, project, home := confinedProject(t)
	secrets := []string{
		".env", ".env.production", "web/.env.local", "deploy/server.pem", "deploy/id_ed25519", "deploy/service-account-1.json", "infra/prod.tfvars", ".ssh/config",
		"web/packages/api/.env.dev", "credentials.json", ".netrc",
	}
	for _, name := range secrets {
		put(t, project, map[string]string{name: "CANARY\n"})
	}
	open := []string{".env.example", ".env.sample", "web/environment.ts", "keys.go", "node_modules/dotenv/.env", "venv-like/.env/bin/activate", "venv-like/.env/pyvenv.cfg"}
	for _, name := range open {
		put(t, project, map[string]string{name: "open\n"})
	}
	put(t, project, map[string]string{".npmrc": "registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=CANARY\n", "web/.npmrc": "save-exact=true\n"})
	atHome := []string{
		".m2/settings-security.xml", ".gradle/daemon.properties/x", ".config/ngrok/ngrok.yml", ".netlify/config.json", ".fly/config.yml", ".sentryclirc", ".kaggle/kaggle.json",
		".databrickscfg", ".oci/config", ".sops/age/keys.txt", ".ngrok2/ngrok.yml", ".config/vercel/auth.json", ".local/share/atuin/key", ".cloudflared/cert.pem", ".huggingface/token", ".env", ".ansible/x", ".cargo/credentials.toml",
	}
	for _, name := range atHome {
		put(t, home, map[string]string{name: "CANARY\n"})
	}
	put(t, home, map[string]string{
		".npmrc":                    "@corp:registry=https://npm.corp.example/\n//npm.corp.example/:_authToken=CANARY\n",
		".config/pip/pip.conf":      "[global]\nindex-url = https://u:CANARY@pip.corp.example/simple\n",
		".m2/settings.xml":          "<mirror>m.example</mirror>\n<password>CANARY</password>\n",
		".gradle/gradle.properties": "a=b\n",
	})
	if got := says(t, l, "grep -rs CANARY . "+home+" | grep -v daemon.properties"); got != "" {
		t.Errorf("read:\n%s", got)
	}
	for _, name := range open {
		if got := says(t, l, "cat "+name); got != "open\n" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := says(t, l, "cat .npmrc web/.npmrc "+home+"/.npmrc "+home+"/.config/pip/pip.conf "+home+"/.m2/settings.xml "+home+"/.gradle/gradle.properties"); got != "registry=https://npm.corp.example/\nsave-exact=true\n@corp:registry=https://npm.corp.example/\n[global]\nindex-url = https://pip.corp.example/simple\n<mirror>m.example</mirror>\na=b\n" {
		t.Errorf("shown:\n%s", got)
	}
	r, err := l.Exec(t.Context(), env.Command{Line: "cat .env | cat", Merge: true})
	if err != nil {
		t.Fatal(err)
	}
	if b, ok := r.Confined.Explain(r.Stdout, r.ExitCode != 0); !ok || b.What != confine.BlockedRead || b.Path != ".env" {
		t.Errorf("explained %+v: %s", b, r.Stdout)
	}
	for _, line := range []string{"rm -f .env", "mv .env x", "echo x >.env", "mv web w2", "ln web/.env.local l", "cp .npmrc n; echo x >>.npmrc", "rm .npmrc"} {
		says(t, l, line)
	}
	if got := says(t, l, "grep -rs CANARY ."); got != "" {
		t.Errorf("read after changes:\n%s", got)
	}
	for _, name := range append(secrets, ".npmrc") {
		if text, err := os.ReadFile(filepath.Join(project, name)); err != nil || !strings.Contains(string(text), "CANARY") {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}

// A secret that appears between two commands is hidden from the next one, and one that
// a command adds to the repository stays hidden; what was tracked before is in the
// history anyway.
func TestSecretsThatComeAndGo(t *testing.T) {
	t.Parallel()
	l, project, _ := confinedProject(t)
	git := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = project, append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	put(t, project, map[string]string{".env.test": "TRACKED\n", ".env": "CANARY\n"})
	git("init", "-q")
	git("add", ".env.test")
	if got := says(t, l, "cat .env.test; cat .env"); !strings.HasPrefix(got, "TRACKED\n") || strings.Contains(got, "CANARY") {
		t.Errorf("first: %s", got)
	}
	git("add", "-f", ".env")
	if got := says(t, l, "cat .env"); strings.Contains(got, "CANARY") {
		t.Errorf("added: %s", got)
	}
	for i := range 5 {
		name := fmt.Sprintf("new%d/.env", i)
		put(t, project, map[string]string{name: "CANARY\n"})
		if got := says(t, l, "cat "+name); strings.Contains(got, "CANARY") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// Ten thousand secrets: commands run, as many as can be are hidden, and then no host
// is reached.
func TestMoreSecretsThanCanBeHidden(t *testing.T) {
	t.Parallel()
	l, project, _ := confinedProject(t)
	many := map[string]string{}
	for i := range 10_000 {
		many[fmt.Sprintf(".env.dev%d", i)] = "CANARY\n"
	}
	if got := says(t, l, "echo ${EXPOSED:-hidden}"); got != "hidden\n" {
		t.Errorf("before: %s", got)
	}
	put(t, project, many)
	if got := says(t, l, "echo ${EXPOSED:-hidden}; cat .env.dev0"); !strings.HasPrefix(got, "1\n") || strings.Contains(got, "CANARY") {
		t.Errorf("many: %s", got)
	}
}

package permission_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/network"
	"atelier.dev/atelier/agent/network/proxy"
	"atelier.dev/atelier/agent/permission"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
	"atelier.dev/atelier/agent/tool"
)

// autoProject is a project whose commands are judged and run as in the mode auto.
type autoProject struct {
	t         *testing.T
	dir, home string
	bash      agent.Tool
	gate      *permission.Policy
	reached   atomic.Int32 // how often a server of this machine was asked
	port      string
	holds     bool // commands are confined; else the mode auto asks
}

const outsideCanary = "canary-88d1"

func newAutoProject(t *testing.T) *autoProject {
	t.Helper()
	base, err := os.MkdirTemp("/var/tmp", "auto-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	p := &autoProject{t: t, holds: sandbox.Confinement(t.Context(), false).Holds(), dir: filepath.Join(base, "project"), home: filepath.Join(base, "home")}
	for name, text := range map[string]string{
		"project/a.txt": "one\n", "project/b.txt": "three\n", "project/src/x.py": "print('x')\n", "project/ok.js": "", "project/test_x.py": "",
		"project/go.mod": "module example.com/day\n\ngo 1.22\n", "project/main.go": "package main\n\nfunc main() { println(\"day\") }\n",
		"project/main_test.go": "package main\n\nimport \"testing\"\n\nfunc TestX(t *testing.T) {}\n",
		"project/package.json": `{"name":"day","scripts":{"test":"node ok.js","build":"node ok.js"}}` + "\n",
		"project/Makefile":     "all:\n\t@echo all\ntest:\n\t@echo test\n", "project/c/hello.c": "#include <stdio.h>\nint main(void) { puts(\"hello\"); return 0; }\n",
		"project/script.sh": "#!/bin/sh\necho script\n", "project/.gitignore": "bin/\n*.log\n.venv/\n",
		"home/.gitconfig": "[user]\n\tname = x\n\temail = x@y.example\n", "home/.bashrc": "# mine\n", "home/.ssh/id_ed25519": outsideCanary + "\n",
		"home/.aws/credentials": outsideCanary + "\n", "home/.netrc": "machine x password " + outsideCanary + "\n", "home/.config/gh/hosts.yml": outsideCanary + "\n",
		"home/.npmrc": "//registry.npmjs.org/:_authToken=" + outsideCanary + "\n", "home/.docker/config.json": outsideCanary + "\n",
		"home/.local/bin/tool": "#!/bin/sh\n", "home/.config/autostart/x.desktop": "", "home/.profile": "", "neighbour/file.txt": "theirs\n",
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Chmod(filepath.Join(p.dir, "script.sh"), 0o755)
	if cache, err := os.UserCacheDir(); err == nil { // what confined commands see, and leave as it is
		_ = os.MkdirAll(filepath.Join(p.home, ".cache"), 0o755)
		_ = os.Symlink(filepath.Join(cache, "go-build"), filepath.Join(p.home, ".cache/go-build"))
	}
	setUp := exec.CommandContext(t.Context(), "bash", "-c", "git init -q -b main && git add -A && git commit -qm first && echo more >>a.txt && git commit -qam second && git remote add origin https://git.example.com/x.git && "+
		"git config branch.main.remote origin && git config branch.main.merge refs/heads/main")
	setUp.Dir, setUp.Env = p.dir, append(os.Environ(), "HOME="+p.home, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := setUp.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) { p.reached.Add(1) })}
	go func() { _ = server.Serve(listener) }() // ends with the listener
	t.Cleanup(func() { _ = server.Close() })
	_, p.port, _ = net.SplitHostPort(listener.Addr().String())
	p.assemble(base)
	return p
}

func (p *autoProject) assemble(base string) {
	local, err := env.NewLocal(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { _ = local.Cleanup(context.WithoutCancel(p.t.Context())) })
	place := confine.Place{Project: p.dir, Home: p.home, Temp: filepath.Join(base, "tmp"), Cache: filepath.Join(base, "cache")}
	for _, dir := range []string{place.Temp, place.Cache} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			p.t.Fatal(err)
		}
	}
	local.Confine = func(context.Context) (env.Confining, bool) {
		if !p.holds {
			return env.Confining{}, false
		}
		return env.Confining{Auto: true, Outside: true, Profile: func(env.Command) confine.Profile {
			profile := confine.Combine().At(place)
			profile.Proxy = proxy.New(network.Dialer{})
			profile.Env = append(profile.Env, "HOME="+p.home, "GIT_CONFIG_NOSYSTEM=1", "npm_config_fetch_retries=0", "npm_config_update_notifier=false", "EDITOR=true")
			return profile
		}}, true
	}
	for _, each := range tool.Builtin(local, tool.Options{}) {
		if each.Spec().Name == "Bash" {
			p.bash = each
		}
	}
	if p.gate, err = permission.New(p.dir, permission.Rules{Undo: true}); err != nil {
		p.t.Fatal(err)
	}
}

// run judges a line as the mode auto does, and runs it if nobody is asked.
func (p *autoProject) run(line string) (asked bool, result agent.Result) {
	p.t.Helper()
	line, behind := strings.CutPrefix(line, "behind ")
	in := map[string]any{"command": line}
	if behind {
		in["run_in_background"] = true
	} else {
		in["timeout"] = 300_000
	}
	input, err := json.Marshal(in)
	if err != nil {
		p.t.Fatal(err)
	}
	call := agent.GateCall{Tool: "Bash", Input: input, Mode: agent.ModeAuto}
	call.Access = p.bash.(agent.Accessor).Access(p.t.Context(), input).In(call.Mode)
	if v := p.gate.Decide(p.t.Context(), call); v.Decision != agent.Allow {
		return true, agent.Result{Output: v.Reason}
	}
	if p.holds && call.Access.Confinement != agent.ConfinedFree {
		p.t.Fatalf("%s runs %q", line, call.Access.Confinement)
	}
	return false, p.bash.Run(p.t.Context(), agent.Invocation{CallID: "1", Input: input, Output: func(string) {}})
}

// linesOf reads a file of lines, which go on where a here-document or a quotation does.
func linesOf(t *testing.T, name string) (lines []string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	open := false
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		if open {
			lines[len(lines)-1] += "\n" + line
			open = line != "EOF"
			continue
		}
		if line == ")\"" { // the end of a quotation around a here-document
			lines[len(lines)-1] += "\n" + line
			continue
		}
		switch {
		case line == "", strings.HasPrefix(line, "#"), strings.HasPrefix(line, "--"):
			continue
		}
		lines = append(lines, line)
		open = strings.Contains(line, "<<'EOF'")
	}
	return lines
}

// optional are the programs of the list that not every computer has.
var optional = strings.Fields("go gofmt node npm npx python3 make gcc jq docker sqlite3 ssh ssh-keygen apt-get curl file")

// OAS-118, OAS-623, K-47: a day's work in the mode auto. Nearly nothing is asked, what is
// asked is asked rightly, and what is refused says so in a sentence.
func TestADayInAuto(t *testing.T) {
	t.Parallel()
	p := newAutoProject(t)
	if !p.holds {
		t.Skip("commands cannot be confined here")
	}
	asked, all := 0, 0
	for _, line := range linesOf(t, "day.txt") {
		line, wantAsk := strings.CutPrefix(line, "ask ")
		line, wantFail := strings.CutPrefix(line, "fail ")
		program, _, _ := strings.Cut(line, " ")
		if _, err := exec.LookPath(program); err != nil && slices.Contains(optional, program) {
			continue
		}
		if (program == "go" || strings.Contains(line, " go ")) && os.Getenv(situationVariable) != "" {
			continue // it would build its library for each user again
		}
		all++
		was, result := p.run(line)
		if was {
			asked++
		}
		failed := strings.Contains(result.Output, "[Exit code ")
		explained := strings.Contains(result.Output, "confined") || strings.Contains(result.Output, "refused hosts")
		switch {
		case was != wantAsk:
			t.Errorf("asked %t, want %t: %s\n%s", was, wantAsk, line, result.Output)
		case was:
		case failed != wantFail || result.IsError:
			t.Errorf("failed %t, want %t: %s\n%s", failed, wantFail, line, result.Output)
		case program == "apt-get" && os.Getuid() != 0: // it fails outside, too
		case wantFail && !explained:
			t.Errorf("no sentence: %s\n%s", line, result.Output)
		case !wantFail && explained:
			t.Errorf("explained although it worked: %s\n%s", line, result.Output)
		}
	}
	if asked > 10 || all < 120 {
		t.Errorf("%d of %d are asked", asked, all)
	}
	t.Logf("%d of %d lines are asked about", asked, all)
}

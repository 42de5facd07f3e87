package sandbox

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
)

func TestNothingWaitsForAPerson(t *testing.T) { // R-STDIN
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("WWW-Authenticate", `Basic realm="private"`)
		w.WriteHeader(http.StatusUnauthorized)
	}))
	t.Cleanup(server.Close)
	tests := map[string]struct{ script, want string }{
		"terminal":         {`read -r x </dev/tty`, "No such device"},
		"cat":              {`cat && echo ended`, "ended"},
		"read":             {`read -r x || echo ended`, "ended"},
		"python":           {`command -v python3 >/dev/null || exec echo EOFError; python3 -c 'input()'`, "EOFError"},
		"git over http":    {`git clone ` + server.URL + `/x.git clone`, "terminal prompts disabled"},
		"git commit":       {`git init -q . && git -c user.name=a -c user.email=a@b commit --allow-empty`, "editor"},
		"ssh askpass":      {`$SSH_ASKPASS password || echo refused`, "refused"},
		"debconf":          {`echo $DEBIAN_FRONTEND`, "noninteractive"},
		"pager":            {`git init -q p && cd p && git -c user.name=a -c user.email=a@b commit -qm x --allow-empty && git -c core.pager= log -p --oneline`, "x"},
		"no session's own": {`[ "$(ps -o tty= -p $$)" = "?" ] && echo none`, "none"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := bash(tt.script)
			spec.Dir, spec.Merge, spec.Timeout = t.TempDir(), true, 10*time.Second
			got, err := Run(t.Context(), spec)
			if err != nil || got.TimedOut || !strings.Contains(got.Stdout, tt.want) {
				t.Errorf("Run = %+v, %v; want %q", got, err, tt.want)
			}
		})
	}
}

func TestReadOnlyCommandsChangeNothing(t *testing.T) { // LOOP-37
	t.Parallel()
	if !CanConfine(t.Context()) {
		t.Skip("commands cannot be confined here")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte("kept\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	home := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(home.Close)
	tests := map[string]struct {
		script string
		ok     bool
	}{
		"reads":          {`cat file && pwd && [ "$PWD" = ` + dir + ` ]`, true},
		"temporary file": {`echo x >$TMPDIR/own && cat $TMPDIR/own`, true},
		"null device":    {`echo x >/dev/null`, true},
		"exit code":      {`exit 0`, true},
		"truncates":      {`: >file`, false},
		"creates":        {`touch new`, false},
		"removes":        {`rm -f file`, false},
		"renames":        {`mv file other`, false},
		"changes mode":   {`chmod 777 file`, false},
		"through proc":   {`echo x >/proc/self/root` + dir + `/file`, false},
		"remounts":       {`mount -o remount,rw / && touch new`, false},
		"nests":          {`unshare -rm true`, false},
		"signals":        {`kill -0 ` + "$OUTSIDE", false},
		"network":        {`exec 3<>/dev/tcp/` + strings.ReplaceAll(strings.TrimPrefix(home.URL, "http://"), ":", "/"), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := bash(tt.script)
			spec.Dir, spec.Confine, spec.Timeout = dir, &confine.Profile{}, 10*time.Second
			spec.Env = append(os.Environ(), "OUTSIDE="+filepath.Base(must(os.Readlink("/proc/self"))), "PWD="+dir)
			got, err := Run(t.Context(), spec)
			if err != nil || (got.ExitCode == 0) != tt.ok {
				t.Errorf("Run = %+v, %v", got, err)
			}
			if data, err := os.ReadFile(filepath.Join(dir, "file")); string(data) != "kept\n" {
				t.Errorf("the file has %q, %v", data, err)
			}
		})
	}
}

func must(s string, err error) string {
	if err != nil {
		panic(err)
	}
	return s
}

func TestLoginPath(t *testing.T) { // not parallel: it sets the environment
	dir := t.TempDir()
	shell := filepath.Join(dir, "shell")
	tool := filepath.Join(dir, "bin", "only-in-a-terminal")
	for path, script := range map[string]string{
		tool:  "#!/bin/sh\necho found\n",
		shell: "#!/bin/bash\necho noise\nexport PATH=" + dir + "/bin:relative:/usr/bin\n[ \"$1$2$3\" = -l-i-c ] && eval \"$4\"; echo more noise\n",
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { loginPath.Store(nil) })
	t.Setenv("PATH", "/usr/bin:/bin:.")
	t.Setenv("SHELL", shell)
	t.Setenv("TERM", "xterm")
	if err := UseLoginPath(t.Context()); err != nil || loginPath.Load() != nil {
		t.Errorf("in a terminal: %v; want it left alone", err)
	}
	t.Setenv("TERM", "")
	if err := UseLoginPath(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := Run(t.Context(), bash("only-in-a-terminal; echo $PATH"))
	if want := "found\n" + dir + "/bin:/usr/bin:/bin\n"; err != nil || got.Stdout != want {
		t.Errorf("output %q, %v; want %q", got.Stdout, err, want)
	}
	if got := LookPath("only-in-a-terminal"); got != tool {
		t.Errorf("LookPath = %q", got)
	}
	if got, err := Run(t.Context(), Spec{Argv: []string{"only-in-a-terminal"}}); err != nil || got.Stdout != "found\n" {
		t.Errorf("Run by name: %+v, %v", got, err)
	}
	if os.Getenv("PATH") != "/usr/bin:/bin:." {
		t.Error("the program's own environment was changed")
	}
	for name, shell := range map[string]string{"none": "", "no shell": "/bin/false", "relative": "bash"} {
		t.Setenv("SHELL", shell)
		if err := UseLoginPath(t.Context()); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func FuzzLoginPath(f *testing.F) {
	f.Add("noise\nFENCE\n/a:/b\nFENCE\n")
	f.Add("FENCE\nFENCE\n")
	f.Fuzz(func(t *testing.T, output string) {
		path, ok := fenced(output, "FENCE")
		if ok && (path == "" || strings.Contains(path, "\n") || !strings.Contains(output, "FENCE\n"+path+"\nFENCE")) {
			t.Errorf("%q in %q", path, output)
		}
		for _, dir := range filepath.SplitList(joinPaths(path)) {
			if !filepath.IsAbs(dir) {
				t.Errorf("%q in %q", dir, path)
			}
		}
	})
}

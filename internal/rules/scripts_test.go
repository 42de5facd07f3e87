package rules

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// stubs replace the programs that the scripts call. They record their
// arguments, and npm runs nothing without the packages that it installs.
var stubs = map[string]string{
	"dpkg-query": `shift 3; for p; do echo "$p installed"; done`, // -W -f FORMAT
	"apt-get":    `exit 1`,
	"sudo":       `exit 1`,
	"node":       `echo v20.19.0`,
	"npm": `echo "npm $*" >>"$CALLS"
case $1 in ci) mkdir -p node_modules ;; *) [ -d node_modules ] || { echo "vite: not found"; exit 127; } ;; esac`,
	"npx":   `[ -d node_modules ]`,
	"patch": `cat >/dev/null`,
	"go": `echo "go $*" >>"$CALLS"
case $1 in env) echo go1.26.0 ;; list) mkdir -p wails && echo wails ;; install) n=${2%@*}; n=${n##*/}; mkdir -p "$GOBIN"; printf '#!/bin/sh\n' >"$GOBIN/$n"; chmod +x "$GOBIN/$n" ;; esac`,
}

// The targets of the Makefile install what they need in a fresh clone, once.
func TestMakeSetsUpFirst(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the scripts are for Linux")
	}
	for _, target := range []string{"build", "gen", "fmt", "lint", "bench", "bench-page"} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			clone, bin := freshClone(t), t.TempDir()
			for name, body := range stubs {
				writeFile(t, filepath.Join(bin, name), "#!/bin/sh\n"+body+"\n", 0o700)
			}
			calls := filepath.Join(bin, "calls")
			for range 2 {
				cmd := exec.Command("make", "-C", clone, target)
				cmd.Env = []string{"PATH=" + bin + ":/usr/bin:/bin", "CALLS=" + calls, "HOME=" + bin}
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("make %s: %v\n%s", target, err, out)
				}
			}
			made, err := os.ReadFile(calls)
			if err != nil || strings.Count(string(made), "npm ci ") != 1 {
				t.Errorf("make %s twice called %s, %v", target, made, err)
			}
		})
	}
}

// freshClone returns a folder with the scripts, in which nothing is built or
// installed.
func freshClone(t *testing.T) string {
	t.Helper()
	clone := t.TempDir()
	scripts, err := filepath.Glob("scripts/*.sh")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(scripts, "Makefile", "go.mod", "go.sum", "frontend/package-lock.json") {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(clone, name), string(content), 0o700)
	}
	return clone
}

func writeFile(t *testing.T, path, content string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), mode); err != nil {
		t.Fatal(err)
	}
}

package sandbox

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atelier.dev/atelier/agent/sandbox/confine"
	"github.com/google/go-cmp/cmp"
)

// canary is what no confined command may show or change.
const canary = "canary-4f1d"

// yard is a project with its surroundings: a home with secrets, a folder beside
// the project, and servers of this machine that nobody may reach.
type yard struct {
	base, project string
	profile       confine.Profile
	by            enforcer
	port          string
	reached       atomic.Int32
}

// allMeans are the means of Linux, as far as they work here.
func allMeans() map[string]enforcer {
	return map[string]enforcer{"launcher": wholeLauncher(), "weaker": weakerLauncher(), "landlock": findLandlock(confine.Level{})}
}

// everyMeans runs a test with each of them.
func everyMeans(t *testing.T, test func(t *testing.T, y *yard)) {
	t.Helper()
	with(t, allMeans(), func(t *testing.T, by enforcer) {
		y := newYard(t)
		y.by = by
		test(t, y)
	})
}

// everyNamespace runs a test with those that give a command namespaces.
func everyNamespace(t *testing.T, test func(t *testing.T, by enforcer)) {
	t.Helper()
	means := allMeans()
	delete(means, "landlock")
	with(t, means, test)
}

func with(t *testing.T, means map[string]enforcer, test func(t *testing.T, by enforcer)) {
	t.Helper()
	for name, by := range means {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if !by.level().Works() {
				t.Skip(by.level().Sentence() + " " + by.level().Detail)
			}
			test(t, by)
		})
	}
}

// newYard builds one in /var/tmp, because a command has a /tmp of its own.
func newYard(t *testing.T) *yard {
	t.Helper()
	if !CanConfine(t.Context()) {
		t.Skip("commands cannot be confined here")
	}
	base, err := os.MkdirTemp("/var/tmp", "yard")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	y := &yard{base: base, project: filepath.Join(base, "project")}
	for name, content := range map[string]string{
		"outside/file": "untouched", "home/.ssh/id_ed25519": canary, "home/.netrc": canary, "home/.config/gh/hosts.yml": canary,
		"home/open": "readable", "project/main.go": "package main\n", "project/.agent/settings.json": "{}", "project/.github/workflows/ci.yml": "on: push",
	} {
		path := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"temp", "home/.gnupg"} {
		if err := os.Mkdir(filepath.Join(base, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	in := func(root string, names ...string) (paths []string) {
		for _, name := range names {
			paths = append(paths, filepath.Join(base, root, name))
		}
		return paths
	}
	y.profile = confine.Profile{
		Writable: []string{y.project}, Temp: filepath.Join(base, "temp"),
		Protected: in("project", ".git", ".agent", ".claude", ".mcp.json", ".vscode", ".github/workflows"),
		Hidden:    in("home", ".ssh", ".netrc", ".config/gh", ".gnupg", ".absent"),
	}
	y.serve(t)
	if r := y.free(t, "git init -q && git add -A && git -c user.name=a -c user.email=a@b commit -qm first"); r.ExitCode != 0 {
		t.Fatal(r.Stdout)
	}
	return y
}

// serve counts connections to a socket of each kind.
func (y *yard) serve(t *testing.T) {
	t.Helper()
	for network, address := range map[string]string{
		"tcp": "127.0.0.1:0", "unix": filepath.Join(y.project, "socket"), "abstract": "@" + filepath.Base(y.base),
	} {
		if network == "abstract" {
			network = "unix"
		}
		l, err := net.Listen(network, address)
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := l.Addr().(*net.TCPAddr); ok {
			y.port = strconv.Itoa(a.Port)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() { // ends with the listener
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				y.reached.Add(1)
				_ = c.Close()
			}
		}()
	}
}

func (y *yard) spec(line string) Spec {
	replaced := strings.NewReplacer("BASE", y.base, "PORT", y.port, "ABSTRACT", filepath.Base(y.base)).Replace(line)
	return Spec{
		by: y.by, Argv: []string{"/bin/bash", "--norc", "--noprofile", "-c", replaced}, Dir: y.project, Merge: true, Timeout: 20 * time.Second,
		Env: append(Filter{}.Apply(os.Environ()), "HOME="+filepath.Join(y.base, "home")),
	}
}

func (y *yard) free(t *testing.T, line string) Result {
	t.Helper()
	return y.run(t, y.spec(line))
}

func (y *yard) confined(t *testing.T, line string) Result {
	t.Helper()
	spec := y.spec(line)
	spec.Confine = &y.profile
	return y.run(t, spec)
}

func (y *yard) run(t *testing.T, spec Spec) Result {
	t.Helper()
	r, err := Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// kept returns what must stay as it is: everything but the project's ordinary
// files and the folder for temporary ones.
func (y *yard) kept(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(y.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(y.base, path)
		ordinary := name == "temp" || strings.HasPrefix(name, "project/") && !strings.HasPrefix(name, "project/.")
		if ordinary && d.IsDir() {
			return fs.SkipDir
		}
		if ordinary || name == "project" {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		found[name] = info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			found[name] += " " + string(data)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// tidy removes the ordinary files that a command left in the project.
func (y *yard) tidy(t *testing.T) {
	t.Helper()
	entries, err := os.ReadDir(y.project)
	for _, e := range entries {
		if err == nil && e.Name()[0] != '.' && e.Name() != "socket" {
			err = os.RemoveAll(filepath.Join(y.project, e.Name()))
		}
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(y.project, "main.go"), []byte("package main\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// attacks are lines that try to get out. BASE is the folder of the yard.
var attacks = map[string]string{
	"write outside":            `echo x >BASE/outside/file`,
	"create outside":           `echo x >BASE/outside/new; mkdir BASE/outside/dir`,
	"write by a relative path": `echo x >../outside/file`,
	"write through the root":   `echo x >/proc/self/root/BASE/outside/file; echo x >/proc/1/root/BASE/outside/file`,
	"write through a parent":   `echo x >/proc/$PPID/root/BASE/outside/file; echo x >/proc/$PPID/cwd/../outside/file`,
	"write through a link":     `ln -s BASE/outside link && echo x >link/file; ln -sf BASE/outside/file link2 && echo x >link2`,
	"truncate, mode, times":    `truncate -s0 BASE/outside/file; chmod 0 BASE/outside/file; touch -d 1999-01-01 BASE/outside/file`,
	"rename in and out":        `mv BASE/outside/file here; mv main.go BASE/outside/`,
	"hard link":                `ln BASE/outside/file hard && echo x >hard; ln BASE/home/.ssh/id_ed25519 key && cat key`,
	"remove":                   `rm -rf BASE/outside BASE/home`,
	"write home":               `echo x >~/.bashrc; echo x >~/.profile; mkdir ~/.config/autostart`,

	"read secrets":              `cat ~/.ssh/id_ed25519 ~/.netrc ~/.config/gh/hosts.yml; cat <~/.netrc`,
	"read through the root":     `cat /proc/self/root/BASE/home/.ssh/id_ed25519 /proc/1/root/BASE/home/.netrc`,
	"read through a link":       `ln -s BASE/home/.ssh s; cat s/id_ed25519; ln -s BASE/home/.netrc n; cat n`,
	"read with tools":           `tar cf - ~/.ssh ~/.netrc; git hash-object -w --stdin <~/.netrc; git diff --no-index /dev/null ~/.netrc; dd if=BASE/home/.netrc`,
	"read past the mount":       `umount ~/.ssh; umount -l ~/.netrc; cat ~/.ssh/* ~/.netrc`,
	"read a parent's variables": `cat /proc/$PPID/environ /proc/*/environ | tr '\0' '\n' | grep ATELIER_TEST_CANARY`,

	"write a hook":                   `echo x >.git/hooks/pre-commit; mkdir -p .git/hooks; echo x >.git/hooks/post-checkout`,
	"write the repository's config":  `git config core.fsmonitor /tmp/evil; git config core.hooksPath .; echo x >>.git/config`,
	"replace the repository":         `mv .git old; rm -rf .git; mkdir .git; git init -q .`,
	"write settings":                 `echo '{"x":1}' >.agent/settings.json; echo x >.agent/local-settings.json`,
	"replace settings":               `mv .agent a; mkdir .agent; echo x >.agent/settings.json; rm -rf .agent; ln -s /tmp .agent`,
	"create absent settings":         `mkdir -p .claude; echo '{"hooks":1}' >.claude/settings.json; echo x >.mcp.json; mkdir -p .vscode; echo x >.vscode/tasks.json`,
	"replace what is not there":      `rmdir .claude .mcp.json .vscode; mv .claude c; rm -rf .mcp.json; echo x >.mcp.json; ln -sfn /tmp .vscode`,
	"rename into absent settings":    `mkdir c; echo x >c/settings.json; mv -T c .claude; echo x >m; mv -f m .mcp.json`,
	"rename a parent of a workflow":  `mv .github g; mkdir -p .github/workflows; echo x >.github/workflows/ci.yml`,
	"settings through the file tree": `echo x >/proc/self/root/BASE/project/.mcp.json; echo x >/proc/self/cwd/.mcp.json`,

	"namespaces of users":   `unshare -U echo ` + canary + `; python3 -c 'import ctypes; l = ctypes.CDLL(None); [print("` + canary + `") for f in (l.unshare, lambda n: l.syscall(56, n | 17, 0, 0, 0, 0)) if f(0x10000000) >= 0]'`,
	"memory that is shared": `python3 -c 'import ctypes; [print("` + canary + `") for n in (321, 323) if ctypes.CDLL(None).syscall(n, 0, 0, 0) >= 0]'`,
	"own namespaces":        `unshare -Ur sh -c 'mount -o remount,rw /; echo x >BASE/outside/file'; bwrap --bind / / sh -c 'echo x >BASE/outside/file'`,
	"remount":               `mount -o remount,rw,bind /; mount -o remount,rw BASE/outside; echo x >BASE/outside/file`,
	"devices":               `mknod disk b 254 0; cat /dev/vda | head -c9; ls /dev/mem`,

	"this machine's ports":   `echo x >/dev/tcp/127.0.0.1/PORT; echo x >/dev/tcp/localhost/PORT; curl -s -m2 http://127.0.0.1:PORT`,
	"names":                  `getent ahosts example.com && echo ` + canary + `; echo x >/dev/udp/1.1.1.1/53 && echo ` + canary,
	"other machines":         `echo x >/dev/tcp/1.1.1.1/80 && echo ` + canary + `; ping -c1 -W1 1.1.1.1 && echo ` + canary + `; curl -sm2 http://1.1.1.1 && echo ` + canary,
	"sockets in the project": `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("BASE/project/socket")'; nc -U BASE/project/socket </dev/null`,
	"abstract sockets":       `python3 -c 'import socket; socket.socket(socket.AF_UNIX).connect("\0ABSTRACT")'`,
	"sockets of the system":  `ls -A /run /var/run | grep -E 'sock|dbus|docker|user' && echo ` + canary + `; test -n "$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$DISPLAY" && echo ` + canary,

	"the machine's settings": `for f in vm/swappiness kernel/core_pattern kernel/modprobe user/max_user_namespaces; do
		old=$(cat /proc/sys/$f) && echo "$old" >/proc/sys/$f && echo ` + canary + `; done 2>/dev/null
		for f in /proc/sysrq-trigger $(find /proc/fs /proc/irq /proc/acpi /proc/scsi -type f 2>/dev/null | head -20); do : >>$f && echo ` + canary + `; done 2>/dev/null; true`,
	"other processes": `kill -9 $PPID 2>/dev/null; kill -9 -1; true`,
	"see others":      `for p in /proc/[0-9]*; do grep -l atelier[-]guard $p/cmdline && echo ` + canary + `; done`,
}

// Nothing that a command tries changes, shows or reaches what is not its own;
// what git sees of the project is the same as before.
func TestAttacksFail(t *testing.T) {
	t.Parallel()
	everyMeans(t, attack)
}

// unheld are the attacks that Landlock alone does not hold, which its level
// says, and what is left of them that it holds.
var unheld = map[string]string{
	"truncate, mode, times": `truncate -s0 BASE/outside/file`, // modes and times are changed
	"see others":            `true`,
}

func attack(t *testing.T, y *yard) {
	before := y.kept(t)
	for name, line := range attacks {
		if left, ok := unheld[name]; ok && y.by.level().By == confine.Landlock {
			line = left
		}
		r := y.confined(t, line)
		settle()
		if strings.Contains(r.Stdout, canary) {
			t.Errorf("%s: a secret is shown, or something reached:\n%s", name, r.Stdout)
		}
		if diff := cmp.Diff(before, y.kept(t)); diff != "" {
			t.Fatalf("%s: (-before +after)\n%s\n%s", name, diff, r.Stdout)
		}
		if n := y.reached.Swap(0); n != 0 {
			t.Errorf("%s: %d connections:\n%s", name, n, r.Stdout)
		}
		y.tidy(t)
		if r := y.free(t, "GIT_OPTIONAL_LOCKS=0 git status --porcelain"); r.Stdout != "" {
			t.Errorf("%s: git sees:\n%s", name, r.Stdout)
		}
	}
}

// Ordinary work goes on.
func TestConfinedCommandsWork(t *testing.T) {
	t.Parallel()
	everyMeans(t, work)
}

// work does what needs no more than a profile gives. With Landlock alone nothing
// appears in the project's own folder, in /tmp itself and in shared memory.
func work(t *testing.T, y *yard) {
	own := []string{
		`echo x >new && cat new && mkdir -p a/b && mv new a/b && rm -r a`,
		`echo kept >/tmp/kept && test "$TMPDIR" = /tmp && mktemp`,
		`grep kept /tmp/kept`, // by the command before
		`: >/dev/shm/x`,
		`ln main.go hard && ln -s main.go soft && chmod +x hard && rm hard soft`,
	}
	if y.by.level().By == confine.Landlock {
		own = []string{
			`! mkdir a && ! echo x >new && ! mv main.go sub && ls && cat main.go && echo "package main" >main.go`,
			`cd sub && echo x >new && cat new && mkdir -p a/b && mv new a/b && cp -r a c && rm -r a c`,
			`cd sub && echo x >f && ln f hard && ln -s f soft && chmod +x hard && mv hard ../sub2 && mv ../sub2/hard . && rm f hard soft`,
			`echo kept >$TMPDIR/kept && test "$TMPDIR" = BASE/temp && mktemp`,
			`grep kept $TMPDIR/kept`,
			`chmod +x main.go && chmod -x main.go && touch main.go && ls -a . .git .github/workflows`,
		}
	}
	for _, dir := range []string{"sub", "sub2"} {
		if err := os.Mkdir(filepath.Join(y.project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, line := range append(own,
		`test "$PWD" = BASE/project && test "$(pwd -P)" = BASE/project`,
		`cat BASE/outside/file ~/open`,
		`git status --porcelain && git log --oneline && git diff && git blame main.go && git grep package`,
		`echo x >/dev/null && cat <(echo y) <<<z && head -c3 /dev/urandom >/dev/null`,
		`(sleep 0.01; echo later) & wait`,
		`test "$(id -u)" = `+strconv.Itoa(os.Getuid()),
		`exit 0`,
	) {
		if r := y.confined(t, line); r.ExitCode != 0 {
			t.Errorf("%s: exit %d\n%s", line, r.ExitCode, r.Stdout)
		}
	}
	if r := y.confined(t, "exit 7"); r.ExitCode != 7 {
		t.Errorf("exit code %d", r.ExitCode)
	}
}

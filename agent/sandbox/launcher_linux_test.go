package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"atelier.dev/atelier/agent/sandbox/confine"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// needsLauncher skips a test of what only the launcher has.
func needsLauncher(t testing.TB) launcher {
	t.Helper()
	l := wholeLauncher()
	if l.found.Works() {
		return l
	}
	t.Skip(l.found.Detail)
	return l
}

// Where it works, the launcher is used, and the level says so.
func TestTheLauncherComesFirst(t *testing.T) {
	t.Parallel()
	needsLauncher(t)
	if level := means(false).level(); level.By != confine.Namespaces || !level.Whole() || !strings.Contains(level.Sentence(), "namespaces") {
		t.Errorf("%+v", level)
	}
}

// The file that is executed cannot be changed, not even by the program that made it.
func TestTheLauncherIsSealed(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	file, err := os.OpenFile(l.program, os.O_RDWR, 0)
	if err != nil {
		t.Skip(err) // even better
	}
	defer file.Close()
	if _, err := file.Write([]byte("x")); err == nil {
		t.Error("it was written")
	}
	if err := file.Truncate(0); err == nil {
		t.Error("it was emptied")
	}
}

// rightless shows what is left of the rights of a command, and which descriptors
// it has besides its own three and that of the listing.
const rightless = `grep -E '^(Cap|NoNewPrivs|Seccomp:)' /proc/self/status; cd /proc/self/fd; for f in *; do [ "$f" -gt 2 ] && readlink $f; done; true`

func TestACommandHasNoRightsAndNoDescriptors(t *testing.T) {
	t.Parallel()
	everyNamespace(t, func(t *testing.T, by enforcer) {
		y := newYard(t)
		y.by = by
		// A descriptor that a library forgot to close in children.
		leak, err := unix.Open(filepath.Join(y.base, "home/.netrc"), unix.O_RDONLY, 0) //nolint:gosec // on purpose
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(leak)
		got := y.confined(t, rightless).Stdout
		want := "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nCapAmb:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\n"
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

// A program with the mark to run as another user runs as the same one.
func TestSetuidHasNoEffect(t *testing.T) {
	t.Parallel()
	everyNamespace(t, func(t *testing.T, by enforcer) {
		y := newYard(t)
		y.by = by
		program := filepath.Join(y.project, "id")
		if err := copyFile(program, "/usr/bin/id"); err != nil {
			t.Fatal(err)
		}
		if os.Getuid() == 0 {
			if err := os.Chown(program, 12345, 12345); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chmod(program, 0o755|os.ModeSetuid|os.ModeSetgid); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("%d\n%d\n", os.Getuid(), os.Getgid())
		if got := y.confined(t, "./id -u; ./id -g").Stdout; got != want {
			t.Errorf("it ran as %q, want %q", got, want)
		}
	})
}

// A command has the user of its launcher, and still cannot look into it, change it
// or end it.
func TestTheFirstProcessCannotBeTouched(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.by = needsLauncher(t)
	for _, line := range []string{
		`cat /proc/1/environ`, `cat /proc/1/maps`, `cat /proc/1/exe`, `readlink /proc/1/exe`, `ls /proc/1/root/`, `ls /proc/1/cwd/`, `readlink /proc/1/fd/*`,
		`: >>/proc/1/mem`, `: >>/proc/1/exe`, `python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(16, 1, 0, 0) != 0)'`,
		`python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).ptrace(0x4206, 1, 0, 0) != 0)'`,
		`python3 -c 'import ctypes, sys; sys.exit(ctypes.CDLL(None).syscall(438, ctypes.CDLL(None).syscall(434, 1, 0), 0, 0) < 0)'`,
	} {
		if r := y.confined(t, line); r.ExitCode == 0 {
			t.Errorf("%s: %s", line, r.Stdout)
		}
	}
	if r := y.confined(t, `kill -9 1; kill -STOP 1; kill -TERM 1; echo alive; exit 3`); r.Stdout != "alive\n" || r.ExitCode != 3 {
		t.Errorf("%+v", r)
	}
}

// What is mounted for a command is not seen outside, and nothing that is mounted
// outside later is seen by it.
func TestMountsStayInside(t *testing.T) {
	const variable = "SANDBOX_TEST_SHARED"
	if os.Getuid() == 0 && os.Getenv(variable) == "" { // most machines connect their mounts with those of new namespaces
		needsLauncher(t)
		cmd := exec.CommandContext(t.Context(), "unshare", "--mount", "--propagation", "shared", os.Args[0], "-test.run=^TestMountsStayInside$", "-test.v")
		cmd.Env = append(os.Environ(), variable+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Fatalf("%v: %s", err, out)
		}
		return
	}
	y := newYard(t)
	y.by = needsLauncher(t)
	ready := make(chan struct{})
	spec := y.spec(`grep -cE 'shared:|master:|propagate_from:' /proc/self/mountinfo; sleep 1000`)
	spec.Confine, spec.Output = &y.profile, func(string) { close(ready) }
	p, err := Start(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	<-ready
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil || strings.Contains(string(table), y.base) {
		t.Errorf("%v\n%s", err, table)
	}
	p.Stop()
	if got := p.Read(); got != "0\n" {
		t.Errorf("mounts that are connected with others: %s", got)
	}
}

// A command has the variables of one that is not confined, except those that
// tell where it is.
func TestTheEnvironmentIsPassedOn(t *testing.T) {
	t.Parallel()
	everyNamespace(t, func(t *testing.T, by enforcer) {
		y := newYard(t)
		y.by = by
		vars := func(r Result) (list []string) {
			for entry := range strings.SplitSeq(r.Stdout, "\x00") {
				switch name, _, _ := strings.Cut(entry, "="); name {
				case "ATELIER_CALL", "TMPDIR", "PWD", "OLDPWD", "SHLVL", "_":
				default:
					list = append(list, entry)
				}
			}
			slices.Sort(list)
			return list
		}
		y.profile.Env = nil
		line := `cat /proc/self/environ`
		free := slices.DeleteFunc(vars(y.free(t, line)), func(entry string) bool {
			name, _, _ := strings.Cut(entry, "=")
			return unshared[name]
		})
		if diff := cmp.Diff(free, vars(y.confined(t, line))); diff != "" {
			t.Errorf("(-free +confined)\n%s", diff)
		}
		if got := y.confined(t, `echo "$PWD $TMPDIR"`).Stdout; got != y.project+" /tmp\n" {
			t.Error(got)
		}
	})
}

// A command that may confine its own children gets no right over what confines it.
func TestNestedNamespacesOpenNothing(t *testing.T) {
	t.Parallel()
	everyNamespace(t, func(t *testing.T, by enforcer) {
		y := newYard(t)
		y.by = by
		y.profile.Nested = true
		before := y.kept(t)
		r := y.confined(t, `unshare -Um bash -c 'echo inside; umount -l ~/.ssh ~/.netrc /tmp /proc /dev; cat ~/.ssh/* ~/.netrc
			mount -o remount,rw,bind /; mount -o remount,rw,bind BASE/project/.git; mount --bind / /mnt; echo x >BASE/outside/file; echo x >.git/config
			mount -t proc proc /proc; old=$(cat /proc/sys/kernel/core_pattern) && echo "$old" >/proc/sys/kernel/core_pattern && echo `+canary+`
			cat /mnt/BASE/home/.netrc; mkdir /tmp/o; mount --move / /tmp/o; chroot /mnt cat BASE/home/.netrc; nsenter -t 1 -m -U cat BASE/home/.netrc' 2>&1`)
		if !strings.Contains(r.Stdout, "inside") || strings.Contains(r.Stdout, canary) {
			t.Errorf("%s", r.Stdout)
		}
		settle()
		if diff := cmp.Diff(before, y.kept(t)); diff != "" {
			t.Errorf("(-before +after)\n%s", diff)
		}
	})
}

// Names of files are bytes, and all of them are protected.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("l", 250)
	for what, name := range map[string]string{
		"spaces": "a  b ", "lines": "a\nb\n", "bytes": "\xff\xfe\x80", "quotes": `'"$(x)\040`, "option": "--bind", "long": long,
		"deep": strings.Repeat(long+"/", 15), "control": "\x01\x1b[31m\x7f", "backslash": `\`,
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			everyNamespace(t, func(t *testing.T, by enforcer) { hostileName(t, by, name) })
		})
	}
}

func hostileName(t *testing.T, by enforcer, name string) {
	y := newYard(t)
	y.by = by
	y.project = filepath.Join(y.base, "in", name)
	hidden := filepath.Join(y.project, "hidden"+filepath.Base(name)[:min(9, len(filepath.Base(name)))])
	for _, dir := range []string{".git", filepath.Base(hidden)} {
		if err := os.MkdirAll(filepath.Join(y.project, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(hidden, "key"), []byte(canary), 0o644); err != nil {
		t.Fatal(err)
	}
	y.profile = confine.Profile{
		Writable:  []string{y.project},
		Protected: []string{filepath.Join(y.project, ".git"), filepath.Join(y.project, ".agent")},
		Hidden:    []string{hidden, filepath.Join(y.base, "home/.ssh"), "/" + strings.Repeat("x", 5000), y.project + strings.Repeat("/"+strings.Repeat("y", 200), 30)},
	}
	r := y.confined(t, `echo x >new && cat new; echo x >.git/config || echo kept; mkdir .agent/x || echo kept; cat hidden*/key BASE/home/.ssh/*`)
	if !strings.HasPrefix(r.Stdout, "x\n") || strings.Count(r.Stdout, "kept") != 2 || strings.Contains(r.Stdout, canary) {
		t.Errorf("%q", r.Stdout)
	}
	if entries, err := os.ReadDir(filepath.Join(y.project, ".git")); err != nil || len(entries) > 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// While a command is being confined, others exchange a folder for a link and back.
// Whatever they hit, the link is not followed.
func TestALinkIsNeverFollowed(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.by = needsLauncher(t)
	kept, link := filepath.Join(y.project, ".husky"), filepath.Join(y.project, "link")
	if err := os.Mkdir(kept, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../home/.ssh", link); err != nil {
		t.Fatal(err)
	}
	y.profile.Protected = append(y.profile.Protected, kept)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { // ends with the test
		defer close(done)
		for {
			select {
			case <-stop:
				return
			default:
				_ = unix.Renameat2(unix.AT_FDCWD, kept, unix.AT_FDCWD, link, unix.RENAME_EXCHANGE)
			}
		}
	}()
	ran := 0
	for range 60 {
		spec := y.spec("cat .husky/* link/*; echo ran")
		spec.Confine = &y.profile
		r, err := Run(t.Context(), spec)
		if strings.Contains(r.Stdout, canary) {
			t.Error("a secret is shown")
		}
		if err == nil && strings.Contains(r.Stdout, "ran") {
			ran++
		}
	}
	close(stop)
	<-done
	t.Logf("%d of 60 ran", ran)
}

// The command ends with each of the two processes that belong to the launcher, and
// its end by a signal is told like that of any other command.
func TestTheLauncherEndsWithItsCommand(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		kill func(*Process) error
		code int
	}{
		"the one that waits": {func(p *Process) error { return syscall.Kill(p.cmd.Process.Pid, syscall.SIGKILL) }, 128 + int(syscall.SIGKILL)},
		"the first one":      {func(p *Process) error { return syscall.Kill(p.cmd.jail.leader(), syscall.SIGKILL) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			y.by = needsLauncher(t)
			ready := make(chan struct{})
			spec := y.spec(`setsid sleep 4711 & echo ready; wait`)
			spec.Confine, spec.Output = &y.profile, func(string) { close(ready) }
			p, err := Start(t.Context(), spec)
			if err != nil {
				t.Fatal(err)
			}
			<-ready
			if err := row.kill(p); err != nil {
				t.Fatal(err)
			}
			r, err := p.Wait(t.Context())
			settle()
			if left := processesIn(t, y.project); err != nil || r.ExitCode != row.code || left != "" {
				t.Errorf("%+v, %v, left: %s", r, err, left)
			}
		})
	}
	y := newYard(t)
	y.by = needsLauncher(t)
	if r := y.confined(t, "kill -9 $$"); r.ExitCode != 128+int(syscall.SIGKILL) {
		t.Errorf("%+v", r)
	}
}

// A command that does not exist is told as if it were not confined, and nothing of
// the folder is taken for it.
func TestAMissingProgram(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.by = needsLauncher(t)
	for program, want := range map[string]string{"/no/such/program": "no such file or directory", "nosuchprogram": exec.ErrNotFound.Error()} {
		spec := y.spec("")
		if err := os.WriteFile(filepath.Join(y.project, "nosuchprogram"), []byte("#!/bin/sh\necho ran\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		spec.Confine, spec.Argv = &y.profile, []string{program}
		if r, err := Run(t.Context(), spec); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %+v", program, err, r)
		}
	}
}

// A link that an earlier command of the session left in its folder for temporary
// files leads nowhere, though what is mounted there is not compared with anything.
func TestALinkInTheTemporaryFolderLeadsNowhere(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.by = needsLauncher(t)
	project, err := os.MkdirTemp("/tmp", "project")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(project) })
	if err := os.Symlink(filepath.Join(y.base, "outside"), filepath.Join(y.profile.Temp, filepath.Base(project))); err != nil {
		t.Fatal(err)
	}
	y.project, y.profile.Writable, y.profile.Protected = project, []string{project}, nil
	spec := y.spec("echo ran")
	spec.Confine = &y.profile
	if r, err := Run(t.Context(), spec); err == nil {
		t.Errorf("%+v", r)
	}
}

// The namespaces end with the process that waits for them, also if nobody is left
// to end them, as when this program is killed.
func TestTheNamespacesEndByThemselves(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	spec := y.spec("sleep 4711")
	spec.Confine = &y.profile
	j, err := needsLauncher(t).jail(spec, spec.Argv)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(j.release)
	cmd := exec.CommandContext(t.Context(), j.argv[0], j.argv[1:]...)
	cmd.ExtraFiles, cmd.SysProcAttr = j.files, ownSession()
	closeDescriptorsOnExec()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := j.entered(); err != nil {
		t.Fatal(err)
	}
	var first int
	if _, err := fmt.Sscan(childrenOf(cmd.Process.Pid), &first); err != nil {
		t.Fatal(err)
	}
	handle, err := unix.PidfdOpen(first, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(handle)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, 20_000); n != 1 || err != nil {
		t.Errorf("it lives on: %d, %v", n, err)
	}
}

func childrenOf(pid int) string {
	list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	return string(list)
}

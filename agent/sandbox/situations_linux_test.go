package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Nothing gets out either where commands of an ordinary user are confined, or where the
// system allows no namespaces and Landlock takes their place: the attacks are tried again
// in each situation (K-47). An administrator makes them.
func TestAttacksInEverySituation(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only an administrator can make situations")
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const asNobody = `exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"`
	for name, script := range map[string]string{
		"an ordinary user": asNobody,
		"no user namespaces": `exec unshare -U -r sh -c 'echo 0 >/proc/sys/user/max_user_namespaces &&
			exec setpriv --inh-caps=-all --bounding-set=-all "$@"' sh "$@"`,
		"a container that covers parts of proc": `exec unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs none /proc/acpi &&
			mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && ` + asNobody + `' sh "$@"`,
		"another root, as in a container": `exec unshare -m sh -c 'mount --make-rprivate / && mkdir -p root && mount --rbind / root && cd root && pivot_root . mnt &&
			umount -l /mnt && cd / && exec "$@"' sh "$@"`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("/var/tmp", "situation-") // that others can enter
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			in := func(line string, args ...string) (string, error) {
				cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", line, "sh"}, args...)...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir)
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			tests := filepath.Join(dir, "tests")
			if out, err := in(`cp "$1" tests && chown -R 65534:65534 . && chmod 755 .`, program); err != nil {
				t.Skip(out, err)
			}
			if out, err := in(script, "true"); err != nil {
				t.Skipf("it cannot be made here: %v\n%s", err, out)
			}
			out, err := in(script, tests, "-test.v", "-test.run", "^(TestAttacksFail|TestConfinedCommandsWork)$")
			if err != nil || !strings.Contains(out, "--- PASS: TestAttacksFail/") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

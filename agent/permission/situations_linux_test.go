package permission_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// situations are those in which people run Atelier, as scripts that an administrator can
// run: they make one and execute their arguments in it.
var situations = map[string]string{
	"an ordinary user": asNobody,
	"no user namespaces, as where a container or the administrator allows none": `exec unshare -U -r sh -c '
		echo 0 >/proc/sys/user/max_user_namespaces && exec setpriv --inh-caps=-all --bounding-set=-all "$@"' sh "$@"`,
	"a container that covers parts of /proc": `exec unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs none /proc/acpi &&
		mount --bind /proc/sys /proc/sys && mount -o remount,ro,bind /proc/sys && ` + asNobody + `' sh "$@"`,
}

const asNobody = `exec setpriv --reuid 65534 --regid 65534 --clear-groups --no-new-privs "$@"`

// inSituations runs tests of this program again in each situation.
func inSituations(t *testing.T, tests string) {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only an administrator can make situations")
	}
	program, err := os.Executable()
	lists, err2 := filepath.Abs("testdata")
	if err := errors.Join(err, err2); err != nil {
		t.Fatal(err)
	}
	for name, script := range situations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, err := os.MkdirTemp("/var/tmp", "situation-") // that others can enter
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			in := func(line string, args ...string) (string, error) {
				cmd := exec.CommandContext(t.Context(), "sh", append([]string{"-c", line, "sh"}, args...)...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+filepath.Join(dir, "home"), "XDG_CACHE_HOME=", "GOCACHE=", situationVariable+"=1")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := in(`mkdir home && cp "$1" ./tests && cp -r "$2" testdata && chown -R 65534:65534 . && chmod 755 .`, program, lists); err != nil {
				t.Skip(out, err)
			}
			if out, err := in(script, "true"); err != nil {
				t.Skipf("it cannot be made here: %v\n%s", err, out)
			}
			out, err := in(script, "./tests", "-test.v", "-test.run", tests)
			if err != nil || !strings.Contains(out, "--- PASS") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// situationVariable is set in the tests that are run again.
const situationVariable = "TEST_SITUATION"

// OAS-623, K-47: an ordinary user's day is that of an administrator; nothing gets out
// where the system confines nothing, because there everything is asked about.
func TestAutoInEverySituation(t *testing.T) {
	t.Parallel()
	inSituations(t, "^(TestADayInAuto|TestHostileLinesInAuto)$")
}

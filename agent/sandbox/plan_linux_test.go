package sandbox

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/sandbox/confine"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// readPlan reads a plan as the launcher does.
func readPlan(t *testing.T, plan []byte) (head planHead, steps []planStep, rules []unix.SockFilter, text func(uint32) string) {
	t.Helper()
	next := func(size int) []byte {
		if size > len(plan) {
			t.Fatalf("the plan ends too early")
		}
		part := plan[:size]
		plan = plan[size:]
		return part
	}
	whole := plan
	read := func(to any) {
		if _, err := binary.Decode(next(binary.Size(to)), binary.NativeEndian, to); err != nil {
			t.Fatal(err)
		}
	}
	read(&head)
	steps, rules = make([]planStep, head.Steps), make([]unix.SockFilter, head.Rules)
	read(steps)
	read(rules)
	if head.Magic != planMagic || int(head.Size) != len(whole) || whole[len(whole)-1] != 0 {
		t.Fatalf("%+v", head)
	}
	return head, steps, rules, func(at uint32) string {
		end := bytes.IndexByte(whole[at:], 0)
		if int(at) < len(whole)-len(plan) || end < 0 {
			t.Fatalf("a text at %d", at)
		}
		return string(whole[at : int(at)+end])
	}
}

// The launcher reads what the plan says, whatever the names are. A name with a zero
// byte, which no file has, is refused.
func FuzzPlan(f *testing.F) {
	f.Add("/a", "/b", "/c", uint32(0o755), uint32(0))
	f.Add("/a b\n", "/\xff\xfe", "/"+strings.Repeat("x", 5000), uint32(0), uint32(7))
	f.Add("", "/a\x00b", "/", uint32(1<<31), uint32(1))
	f.Fuzz(func(t *testing.T, first, second, dir string, mode, flags uint32) {
		m := mounts{dir: strings.ReplaceAll(dir, "\x00", ""), steps: []mount{
			{path: "/" + first, kind: emptyFolder, mode: os.FileMode(mode)}, {path: "/" + second, kind: readableBind, source: "/" + second},
			{path: "/" + second, kind: changeableBind, source: "/" + first},
		}}
		rules := []unix.SockFilter{{Code: 6, K: mode}, {Code: 1, Jt: 2, Jf: 3, K: flags}}
		plan, err := m.encode(flags, rules)
		if strings.Contains(first+second, "\x00") {
			if err == nil {
				t.Error("a zero byte is accepted")
			}
			return
		}
		if err != nil {
			if len(first)+len(second)+len(dir) < mostPlan/4 {
				t.Error(err)
			}
			return
		}
		head, steps, read, text := readPlan(t, plan)
		if head.Flags != flags || text(head.Folder) != m.dir || cmp.Diff(rules, read) != "" || len(steps) != len(m.steps) {
			t.Fatalf("%+v", head)
		}
		for i, step := range m.steps {
			got := steps[i]
			if text(got.Target) != step.path || step.kind != emptyFolder && text(got.Source) != step.source || got.Kind != uint32(step.kind) || got.Mode > 0o777 || got.Mode != uint32(step.mode.Perm()) {
				t.Errorf("step %d: %+v", i, got)
			}
		}
	})
}

// A plan has one step for each path, from the root down, and identifies what has
// to be there unless an earlier step has put something else there.
func TestThePlan(t *testing.T) {
	t.Parallel()
	base, err := filepath.EvalSymlinks(t.TempDir()) // in /tmp, of which a command has one of its own
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"p/.git", "p/sub/hidden/open", "p/sub/hidden/shut"} {
		if err := os.MkdirAll(filepath.Join(base, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	in := func(name string) string { return filepath.Join(base, name) }
	m, err := plan(confine.Profile{
		Writable: []string{in("p"), in("p")}, Protected: []string{in("p/.git"), in("p/.git/hooks")},
		Hidden: []string{in("p/sub/hidden"), in("p/sub/hidden/shut")}, Readable: []string{in("p/sub/hidden/open")},
	}, in("p"))
	t.Cleanup((&jail{undo: m.undo}).release)
	if err != nil {
		t.Fatal(err)
	}
	text, err := m.encode(0, []unix.SockFilter{{}})
	if err != nil {
		t.Fatal(err)
	}
	_, steps, _, read := readPlan(t, text)
	got := map[string]string{}
	for _, step := range steps {
		path := read(step.Target)
		if _, twice := got[path]; twice {
			t.Errorf("%s is mounted twice", path)
		}
		got[path] = [...]string{"empty", "changeable", "readable"}[step.Kind]
		if step.Place.Inode != 0 {
			got[path] += ", known"
		}
	}
	want := map[string]string{
		in("p"): "changeable", in("p/.git"): "readable, known", in("p/.git/hooks"): "readable, known",
		in("p/sub"): "changeable, known", in("p/sub/hidden"): "empty, known",
		in("p/sub/hidden/open"): "readable", in("p/sub/hidden/shut"): "empty",
	}
	for path := range got {
		if !strings.HasPrefix(path, base) {
			delete(got, path) // the system's own
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// Settings that name more files than the launcher takes are refused.
func TestAPlanIsBounded(t *testing.T) {
	t.Parallel()
	m := mounts{steps: make([]mount, mostSteps+1)}
	if _, err := m.encode(0, nil); err == nil {
		t.Error("too many steps are accepted")
	}
	m = mounts{steps: []mount{{path: "/" + strings.Repeat("x", mostPlan)}}}
	if _, err := m.encode(0, nil); err == nil {
		t.Error("a plan that is too large is accepted")
	}
}

// A plan that is damaged is refused or carried out, and the launcher never fails in
// another way.
func TestDamagedPlans(t *testing.T) {
	t.Parallel()
	l := needsLauncher(t)
	y := newYard(t)
	m, err := plan(y.profile, y.project)
	t.Cleanup((&jail{undo: m.undo}).release)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := socketRules(y.profile)
	if err != nil {
		t.Fatal(err)
	}
	right, err := m.encode(0, rules)
	if err != nil {
		t.Fatal(err)
	}
	if said, code := carryOut(t, l, right); code != 0 || said.Stage != stageFirst {
		t.Fatalf("the right plan: %+v, %d", said, code)
	}
	random := rand.New(rand.NewPCG(1, 2))
	head := binary.Size(planHead{})
	numbers := head + len(m.steps)*binary.Size(planStep{})
	texts := numbers + binary.Size(rules)
	plans := [][]byte{nil, {0}, right[:len(right)-1], right[:30], append(slices.Clone(right), 0), append(slices.Clone(right[:head]), make([]byte, 5000)...)}
	for at := range head {
		for _, value := range []byte{0, 1, 0x7f, 0xff} {
			damaged := slices.Clone(right)
			damaged[at] = value
			plans = append(plans, damaged)
		}
	}
	counted := len(plans)
	for range 200 {
		damaged := slices.Clone(right)
		for range 1 + random.IntN(8) {
			at := head + random.IntN(numbers-head)
			if random.IntN(2) == 0 {
				at = texts + random.IntN(len(damaged)-texts)
			}
			damaged[at] = byte(random.Uint32())
		}
		plans = append(plans, damaged)
	}
	for i, text := range plans {
		// Other numbers of steps or rules are other rules, which may keep the
		// command, or the launcher, from saying how it went.
		said, code := carryOut(t, l, text)
		if code > 1 && i >= counted || code > 127 || i >= counted && code == 1 && said.Stage == stageFirst {
			t.Errorf("plan %d: it ended with %d and said %+v", i, code, said)
		}
	}
}

// carryOut lets the launcher carry out a plan. It returns what failed, and how it
// ended.
func carryOut(t *testing.T, l launcher, text []byte) (said message, code int) {
	t.Helper()
	file, err := sealedFile("plan", text, unix.MFD_NOEXEC_SEAL)
	if err != nil {
		t.Fatal(err)
	}
	j := &jail{}
	defer j.release()
	ends, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	ours, theirs := os.NewFile(uintptr(ends[0]), "ours"), os.NewFile(uintptr(ends[1]), "theirs")
	j.undo = append(j.undo, func() { _ = file.Close(); _ = ours.Close() })
	network := new(privateNetwork)
	j.undo = append(j.undo, network.close)
	joined, err := network.join(l)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), l.program, "run", "/bin/true")
	cmd.ExtraFiles, cmd.SysProcAttr = append([]*os.File{theirs, file}, joined...), ownSession()
	closeDescriptorsOnExec()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = theirs.Close()
	_, _ = ours.Write([]byte{1})
	for {
		next, err := receive(ours)
		if err != nil {
			break
		}
		if next.Stage != stageFirst { // the first process may fail before the other one tells its number
			said = next
		}
	}
	_ = cmd.Wait()
	return said, exitCode(cmd.ProcessState)
}

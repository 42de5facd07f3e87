package sandbox

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
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
	}, in("p"), true)
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

package trust

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/backend"
)

// memory is a store of settings.
type memory struct {
	mu     sync.Mutex
	values map[string]string
	change func() // called once before a value is changed; may be nil
}

func (m *memory) Setting(_ context.Context, key string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[key], nil
}

func (m *memory) SetSetting(_ context.Context, key, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.values[key] = value; value == "" {
		delete(m.values, key)
	}
	return nil
}

func (m *memory) ChangeSetting(_ context.Context, key string, change func(string) (string, error)) error {
	if before := m.change; before != nil {
		m.change = nil
		before()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	text, err := change(m.values[key])
	if err == nil {
		m.values[key] = text
	}
	return err
}

// world is a project and a user.
type world struct {
	t             *testing.T
	project, user string
	store         *memory
	*Trust
}

func newWorld(t *testing.T) *world {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, project: filepath.Join(base, "project"), user: filepath.Join(base, "user"), store: &memory{values: map[string]string{}}}
	for _, dir := range []string{w.project, w.user} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.open()
	return w
}

// open is what another start of the program does.
func (w *world) open() {
	w.Trust = New(Config{Folder: w.project, User: w.user, Store: w.store, Now: func() time.Time { return time.Unix(1, 0) }})
}

func (w *world) path(name string) string { return filepath.Join(w.project, filepath.FromSlash(name)) }

func (w *world) write(name, text string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// stands makes an item the only one, and returns its status.
func (w *world) stands(item Item) Status {
	w.t.Helper()
	item.Kind = cmp.Or(item.Kind, KindHook)
	if item.ID == "" {
		item.ID = "id of " + item.Command.Line
	}
	if item.Definition == "" {
		item.Definition = item.Command.Line
	}
	w.SetItems(item.Kind, []Item{item})
	return w.status()
}

func (w *world) status() Status {
	w.t.Helper()
	list, err := w.List(w.t.Context())
	if err != nil || len(list) == 0 {
		w.t.Fatalf("%v, %v", list, err)
	}
	state, err := w.Check(w.t.Context(), list[0].ID, "")
	if err != nil || state != list[0].State {
		w.t.Fatalf("the list says %s, the check %s, %v", list[0].State, state, err)
	}
	return list[0]
}

func (w *world) wants(state State) {
	w.t.Helper()
	if got := w.status(); got.State != state {
		w.t.Fatalf("it is %s, want %s (%v)", got.State, state, got.Notes)
	}
}

func (w *world) show() Shown {
	w.t.Helper()
	shown, err := w.Show(w.t.Context(), w.status().ID)
	if err != nil {
		w.t.Fatal(err)
	}
	return shown
}

func (w *world) accept() {
	w.t.Helper()
	shown := w.show()
	if err := w.Accept(w.t.Context(), shown.ID, shown.Seal); err != nil {
		w.t.Fatal(err)
	}
	w.wants(StateTrusted)
}

const script = ".claude/hooks/check.sh"

func withScript(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.write(script, "#!/bin/sh\necho one\n")
	w.write(".claude/hooks/lib/util.sh", "util\n")
	w.stands(Item{Command: Command{Line: script}, Origin: "settings.json", Slot: "preToolUse Bash"})
	return w
}

// COM-85: nothing is trusted before the user said so, and what was accepted holds
// after another start, until it changes. A change back is trusted again.
func TestAccept(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	w.wants(StateUnknown)
	w.accept()
	w.open()
	w.stands(Item{Command: Command{Line: script}})
	w.wants(StateTrusted)
	w.write(script, "#!/bin/sh\necho two\n")
	w.wants(StateChanged)
	w.write(script, "#!/bin/sh\necho one\n")
	w.wants(StateTrusted)
	if err := w.Revoke(t.Context(), w.status().ID); err != nil {
		t.Fatal(err)
	}
	w.wants(StateUnknown)
	if len(w.store.values) != 1 {
		t.Errorf("%v", w.store.values)
	}
}

// What was shown is what is accepted: a file that changes meanwhile is not.
func TestSeal(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	shown := w.show()
	w.write(script, "rm -rf /\n")
	var problem *backend.Error
	if err := w.Accept(t.Context(), shown.ID, shown.Seal); !errors.As(err, &problem) || problem.ID != backend.ProblemTrustChanged {
		t.Errorf("%v", err)
	}
	if err := w.Accept(t.Context(), "another", shown.Seal); !errors.As(err, &problem) || problem.ID != backend.ProblemTrustMissing {
		t.Errorf("%v", err)
	}
	w.wants(StateUnknown)
}

// Each of these changes what would run, so each of them asks again.
func TestChanges(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world) error{
		"another content": func(w *world) error { return os.WriteFile(w.path(script), []byte("two"), 0o644) },
		"another mode":    func(w *world) error { return os.Chmod(w.path(script), 0o755) },
		"gone":            func(w *world) error { return os.Remove(w.path(script)) },
		"a folder": func(w *world) error {
			return errors.Join(os.Remove(w.path(script)), os.Mkdir(w.path(script), 0o755))
		},
		"a link to the same bytes": func(w *world) error {
			return errors.Join(os.Rename(w.path(script), w.path("x")), os.Symlink("../../x", w.path(script)))
		},
		"a link out of the project": func(w *world) error {
			return errors.Join(os.Rename(w.path(script), filepath.Join(w.user, "x")), os.Symlink(filepath.Join(w.user, "x"), w.path(script)))
		},
		"a link of its folder": func(w *world) error {
			return errors.Join(os.Rename(w.path(".claude/hooks"), w.path("x")), os.Symlink("../x", w.path(".claude/hooks")))
		},
		"a helper":     func(w *world) error { return os.WriteFile(w.path(".claude/hooks/lib/util.sh"), []byte("two"), 0o644) },
		"a new helper": func(w *world) error { return os.WriteFile(w.path(".claude/hooks/new.sh"), nil, 0o644) },
		"too large":    func(w *world) error { return os.Truncate(w.path(script), maxBytes+1) },
		"too many": func(w *world) error {
			var err error
			for i := range maxFiles {
				err = errors.Join(err, os.WriteFile(w.path(".claude/hooks/"+strings.Repeat("x", i+1)), nil, 0o644))
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := withScript(t)
			w.accept()
			if err := change(w); err != nil {
				t.Fatal(err)
			}
			w.wants(StateChanged)
		})
	}
}

// A link that leads elsewhere asks again, whether or not the bytes are the same.
func TestSwappedLink(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.write("tools/a.sh", "same")
	w.write("tools/b.sh", "same")
	link := w.path("run.sh")
	if err := os.Symlink("tools/a.sh", link); err != nil {
		t.Fatal(err)
	}
	w.stands(Item{Command: Command{Line: "./run.sh"}})
	w.accept()
	w.write("tools/a.sh", "other")
	w.wants(StateChanged)
	w.accept()
	if err := errors.Join(os.Remove(link), os.Symlink("tools/b.sh", link)); err != nil {
		t.Fatal(err)
	}
	w.wants(StateChanged)
}

// Links to folders are followed within the project, once, and asked about when they
// lead elsewhere.
func TestFolderLinks(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	for _, name := range []string{"a", "b"} {
		w.write("lib/"+name+"/x.sh", "same")
		if err := os.Symlink(".", w.path(".claude/hooks/loop"+name)); err != nil {
			t.Fatal(err)
		}
	}
	link := w.path(".claude/hooks/lib2")
	if err := os.Symlink("../../lib/a", link); err != nil {
		t.Fatal(err)
	}
	w.accept()
	w.write("lib/a/x.sh", "other")
	w.wants(StateChanged)
	w.write("lib/a/x.sh", "same")
	w.wants(StateTrusted)
	if err := errors.Join(os.Remove(link), os.Symlink("../../lib/b", link)); err != nil {
		t.Fatal(err)
	}
	w.wants(StateChanged)
	if err := errors.Join(os.Remove(link), os.Symlink(w.user, link)); err != nil {
		t.Fatal(err)
	}
	w.wants(StateChanged)
}

// What cannot be checked cannot be accepted, and the notes say why.
func TestBlocked(t *testing.T) {
	t.Parallel()
	for id, prepare := range map[NoteID]func(w *world) error{
		NoteLarge: func(w *world) error { return os.Truncate(w.path(script), maxBytes+1) },
		NoteMany: func(w *world) error {
			w.write(".claude/hooks/big", "")
			return errors.Join(os.Truncate(w.path(script), maxBytes), os.Truncate(w.path(".claude/hooks/big"), 1))
		},
		NoteSpecial: func(w *world) error {
			return errors.Join(os.Remove(w.path(script)), os.Symlink("check.sh", w.path(script)))
		},
	} {
		t.Run(string(id), func(t *testing.T) {
			t.Parallel()
			w := withScript(t)
			if err := prepare(w); err != nil {
				t.Fatal(err)
			}
			shown := w.show()
			found := false
			for _, n := range shown.Notes {
				found = found || n.ID == id && n.Message != ""
			}
			if !found || !shown.Blocked {
				t.Errorf("%+v", shown.Status)
			}
			var problem *backend.Error
			if err := w.Accept(t.Context(), shown.ID, shown.Seal); !errors.As(err, &problem) || problem.ID != backend.ProblemTrustBlocked {
				t.Errorf("%v", err)
			}
			w.wants(StateUnknown)
		})
	}
}

// A script that was not there when its command was accepted asks once it is.
func TestLaterFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stands(Item{Command: Command{Line: "sh later"}})
	w.accept()
	w.write("later", "echo")
	w.wants(StateChanged)
}

// Refused stays refused, whatever becomes of it.
func TestRefuse(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	w.accept()
	if err := w.Refuse(t.Context(), w.status().ID); err != nil {
		t.Fatal(err)
	}
	w.wants(StateRefused)
	w.write(script, "two")
	w.wants(StateRefused)
	if n, err := w.AcceptForRun(t.Context(), KindHook); n != 0 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	w.accept()
}

// A definition that is edited takes the place of the one that was accepted: it has
// changed, and is shown as a difference. One that is taken out is gone.
func TestEditedDefinition(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	w.accept()
	slot := Item{ID: "2", Command: Command{Line: "true"}, Origin: "settings.json", Slot: "preToolUse Bash"}
	w.stands(slot)
	w.wants(StateChanged)
	shown := w.show()
	if diff := gocmp.Diff(Text{Text: "true", Diff: "@@ -1 +1 @@\n-" + script + "\n\\ No newline at end of file\n+true\n\\ No newline at end of file\n"}, shown.Texts[0]); diff != "" {
		t.Error(diff)
	}
	w.accept()
	slot.ID, slot.Slot, slot.Command.Line = "3", "stop", "false"
	w.stands(slot)
	w.wants(StateUnknown)
	list, err := w.List(t.Context())
	if err != nil || len(list) != 2 || list[1].State != StateGone || list[1].ID != "2" {
		t.Fatalf("%+v, %v", list, err)
	}
	if err := w.Revoke(t.Context(), "2"); err != nil {
		t.Fatal(err)
	}
	if list, err = w.List(t.Context()); err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
}

// The user's own items run, unless they run files of the project.
func TestOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	own := Item{Command: Command{Line: `~/bin/x.sh "$1"; "$TOOL"`}, Own: true}
	w.write(".claude/hooks/x.sh", "echo")
	w.stands(own)
	w.wants(StateTrusted)
	own.ID, own.Command.Line = "2", `tools/x.sh`
	w.stands(own)
	w.wants(StateTrusted) // there is no such file
	w.write("tools/x.sh", "echo")
	w.wants(StateUnknown)
	w.accept()
	w.write("tools/x.sh", "evil")
	w.wants(StateChanged)
}

// What is accepted for one run is forgotten with it, and a change asks meanwhile.
func TestAcceptForRun(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	if n, err := w.AcceptForRun(t.Context(), KindHook); n != 1 || err != nil {
		t.Fatalf("%d, %v", n, err)
	}
	w.wants(StateTrusted)
	w.write(script, "two")
	w.wants(StateChanged)
	w.write(script, "#!/bin/sh\necho one\n")
	w.stands(Item{ID: "2", Command: Command{Line: "true"}, Origin: "settings.json", Slot: "preToolUse Bash"})
	w.wants(StateChanged)
	w.open()
	w.stands(Item{Command: Command{Line: script}})
	w.wants(StateUnknown)
}

// Another work tree has files of its own, which are compared with those accepted.
func TestOtherFolder(t *testing.T) {
	t.Parallel()
	w := withScript(t)
	w.accept()
	tree := filepath.Join(filepath.Dir(w.project), "tree")
	if err := os.CopyFS(tree, os.DirFS(w.project)); err != nil {
		t.Fatal(err)
	}
	id := w.status().ID
	if state, err := w.Check(t.Context(), id, tree); state != StateTrusted || err != nil {
		t.Errorf("%s, %v", state, err)
	}
	if err := os.WriteFile(filepath.Join(tree, script), []byte("evil"), 0o644); err != nil {
		t.Fatal(err)
	}
	if state, err := w.Check(t.Context(), id, tree); state != StateChanged || err != nil {
		t.Errorf("%s, %v", state, err)
	}
	if state, err := w.Check(t.Context(), "nobody", ""); state != StateGone || err != nil {
		t.Errorf("%s, %v", state, err)
	}
}

// The oldest decisions are forgotten with their contents, and damage is reported.
func TestStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.stands(Item{Command: Command{Line: "first"}})
	w.accept()
	decided, err := w.load(t.Context())
	x := decided.index
	if err != nil || len(x) != 1 || len(w.store.values) != 2 {
		t.Fatalf("%+v, %v", x, err)
	}
	for i := range maxRecords - 1 {
		x = append(x, record{Kind: KindHook, ID: strconv.Itoa(i), Refused: true})
	}
	b, err := json.Marshal(x)
	if err != nil {
		t.Fatal(err)
	}
	w.store.values[w.keyIndex()] = string(b)
	w.stands(Item{Command: Command{Line: "second"}})
	if err := w.Refuse(t.Context(), w.status().ID); err != nil {
		t.Fatal(err)
	}
	if decided, err = w.load(t.Context()); err != nil || len(decided.index) != maxRecords || decided.index[0].ID != "0" {
		t.Errorf("%d records, %v", len(decided.index), err)
	}
	if len(w.store.values) != 1 {
		t.Errorf("%d values", len(w.store.values))
	}
	w.store.values[w.keyIndex()] = "{"
	var problem *backend.Error
	if state, err := w.Check(t.Context(), "id of second", ""); !errors.As(err, &problem) || problem.ID != backend.ProblemSettingDamaged || state != StateUnknown {
		t.Errorf("%s, %v", state, err)
	}
	if _, err := w.List(t.Context()); err == nil {
		t.Error("the list does not report it")
	}
}

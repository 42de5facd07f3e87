package undo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/undo/disk"
)

func plain(text string) disk.Content {
	return disk.Content{Kind: agent.PlainFile, Data: []byte(text)}
}

func executable(text string) disk.Content {
	return disk.Content{Kind: agent.ExecutableFile, Data: []byte(text)}
}

func link(target string) disk.Content {
	return disk.Content{Kind: agent.SymbolicLink, Data: []byte(target)}
}

// empty returns a world whose files do not exist.
func empty(t *testing.T) *world {
	t.Helper()
	w := newWorld(t, t.TempDir(), rand.New(rand.NewPCG(1, 1)))
	for _, name := range names {
		w.set(name, disk.Content{})
	}
	return w
}

// version keeps content; nothing is the version of nothing.
func (w *world) version(c disk.Content) agent.FileVersion {
	if c.Kind == "" {
		return agent.FileVersion{}
	}
	return w.kept.Keep(w.t.Context(), c.Kind, c.Data)
}

// The outcome for a file that a step changed, and that has yet another content by now
// (OC-09).
func TestPlan(t *testing.T) {
	t.Parallel()
	binary := func(s string) disk.Content { return plain("\x00" + s) }
	for name, tt := range map[string]struct {
		before, after, now disk.Content
		then               disk.Content
		reason             agent.ConflictReason
		places             int
	}{
		"unchanged since":             {before: plain("a\n"), after: plain("b\n"), now: plain("b\n"), then: plain("a\n")},
		"undone by hand":              {before: plain("a\n"), after: plain("b\n"), now: plain("a\n"), then: plain("a\n")},
		"created":                     {after: plain("b\n"), now: plain("b\n")},
		"created and removed":         {after: plain("b\n")},
		"created and changed":         {after: plain("b\n"), now: plain("b\nmine\n"), then: plain("b\nmine\n"), reason: agent.ConflictChanged},
		"deleted":                     {before: executable("a\n"), then: executable("a\n")},
		"deleted and made anew":       {before: plain("a\n"), now: plain("mine\n"), then: plain("mine\n"), reason: agent.ConflictOccupied},
		"changed and removed":         {before: plain("a\n"), after: plain("b\n"), reason: agent.ConflictVanished},
		"changed elsewhere":           {before: plain("a\nx\n"), after: plain("b\nx\n"), now: plain("b\nx\nmine\n"), then: plain("a\nx\nmine\n")},
		"changed there":               {before: plain("a\nx\ny\n"), after: plain("b\nx\nz\n"), now: plain("mine\nx\nz\n"), then: plain("mine\nx\ny\n"), reason: agent.ConflictChanged, places: 1},
		"the mode":                    {before: plain("a\n"), after: executable("a\n"), now: executable("a\n"), then: plain("a\n")},
		"the mode, and a line since":  {before: plain("a\nx\n"), after: executable("a\nx\n"), now: executable("a\nx\nmine\n"), then: plain("a\nx\nmine\n")},
		"a line, and the mode since":  {before: plain("a\n"), after: plain("b\n"), now: executable("b\n"), then: executable("a\n")},
		"binary":                      {before: binary("a"), after: binary("b"), now: binary("b"), then: binary("a")},
		"binary and changed":          {before: binary("a"), after: binary("b"), now: binary("c"), then: binary("c"), reason: agent.ConflictBinary},
		"a link":                      {before: link("a"), after: link("b"), now: link("b"), then: link("a")},
		"a link and changed":          {before: link("a"), after: link("b"), now: link("c"), then: link("c"), reason: agent.ConflictChanged},
		"a file that became a link":   {before: plain("a\n"), after: link("b"), now: link("b"), then: plain("a\n")},
		"a link that became a file":   {before: link("a"), after: plain("b\n"), now: plain("b\nmine\n"), then: plain("b\nmine\n"), reason: agent.ConflictChanged},
		"without an end, and one now": {before: plain("a"), after: plain("b"), now: plain("b\n"), then: plain("b\n"), reason: agent.ConflictChanged, places: 1},
	} {
		w := empty(t)
		w.set("a.txt", tt.now)
		step := Step{FilesChanged: agent.FilesChanged{Files: []agent.FileRecord{{Path: "a.txt", Before: w.version(tt.before), After: w.version(tt.after)}}}}
		p, err := w.folder.Plan(t.Context(), []Step{step})
		if err != nil || len(p.Files) != 1 {
			t.Fatalf("%s: %+v, %v", name, p, err)
		}
		f := p.Files[0]
		if !disk.Same(f.Then, tt.then.Version()) || !disk.Same(f.Before, tt.now.Version()) || f.Reason != tt.reason || f.Places != tt.places {
			t.Errorf("%s: %+v, want %+v", name, f, tt)
		}
		done, err := w.folder.Prepare(t.Context(), []Step{step}, []Choice{{Path: "a.txt", Seal: f.Seal}})
		if err != nil {
			t.Fatal(err)
		}
		done = w.folder.Carry(t.Context(), done)
		want := tt.then
		if tt.reason != "" {
			want = tt.now
			if len(done.Conflicts) != 1 || done.Conflicts[0].Reason != tt.reason {
				t.Errorf("%s: reports %+v", name, done.Conflicts)
			}
		}
		if now, err := w.disk.Read("a.txt"); err != nil || !now.Is(want.Version()) {
			t.Errorf("%s: became %+v, want %+v", name, now, want)
		}
	}
}

// Versions whose contents are not kept are left as they are, unless a neighbour makes
// up for them (K-24).
func TestUnkept(t *testing.T) {
	t.Parallel()
	w := empty(t)
	w.set("a.txt", plain("c\n"))
	a, b, c := w.version(plain("a\n")), w.version(plain("b\n")), w.version(plain("c\n"))
	lost := b
	lost.Unkept = agent.UnkeptDropped
	unseen := agent.FileVersion{Unkept: agent.UnkeptUnseen}
	step := func(before, after agent.FileVersion) Step {
		return Step{FilesChanged: agent.FilesChanged{Files: []agent.FileRecord{{Path: "a.txt", Before: before, After: after}}}}
	}
	for name, tt := range map[string]struct {
		steps  []Step
		reason agent.ConflictReason
	}{
		"the old version":    {[]Step{step(lost, c)}, agent.ConflictUnkept},
		"one never seen":     {[]Step{step(unseen, c)}, agent.ConflictUnkept},
		"one in between":     {[]Step{step(lost, c), step(a, lost)}, ""},
		"one after the step": {[]Step{step(a, lost)}, agent.ConflictUnkept},
	} {
		p, err := w.folder.Plan(t.Context(), tt.steps)
		if err != nil || p.Files[0].Reason != tt.reason || p.Files[0].Restorable() != (tt.reason == "") {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
	delete(w.kept, a.Hash) // while the version claims to be kept
	if p, err := w.folder.Plan(t.Context(), []Step{step(a, c)}); err != nil || p.Files[0].Reason != agent.ConflictUnkept {
		t.Errorf("contents that are gone: %+v, %v", p, err)
	}
	full := New(w.disk, refusing{w.kept})
	p, err := full.Plan(t.Context(), []Step{step(b, c)})
	if err != nil {
		t.Fatal(err)
	}
	done, err := full.Prepare(t.Context(), []Step{step(b, c)}, []Choice{{Path: "a.txt", Seal: p.Files[0].Seal}})
	want := []agent.RestoreConflict{{Path: "a.txt", Reason: agent.ConflictUnkept}}
	if diff := cmp.Diff(want, done.Conflicts); err != nil || diff != "" || len(done.Files) > 0 {
		t.Errorf("what could not be redone: %+v, %v", done, err)
	}
}

// refusing is a journal without room.
type refusing struct{ memory }

func (r refusing) Keep(_ context.Context, kind agent.FileKind, data []byte) agent.FileVersion {
	v := disk.Content{Kind: kind, Data: data}.Version()
	v.Unkept = agent.UnkeptFull
	return v
}

// Nothing is done if a file is not as it was shown; what changes at the last moment
// stays, and the other files are restored.
func TestStale(t *testing.T) {
	t.Parallel()
	w := empty(t)
	var files []agent.FileRecord
	for _, name := range names {
		w.set(name, plain("b\n"))
		files = append(files, agent.FileRecord{Path: name, Before: w.version(plain("a\n")), After: w.version(plain("b\n"))})
	}
	steps := []Step{{FilesChanged: agent.FilesChanged{Files: files}}}
	choose := func() (all []Choice) {
		p, err := w.folder.Plan(t.Context(), steps)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range p.Files {
			all = append(all, Choice{Path: f.Path, Seal: f.Seal})
		}
		return all
	}
	for name, change := range map[string]func([]Choice) []Choice{
		"a changed file": func(all []Choice) []Choice { w.set("b/c.txt", plain("mine\n")); return all },
		"another file":   func(all []Choice) []Choice { return append(all, Choice{Path: "other"}) },
		"a wrong seal":   func(all []Choice) []Choice { all[0].Seal = ""; return all },
		"no such hunk":   func(all []Choice) []Choice { all[0].Hunks = []int{1}; return all },
	} {
		all := change(choose())
		if _, err := w.folder.Prepare(t.Context(), steps, all); !errors.Is(err, ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
		w.set("b/c.txt", plain("b\n"))
	}
	r, err := w.folder.Prepare(t.Context(), steps, choose())
	if err != nil {
		t.Fatal(err)
	}
	at := filepath.Join(w.dir, "b/c.txt")
	if err := errors.Join(os.Remove(at), os.Mkdir(at, 0o755)); err != nil {
		t.Fatal(err)
	}
	w.set("a.txt", plain("mine\n"))
	done := w.folder.Carry(t.Context(), r)
	if len(done.Files) != 1 || done.Files[0].Path != "b/d.txt" {
		t.Errorf("restored %+v", done.Files)
	}
	want := []agent.RestoreConflict{{Path: "a.txt", Reason: agent.ConflictChanged}, {Path: "b/c.txt", Reason: agent.ConflictOccupied}}
	if diff := cmp.Diff(want, done.Conflicts); diff != "" {
		t.Error(diff)
	}
}

// After a crash at any point, what was done is known, and nothing is left behind.
func TestRecover(t *testing.T) {
	t.Parallel()
	for crash := range 4 {
		w := empty(t)
		var r agent.FilesRestored
		for _, name := range names {
			w.set(name, plain("b\n"))
			r.Files = append(r.Files, agent.FileRecord{Path: name, Before: w.version(plain("b\n")), After: w.version(plain("a\n"))})
		}
		r.ID = "r"
		cut := r
		cut.Files = r.Files[:min(crash, len(names))]
		w.folder.Carry(t.Context(), cut)
		if crash < len(names) { // in the middle of a file
			if err := os.WriteFile(filepath.Join(w.dir, filepath.Dir(names[crash]), ".atelier-new-"+token(r, crash)), []byte("a"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		done := w.folder.Recover(r)
		if len(done.Files) != len(cut.Files) || len(done.Conflicts) != len(names)-len(cut.Files) {
			t.Errorf("after %d files: %+v", crash, done)
		}
		for _, pattern := range []string{".atelier-*", "b/.atelier-*"} {
			if left, _ := filepath.Glob(filepath.Join(w.dir, pattern)); len(left) > 0 {
				t.Errorf("after %d files: %v is left", crash, left)
			}
		}
	}
}

// A person can choose hunks; the rest of the file can be undone later.
func TestHunks(t *testing.T) {
	t.Parallel()
	w := empty(t)
	text := func(first, last string) disk.Content {
		return plain(first + strings.Repeat("\nline", 20) + "\n" + last + "\n")
	}
	old, new := text("a", "z"), text("A", "Z")
	w.set("a.txt", new)
	w.append(agent.ToolCallEnd{CallID: "1", Files: &agent.FilesChanged{Files: []agent.FileRecord{{Path: "a.txt", Before: w.version(old), After: w.version(new)}}}})
	restore := func(hunks ...int) {
		t.Helper()
		h := w.past()
		steps := h.Undoing(func(*Past) bool { return true })
		p, err := w.folder.Plan(t.Context(), steps)
		if err != nil || len(p.Files) != 1 || len(hunks) > 0 && p.Files[0].Hunks != 2 {
			t.Fatalf("%+v, %v", p, err)
		}
		r, err := w.folder.Prepare(t.Context(), steps, []Choice{{Path: "a.txt", Seal: p.Files[0].Seal, Hunks: hunks}})
		if err != nil {
			t.Fatal(err)
		}
		w.made++
		r.ID, r.Undone = fmt.Sprint("r", w.made), []agent.StepRef{steps[0].StepRef}
		w.append(w.folder.Carry(t.Context(), r))
	}
	is := func(want disk.Content) {
		t.Helper()
		if now, err := w.disk.Read("a.txt"); err != nil || !now.Is(want.Version()) {
			t.Errorf("%q, want %q", now.Data, want.Data)
		}
	}
	restore(1)
	is(text("A", "z"))
	restore()
	is(old)
	if steps := w.past().Undoing(func(*Past) bool { return true }); len(steps) > 0 {
		t.Errorf("%+v is left to undo", steps)
	}
}

// A fork begins without anything to undo, because what was copied is the other
// session's.
func TestHistoryOfAFork(t *testing.T) {
	t.Parallel()
	var h History
	changed := &agent.FilesChanged{Files: []agent.FileRecord{{Path: "f"}}}
	for i, p := range []agent.Payload{
		agent.ToolCallEnd{CallID: "1", Files: changed}, agent.FilesRestored{ID: "r", Undone: []agent.StepRef{{Session: "s", Call: "1"}}},
		agent.Forked{}, agent.LocalCommandEnd{ID: "2", Command: "make", Files: changed}, agent.ToolCallEnd{CallID: "3"},
	} {
		h.Apply(agent.Event{Session: "s", Seq: int64(i + 1), At: int64(i), Data: p})
	}
	h.Settle()
	if len(h.Steps) != 1 || h.Steps[0].Call != "2" || h.Steps[0].Command != "make" || len(h.Restorations) > 0 {
		t.Errorf("%+v", h)
	}
}

// The clock may be set back while a session works; its steps stay in their order.
func TestHistoryWhenTheClockIsSetBack(t *testing.T) {
	t.Parallel()
	var h History
	changed := &agent.FilesChanged{Files: []agent.FileRecord{{Path: "f"}}}
	for i, at := range []int64{10, 5, 7} {
		call := strconv.Itoa(i + 1)
		h.Apply(agent.Event{Session: "s", Seq: int64(2*i + 1), At: at, Data: agent.ToolCallEnd{CallID: call, Files: changed}})
		h.Apply(agent.Event{Session: "s", Seq: int64(2*i + 2), At: at, Data: agent.FilesRestored{
			ID: "r" + call, Undone: []agent.StepRef{{Session: "s", Call: "none"}}, FilesChanged: *changed,
		}})
	}
	h.Settle()
	var calls []string
	for _, s := range h.Undoing(func(*Past) bool { return true }) {
		calls = append(calls, s.Call)
	}
	if diff := cmp.Diff([]string{"3", "2", "1"}, calls); diff != "" || h.LastUndone().ID != "r3" {
		t.Error(h.LastUndone().ID, diff)
	}
}

// A change that was taken over from another session is a step, which can be undone
// like any other.
func TestTakenIsAStep(t *testing.T) {
	t.Parallel()
	var h History
	taken := agent.FilesRestored{ID: "t", Taken: "other", FilesChanged: agent.FilesChanged{Files: []agent.FileRecord{{Path: "f"}}}}
	h.Apply(agent.Event{Session: "s", Seq: 1, Data: taken})
	h.Settle()
	if steps := h.Undoing(func(*Past) bool { return true }); len(steps) != 1 || steps[0].Call != "t" || h.LastUndone() != nil {
		t.Errorf("%+v", h)
	}
}

// A file comes back although the step made a folder of its name, or a link of the name
// of its folder, because what the step made goes first; and the other way round. An empty
// folder makes way as well. What somebody else put there stays, and so does what would
// take its place.
func TestMakesWay(t *testing.T) {
	t.Parallel()
	w := empty(t)
	mkdirs := func(names ...string) {
		for _, name := range names {
			if err := os.MkdirAll(filepath.Join(w.dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	changed := agent.FilesChanged{Files: []agent.FileRecord{
		{Path: "both", Before: w.version(plain("a file\n"))},
		{Path: "both/in", Before: w.version(plain("a file\n"))},
		{Path: "dir", Before: w.version(plain("a file\n"))},
		{Path: "dir/deep/in", After: w.version(plain("new\n"))},
		{Path: "full", Before: w.version(plain("another\n"))},
		{Path: "full/in", After: w.version(plain("new\n"))},
		{Path: "kept", Before: w.version(plain("a third\n"))},
		{Path: "kept/in", After: w.version(plain("new\n"))},
		{Path: "link", After: w.version(link("dir"))},
		{Path: "link/in", Before: w.version(plain("old\n"))},
		{Path: "was", After: w.version(plain("new\n"))},
		{Path: "was/in", Before: w.version(plain("old\n"))},
	}}
	mkdirs("both/in", "dir/deep", "full", "kept")
	for name, c := range map[string]disk.Content{
		"dir/deep/in": plain("new\n"), "full/in": plain("new\n"), "full/mine": plain("mine\n"), "kept/in": plain("new\nmine\n"),
		"link": link("dir"), "was": plain("new\n"),
	} {
		if err := w.disk.Put(name, "0", agent.FileVersion{}, c); err != nil {
			t.Fatal(err)
		}
	}
	restore := func(steps []Step) agent.FilesRestored {
		t.Helper()
		p, err := w.folder.Plan(t.Context(), steps)
		if err != nil {
			t.Fatal(err)
		}
		var all []Choice
		for _, f := range p.Files {
			all = append(all, Choice{Path: f.Path, Seal: f.Seal})
		}
		r, err := w.folder.Prepare(t.Context(), steps, all)
		if err != nil {
			t.Fatal(err)
		}
		return w.folder.Carry(t.Context(), r)
	}
	is := func(want map[string]string) {
		t.Helper()
		for name, text := range want {
			if got, err := os.ReadFile(filepath.Join(w.dir, name)); err != nil || string(got) != text {
				t.Errorf("%s has %q, %v", name, got, err)
			}
		}
	}
	done := restore([]Step{{FilesChanged: changed}})
	is(map[string]string{"both/in": "a file\n", "dir": "a file\n", "full/mine": "mine\n", "kept/in": "new\nmine\n", "link/in": "old\n", "was/in": "old\n"})
	want := []agent.RestoreConflict{
		{Path: "both", Reason: agent.ConflictOccupied},
		{Path: "kept", Reason: agent.ConflictOccupied}, {Path: "kept/in", Reason: agent.ConflictChanged}, {Path: "full", Reason: agent.ConflictOccupied},
	}
	if diff := cmp.Diff(want, done.Conflicts); diff != "" {
		t.Error(diff)
	}
	restore([]Step{{FilesChanged: done.FilesChanged}})
	is(map[string]string{"dir/deep/in": "new\n", "full/in": "new\n", "was": "new\n"})
	if target, err := os.Readlink(filepath.Join(w.dir, "link")); err != nil || target != "dir" {
		t.Errorf("link leads to %q, %v", target, err)
	}
}

// A restoration that is brought back in parts can be redone until each of its files came
// back, and then gives way to the one before it.
func TestRedoInParts(t *testing.T) {
	t.Parallel()
	part := func(paths ...string) agent.FilesRestored { return agent.FilesRestored{Redone: "r2", Paths: paths} }
	conflict := func(r agent.FilesRestored, path string) agent.FilesRestored {
		r.Conflicts = []agent.RestoreConflict{{Path: path, Reason: agent.ConflictChanged}}
		return r
	}
	partly := func(r agent.FilesRestored, path string) agent.FilesRestored { r.Partly = []string{path}; return r }
	for name, tt := range map[string]struct {
		redos []agent.FilesRestored
		left  []string // of r2; none means that r1 is next
	}{
		"nothing yet":           {nil, []string{"f0", "f1", "f2"}},
		"all at once":           {[]agent.FilesRestored{{Redone: "r2"}}, nil},
		"a conflict first":      {[]agent.FilesRestored{conflict(part("f0", "f1", "f2"), "f0")}, []string{"f0"}},
		"a conflict, then that": {[]agent.FilesRestored{conflict(part("f0", "f1", "f2"), "f0"), part("f0")}, nil},
		"one by one":            {[]agent.FilesRestored{part("f2"), part("f0"), part("f1")}, nil},
		"two of three":          {[]agent.FilesRestored{part("f2"), part("f0")}, []string{"f1"}},
		"some lines only":       {[]agent.FilesRestored{part("f1", "f2"), partly(part("f0"), "f0")}, []string{"f0"}},
		"some lines, then all":  {[]agent.FilesRestored{part("f1", "f2"), partly(part("f0"), "f0"), part("f0")}, nil},
		"cut off by a crash":    {[]agent.FilesRestored{conflict(agent.FilesRestored{Redone: "r2"}, "f2"), part("f2")}, nil},
	} {
		files := func(names ...string) (out agent.FilesChanged) {
			for _, name := range names {
				out.Files = append(out.Files, agent.FileRecord{Path: name})
			}
			return out
		}
		first, second := files("f3"), files("f0", "f1", "f2")
		var h History
		events := []agent.Payload{
			agent.ToolCallEnd{CallID: "1", Files: &second}, agent.ToolCallEnd{CallID: "2", Files: &first},
			agent.FilesRestored{ID: "r1", Undone: []agent.StepRef{{Session: "s", Call: "2"}}, FilesChanged: first},
			agent.FilesRestored{ID: "r2", Undone: []agent.StepRef{{Session: "s", Call: "1"}}, FilesChanged: second},
		}
		for i, r := range tt.redos {
			r.ID, r.FilesChanged = "redo"+strconv.Itoa(i), second
			events = append(events, r)
		}
		for i, p := range events {
			h.Apply(agent.Event{Session: "s", Seq: int64(i + 1), At: int64(i), Data: p})
		}
		h.Settle()
		next, want := h.LastUndone().ID, "r1"
		if tt.left != nil {
			want = "r2"
		}
		var left []string
		step, ok := h.Redoing("r2")
		for _, f := range step.Files {
			left = append(left, f.Path)
		}
		if diff := cmp.Diff(tt.left, left); next != want || ok != (tt.left != nil) || diff != "" {
			t.Errorf("%s: %s is next, want %s; %v; %s", name, next, want, ok, diff)
		}
	}
}

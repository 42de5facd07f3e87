package undo

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/undo/disk"
)

var (
	sequences = flag.Int("sequences", 120, "how many random sequences TestSequences runs")
	seed      = flag.Uint64("seed", 1, "the seed of the random sequences")
)

// memory keeps contents in memory.
type memory map[string][]byte

func (m memory) Contents(_ context.Context, v agent.FileVersion) ([]byte, error) {
	if data, ok := m[v.Hash]; ok {
		return data, nil
	}
	return nil, os.ErrNotExist
}

func (m memory) Keep(_ context.Context, kind agent.FileKind, data []byte) agent.FileVersion {
	v := disk.Content{Kind: kind, Data: data}.Version()
	m[v.Hash] = slices.Clone(data)
	return v
}

// world is a folder in which steps, other programs, undos and redos happen in random
// order.
type world struct {
	t       *testing.T
	dir     string
	random  *rand.Rand
	folder  *Folder
	disk    *disk.Disk
	kept    memory
	history []agent.Event
	made    int      // lines, steps and restorations that were made up
	log     []string // what happened
}

var names = []string{"a.txt", "b/c.txt", "b/d.txt"}

func newWorld(t *testing.T, dir string, random *rand.Rand) *world {
	local, err := env.NewLocal(dir)
	if err != nil {
		t.Fatal(err)
	}
	d, err := disk.Of(local)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, random: random, disk: d, kept: memory{}}
	w.folder = New(d, w.kept)
	for _, name := range names {
		var text []byte
		for range random.IntN(25) {
			w.made++
			text = fmt.Appendf(text, "line %d\n", w.made)
		}
		if len(text) > 0 {
			w.set(name, disk.Content{Kind: agent.PlainFile, Data: text})
		}
	}
	return w
}

func (w *world) state() map[string]disk.Content {
	all := map[string]disk.Content{}
	for _, name := range names {
		c, err := w.disk.Read(name)
		if err != nil {
			w.t.Fatal(err)
		}
		all[name] = c
	}
	return all
}

func (w *world) set(name string, to disk.Content) {
	now, err := w.disk.Read(name)
	if err == nil {
		w.made++
		err = w.disk.Put(name, fmt.Sprint("set", w.made), now.Version(), to)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// edited returns content with a random change. Its new lines are unique and begin with
// who made them.
func (w *world) edited(c disk.Content, who string) disk.Content {
	all := strings.SplitAfter(string(c.Data), "\n")
	for range 1 + w.random.IntN(5) {
		w.made++
		line := fmt.Sprintf("%s %d\n", who, w.made)
		at := w.random.IntN(len(all))
		switch w.random.IntN(3) {
		case 0:
			all = slices.Insert(all, at, line)
		case 1:
			if all[at] != "" && (who != "step" || !strings.HasPrefix(all[at], "mine")) {
				all[at] = line
			}
		case 2:
			if all[at] != "" && (who != "step" || !strings.HasPrefix(all[at], "mine")) {
				all = slices.Delete(all, at, at+1)
			}
		}
	}
	return disk.Content{Kind: agent.PlainFile, Data: []byte(strings.Join(all, ""))}
}

// step changes files and records it.
func (w *world) step() {
	before := w.state()
	for _, name := range names {
		c := before[name]
		switch n := w.random.IntN(40); {
		case n < 15:
			continue
		case n < 17 && c.Kind != "" && !strings.Contains(string(c.Data), "mine"):
			w.set(name, disk.Content{})
		case n < 19 && c.Kind == agent.PlainFile:
			w.set(name, disk.Content{Kind: agent.ExecutableFile, Data: c.Data})
		case n < 21 && (c.Kind == "" || c.Kind == agent.SymbolicLink):
			w.made++
			w.set(name, disk.Content{Kind: agent.SymbolicLink, Data: fmt.Appendf(nil, "to %d", w.made)})
		case c.Kind != agent.SymbolicLink:
			w.set(name, w.edited(c, "step"))
		}
	}
	changed := w.between(before)
	if changed == nil {
		return
	}
	w.made++
	w.append(agent.ToolCallEnd{CallID: fmt.Sprint("step", w.made), Tool: "Bash", Files: changed})
}

func (w *world) between(before map[string]disk.Content) *agent.FilesChanged {
	var changed agent.FilesChanged
	for name, now := range w.state() {
		if was := before[name]; !was.Is(now.Version()) {
			r := agent.FileRecord{Path: name}
			if was.Kind != "" {
				r.Before = w.kept.Keep(w.t.Context(), was.Kind, was.Data)
			}
			if now.Kind != "" {
				r.After = w.kept.Keep(w.t.Context(), now.Kind, now.Data)
			}
			changed.Files = append(changed.Files, r)
		}
	}
	if changed.Files == nil {
		return nil
	}
	return &changed
}

// outside is another program, or the user.
func (w *world) outside() {
	name := names[w.random.IntN(len(names))]
	c, err := w.disk.Read(name)
	if err != nil {
		w.t.Fatal(err)
	}
	if c.Kind == agent.SymbolicLink {
		return
	}
	w.set(name, w.edited(c, "mine"))
	w.log = append(w.log, "outside "+name)
}

func (w *world) append(p agent.Payload) {
	w.log = append(w.log, fmt.Sprintf("%+v", p))
	w.history = append(w.history, agent.Event{Session: "s", Seq: int64(len(w.history) + 1), At: int64(len(w.history)), Turn: 1, Data: p})
}

func (w *world) past() *History {
	var h History
	for _, ev := range w.history {
		h.Apply(ev)
	}
	h.Settle()
	return &h
}

// mineIn returns the lines that other programs wrote.
func mineIn(state map[string]disk.Content) (lines []string) {
	for name, c := range state {
		for line := range strings.Lines(string(c.Data)) {
			if strings.HasPrefix(line, "mine") && c.Kind != agent.SymbolicLink {
				lines = append(lines, name+": "+line)
			}
		}
	}
	slices.Sort(lines)
	return lines
}

// restore undoes or redoes steps and checks what always holds.
func (w *world) restore(steps []Step, r agent.FilesRestored, some bool) {
	if len(steps) == 0 {
		return
	}
	before := w.state()
	plan, err := w.folder.Plan(w.t.Context(), steps)
	if err != nil {
		w.t.Fatal(err)
	}
	var choices []Choice
	for _, f := range plan.Files {
		c := Choice{Path: f.Path, Seal: f.Seal}
		if some {
			if w.random.IntN(3) == 0 {
				continue
			}
			c.Rest = w.random.IntN(4) > 0
			if f.Hunks > 1 && w.random.IntN(2) == 0 {
				c.Hunks = []int{w.random.IntN(f.Hunks)}
			}
		}
		choices = append(choices, c)
	}
	w.made++
	prepared, err := w.folder.Prepare(w.t.Context(), steps, choices)
	if err != nil {
		w.t.Fatal(err)
	}
	prepared.ID, prepared.Undone, prepared.Redone = fmt.Sprint("undo", w.made), r.Undone, r.Redone
	done := w.folder.Carry(w.t.Context(), prepared)
	after := w.state()
	w.append(done)
	w.check(steps, plan, done, before, after)
	for _, c := range choices {
		i := slices.IndexFunc(plan.Files, func(f File) bool { return f.Path == c.Path })
		if plan.Files[i].Reason != "" && !c.Rest && !before[c.Path].Is(after[c.Path].Version()) {
			w.t.Fatalf("%s has a conflict and was restored in part", c.Path)
		}
	}
	// Taking the restoration back gives the same bytes as before.
	back := Step{StepRef: agent.StepRef{Call: done.ID}, FilesChanged: done.FilesChanged}
	again, err := w.folder.Plan(w.t.Context(), []Step{back})
	if err != nil {
		w.t.Fatal(err)
	}
	for _, f := range again.Files {
		if f.Reason != "" || !before[f.Path].Is(f.Then) {
			w.t.Fatalf("taking it back would make %+v of %s", f, f.Path)
		}
	}
}

// check checks a restoration.
func (w *world) check(steps []Step, plan Plan, done agent.FilesRestored, before, after map[string]disk.Content) {
	was, is := mineIn(before), mineIn(after)
	for _, line := range was {
		if !slices.Contains(is, line) {
			w.t.Fatalf("%q was lost", line)
		}
	}
	touched := map[string]agent.FileRecord{}
	for _, r := range done.Files {
		touched[r.Path] = r
	}
	for name := range before {
		r, ok := touched[name]
		if !ok && !before[name].Is(after[name].Version()) {
			w.t.Fatalf("%s was changed, and nothing says so", name)
		}
		if ok && (!before[name].Is(r.Before) || !after[name].Is(r.After)) {
			w.t.Fatalf("%s is said to be %+v", name, r)
		}
	}
	for _, c := range done.Conflicts {
		if _, ok := touched[c.Path]; ok && c.Hunks == 0 {
			w.t.Fatalf("%s has a conflict and was changed", c.Path)
		}
	}
	// Where nobody changed a file since, it is what it was before the steps.
	for _, records := range byPath(steps) {
		path, first, last := records[0].Path, records[len(records)-1], records[0]
		if len(chained(records)) > 1 || !before[path].Is(last.After) {
			continue
		}
		i := slices.IndexFunc(plan.Files, func(f File) bool { return f.Path == path })
		if f := plan.Files[i]; f.Reason != "" || !disk.Same(f.Then, first.Before) {
			w.t.Fatalf("%s would become %+v, want %+v", path, f, first.Before)
		}
	}
}

func (w *world) undo() {
	h := w.past()
	if len(h.Steps) == 0 {
		return
	}
	one := w.random.IntN(len(h.Steps))
	all, some := w.random.IntN(4) == 0, w.random.IntN(2) == 0
	n := 0
	steps := h.Undoing(func(*Past) bool { n++; return all || len(h.Steps)-n == one })
	var r agent.FilesRestored
	for _, s := range steps {
		r.Undone = append(r.Undone, s.StepRef)
	}
	w.restore(steps, r, some)
}

func (w *world) redo() {
	h := w.past()
	var ids []string
	for i := range h.Restorations {
		if h.Restorations[i].Redoable() {
			ids = append(ids, h.Restorations[i].ID)
		}
	}
	if len(ids) == 0 {
		return
	}
	id := ids[w.random.IntN(len(ids))]
	s, ok := h.Redoing(id)
	if !ok {
		w.t.Fatalf("%s cannot be redone", id)
	}
	w.restore([]Step{s}, agent.FilesRestored{Redone: id}, w.random.IntN(4) == 0)
}

// In any order of steps, changes by others, undos and redos, the changes by others are
// never lost, files without conflicts become what they were, nothing else is touched,
// and each restoration can be taken back byte by byte (OC-09).
func TestSequences(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		if shm, err := os.MkdirTemp("/dev/shm", "undo"); err == nil {
			t.Cleanup(func() { _ = os.RemoveAll(shm) })
			root = shm
		}
	}
	began := time.Now()
	for i := range *sequences {
		dir := filepath.Join(root, fmt.Sprint(i))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		w := newWorld(t, dir, rand.New(rand.NewPCG(*seed, uint64(i))))
		defer func() {
			if t.Failed() {
				t.Logf("sequence %d of seed %d:\n%s", i, *seed, strings.Join(w.log, "\n"))
			}
		}()
		for range 8 + w.random.IntN(20) {
			switch w.random.IntN(8) {
			case 0, 1, 2:
				w.step()
			case 3, 4:
				w.outside()
			case 5, 6:
				w.undo()
			case 7:
				w.redo()
			}
		}
		w.log = nil
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d sequences in %v", *sequences, time.Since(began).Round(time.Millisecond))
}

package journal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/pathname"
)

// recorder records the steps of one session.
type recorder struct {
	journal         *Journal
	session, folder string
}

// step is a step that runs.
type step struct {
	changes map[string]change
	partial bool // some changes may have been missed
}

// add takes note of what the step changed. Of a file that it changed again, the
// first version before counts.
func (s *step) add(changes []change) {
	for _, c := range changes {
		if earlier, ok := s.changes[c.path]; ok {
			c.before = earlier.before
		}
		if s.changes[c.path] = c; c.before.same(c.after) {
			delete(s.changes, c.path)
		}
	}
}

// Begin implements [agent.Recorder].
func (r *recorder) Begin(ctx context.Context, id string, call agent.GateCall) func(context.Context) *agent.FilesChanged {
	access := call.Access
	switch {
	case call.Tool == agent.HookStep:
		return r.beginHook(ctx, access.Writes)
	case call.ReadOnly || access.OnlyReads || access.Own:
		return nil
	case namesWrites(call):
		return r.beginNamed(ctx, id, access.Writes)
	}
	return r.beginAny(ctx, id)
}

// beginHook begins the step of a hook, which may change anything in the folder, and the
// files of its call wherever they are.
func (r *recorder) beginHook(ctx context.Context, paths []string) func(context.Context) *agent.FilesChanged {
	var named []agent.FileRecord
	for _, path := range paths[:min(len(paths), maxListed)] {
		at := r.relative(path)
		named = append(named, agent.FileRecord{Path: pathname.Quote(at), Before: r.version(ctx, at)})
	}
	end := r.beginAny(ctx, "")
	return func(ctx context.Context) *agent.FilesChanged {
		changed, others := r.compare(ctx, named), end(ctx)
		if changed == nil || others == nil {
			return cmp.Or(changed, others)
		}
		isNamed := func(f agent.FileRecord) bool {
			return slices.ContainsFunc(named, func(n agent.FileRecord) bool { return n.Path == f.Path })
		}
		others.Files = append(slices.DeleteFunc(others.Files, isNamed), changed.Files...)
		return limited(ctx, r.journal.store, *others)
	}
}

// namesWrites reports whether a call changes the files that it names and no others.
func namesWrites(call agent.GateCall) bool {
	return call.Access.Command == "" && len(call.Access.Writes) > 0 && slices.Contains([]string{"Edit", "MultiEdit", "Write", "NotebookEdit", "ApplyPatch"}, call.Tool)
}

// beginAny begins a step that may change anything in the folder.
func (r *recorder) beginAny(ctx context.Context, id string) func(context.Context) *agent.FilesChanged {
	unwatched := func(context.Context) *agent.FilesChanged { return &agent.FilesChanged{Unwatched: true} }
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t := r.journal.tree(r.folder)
	if t == nil || !t.await(waiting) {
		return unwatched
	}
	s, ok := t.begin(waiting)
	if !ok {
		return unwatched
	}
	intent := r.intend(id, intent{Folder: r.folder})
	return func(ctx context.Context) *agent.FilesChanged {
		defer intent.remove()
		return t.end(ctx, s)
	}
}

// begin begins a step. Earlier changes are read until ctx ends. It reports false
// if the tree has been closed.
func (t *tree) begin(ctx context.Context) (*step, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ctx.Err() != nil {
		return nil, false
	}
	t.attribute(t.refresh(ctx))
	t.catchUp(ctx)
	s := &step{changes: map[string]change{}}
	t.running = append(t.running, s)
	return s, true
}

// end ends a step and returns what it changed; nil if it changed nothing.
func (t *tree) end(ctx context.Context, s *step) *agent.FilesChanged {
	ctx, cancel := context.WithTimeout(ctx, thoroughness)
	defer cancel()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.running = slices.DeleteFunc(t.running, func(r *step) bool { return r == s })
	if t.ctx.Err() != nil {
		s.partial = true
	} else {
		s.add(t.refresh(ctx))
	}
	s.partial = s.partial || t.partial
	return limited(ctx, t.store, s.report())
}

// attribute gives changes that no step ended with to the step that has run longest.
func (t *tree) attribute(changes []change) {
	if len(t.running) > 0 {
		t.running[0].add(changes)
	}
}

// idle reports whether no step runs in the folder.
func (t *tree) idle() bool {
	if !t.mu.TryLock() {
		return false
	}
	defer t.mu.Unlock()
	return len(t.running) == 0
}

// report says what the step changed.
func (s *step) report() agent.FilesChanged {
	out := agent.FilesChanged{Unwatched: s.partial}
	for _, c := range s.changes {
		out.Files = append(out.Files, agent.FileRecord{Path: pathname.Quote(c.path), Before: c.before.version(), After: c.after.version()})
	}
	return out
}

// beginNamed begins a step that changes no other files than these.
func (r *recorder) beginNamed(ctx context.Context, id string, paths []string) func(context.Context) *agent.FilesChanged {
	names := map[string]bool{}
	in := intent{Folder: r.folder, Named: true}
	r.others(ctx, nil)
	listed := paths[:min(len(paths), maxListed)]
	for _, path := range listed {
		at := r.relative(path)
		if !names[at] {
			names[at] = true
			in.Files = append(in.Files, agent.FileRecord{Path: pathname.Quote(at), Before: r.version(ctx, at)})
		}
	}
	intent := r.intend(id, in)
	return func(ctx context.Context) *agent.FilesChanged {
		defer intent.remove()
		out := r.compare(ctx, in.Files)
		r.others(ctx, names)
		if more := len(paths) - len(listed); more > 0 {
			out = cmp.Or(out, &agent.FilesChanged{})
			out.More += more
		}
		return out
	}
}

// others gives what commands that run meanwhile have changed to these, without the
// files of a step that names them.
func (r *recorder) others(ctx context.Context, named map[string]bool) {
	t := r.journal.tree(r.folder)
	if t == nil {
		return
	}
	select {
	case <-t.ready:
	default:
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.running) == 0 || t.ctx.Err() != nil {
		return // the next command begins with what is there then
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	t.attribute(slices.DeleteFunc(t.refresh(ctx), func(c change) bool { return named[c.path] }))
}

// Apart changes files of a folder for the user, with do: what it does to the files of
// these records belongs to none of the steps that run there.
func (j *Journal) Apart(ctx context.Context, folder string, files []agent.FileRecord, do func()) {
	r := recorder{journal: j, folder: folder}
	named := map[string]bool{}
	for _, f := range files {
		named[pathname.Unquote(f.Path)] = true
	}
	r.others(ctx, nil)
	do()
	r.others(ctx, named)
}

// compare compares files with what is there now.
func (r *recorder) compare(ctx context.Context, before []agent.FileRecord) *agent.FilesChanged {
	var out agent.FilesChanged
	for _, f := range before {
		f.After = r.version(ctx, pathname.Unquote(f.Path))
		if f.After != f.Before {
			out.Files = append(out.Files, f)
		}
	}
	return limited(ctx, r.journal.store, out)
}

// relative returns a path as the log has it, with slashes. Links to folders are resolved,
// because undoing follows none; but a path in the folder stays one.
func (r *recorder) relative(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(r.folder, path)
	}
	path = filepath.Clean(path)
	for _, path := range []string{resolved(path), path} {
		if rel, err := filepath.Rel(r.folder, path); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(resolved(path))
}

// resolved returns an absolute path without links to folders, as far as they exist.
func resolved(path string) string {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			if rest, err := filepath.Rel(dir, path); err == nil {
				return filepath.Join(real, rest)
			}
		}
		if dir == filepath.Dir(dir) {
			return path
		}
	}
}

// version keeps what stands under a path of the log. A path in the folder cannot
// lead out of it through a link.
func (r *recorder) version(ctx context.Context, at string) agent.FileVersion {
	name, base := filepath.FromSlash(at), r.folder
	if filepath.IsAbs(name) {
		base, name = filepath.Split(name)
	}
	if strings.ContainsRune(name, 0) {
		return agent.FileVersion{}
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return unreadable(err).version()
	}
	defer root.Close()
	return read(ctx, r.journal.store, root, name).version()
}

// Recover implements [agent.Recorder].
func (r *recorder) Recover(ctx context.Context, id string) *agent.FilesChanged {
	name := r.intentName(id)
	in, err := readIntent(name)
	if err != nil || in.Folder != r.folder {
		return nil
	}
	defer os.Remove(name)
	if in.Named {
		return r.compare(ctx, in.Files)
	}
	ctx, cancel := context.WithTimeout(ctx, thoroughness)
	defer cancel()
	t := r.journal.tree(r.folder)
	if t == nil || !t.await(ctx) {
		return &agent.FilesChanged{Unwatched: true}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	s := step{changes: map[string]change{}, partial: t.partial}
	s.add(t.cutOff)
	t.cutOff = nil
	return limited(ctx, t.store, s.report())
}

// intent says that a step begins, so that what it changes is known although the
// process ends in the middle of it.
type intent struct {
	Folder string             `json:"folder"`
	Named  bool               `json:"named,omitempty"` // it changes only Files
	Files  []agent.FileRecord `json:"files,omitempty"`
	name   string
}

const (
	// maxIntent limits the size of an intent in bytes, maxIntents how many are looked
	// at.
	maxIntent  = 4 << 20
	maxIntents = 1000
)

func (r *recorder) intentName(id string) string {
	return filepath.Join(r.journal.dir, "steps", key(r.session, id))
}

// intend writes an intent. Without it a step runs all the same.
func (r *recorder) intend(id string, in intent) intent {
	if id == "" {
		return in // a hook: nobody asks for it
	}
	in.name = r.intentName(id)
	data, err := json.Marshal(in)
	if err == nil {
		err = os.WriteFile(in.name, data, 0o600)
	}
	if os.IsNotExist(err) && os.MkdirAll(filepath.Dir(in.name), 0o700) == nil {
		_ = os.WriteFile(in.name, data, 0o600)
	}
	return in
}

func (in intent) remove() {
	if in.name != "" {
		_ = os.Remove(in.name)
	}
}

func readIntent(name string) (in intent, err error) {
	f, err := os.Open(name)
	if err != nil {
		return in, fmt.Errorf("open the intent of a step: %w", err)
	}
	defer f.Close()
	if err := json.NewDecoder(io.LimitReader(f, maxIntent)).Decode(&in); err != nil {
		return in, fmt.Errorf("read the intent of a step: %w", err)
	}
	return in, nil
}

// cutOff reports whether an earlier process ended in the middle of a command in a
// folder.
func (j *Journal) cutOff(folder string) bool {
	f, err := os.Open(filepath.Join(j.dir, "steps"))
	if err != nil {
		return false
	}
	defer f.Close()
	names, _ := f.Readdirnames(maxIntents)
	return slices.ContainsFunc(names, func(name string) bool {
		in, err := readIntent(filepath.Join(f.Name(), name))
		return err == nil && in.Folder == folder && !in.Named
	})
}

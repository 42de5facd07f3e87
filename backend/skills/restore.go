package skills

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// maxNote limits what is read of a note of where something was, in bytes.
const maxNote = 16 << 10

// discarded is what the trash has of one removal.
type discarded struct {
	bin   string // the name of its folder in the trash
	from  string // where it was
	scope agent.Scope
}

// Restore is skills.restore. It puts back what was removed, unless something stands there by
// now.
func (s *Skills) Restore(ctx context.Context, in SkillRef) (backend.Empty, error) {
	if _, err := s.at(ctx, s.cfg.Folder); err != nil {
		return backend.Empty{}, err
	}
	for _, folder := range s.folders() {
		all, err := s.discards(folder)
		if err != nil {
			return backend.Empty{}, err
		}
		if i := slices.IndexFunc(all, func(d discarded) bool { return d.bin == in.ID }); i >= 0 {
			if err := s.putBack(all[i], folder); err != nil {
				return backend.Empty{}, err
			}
			return backend.Empty{}, s.again()
		}
	}
	return backend.Empty{}, backend.Problem(backend.ProblemSkillUntrashed)
}

func (s *Skills) putBack(d discarded, folder string) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	shown := s.shown(d.from, d.scope, folder)
	unwritten := func(err error) error {
		return backend.Problem(backend.ProblemSkillUnwritten, shown).Because(err)
	}
	if d.scope == agent.ScopeProject {
		// A link that came since would have it put elsewhere.
		near := filepath.Dir(d.from)
		for !exists(near) {
			near = filepath.Dir(near)
		}
		real, err := filepath.EvalSymlinks(near)
		if err != nil {
			return unwritten(err)
		}
		if strings.HasPrefix(below(folder, real), "/") {
			return backend.Problem(backend.ProblemSkillElsewhere, shown)
		}
	}
	if exists(d.from) {
		return backend.Problem(backend.ProblemSkillBack, shown)
	}
	bin := filepath.Join(s.trash(), d.bin)
	if err := os.MkdirAll(filepath.Dir(d.from), 0o755); err != nil {
		return unwritten(err)
	}
	if err := move(filepath.Join(bin, filepath.Base(d.from)), d.from); err != nil && !errors.Is(err, errLeft) {
		return unwritten(err)
	}
	_ = os.RemoveAll(bin) // only its note is left there
	return nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// removed returns what can be restored to a folder, or to the user's folders, the newest
// first. A trash that cannot be read has nothing.
func (s *Skills) removed(folder string) []SkillRemoved {
	all, err := s.discards(folder)
	if err != nil {
		return nil
	}
	var out []SkillRemoved
	for _, d := range slices.Backward(all) {
		row := SkillRemoved{ID: d.bin, Name: strings.TrimSuffix(filepath.Base(d.from), ".md"), From: s.shown(d.from, d.scope, folder)}
		if info, err := os.Stat(filepath.Join(s.trash(), d.bin)); err == nil {
			row.At = info.ModTime().UnixMilli()
		}
		out = append(out, row)
	}
	return out
}

// discards returns what was removed from the roots of a folder and of the user, the oldest
// first. The trash keeps at most maxTrash.
func (s *Skills) discards(folder string) ([]discarded, error) {
	list, err := os.ReadDir(s.trash())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	roots := skill.Roots(s.cfg.User, folder)
	for _, root := range roots {
		if real, err := filepath.EvalSymlinks(root.Path); err == nil && real != root.Path {
			root.Path = real
			roots = append(roots, root)
		}
	}
	var out []discarded
	for _, e := range list[max(0, len(list)-maxTrash):] {
		from := s.note(e.Name())
		if from == "" || !exists(filepath.Join(s.trash(), e.Name(), filepath.Base(from))) {
			continue
		}
		i := slices.IndexFunc(roots, func(r skill.Root) bool {
			return from != r.Path && !strings.HasPrefix(below(r.Path, from), "/")
		})
		if i >= 0 {
			out = append(out, discarded{bin: e.Name(), from: from, scope: roots[i].Scope})
		}
	}
	return out, nil
}

// note returns where something in the trash was; empty if that is not known.
func (s *Skills) note(bin string) string {
	f, err := os.Open(filepath.Join(s.trash(), bin, fromNote))
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	b, err := io.ReadAll(io.LimitReader(f, maxNote))
	from := strings.TrimSuffix(string(b), "\n")
	if err != nil || !filepath.IsAbs(from) || filepath.Clean(from) != from {
		return ""
	}
	return from
}

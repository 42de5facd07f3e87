package skills

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// maxTrash limits how many skills the trash keeps; the oldest are deleted.
const maxTrash = 100

// fromNote is the file beside what was removed that says where it was.
const fromNote = "from.txt"

// trash is the folder of what was removed.
func (s *Skills) trash() string { return filepath.Join(s.cfg.Home, "trash", "skills") }

// Remove is skills.remove. It moves the skill to the trash below Atelier's home folder.
func (s *Skills) Remove(ctx context.Context, in SkillRef) (backend.Empty, error) {
	x, p, err := s.find(ctx, in.ID)
	if err != nil {
		return backend.Empty{}, err
	}
	if x.Place.Kind == skill.KindBuiltIn {
		return backend.Empty{}, backend.Problem(backend.ProblemSkillBuiltIn, x.Name)
	}
	if err := s.discard(x, p); err != nil {
		return backend.Empty{}, err
	}
	return backend.Empty{}, s.again()
}

func (s *Skills) discard(x placed, p *place) error {
	s.changing.Lock()
	defer s.changing.Unlock()
	target := x.Place.Folder
	if target == "" {
		target = x.Place.File
	}
	shown := s.shown(target, x.Place.Scope, p.folder)
	if x.Place.Scope == agent.ScopeProject {
		// A link to a skill is moved as a link. One on the way to it would have something
		// removed that is elsewhere.
		real, err := filepath.EvalSymlinks(filepath.Dir(target))
		if err != nil {
			return backend.Problem(backend.ProblemSkillUnwritten, shown).Because(err)
		}
		if strings.HasPrefix(below(p.folder, real), "/") {
			return backend.Problem(backend.ProblemSkillElsewhere, shown)
		}
	}
	if err := s.toTrash(target); err != nil {
		return backend.Problem(backend.ProblemSkillUnwritten, shown).Because(err)
	}
	return nil
}

// toTrash moves a file or folder to the trash, beside a note of where it was.
func (s *Skills) toTrash(path string) error {
	trash := s.trash()
	if err := os.MkdirAll(trash, 0o700); err != nil {
		return err
	}
	bin, err := os.MkdirTemp(trash, time.Now().UTC().Format("20060102-150405.000")+"-")
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(bin, fromNote), []byte(path+"\n"), 0o600); err != nil {
		return err
	}
	err = move(path, filepath.Join(bin, filepath.Base(path)))
	switch {
	case errors.Is(err, errLeft):
		return err // some of it may be in the trash alone
	case err != nil:
		_ = os.RemoveAll(bin) // nothing was moved there
		return err
	}
	return prune(trash)
}

// prune deletes what is oldest in the trash.
func prune(trash string) error {
	list, err := os.ReadDir(trash)
	if err != nil {
		return err
	}
	names := make([]string, 0, len(list))
	for _, e := range list {
		names = append(names, e.Name())
	}
	slices.Sort(names)
	for _, name := range names[:max(0, len(names)-maxTrash)] {
		if err := os.RemoveAll(filepath.Join(trash, name)); err != nil {
			return err
		}
	}
	return nil
}

// errLeft says that something was copied as a whole, and that not all of the original could
// be removed.
var errLeft = errors.New("not all of it could be removed from where it was")

// move moves a file or folder, which may be to another file system. A link stays one. With
// an error other than [errLeft], nothing has changed.
func move(from, to string) error {
	err := os.Rename(from, to)
	if !errors.Is(err, syscall.EXDEV) {
		return err
	}
	if err := duplicate(from, to); err != nil {
		_ = os.RemoveAll(to) // what there is of it
		return err
	}
	if err := os.RemoveAll(from); err != nil {
		return fmt.Errorf("%w: %w", errLeft, err)
	}
	return nil
}

// duplicate copies a file, a folder or a link.
func duplicate(from, to string) error {
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	switch {
	case info.Mode()&os.ModeSymlink != 0:
		leads, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return os.Symlink(leads, to)
	case info.IsDir():
		return os.CopyFS(to, os.DirFS(from))
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode().Perm())
}

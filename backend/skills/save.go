package skills

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// mainFile is the name of a skill's main file.
const mainFile = "SKILL.md"

func tooLarge() error {
	return backend.Problem(backend.ProblemSkillLarge, strconv.Itoa(skill.MaxFile>>10))
}

// Save is skills.save.
func (s *Skills) Save(ctx context.Context, in SkillSaveRequest) (SkillRef, error) {
	if len(in.Text) > skill.MaxFile {
		return SkillRef{}, tooLarge()
	}
	if in.ID == "" {
		return s.create(ctx, in)
	}
	x, p, err := s.find(ctx, in.ID)
	if err != nil {
		return SkillRef{}, err
	}
	if err := s.overwrite(x, p, in); err != nil {
		return SkillRef{}, err
	}
	return SkillRef{in.ID}, s.again()
}

// overwrite replaces the main file of a skill, if it is what the user saw.
func (s *Skills) overwrite(x placed, p *place, in SkillSaveRequest) error {
	if x.Place.Kind == skill.KindBuiltIn {
		return backend.Problem(backend.ProblemSkillBuiltIn, x.Name)
	}
	s.changing.Lock()
	defer s.changing.Unlock()
	shown := s.shown(x.Place.File, x.Place.Scope, p.folder)
	before, err := s.content(x, p)
	if err != nil {
		return err
	}
	if in.Version != version(before) {
		return backend.Problem(backend.ProblemSkillEdited, shown)
	}
	root, name, err := s.open(x, p, x.Place.File)
	if err != nil {
		return backend.Problem(backend.ProblemSkillUnwritten, shown).Because(err)
	}
	defer root.Close()
	done, err := replace(root, name, []byte(before), []byte(in.Text))
	switch {
	case err != nil:
		return backend.Problem(backend.ProblemSkillUnwritten, shown).Because(err)
	case !done:
		return backend.Problem(backend.ProblemSkillEdited, shown)
	}
	return nil
}

// replace replaces a file as a whole, unless its contents have changed since they
// were read.
func replace(root *os.Root, name string, before, after []byte) (done bool, err error) {
	info, err := root.Stat(name)
	if err != nil {
		return false, err
	}
	tmp := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+strconv.Itoa(os.Getpid())+".tmp")
	_ = root.Remove(tmp)   // one that a crash left
	defer root.Remove(tmp) //nolint:errcheck // it has been renamed, or is of no use
	if err := write(root, tmp, after, info.Mode().Perm()); err != nil {
		return false, err
	}
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	if now, err := io.ReadAll(io.LimitReader(file, skill.MaxFile+1)); err != nil || !bytes.Equal(now, before) {
		return false, err
	}
	return true, root.Rename(tmp, name)
}

// write makes a file, which is not there yet.
func write(root *os.Root, name string, data []byte, mode fs.FileMode) error {
	file, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// callable is what a new skill may be called. It is compiled when it is first needed, because
// its repeated classes of letters would delay every start. Some systems have devices of the
// other names.
var (
	callable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL\pN][\pL\pN._-]{0,63}$`) })
	devices  = regexp.MustCompile(`(?i)^(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?$`)
)

func isCallable(name string) bool {
	return callable().MatchString(name) && !devices.MatchString(name) && !strings.HasSuffix(name, ".")
}

// create writes a new skill.
func (s *Skills) create(ctx context.Context, in SkillSaveRequest) (SkillRef, error) {
	parts := []string{in.Name}
	if in.Kind == skill.KindCommand {
		parts = strings.Split(in.Name, ":")
	}
	if len(parts) > 4 || slices.ContainsFunc(parts, func(part string) bool { return !isCallable(part) }) {
		return SkillRef{}, backend.Problem(backend.ProblemSkillName, in.Name)
	}
	if _, err := s.at(ctx, s.cfg.Folder); err != nil {
		return SkillRef{}, err
	}
	file, err := s.add(in, parts)
	if err != nil {
		return SkillRef{}, err
	}
	if err := s.again(); err != nil {
		return SkillRef{}, err
	}
	p, err := s.at(ctx, s.cfg.Folder)
	if err != nil {
		return SkillRef{}, err
	}
	for _, x := range p.rows {
		if x.Place.File == file {
			return SkillRef{x.id}, nil
		}
	}
	return SkillRef{}, backend.Problem(backend.ProblemSkillMissing) // somebody took it out
}

// add writes the file of a new skill and returns its path.
func (s *Skills) add(in SkillSaveRequest, parts []string) (string, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	shelf, err := s.shelf(in.Scope, in.Kind)
	if err != nil {
		return "", err
	}
	defer shelf.Close()
	name := path.Join(append(parts, mainFile)...)
	taken := parts[0]
	if in.Kind == skill.KindCommand {
		name = path.Join(parts...) + ".md"
		taken = name
	}
	full := filepath.Join(shelf.path, filepath.FromSlash(name))
	shown := s.shown(full, in.Scope, s.cfg.Folder)
	if shelf.has(taken) {
		return "", backend.Problem(backend.ProblemSkillTaken, shown)
	}
	at := filepath.Join(shelf.below, filepath.FromSlash(name))
	if err = shelf.MkdirAll(filepath.Dir(at), 0o755); err == nil {
		err = write(shelf.Root, at, []byte(in.Text), 0o644)
	}
	if err != nil {
		return "", backend.Problem(backend.ProblemSkillUnwritten, shown).Because(err)
	}
	return full, nil
}

// shelf is a folder to which skills are written: one of the user, wherever the user's own
// links lead, or one of the project, out of which no link leads.
type shelf struct {
	*os.Root
	below string // where the skills are in the root
	path  string // the path of that, as it is looked for
}

func (s *Skills) shelf(scope agent.Scope, kind skill.SkillKind) (*shelf, error) {
	name := filepath.Join(".agent", "skills")
	if kind == skill.KindCommand {
		name = filepath.Join(".agent", "commands")
	}
	base := s.cfg.Folder
	switch {
	case kind != skill.KindSkill && kind != skill.KindCommand:
		return nil, backend.Problem(backend.ProblemSkillScope)
	case scope == agent.ScopeUser && s.cfg.User != "":
		base = s.cfg.User
	case scope != agent.ScopeProject:
		return nil, backend.Problem(backend.ProblemSkillScope)
	}
	out := &shelf{below: name, path: filepath.Join(base, name)}
	if real, err := filepath.EvalSymlinks(out.path); err == nil && scope == agent.ScopeUser {
		base, out.below = real, "."
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, backend.Problem(backend.ProblemSkillUnwritten, out.path).Because(err)
	}
	out.Root = root
	return out, nil
}

// has reports whether something of the name is there, in whatever case.
func (f *shelf) has(name string) bool {
	at := filepath.Join(f.below, filepath.FromSlash(name))
	dir, err := f.Open(filepath.Dir(at))
	if err != nil {
		return false
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	return slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, filepath.Base(at)) })
}

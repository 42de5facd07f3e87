package skill

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"atelier.dev/atelier/agent"
)

// Limits of what is read.
const (
	MaxSkills  = 2000 // of all folders
	MaxFiles   = 200  // supporting files of one skill that are listed
	maxEntries = 2000 // of one folder
	maxWalked  = 5000 // entries below one folder
	maxDepth   = 8    // folders below a skill or a folder of commands
)

// Found is what was found.
type Found struct {
	// Skills are the built-in ones and then those of each folder in the order of the
	// roots, also those that cannot be read.
	Skills  []Skill
	Folders []FolderState
	// More says that there is more than is read.
	More bool
}

// FolderState is what became of one root.
type FolderState struct {
	Root
	// Missing says that there is no such folder, Err why it cannot be read.
	Missing bool
	Err     error
	Count   int
}

var (
	errOutside = errors.New("the link leads out of the project")
	errSpecial = errors.New("it is not a regular file")
	errLarge   = errors.New("it is larger than 1 MB")
)

// Discover reads the skills and commands of folders. What cannot be read is a finding of
// that skill alone. It ends early with what it has when its context ends.
func Discover(ctx context.Context, roots []Root, known KnownTools) Found {
	d := &discovery{ctx: ctx, known: known, seen: map[string]int{}}
	d.found.Skills = BuiltIn()
	for _, root := range roots {
		state := FolderState{Root: root}
		before := len(d.found.Skills)
		switch err := d.root(root); {
		case errors.Is(err, fs.ErrNotExist):
			state.Missing = true
		case err != nil:
			state.Err = err
		}
		state.Count = len(d.found.Skills) - before
		d.found.Folders = append(d.found.Folders, state)
	}
	d.found.Skills = slices.DeleteFunc(d.found.Skills, func(s Skill) bool { return s.Name == "" })
	return d.found
}

type discovery struct {
	ctx   context.Context
	known KnownTools
	found Found
	// seen has the place in found.Skills of each real path.
	seen map[string]int
}

// tree is a folder below which files are opened by their real paths, and nothing else.
type tree struct {
	*os.Root
	base string
}

// open opens the tree in which a root's files may lie.
func open(root Root) (*tree, error) {
	within := root.Within
	switch {
	case root.Scope != agent.ScopeProject:
		within = filepath.VolumeName(root.Path) + string(filepath.Separator)
	case within == "":
		within = root.Path
	}
	base, err := filepath.EvalSymlinks(within)
	if err != nil {
		return nil, err
	}
	r, err := os.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	return &tree{r, base}, nil
}

// real returns the real path of a file, and its path within the tree.
func (t *tree) real(path string) (abs, rel string, err error) {
	abs, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", "", err
	}
	rel, err = filepath.Rel(t.base, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", "", errOutside
	}
	return abs, rel, nil
}

// entries lists a folder, sorted, up to the limit.
func (t *tree) entries(rel string) (list []fs.DirEntry, more bool, err error) {
	f, err := t.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	list, err = f.ReadDir(maxEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	if len(list) == maxEntries {
		_, err := f.ReadDir(1)
		more = err == nil
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, more, nil
}

// read reads a regular file up to its limit.
func (t *tree) read(rel string) (string, error) {
	f, err := t.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errSpecial
	case info.Size() > MaxFile:
		return "", errLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = errLarge
	}
	return string(data), err
}

func (d *discovery) root(root Root) error {
	t, err := open(root)
	if err != nil {
		return err
	}
	defer t.Close()
	_, rel, err := t.real(root.Path)
	if err != nil {
		return err
	}
	if root.Kind == KindCommand {
		return d.commands(t, root, root.Path, "", 0, map[string]bool{})
	}
	list, more, err := t.entries(rel)
	if err != nil {
		return err
	}
	d.found.More = d.found.More || more
	for _, entry := range list {
		if d.full() {
			return context.Cause(d.ctx)
		}
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 {
			d.skill(t, root, entry.Name())
		}
	}
	return nil
}

// full reports whether no more may be read.
func (d *discovery) full() bool {
	if len(d.found.Skills) >= MaxSkills {
		d.found.More = true
	}
	return d.found.More || d.ctx.Err() != nil
}

// skill reads one folder of a root.
func (d *discovery) skill(t *tree, root Root, name string) {
	folder := filepath.Join(root.Path, name)
	place := Place{Kind: KindSkill, Scope: root.Scope, Root: root.Path, Folder: folder, File: filepath.Join(folder, "SKILL.md")}
	abs, rel, err := t.real(folder)
	if errors.Is(err, errOutside) {
		d.add(Skill{Name: callName(name), Place: place}.broken(ruleOutside), "")
		return
	}
	if err != nil {
		return // a link to nothing, or a folder that was moved
	}
	files, more, main := t.files(d.ctx, rel)
	if main == "" {
		return
	}
	place.File = filepath.Join(folder, main)
	s := d.read(t, place, name)
	s.Files, s.MoreFiles = files, more
	d.add(s, filepath.Join(abs, main))
}

// read reads the main file of a skill.
func (d *discovery) read(t *tree, place Place, name string) Skill {
	_, rel, err := t.real(place.File)
	var content string
	if err == nil {
		content, err = t.read(rel)
	}
	s := Skill{Name: callName(name), Place: place}
	switch {
	case errors.Is(err, errOutside):
		return s.broken(ruleOutside)
	case errors.Is(err, errLarge):
		return s.broken(ruleSize)
	case err != nil:
		return s.broken(ruleUnread, reason(err))
	}
	return Parse(place, name, content, d.known)
}

// reason returns why a file cannot be read, without its path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// add takes a skill over. One that was found under another path already is replaced,
// because the later folder is the stronger one, unless the user's own folder has it:
// what stands there is the user's, wherever a project links to it.
func (d *discovery) add(s Skill, abs string) {
	if at, ok := d.seen[abs]; ok && abs != "" {
		if d.found.Skills[at].Place.Scope == agent.ScopeUser && s.Place.Scope == agent.ScopeProject {
			return
		}
		d.found.Skills[at] = Skill{}
	}
	if abs != "" {
		d.seen[abs] = len(d.found.Skills)
	}
	d.found.Skills = append(d.found.Skills, s)
}

// commands reads the Markdown files of a folder and of those below it.
func (d *discovery) commands(t *tree, root Root, folder, prefix string, depth int, open map[string]bool) error {
	abs, rel, err := t.real(folder)
	if err != nil {
		return err
	}
	if open[abs] {
		return nil
	}
	open[abs] = true
	list, more, err := t.entries(rel)
	if err != nil {
		return err
	}
	d.found.More = d.found.More || more
	for _, entry := range list {
		if d.full() || len(open) > maxWalked {
			return context.Cause(d.ctx)
		}
		path := filepath.Join(folder, entry.Name())
		stem, isText := markdown(entry.Name())
		isDir := entry.IsDir()
		if entry.Type()&fs.ModeSymlink != 0 {
			info, err := os.Stat(path)
			isDir = err == nil && info.IsDir()
		}
		switch {
		case isDir && depth < maxDepth && !strings.HasPrefix(entry.Name(), "."):
			_ = d.commands(t, root, path, prefix+entry.Name()+":", depth+1, open) // its neighbours are read all the same
		case isText && !isDir:
			place := Place{Kind: KindCommand, Scope: root.Scope, Root: root.Path, File: path}
			real, _, _ := t.real(path)
			d.add(d.read(t, place, prefix+stem), real)
		}
	}
	return nil
}

// markdown returns the stem of a Markdown file's name.
func markdown(name string) (string, bool) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	return stem, strings.EqualFold(ext, ".md") && stem != ""
}

// files lists the supporting files of a skill's folder, and finds its main file. Links are
// not followed.
func (t *tree) files(ctx context.Context, rel string) (files []File, more int, main string) {
	walked := 0
	_ = fs.WalkDir(t.FS(), filepath.ToSlash(rel), func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(rel, filepath.FromSlash(path))
		name = filepath.ToSlash(name)
		walked++
		switch {
		case ctx.Err() != nil || walked > maxWalked:
			return fs.SkipAll
		case err != nil:
			return nil //nolint:nilerr // a folder that cannot be read has no files that could be used
		case entry.IsDir():
			if name != "." && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "node_modules" || strings.Count(name, "/") >= maxDepth) {
				return fs.SkipDir
			}
			return nil
		case !strings.Contains(name, "/") && strings.EqualFold(name, "SKILL.md"):
			if main == "" || name == "SKILL.md" {
				main = name
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		case len(files) >= MaxFiles:
			more++
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil //nolint:nilerr // it was removed
		}
		files = append(files, File{Path: name, Size: info.Size(), Runs: t.runs(path, name, info)})
		return nil
	})
	return files, more, main
}

// runs reports whether a file can be run.
func (t *tree) runs(path, name string, info fs.FileInfo) bool {
	if info.Mode()&0o111 != 0 || slices.Contains(strings.Split(name, "/"), "scripts") {
		return true
	}
	f, err := t.OpenFile(filepath.FromSlash(path), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	var begin [2]byte
	n, _ := io.ReadFull(f, begin[:])
	return string(begin[:n]) == "#!"
}

// Key identifies a skill among all that are found.
func (s Skill) Key() string {
	if s.Place.Kind == KindBuiltIn {
		return "builtin:" + s.Name
	}
	return s.Place.File
}

// Broken reports whether the skill could not be read.
func (s Skill) Broken() bool {
	return slices.ContainsFunc(s.Findings, func(f SkillFinding) bool {
		return f.Rule == string(ruleUnread) || f.Rule == string(ruleSize) || f.Rule == string(ruleOutside)
	})
}

// RegisterDiscovered reads folders and registers what it finds, all of it or only what has
// one of the names, and returns how many skills it registered.
func (r *Registry) RegisterDiscovered(ctx context.Context, roots []Root, known KnownTools, names ...string) int {
	registered := 0
	for _, s := range Discover(ctx, roots, known).Skills {
		if s.Place.Kind == KindBuiltIn || s.Broken() || len(names) > 0 && !slices.Contains(names, s.Name) {
			continue
		}
		r.Register(s)
		registered++
	}
	return registered
}

package skill

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/filetree"
)

// Limits of what is read.
const (
	MaxSkills = 2000   // of all folders
	MaxFiles  = 200    // supporting files of one skill that are listed
	maxWalked = 5000   // entries below one skill's folder
	maxAll    = 100000 // entries of all folders
	maxDepth  = 8      // folders below a skill or a folder of commands
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

// Discover reads the skills and commands of folders. An unreadable skill becomes a
// finding and hides no other one. It ends early with what it has when its context ends.
func Discover(ctx context.Context, roots []Root, known KnownTools) Found {
	d := &discovery{ctx: ctx, known: known, seen: map[string]int{}}
	for i, root := range roots {
		state := FolderState{Root: root}
		d.current = i
		switch err := d.root(root); {
		case errors.Is(err, fs.ErrNotExist):
			state.Missing = true
		default:
			state.Err = err
		}
		d.folders = append(d.folders, state)
	}
	found := Found{Skills: BuiltIn(), Folders: d.folders, More: d.more}
	for _, s := range d.read {
		if s.again {
			continue
		}
		found.Folders[s.root].Count++
		found.Skills = append(found.Skills, s.skill)
	}
	return found
}

type discovery struct {
	ctx     context.Context
	known   KnownTools
	folders []FolderState
	current int // the root that is read
	read    []reading
	// seen has the place in read of each real path.
	seen   map[string]int
	walked int // entries so far
	more   bool
}

// reading is a skill that was read. Again says that a stronger folder has it as well.
type reading struct {
	skill Skill
	root  int
	again bool
}

// full reports whether no more may be read.
func (d *discovery) full() bool {
	if len(d.read) >= MaxSkills || d.walked > maxAll {
		d.more = true
		return true
	}
	return d.ctx.Err() != nil
}

func (d *discovery) root(root Root) error {
	if err := d.ctx.Err(); err != nil {
		return err
	}
	t, err := filetree.Open(root.bounds())
	if err != nil {
		return err
	}
	defer t.Close()
	path, err := t.Real(root.Path)
	if err != nil {
		return err
	}
	if root.Kind == KindCommand {
		return d.commands(t, root, path)
	}
	list, err := d.entries(t, path)
	if err != nil {
		return err
	}
	for _, entry := range list {
		if d.full() {
			break
		}
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 {
			d.folder(t, root, path, entry)
		}
	}
	return d.ctx.Err()
}

func (d *discovery) entries(t *filetree.Tree, path string) ([]fs.DirEntry, error) {
	list, more, err := t.Entries(path)
	d.count(len(list), more)
	return list, err
}

func (d *discovery) count(entries int, more bool) {
	d.walked += entries
	d.more = d.more || more
}

// folder reads an entry of a root, whose real path is given. It is a skill if it has a SKILL.md.
func (d *discovery) folder(t *filetree.Tree, root Root, above string, entry fs.DirEntry) {
	name := entry.Name()
	folder := filepath.Join(root.Path, name)
	place := Place{Kind: KindSkill, Scope: root.Scope, Root: root.Path, Folder: folder, File: filepath.Join(folder, "SKILL.md")}
	path, err := t.Follow(above, entry)
	if errors.Is(err, filetree.ErrOutside) {
		d.add(Skill{Name: callName(name), Place: place}.broken(ruleOutside), "")
		return
	}
	if err != nil {
		return // a link to nothing
	}
	own, err := t.Sub(path)
	files := supporting{discovery: d, tree: t, own: own, path: path}
	if err == nil {
		defer own.Close()
		err = files.walk(path, "", 0)
	}
	if errors.Is(err, fs.ErrPermission) {
		d.add(Skill{Name: callName(name), Place: place}.broken(ruleUnread, reason(err)), path)
		return
	}
	if files.main == nil {
		return // not a skill, or one that was moved meanwhile
	}
	place.File = filepath.Join(folder, files.main.Name())
	file, err := t.Follow(path, files.main)
	s := d.file(own.Or(t, file), place, name, file, err)
	s.Files, s.MoreFiles = files.found, files.more
	d.add(s, file)
}

// file reads the main file of a skill, whose real path is given, or why there is none.
func (d *discovery) file(t *filetree.Tree, place Place, name, path string, err error) Skill {
	var content string
	if err == nil {
		content, err = t.Read(path, MaxFile)
	}
	s := Skill{Name: callName(name), Place: place}
	switch {
	case errors.Is(err, filetree.ErrOutside):
		return s.broken(ruleOutside)
	case errors.Is(err, filetree.ErrLarge):
		return s.broken(ruleSize)
	case err != nil:
		return s.broken(ruleUnread, reason(err))
	}
	return Parse(place, name, content, d.known)
}

// reason says why a file cannot be read, without its path.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// add takes a skill over. Of two paths to one file the stronger folder's counts, but what
// stands in the user's own folders stays the user's, wherever a project links to it.
func (d *discovery) add(s Skill, path string) {
	if at, ok := d.seen[path]; ok {
		if d.read[at].skill.Place.Scope == agent.ScopeUser && s.Place.Scope == agent.ScopeProject {
			return
		}
		d.read[at].again = true
	}
	if path != "" {
		d.seen[path] = len(d.read)
	}
	d.read = append(d.read, reading{skill: s, root: d.current})
}

// commands reads the Markdown files of a folder, whose real path is given, and of those below it.
func (d *discovery) commands(t *filetree.Tree, root Root, path string) error {
	walk := filetree.Walk{Depth: maxDepth, Full: d.full, Read: d.count}
	err := t.Texts(path, walk, func(file, below string, err error) {
		place := Place{Kind: KindCommand, Scope: root.Scope, Root: root.Path, File: filepath.Join(root.Path, filepath.FromSlash(below))}
		name := strings.ReplaceAll(strings.TrimSuffix(below, filepath.Ext(below)), "/", ":")
		d.add(d.file(t, place, name, file, err), file)
	})
	return cmp.Or(err, d.ctx.Err())
}

// supporting lists the files of a skill's folder.
type supporting struct {
	*discovery
	tree   *filetree.Tree // where links may lead
	own    *filetree.Tree // the skill's folder
	path   string         // its real path
	main   fs.DirEntry
	found  []File
	more   int
	walked int
}

// walk lists a folder whose path below the skill's is given. Folders that are not gone through count
// as more, as do links to folders and out of the project: what they have could be run as well.
func (l *supporting) walk(path, below string, depth int) error {
	list, err := l.entries(l.own, path)
	if err != nil {
		return err
	}
	var folders []string
	var rest []fs.DirEntry
	for _, entry := range list {
		name := entry.Name()
		l.walked++
		switch {
		case l.walked > maxWalked || l.ctx.Err() != nil:
			l.more++
			return nil
		case entry.IsDir():
			folders = append(folders, name)
		case depth == 0 && strings.EqualFold(name, "SKILL.md"):
			if l.main == nil || name == "SKILL.md" {
				l.main = entry
			}
		default:
			rest = append(rest, entry)
		}
	}
	if depth == 0 && l.main == nil {
		return nil // not a skill
	}
	for _, entry := range rest {
		l.add(path, below+entry.Name(), entry)
	}
	for _, name := range folders {
		if depth == maxDepth || l.discovery.walked > maxAll || name == ".git" || name == "node_modules" ||
			l.walk(filepath.Join(path, name), below+name+"/", depth+1) != nil {
			l.more++
		}
	}
	return nil
}

// add adds an entry of a folder if it is a file.
func (l *supporting) add(folder, name string, entry fs.DirEntry) {
	path, err := l.tree.Follow(folder, entry)
	if errors.Is(err, fs.ErrNotExist) || !entry.Type().IsRegular() && entry.Type()&fs.ModeSymlink == 0 {
		return
	}
	if err != nil || len(l.found) == MaxFiles {
		l.more++
		return
	}
	begin, info, err := l.own.Or(l.tree, path).Begin(path, 2)
	if info == nil {
		info, err = entry.Info() // it may not be read, but it is there
	}
	if err != nil || !info.Mode().IsRegular() {
		if rel, err := filepath.Rel(l.path, path); err != nil || !filepath.IsLocal(rel) { // what it leads to is not listed anyway
			l.more++
		}
		return
	}
	runs := begin == "#!" || info.Mode()&0o111 != 0 || slices.Contains(strings.Split(name, "/"), "scripts")
	l.found = append(l.found, File{Path: name, Size: info.Size(), Runs: runs})
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
		return slices.Contains(breaking, rule(f.Rule))
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

package validate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"atelier.dev/atelier/agent/internal/frontmatter"
	"atelier.dev/atelier/agent/skill"
)

const mainName = "SKILL.md"

// Limits of one check.
const (
	maxEntries = 2000    // of a folder
	maxWalked  = 5000    // entries of a skill
	maxDepth   = 12      // folders below a skill
	maxTotal   = 8 << 20 // bytes of text
)

var (
	errLarge   = errors.New("it is larger than 1 MB")
	errSpecial = errors.New("it is not a regular file")
)

// openFolder opens a folder, below which alone files are read.
func openFolder(dir string) (*os.Root, error) {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return nil, fmt.Errorf("open a folder of skills: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("open a folder of skills: %s: %w", dir, ErrNotFolder)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open a folder of skills: %w", err)
	}
	return root, nil
}

// openProject opens the project that a skill's folder is in, and returns the way to it.
func openProject(project, dir string) (*os.Root, string, error) {
	project, err := filepath.Abs(project)
	if err != nil {
		return nil, "", err
	}
	within, err := filepath.Rel(project, dir)
	if err != nil || !filepath.IsLocal(within) {
		within = "" // the skill is elsewhere: only what names the project's folder leads there
	}
	root, err := openFolder(project)
	return root, filepath.ToSlash(within), err
}

// rootEntries lists a folder.
func rootEntries(root *os.Root) ([]fs.DirEntry, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	entries, err := dir.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// mainFile returns the name of a skill's main file; empty if there is none.
func mainFile(entries []fs.DirEntry, preset Preset) string {
	found := ""
	for _, e := range entries {
		switch {
		case e.IsDir():
		case e.Name() == mainName:
			return mainName
		case preset != BMAD && strings.EqualFold(e.Name(), mainName):
			found = e.Name() // sessions read it as well
		}
	}
	return found
}

// read returns the text of a file. A text that is too long ends after the first byte too many
// of the main file, which says so itself.
func read(root *os.Root, name string) (string, error) {
	info, err := root.Stat(name)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular():
		return "", errSpecial
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		return "", err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, skill.MaxFile+1))
	return string(data), err
}

// readMain returns the text of the main file, which may be a link to a file of the project.
// A link that leads farther is not followed here, although a user's own skill is loaded
// through it.
func (c *checker) readMain() (string, error) {
	text, err := read(c.at.root, c.main)
	if err == nil {
		return text, nil
	}
	severity := skill.Critical
	if info, e := c.at.root.Lstat(c.main); e == nil && info.Mode()&fs.ModeSymlink != 0 && !errors.Is(err, fs.ErrNotExist) {
		severity = skill.Medium
		if c.at.within != "" {
			if text, e := read(c.at.project, filepath.FromSlash(path.Join(c.at.within, c.main))); e == nil {
				return text, nil
			}
		}
	}
	c.findAs(severity, unread, c.main, 0, reason(err))
	return "", err
}

// files checks the other files of the skill.
func (c *checker) files() {
	walked, total, steps := 0, 0, 0
	err := fs.WalkDir(c.at.root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		if walked++; walked > maxWalked || total > maxTotal {
			return errLarge
		}
		switch {
		case err != nil:
			c.find(unread, file, 0, reason(err))
			return skipped(entry)
		case entry.IsDir():
			if file != "." && c.passes(file, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		case file == c.main:
			return nil
		}
		if entry.Type()&fs.ModeSymlink != 0 && !c.leads(file) {
			return nil
		}
		if path.Dir(file) == "steps" && path.Ext(file) == ".md" {
			if strings.HasPrefix(entry.Name(), "step-") {
				steps++
			}
			if !stepName().MatchString(entry.Name()) {
				c.find(step01, file, 0, entry.Name(), stepName().String())
			}
		}
		if !slices.Contains([]string{".md", ".yaml", ".yml", ".csv"}, path.Ext(file)) {
			return nil
		}
		text, err := read(c.at.root, file)
		if err == nil && len(text) > skill.MaxFile {
			err = errLarge
		}
		if err != nil {
			c.find(unread, file, 0, reason(err))
			return nil
		}
		total += len(text)
		c.file(file, text)
		return nil
	})
	if err != nil {
		c.find(moreFiles, c.main, 0)
	}
	if steps == 1 || steps > 10 {
		c.find(step07, "steps", 0, strconv.Itoa(steps))
	}
}

// skipped continues a walk after what could not be read.
func skipped(entry fs.DirEntry) error {
	if entry != nil && entry.IsDir() {
		return fs.SkipDir
	}
	return nil
}

// passes reports whether a folder of the skill is left out: what is installed, what version
// control keeps, and another skill.
func (c *checker) passes(file, name string) bool {
	if name == ".git" || name == "node_modules" {
		return true
	}
	if strings.Count(file, "/") >= maxDepth {
		c.find(moreFiles, c.main, 0)
		return true
	}
	if c.o.Preset == BMAD {
		return false
	}
	info, err := c.at.root.Stat(file + "/" + mainName)
	return err == nil && info.Mode().IsRegular()
}

// leads reports whether a link leads to a file of the skill. A link to nothing is found; one
// that leads elsewhere is not followed.
func (c *checker) leads(file string) bool {
	info, err := c.at.root.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		c.find(refFile, file, 0, path.Base(file))
	}
	return err == nil && info.Mode().IsRegular()
}

// file checks one file beside the main one.
func (c *checker) file(file, text string) {
	switch {
	case path.Ext(file) == ".csv":
		c.table(file, text)
		return
	case path.Ext(file) == ".md":
		front := frontmatter.Read(text)
		name, hasName := front.Field("name")
		description, hasDescription := front.Field("description")
		if path.Base(file) != mainName && (c.o.Preset == BMAD || !handedOn(file)) {
			if hasName {
				c.find(wf01, file, name.Line, path.Base(file))
			}
			if hasDescription {
				c.find(wf02, file, description.Line, path.Base(file))
			}
		}
		if path.Dir(file) == "steps" {
			for _, f := range []frontmatter.Field{name, description} {
				if f.Key != "" {
					c.find(step06, file, f.Line, f.Key)
				}
			}
		}
	}
	c.prose(file, text)
}

// handedOn reports whether a file is something that the skill hands on: an agent's or a
// command's definition, a template, an example. Its metadata and links are its own.
func handedOn(file string) bool {
	return slices.ContainsFunc(strings.Split(path.Dir(file), "/"), func(folder string) bool {
		return slices.Contains([]string{"agents", "commands", "assets", "templates", "examples", "skills"}, folder)
	})
}

// Folders returns up to most folders of skills in a folder: itself if it is a skill or has
// none, and otherwise each folder below it that has a SKILL.md, together with those beside
// them that look like skills without one.
func Folders(dir string, most int) ([]string, error) {
	dir = filepath.Clean(dir)
	root, err := openFolder(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := rootEntries(root)
	if err != nil {
		return nil, fmt.Errorf("list a folder of skills: %w", err)
	}
	if mainFile(entries, Generic) != "" {
		return []string{dir}, nil
	}
	f := finder{root: root.FS(), most: most}
	f.walk(".", 0)
	for _, e := range entries { // a neighbour of skills without a SKILL.md
		if name := e.Name(); e.IsDir() && f.direct && !slices.Contains(f.holds, name) && f.looksLikeSkill(name) {
			f.found = append(f.found, name)
		}
	}
	if len(f.found) == 0 {
		return []string{dir}, nil
	}
	slices.Sort(f.found)
	out := make([]string, 0, len(f.found))
	for _, name := range f.found[:min(len(f.found), most)] {
		out = append(out, filepath.Join(dir, filepath.FromSlash(name)))
	}
	return out, nil
}

// finder looks for skills below a folder.
type finder struct {
	root   fs.FS
	most   int
	walked int
	found  []string
	direct bool     // a skill is right below the folder
	holds  []string // the folders right below it that hold skills
}

func (f *finder) walk(dir string, depth int) {
	list, err := fs.ReadDir(f.root, dir)
	if err != nil {
		return // a folder that cannot be read has no skills that anybody could use
	}
	for _, e := range list[:min(len(list), maxEntries)] {
		name := path.Join(dir, e.Name())
		if f.walked++; f.walked > 10*maxWalked || len(f.found) >= f.most {
			return
		}
		isLink := e.Type()&fs.ModeSymlink != 0 // followed once: below a link no other is
		if !e.IsDir() && !isLink || e.Name() == ".git" || e.Name() == "node_modules" {
			continue
		}
		inner, err := fs.ReadDir(f.root, name)
		if err != nil {
			continue
		}
		if mainFile(inner, Generic) != "" {
			f.found = append(f.found, name)
			f.direct = f.direct || depth == 0
		}
		before := len(f.found)
		if !isLink && depth < maxDepth {
			f.walk(name, depth+1)
		}
		if depth == 0 && (len(f.found) > before || mainFile(inner, Generic) != "") {
			f.holds = append(f.holds, name)
		}
	}
}

// looksLikeSkill reports whether a folder has a Markdown file, as a skill has.
func (f *finder) looksLikeSkill(name string) bool {
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") {
		return false
	}
	list, err := fs.ReadDir(f.root, name)
	return err == nil && slices.ContainsFunc(list, func(e fs.DirEntry) bool { return strings.EqualFold(path.Ext(e.Name()), ".md") })
}

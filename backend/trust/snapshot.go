package trust

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/internal/regular"
)

// Limits of what is pinned with an item.
const (
	maxFiles = 200
	maxBytes = 8 << 20
	// maxEntries limits how much of a folder is looked through.
	maxEntries = 20 * maxFiles
)

// fileState says what a pinned name stands for.
type fileState string

const (
	fileRegular fileState = "file"
	fileMissing fileState = "missing"
	fileOutside fileState = "outside" // a link leads out of the project
	fileSpecial fileState = "special" // neither a file nor a folder, or unreadable
	fileLarge   fileState = "large"
	fileFolder  fileState = "folder" // a link leads to a folder of the project
)

// pinned is a file as it was when it was looked at.
type pinned struct {
	Path  string    `json:"path"` // relative to the folder, with slashes
	State fileState `json:"state"`
	// Link is where a link leads, empty if there is none on the way.
	Link   string `json:"link,omitempty"`
	Exec   bool   `json:"exec,omitempty"`
	Digest string `json:"digest,omitempty"`

	text []byte
}

// snapshot is an item with the files of the project that it runs or names.
type snapshot struct {
	definition string
	files      []pinned
	notes      []Note
}

// seal stands for exactly what is in the snapshot.
func (s snapshot) seal() string {
	b, err := json.Marshal(struct {
		Definition string
		Files      []pinned
	}{s.definition, s.files})
	if err != nil {
		panic(err) // they are texts
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (s snapshot) blocked() bool { return slices.ContainsFunc(s.notes, Note.blocks) }

// present reports whether there is a file of the project among them.
func (s snapshot) present() bool {
	return slices.ContainsFunc(s.files, func(f pinned) bool { return f.State != fileMissing })
}

// contents returns the texts to keep, by path; that of the definition is "". A text
// with a secret is not kept, so that all of it is shown where a difference would be.
func (s snapshot) contents(private bool) map[string]string {
	out := map[string]string{}
	left := maxContents
	keep := func(path, text string) {
		if len(text) <= left && isText(text) && sandbox.Redact(text) == text {
			left -= len(text)
			out[path] = text
		}
	}
	if !private {
		keep("", s.definition)
	}
	for _, f := range s.files {
		if f.State == fileRegular {
			keep(f.Path, string(f.text))
		}
	}
	return out
}

func isText(text string) bool { return utf8.ValidString(text) && !strings.ContainsRune(text, 0) }

// hidden reports whether a text has characters that are not seen as they are.
func hidden(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point) && r != '\ufeff' || unicode.IsControl(r) && !strings.ContainsRune("\n\t\r\f", r)
	})
}

// snapshot looks at an item in a folder, the project's own if it is empty.
func (t *Trust) snapshot(item Item, folder string) snapshot {
	folder = cmp.Or(folder, t.cfg.Folder)
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	l := looker{folder: folder, project: t.cfg.Folder, seen: map[string]bool{}, walked: map[string]bool{}}
	named := names(item.Command, l.folder, t.cfg.User, l.script)
	for _, run := range []bool{true, false} {
		for _, n := range named.files {
			if n.run == run {
				l.add(n.path, run)
			}
		}
	}
	for _, dir := range named.folders {
		l.walk(dir)
	}
	for _, f := range slices.Clone(l.files) {
		if dir := l.hooksFolder(f); dir != "" {
			l.walk(dir)
		}
	}
	for _, with := range item.Command.With {
		at := filepath.Join(l.folder, filepath.FromSlash(with))
		if info, err := os.Stat(at); err == nil && info.IsDir() {
			l.walk(at)
		} else {
			l.add(at, true)
		}
	}
	if named.untold() && !item.Own {
		for _, dir := range []string{".agent/hooks", ".claude/hooks"} {
			l.walk(filepath.Join(l.folder, filepath.FromSlash(dir)))
		}
	}
	s := snapshot{definition: item.Definition, notes: slices.Concat(item.Notes, named.notes)}
	if hidden(item.Definition) {
		s.notes = append(s.notes, note(NoteHidden, item.Title))
	}
	slices.SortFunc(l.files, func(a, b looked) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range l.files {
		s.files = append(s.files, f.pinned)
		shown := quote(f.Path)
		switch {
		case f.State == fileSpecial:
			s.notes = append(s.notes, note(NoteSpecial, shown))
		case f.State == fileLarge:
			s.notes = append(s.notes, note(NoteLarge, shown))
		case f.State == fileOutside:
			s.notes = append(s.notes, note(NoteOutside, shown, quote(f.Link)))
		case isText(string(f.text)) && hidden(string(f.text)) || hidden(f.Path) || strings.ContainsAny(f.Path, "\n\t\r\f"):
			s.notes = append(s.notes, note(NoteHidden, shown))
		}
	}
	if l.many {
		s.notes = append(s.notes, note(NoteMany, strconv.Itoa(maxFiles), strconv.Itoa(maxBytes>>20)))
	}
	return s
}

// looker collects the files of a snapshot.
type looker struct {
	folder, project string
	seen, walked    map[string]bool // absolute paths
	files           []looked
	bytes, entries  int
	many            bool
}

type looked struct {
	pinned
	at  string // absolute, as it was named
	run bool
}

// below returns the path relative to the folder, and whether it is in the project.
func (l *looker) below(path string) (string, bool) {
	for _, root := range []string{l.folder, l.project} {
		rel, err := filepath.Rel(root, path)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		if root != l.folder {
			return filepath.ToSlash(path), true
		}
		return filepath.ToSlash(rel), true
	}
	return "", false
}

// add pins a file of the project. A name that nothing has yet is pinned if it would
// be run.
func (l *looker) add(path string, run bool) {
	rel, ok := l.below(path)
	if !ok || l.seen[path] || l.many {
		return
	}
	f := looked{pinned{Path: rel}, path, run}
	real, err := filepath.EvalSymlinks(path)
	_, lerr := os.Lstat(path)
	switch {
	case err != nil && errors.Is(lerr, fs.ErrNotExist), err != nil && errors.Is(lerr, syscall.ENOTDIR), err != nil && errors.Is(lerr, syscall.ENAMETOOLONG):
		if !run {
			return
		}
		f.State = fileMissing
	case err != nil && errors.Is(err, fs.ErrNotExist): // a link that leads nowhere
		f.State = fileMissing
		f.Link, _ = os.Readlink(path)
	case err != nil:
		f.State = fileSpecial
	default:
		if real != path {
			f.Link = real
			if at, ok := l.below(real); ok {
				f.Link = at
			} else {
				f.State = fileOutside
			}
		}
		if f.State == "" && !l.read(real, &f) {
			return
		}
	}
	l.append(f)
}

// read reads a file. It returns false for a folder, which has nothing to pin.
func (l *looker) read(path string, f *looked) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		f.State = fileSpecial
		return true
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err == nil && info.IsDir():
		return false
	case err != nil || !info.Mode().IsRegular():
		f.State = fileSpecial
		return true
	case info.Size() > maxBytes:
		f.State = fileLarge
		return true
	}
	b, err := io.ReadAll(io.LimitReader(file, maxBytes+1))
	switch {
	case err != nil:
		f.State = fileSpecial
		return true
	case len(b) > maxBytes:
		f.State = fileLarge
		return true
	}
	if l.bytes += len(b); l.bytes > maxBytes {
		l.many = true
		return false
	}
	sum := sha256.Sum256(b)
	f.State, f.Exec, f.Digest, f.text = fileRegular, info.Mode()&0o111 != 0, hex.EncodeToString(sum[:]), b
	return true
}

// walk pins everything in a folder of the project, and where links to folders lead.
func (l *looker) walk(dir string) {
	rel, ok := l.below(dir)
	if !ok || l.many {
		return
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return
	}
	at, ok := l.below(real)
	if !ok {
		l.add(dir, true) // a link that leads out
		return
	}
	if real != dir {
		l.append(looked{pinned{Path: rel, State: fileFolder, Link: at}, dir, false})
	}
	if l.walked[real] {
		return
	}
	l.walked[real] = true
	_ = filepath.WalkDir(real, func(path string, d fs.DirEntry, err error) error {
		l.entries++
		l.many = l.many || l.entries > maxEntries
		switch {
		case l.many:
			return fs.SkipAll
		case err != nil:
			rel, _ := l.below(path)
			l.append(looked{pinned{Path: rel, State: fileSpecial}, path, false})
		case d.Type()&fs.ModeSymlink != 0:
			if info, err := os.Stat(path); err == nil && info.IsDir() {
				l.walk(path)
				return nil
			}
			l.add(path, true)
		case !d.IsDir():
			l.add(path, true)
		}
		return nil
	})
}

// append adds what was looked at, once.
func (l *looker) append(f looked) {
	switch {
	case l.seen[f.at]:
	case len(l.files) == maxFiles:
		l.many = true
	default:
		l.seen[f.at] = true
		l.files = append(l.files, f)
	}
}

// hooksFolder returns the folder whose files a script may load: that of hooks, or
// its own one in the folders of settings.
func (l *looker) hooksFolder(f looked) string {
	parts := strings.Split(f.Path, "/")
	at := slices.IndexFunc(parts, func(p string) bool { return p == ".claude" || p == ".agent" })
	end := -1 // the number of parts of the folder
	if i := slices.Index(parts[:len(parts)-1], "hooks"); i >= 0 && (f.run || at >= 0) {
		end = i + 1
	} else if at >= 0 && len(parts) > at+2 {
		end = len(parts) - 1
	}
	if end < 0 {
		return ""
	}
	dir := f.at
	for range len(parts) - end {
		dir = filepath.Dir(dir)
	}
	return dir
}

// maxScript is how long a script may be to be read for what it runs.
const maxScript = 256 << 10

// script returns the text of a shell script of the project; empty if it is none.
func (l *looker) script(path string) string {
	if _, ok := l.below(path); !ok {
		return ""
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	if _, ok := l.below(real); !ok {
		return ""
	}
	b, err := regular.Read(real, maxScript)
	first, _, _ := strings.Cut(string(b), "\n")
	ext := filepath.Ext(path)
	if err != nil || !isText(string(b)) || ext != ".sh" && ext != ".bash" && !(strings.HasPrefix(first, "#!") && strings.Contains(first, "sh")) {
		return ""
	}
	return string(b)
}

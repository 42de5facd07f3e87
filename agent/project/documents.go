package project

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"atelier.dev/atelier/agent/internal/charset"
)

// MaxDocuments limits the documents of a project together, in bytes (LOOP-47).
const MaxDocuments = 32 << 10

// Truncated marks the place where a document was cut.
const Truncated = "[Project instructions truncated at 32KB]"

// UserDocument is the name of the user's own document in Atelier's home folder,
// and of the document that every model reads in a project.
const UserDocument = "AGENTS.md"

// Document is a file of instructions for agents.
type Document struct {
	Path string // relative to the top of the project
	Text string // the part that fits, as valid UTF-8
	Size int    // of the whole file, in bytes of its text
	Told int    // how many of them Text stands for; less than Size if it was cut
	Cut  string // what marks that it was cut; empty means [Truncated]
	From string // the document that imports it; empty if none does
	// For has the patterns of the files that a rule is for; nil if it is for all.
	For []string
	// Problem says why the document was left out; empty if it was not.
	Problem Problem
	// Cause is what the system said, for ProblemUnread.
	Cause string
}

// Problem is a reason to leave a document out.
type Problem string

// The reasons.
const (
	ProblemUnopened  Problem = "unopened"  // cannot be opened, or leads out of the project
	ProblemIrregular Problem = "irregular" // not a regular file
	ProblemUnread    Problem = "unread"    // cannot be read
	ProblemBinary    Problem = "binary"    // not text
	ProblemForeign   Problem = "foreign"   // belongs to another user
	ProblemMissing   Problem = "missing"   // another document imports it, and it does not exist
	ProblemSecret    Problem = "secret"    // another document imports it, and it usually holds secrets
	ProblemImports   Problem = "imports"   // is imported too deep, or after too many others
)

// Query says which documents of a project are read. Names are paths relative to
// each folder; one that ends in a slash is a folder of rules (see rules.go).
//
// Together the documents hold at most [MaxDocuments] bytes; if they are longer,
// the deepest are kept and those above them are cut. A file with several names
// or links is read once, and of several that say the same the deepest is kept.
// Only regular files inside the project are read, because a link outside leads to
// text that is not the project's. Documents above the folder that belong to
// another user are skipped. What a document imports comes before it.
type Query struct {
	Folder string // the opened folder
	Names  []string
	// Told reports whether a rule for certain files was read before, so that it
	// is read again whatever the agent works on; nil if none was.
	Told func(path string) bool
	// Every reads the rules for certain files too, whatever the agent works on.
	Every bool
}

// Documents reads the documents from the top of the repository down to the
// folder. Deeper ones come later, because they take precedence.
func (q Query) Documents() []Document {
	return q.fitted(func(r *reader) {
		for _, dir := range append(steps(".", r.opened), r.opened) {
			r.readFolder(dir, q.Names, "")
		}
	})
}

// Below reads the documents in the folders that lead from the folder down to a
// path, without those of the folder itself, and the rules for that path of all
// folders. It returns nothing if the path is not below the folder.
func (q Query) Below(path string) []Document {
	below, err := filepath.Rel(q.Folder, path)
	if err != nil || !filepath.IsLocal(below) || below == "." {
		return nil
	}
	return q.fitted(func(r *reader) {
		rules := slices.DeleteFunc(slices.Clone(q.Names), func(name string) bool { return !isRules(name) })
		last := filepath.Join(r.opened, below)
		for _, dir := range append(steps(".", r.opened), r.opened) {
			r.readFolder(dir, rules, last)
		}
		for _, dir := range append(steps(r.opened, last)[1:], last) {
			r.readFolder(dir, q.Names, "")
			r.readFolder(dir, rules, last)
		}
	})
}

func (q Query) fitted(gather func(*reader)) []Document {
	return q.read(func(r *reader) {
		gather(r)
		r.fit()
	})
}

func (q Query) read(gather func(*reader)) []Document {
	top := Root(q.Folder)
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil // then nothing in the folder can be read
	}
	defer root.Close()
	opened, err := filepath.Rel(top, q.Folder)
	if err != nil {
		return nil
	}
	r := &reader{top: top, opened: opened, told: q.Told, every: q.Every, stat: root.Stat, openFile: root.OpenFile}
	gather(r)
	return r.documents
}

// steps lists the folders from one folder down to another, without the last
// one.
func steps(from, to string) []string {
	var dirs []string
	for dir := to; dir != from; {
		dir = filepath.Dir(dir)
		dirs = append(dirs, dir)
	}
	slices.Reverse(dirs)
	return dirs
}

// User reads the user's own document from a folder, after what it imports;
// empty if there is none. The user made it and every link on the way to it, so
// it may lie anywhere.
func User(home string) []Document {
	r := &reader{user: true, stat: os.Stat, openFile: os.OpenFile}
	r.readDocument(home, UserDocument)
	r.fit()
	return r.documents
}

// reader gathers documents, by paths beneath the top of a project or by absolute
// ones of the user's own.
type reader struct {
	top      string // of the project; empty for the user's own
	opened   string // the folder whose documents are read, no matter who owns them
	folder   string // the folder whose documents are being read
	user     bool
	told     func(path string) bool
	every    bool
	stat     func(path string) (fs.FileInfo, error)
	openFile func(path string, flag int, mode fs.FileMode) (*os.File, error)

	seen      []fs.FileInfo
	imports   int
	documents []Document
}

// readFolder adds the documents of a folder: if work is empty those with these
// names, otherwise the rules for that path.
func (r *reader) readFolder(dir string, names []string, work string) {
	r.folder = dir
	for _, name := range names {
		if isRules(name) {
			r.readRules(dir, name, work)
		} else if work == "" {
			r.readDocument(dir, name)
		}
	}
}

// readDocument adds the document with the given name in a folder, if there is one,
// after what it imports.
func (r *reader) readDocument(dir, name string) {
	path := filepath.Join(dir, name)
	if d, ok := r.load(path); ok {
		r.add(path, d, 0)
	}
}

// load reads a file; it reports false if there is none, nothing is in it, or it
// was read before.
func (r *reader) load(path string) (Document, bool) {
	d := Document{Path: filepath.ToSlash(path)}
	text, info, problem, err := r.open(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return d, false
	case problem == ProblemUnread:
		d.Problem, d.Cause = problem, err.Error()
	case problem != "":
		d.Problem = problem
	case slices.ContainsFunc(r.seen, func(other fs.FileInfo) bool { return os.SameFile(info, other) }):
		return d, false // it was read under another name
	case len(text) == 0:
		return d, false
	case !r.user && r.folder != r.opened && !r.isOurs(path, filepath.Dir(path)):
		d.Problem = ProblemForeign
	default:
		r.seen = append(r.seen, info)
		d.Text, d.Size = text, len(text)
		if len(text) > MaxDocuments {
			d.Size = max(len(text), int(info.Size())) // not all of it was read
		}
	}
	return d, true
}

// add adds a document after what it imports.
func (r *reader) add(path string, d Document, depth int) {
	if d.Problem == "" {
		for _, name := range imports(d.Text) {
			r.readImport(path, name, depth+1)
		}
	} else if slices.ContainsFunc(r.documents, func(other Document) bool { return other.Path == d.Path }) {
		return // it was said before
	}
	r.documents = append(r.documents, d)
}

// fit cuts the documents to the limit, the deepest last, and leaves out what a
// deeper one says in the same words.
func (r *reader) fit() {
	room := MaxDocuments
	said := map[string]bool{}
	var kept []Document
	for _, d := range slices.Backward(r.documents) {
		text := strings.TrimSpace(d.Text)
		switch {
		case d.Problem != "":
		case said[text]:
			continue
		default:
			said[text] = true
			d.Text, d.Told = fit(d.Text, room)
			room -= len(d.Text)
			if d.Told < d.Size {
				room = 0 // without this one, a document further up would seem to take precedence
			}
		}
		kept = append(kept, d)
	}
	slices.Reverse(kept)
	r.documents = kept
}

func (r *reader) isOurs(paths ...string) bool {
	for _, path := range paths {
		if info, err := r.stat(path); err != nil || !ours(info) {
			return false
		}
	}
	return true
}

// open reads as much of a regular file as can be used, as UTF-8 without a byte order mark.
// The problem is set if it cannot; err is what the system said.
func (r *reader) open(path string) (text string, info fs.FileInfo, problem Problem, err error) {
	info, err = r.stat(path)
	switch {
	case err != nil:
		return "", nil, ProblemUnopened, err
	case !info.Mode().IsRegular():
		return "", nil, ProblemIrregular, nil
	}
	f, err := r.openFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // by now it may be a pipe
	if err != nil {
		return "", nil, ProblemUnopened, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", nil, ProblemIrregular, err
	}
	const limit = 2 * (MaxDocuments + 2) // in UTF-16 each character takes two bytes or more
	data, err := io.ReadAll(io.LimitReader(f, limit))
	if err != nil {
		return "", nil, ProblemUnread, err
	}
	decoded := decode(data, len(data) == limit)
	if bytes.IndexByte(decoded, 0) >= 0 {
		return "", nil, ProblemBinary, nil
	}
	return strings.TrimPrefix(string(decoded), "\uFEFF"), info, "", nil
}

// decode decodes a text as the file tools do (K-48), without its last bytes if it was
// cut within a character.
func decode(data []byte, isCut bool) []byte {
	if c, ok := charset.Marked(data); ok {
		text, _ := io.ReadAll(c.Reader(bytes.NewReader(data))) // what cannot be decoded is replaced
		return text
	}
	if isCut {
		for n := range utf8.UTFMax {
			if whole := data[:len(data)-n]; utf8.Valid(whole) {
				return whole
			}
		}
		for n := range utf8.UTFMax {
			if text := charset.Decode(data[:len(data)-n], nil); text.Certain() {
				return text.UTF8
			}
		}
	}
	return charset.Decode(data, nil).UTF8
}

// fit returns the beginning of a text, whole characters of at most room bytes,
// and how many bytes of the text they stand for. Invalid UTF-8 is replaced.
func fit(text string, room int) (valid string, used int) {
	var b strings.Builder
	for used < len(text) {
		r, n := utf8.DecodeRuneInString(text[used:])
		if b.Len()+utf8.RuneLen(r) > room {
			break
		}
		b.WriteRune(r)
		used += n
	}
	return b.String(), used
}

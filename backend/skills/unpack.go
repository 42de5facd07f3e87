package skills

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/backend"
)

// Limits of what is installed at once.
const (
	maxArchive  = 32 << 20 // bytes of an archive
	maxUnpacked = 32 << 20 // bytes of what is in it
	maxEntries  = 2000     // files and folders
	maxRatio    = 100      // of what is in an archive to its size, beyond maxSmall bytes
	maxSmall    = 4 << 20
	maxName     = 300 // bytes of an entry's name
	maxDepth    = 12  // folders of it
)

// packed is a file of a folder or archive.
type packed struct {
	path string // with slashes, relative
	exec bool
	data []byte
}

// entryError says that something is not installed, and why.
type entryError struct{ name, why string }

func (e *entryError) Error() string { return e.name + ": " + e.why }

var errMuch = errors.New("there is too much in it")

// unpacking collects what is in a folder or archive.
type unpacking struct {
	ctx     context.Context
	files   []packed
	names   map[string]string // as they are written, by their names in lower case
	entries int
	bytes   int64
	limit   int64
}

// unpack reads a folder or an archive into memory. Nothing is written.
func unpack(ctx context.Context, from string) ([]packed, error) {
	if !filepath.IsAbs(from) {
		return nil, backend.Problem(backend.ProblemParcelPath, from)
	}
	u := &unpacking{ctx: ctx, names: map[string]string{}, limit: maxUnpacked}
	err := u.read(from)
	if e, ok := errors.AsType[*entryError](err); ok {
		return nil, backend.Problem(backend.ProblemParcelEntry, from, e.Error()).Because(err)
	}
	_, isProblem := errors.AsType[*backend.Error](err)
	switch {
	case errors.Is(err, errMuch):
		return nil, backend.Problem(backend.ProblemParcelLarge, from, fmt.Sprint(maxEntries), fmt.Sprint(maxUnpacked>>20))
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !isProblem:
		return nil, backend.Problem(backend.ProblemParcelUnread, from).Because(err)
	}
	slices.SortFunc(u.files, func(a, b packed) int { return strings.Compare(a.path, b.path) })
	return u.files, err
}

func (u *unpacking) read(from string) error {
	file, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	name := strings.ToLower(from)
	switch {
	case info.IsDir():
		return u.folder(from)
	case !info.Mode().IsRegular():
		return backend.Problem(backend.ProblemParcelPath, from)
	case info.Size() > maxArchive:
		return errMuch
	}
	u.limit = min(maxUnpacked, max(maxSmall, maxRatio*info.Size()))
	switch {
	case strings.HasSuffix(name, ".zip"), strings.HasSuffix(name, ".skill"):
		return u.zip(file, info.Size())
	case strings.HasSuffix(name, ".tar.gz"), strings.HasSuffix(name, ".tgz"):
		return u.tar(io.LimitReader(file, maxArchive))
	}
	return backend.Problem(backend.ProblemParcelPath, from)
}

// passed are names of what other programs leave in folders and archives.
var passed = []string{".git", "__MACOSX", ".DS_Store", "Thumbs.db"}

// enter checks the name of an entry. It is empty if the entry is passed over.
func (u *unpacking) enter(name string, isDir bool) (string, error) {
	if err := u.ctx.Err(); err != nil {
		return "", err
	}
	if u.entries++; u.entries > maxEntries {
		return "", errMuch
	}
	shown := strings.ToValidUTF8(name[:min(len(name), maxName)], "�")
	fail := func(why string) (string, error) { return "", &entryError{shown, why} }
	if strings.HasPrefix(name, "/") {
		return fail("its name is absolute")
	}
	clean := strings.TrimSuffix(strings.TrimPrefix(name, "./"), "/")
	if isDir && (clean == "" || clean == ".") {
		return "", nil
	}
	parts := strings.Split(clean, "/")
	switch {
	case len(name) > maxName || len(parts) > maxDepth:
		return fail("its name is too long")
	case slices.Contains(parts, ".."):
		return fail("its name leads out of the folder")
	case !utf8.ValidString(name) || !fs.ValidPath(clean) || strings.ContainsAny(name, `\:`) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fail("its name cannot be used everywhere")
	}
	for _, part := range parts {
		if slices.Contains(passed, part) {
			return "", nil
		}
		if devices.MatchString(part) {
			return fail("its name is that of a device")
		}
	}
	return clean, u.once(parts, isDir, fail)
}

// once refuses names that would be one file on some systems, and files that are folders
// as well.
func (u *unpacking) once(parts []string, isDir bool, fail func(string) (string, error)) error {
	for n := 1; n <= len(parts); n++ {
		name := strings.Join(parts[:n], "/")
		is := name
		if n < len(parts) || isDir {
			is += "/"
		}
		key := strings.ToLower(name)
		before, seen := u.names[key]
		if seen && (before != is || !strings.HasSuffix(is, "/")) {
			_, err := fail("another entry has its name")
			return err
		}
		u.names[key] = is
	}
	return nil
}

// add takes over the contents of a file.
func (u *unpacking) add(name string, exec bool, from io.Reader) error {
	data, err := io.ReadAll(io.LimitReader(from, u.limit-u.bytes+1))
	if err != nil {
		return err
	}
	if u.bytes += int64(len(data)); u.bytes > u.limit {
		return errMuch
	}
	u.files = append(u.files, packed{name, exec, data})
	return nil
}

func (u *unpacking) folder(from string) error {
	root, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		clean, err := u.enter(name, e.IsDir())
		switch {
		case err != nil:
			return err
		case clean == "" && e.IsDir():
			return fs.SkipDir
		case clean == "" || e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return &entryError{name, "it is not a regular file"}
		}
		file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() { // by now
			return &entryError{name, "it is not a regular file"}
		}
		return u.add(clean, info.Mode()&0o111 != 0, file)
	})
}

func (u *unpacking) zip(file io.ReaderAt, size int64) error {
	archive, err := zip.NewReader(file, size)
	if err != nil {
		return err
	}
	for _, f := range archive.File {
		mode := f.Mode()
		name, err := u.enter(f.Name, mode.IsDir())
		switch {
		case err != nil:
			return err
		case name == "" || mode.IsDir():
			continue
		case !mode.IsRegular():
			return &entryError{f.Name, "it is not a regular file"}
		}
		from, err := f.Open()
		if err != nil {
			return err
		}
		if err := errors.Join(u.add(name, mode&0o111 != 0, from), from.Close()); err != nil {
			return err
		}
	}
	return nil
}

func (u *unpacking) tar(file io.Reader) error {
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	defer unzipped.Close()
	// Skipped entries and the bytes between the files count as well.
	bounded := &io.LimitedReader{R: unzipped, N: u.limit + 2048*maxEntries}
	archive := tar.NewReader(bounded)
	for {
		h, err := archive.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && bounded.N <= 0:
			return errMuch
		case err != nil:
			return err
		case h.Typeflag == tar.TypeXGlobalHeader: // git writes one
			continue
		}
		name, err := u.enter(h.Name, h.Typeflag == tar.TypeDir)
		switch {
		case err != nil:
			return err
		case name == "" || h.Typeflag == tar.TypeDir:
			continue
		case h.Typeflag != tar.TypeReg:
			return &entryError{h.Name, "it is not a regular file"}
		}
		if err := u.add(name, h.Mode&0o111 != 0, archive); err != nil {
			if bounded.N <= 0 {
				return errMuch
			}
			return err
		}
	}
}

// stem returns the name of a folder or archive without what tells its kind.
func stem(from string) string {
	name := filepath.Base(from)
	for _, ext := range []string{".zip", ".skill", ".tar.gz", ".tgz"} {
		if len(name) > len(ext) && strings.EqualFold(name[len(name)-len(ext):], ext) {
			return name[:len(name)-len(ext)]
		}
	}
	return name
}

// within returns the files of a folder of what was unpacked, relative to it.
func within(files []packed, dir string) (out []packed) {
	for _, f := range files {
		name, ok := strings.CutPrefix(f.path, dir+"/")
		if dir == "." {
			name, ok = f.path, true
		}
		if ok {
			out = append(out, packed{name, f.exec, f.data})
		}
	}
	return out
}

// mains lists the folders that have a main file and are not in another one's.
func mains(files []packed) (dirs []string) {
	for _, f := range files {
		if strings.EqualFold(path.Base(f.path), mainFile) {
			dirs = append(dirs, path.Dir(f.path))
		}
	}
	slices.SortFunc(dirs, func(a, b string) int { return strings.Compare(a+"/", b+"/") })
	var out []string
	for _, dir := range dirs {
		if !slices.ContainsFunc(out, func(o string) bool { return o == "." || dir == o || strings.HasPrefix(dir, o+"/") }) {
			out = append(out, dir)
		}
	}
	if slices.Contains(dirs, ".") {
		return []string{"."}
	}
	return out
}

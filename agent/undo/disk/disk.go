// Package disk reads what stands under the name of a file, and puts something else
// in its place if it is still what it was. Symbolic links are read and made, never
// followed.
package disk

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/fileattr"
)

// Content is what stands under a name; the zero value means that nothing does.
type Content struct {
	Kind agent.FileKind
	Data []byte // of a link, its target
	// Private says that nobody but its owner may read the file. Mode has the permission
	// bits of a file; 0 means that they are not known.
	Private bool
	Mode    uint32
	// Other says that it is neither a file nor a link, such as a directory. Vacant says
	// that it is a directory with nothing in it.
	Other, Vacant bool
	// Linked says that the file has other names.
	Linked bool
	// Large says that the file is larger than [env.MaxWhole], so that Data is empty.
	Large bool
}

// Agreed returns the content with permissions that fit its kind: those who may read may
// run what is executable, and nobody anything else.
func (c Content) Agreed() Content {
	switch is := c.Mode&0o100 != 0; {
	case c.Mode == 0:
	case c.Kind == agent.ExecutableFile && !is:
		c.Mode |= c.Mode >> 2 & 0o111
	case c.Kind == agent.PlainFile && is:
		c.Mode &^= 0o111
	}
	return c
}

// Version identifies the content.
func (c Content) Version() agent.FileVersion {
	if c.Kind == "" {
		return agent.FileVersion{}
	}
	sum := sha256.Sum256(c.Data)
	return agent.FileVersion{Hash: hex.EncodeToString(sum[:]), Size: int64(len(c.Data)), Kind: c.Kind, Private: c.Private, Mode: c.Mode}
}

// Is reports whether the content is a version. A version without a hash is never
// anything but nothing.
func (c Content) Is(v agent.FileVersion) bool {
	if c.Other || c.Large {
		return false
	}
	return Same(c.Version(), v)
}

// Same reports whether two versions are the same, as far as is known of them.
func Same(a, b agent.FileVersion) bool {
	return Alike(a, b) && (a.Mode == b.Mode || a.Mode == 0 || b.Mode == 0)
}

// Alike is Same for versions whose permission bits may differ.
func Alike(a, b agent.FileVersion) bool {
	known := func(v agent.FileVersion) bool { return v.Hash != "" || !v.Exists() && v.Unkept == "" }
	return known(a) && known(b) && a.Kind == b.Kind && a.Hash == b.Hash
}

// The reasons why nothing was put in place of a file. They are wrapped.
var (
	ErrChanged  = errors.New("the file has changed")
	ErrOccupied = errors.New("something else has the name")
	ErrRefused  = errors.New("files there are not replaced")
	// ErrLinked and ErrBehindLink are each an [ErrRefused].
	ErrLinked     = fmt.Errorf("the file has other names, which would be parted from it: %w", ErrRefused)
	ErrBehindLink = fmt.Errorf("a symbolic link leads there: %w", ErrRefused)
)

// Disk is the files that an environment has. It is safe for concurrent use.
type Disk struct {
	tree  env.Tree
	links env.Links
}

// Of returns the files of an environment. They must be on this machine.
func Of(e env.Environment) (*Disk, error) {
	tree, ok := e.(env.Tree)
	links, both := e.(env.Links)
	if !ok || !both {
		return nil, errors.New("the files of this environment cannot be restored")
	}
	return &Disk{tree: tree, links: links}, nil
}

// Read returns what stands under a name, which is relative to the working folder, or
// absolute.
func (d *Disk) Read(name string) (Content, error) {
	if err := d.check(name); err != nil {
		return Content{}, err
	}
	c, _, err := d.read(name)
	return c, err
}

// Lists reports whether the folders above a name list it as it is written. A file
// system that ignores case finds it under others, too.
func (d *Disk) Lists(name string) bool {
	for name != "." && !filepath.IsAbs(name) {
		dir, base := path.Dir(name), path.Base(name)
		f, err := d.tree.OpenFile(dir, os.O_RDONLY, 0)
		if err != nil {
			return false
		}
		names, err := f.Readdirnames(-1)
		_ = f.Close()
		if err != nil || !slices.Contains(names, base) {
			return false
		}
		name = dir
	}
	return true
}

// read returns what stands under a name that was checked.
func (d *Disk) read(name string) (Content, fs.FileInfo, error) {
	info, err := d.tree.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return Content{}, nil, nil
	case err != nil:
		return Content{}, nil, fmt.Errorf("look at a file: %w", err)
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := d.links.Readlink(name)
		if err != nil {
			return Content{}, nil, fmt.Errorf("read a link: %w", err)
		}
		return Content{Kind: agent.SymbolicLink, Data: []byte(target)}, info, nil
	case !info.Mode().IsRegular():
		return Content{Other: true, Vacant: info.IsDir() && d.isEmpty(name)}, info, nil
	case info.Size() > env.MaxWhole:
		return Content{Kind: kindOf(info), Large: true}, info, nil
	}
	f, err := d.tree.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return Content{}, nil, fmt.Errorf("read a file: %w", err)
	}
	defer f.Close()
	opened, err := f.Stat()
	if err == nil && !os.SameFile(info, opened) { // it became a link, a pipe or another file
		err = ErrChanged
	}
	if err != nil {
		return Content{}, nil, fmt.Errorf("read a file: %w", err)
	}
	data, err := io.ReadAll(io.LimitReader(f, env.MaxWhole+1))
	if err != nil {
		return Content{}, nil, fmt.Errorf("read a file: %w", err)
	}
	if len(data) > env.MaxWhole {
		return Content{Kind: kindOf(opened), Large: true}, opened, nil
	}
	c := Content{Kind: kindOf(opened), Data: data, Private: opened.Mode()&0o077 == 0, Linked: fileattr.Links(opened) > 1}
	if runtime.GOOS != "windows" { // where they say something
		c.Mode = uint32(opened.Mode().Perm())
	}
	return c, opened, nil
}

// isEmpty reports whether a directory has nothing in it.
func (d *Disk) isEmpty(name string) bool {
	f, err := d.tree.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

func kindOf(info fs.FileInfo) agent.FileKind {
	if info.Mode()&0o100 != 0 { // as the journal decides it
		return agent.ExecutableFile
	}
	return agent.PlainFile
}

// check refuses names that lead out of the folder, into git's own files, or through
// a symbolic link.
func (d *Disk) check(name string) error {
	if strings.ContainsRune(name, 0) || !filepath.IsAbs(name) && !filepath.IsLocal(filepath.FromSlash(name)) || path.Base(name) == "." {
		return fmt.Errorf("restore a file outside of the folder: %w", ErrRefused)
	}
	for part := range strings.SplitSeq(strings.ToLower(filepath.ToSlash(name)), "/") {
		// Windows ignores dots and spaces at the end, and knows short names and streams.
		part, _, _ = strings.Cut(part, ":")
		if part = strings.TrimRight(part, ". "); part == ".git" || part == "git~1" {
			return fmt.Errorf("restore a file of git: %w", ErrRefused)
		}
	}
	for dir := path.Dir(name); dir != "." && dir != path.Dir(dir); dir = path.Dir(dir) {
		info, err := d.tree.Lstat(dir)
		if err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("restore a file: %w", ErrBehindLink)
		}
	}
	return nil
}

package boundary

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxLinks is how many dangling links Resolve follows before it gives up, like
// the kernel.
const maxLinks = 40

// maxName is how many bytes a file's name may have at most, on any system.
const maxName = 255

// Resolve returns the real target of an absolute path. It follows symbolic
// links as far as the path exists, even links whose target does not exist yet.
// For a path that cannot be resolved it returns the root of the file system,
// which is outside every workspace.
func Resolve(path string) string { return resolveLinks(physical(path), maxLinks) }

// physical returns an absolute path without "..", which leaves the folder that a
// link leads to, not the one in which the link is.
func physical(path string) string {
	const separator = string(filepath.Separator)
	if !strings.Contains(path, separator+"..") {
		return filepath.Clean(path)
	}
	at := filepath.VolumeName(path) + separator
	for part := range strings.SplitSeq(path[len(filepath.VolumeName(path)):], separator) {
		if part == ".." {
			at = filepath.Dir(resolveLinks(at, maxLinks))
		} else {
			at = filepath.Join(at, part)
		}
	}
	return at
}

func resolveLinks(path string, links int) string {
	const nowhere = string(filepath.Separator)
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real
	}
	if !os.IsNotExist(err) && !cannotExist(path) || links == 0 {
		return nowhere
	}
	if target, err := os.Readlink(path); err == nil { // it dangles
		if !filepath.IsAbs(target) {
			target = filepath.Join(resolveLinks(filepath.Dir(path), links-1), target)
		}
		return resolveLinks(target, links-1)
	}
	dir := filepath.Dir(path)
	if dir == path {
		return nowhere
	}
	return filepath.Join(resolveLinks(dir, links), filepath.Base(path))
}

// cannotExist reports whether a path has a name that no file can have, and that
// therefore leads nowhere else.
func cannotExist(path string) bool {
	return slices.ContainsFunc(strings.Split(path, string(filepath.Separator)), func(name string) bool { return len(name) > maxName })
}

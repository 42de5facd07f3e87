package permission

import (
	"os"
	"path/filepath"
)

// maxLinks is how many dangling links resolve follows before it gives up, like
// the kernel.
const maxLinks = 40

// resolve returns the real target of an absolute path. It follows symbolic
// links as far as the path exists, even links whose target does not exist yet.
// For a path that cannot be resolved it returns the root of the file system,
// which is outside every workspace.
func resolve(path string) string { return resolveLinks(filepath.Clean(path), maxLinks) }

func resolveLinks(path string, links int) string {
	const nowhere = string(filepath.Separator)
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		return real
	}
	if !os.IsNotExist(err) || links == 0 {
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

package project

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// maxLooked limits the entries that are looked at, maxDepth the depth.
	maxLooked = 5000
	maxDepth  = 6
	// maxNested limits the documents that are named.
	maxNested = 30
)

// Nested lists the documents with the given names that lie below the folder,
// not in it, as paths relative to it: shallow ones first, then by name. It looks
// at no hidden folders, no dependencies and no links, and at a bounded number of
// entries: more is false where it saw everything.
func Nested(ctx context.Context, folder string, names ...string) (paths []string, more bool) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, false
	}
	defer root.Close()
	looked := 0
	level := []string{"."}
	for depth := 0; depth <= maxDepth && len(level) > 0; depth++ {
		var next []string
		for _, dir := range level {
			if ctx.Err() != nil || looked >= maxLooked || len(paths) >= maxNested {
				return paths, true
			}
			entries := list(root, dir, maxLooked-looked)
			looked += len(entries)
			for _, e := range entries {
				if e.IsDir() && !passed(e.Name()) {
					next = append(next, filepath.Join(dir, e.Name()))
				}
			}
			if dir != "." {
				paths = append(paths, documentsIn(root, dir, names)...)
			}
		}
		level = next
	}
	return paths, len(level) > 0
}

// documentsIn returns the paths of a folder's documents.
func documentsIn(root *os.Root, dir string, names []string) []string {
	var paths []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := root.Lstat(path); err == nil && info.Mode().IsRegular() && info.Size() > 0 {
			paths = append(paths, filepath.ToSlash(path))
		}
	}
	return paths
}

// list returns at most limit entries of a folder, in the order of their names.
func list(root *os.Root, dir string, limit int) []fs.DirEntry {
	f, err := root.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, _ := f.ReadDir(limit) // what could be read counts
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries
}

// passed reports whether a folder is skipped: it is hidden, holds dependencies,
// or has a name with line breaks or control characters.
func passed(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules" || name == "vendor" || strings.Map(visible, name) != name
}

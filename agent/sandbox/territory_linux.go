package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/sandbox/confine"
)

// access is what a command may do with the files of a folder.
type access int

// The kinds, each of which includes the one before.
const (
	untouched access = iota
	listed           // only the names in a folder: what has less are files
	readable
	changeable
)

// territory says what a command may do where. A path belongs to the nearest
// folder that has an entry, and "/" always has one.
type territory map[string]access

// surveyor makes a territory.
type surveyor struct {
	territory
	links resolver
}

// devices are those that every command may use. Others, and shared memory, stay
// out of reach.
var devices = strings.Fields(`/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty`)

// territoryOf returns where a command with a profile may go, if it begins in a
// folder and can have nothing mounted for it.
func territoryOf(p confine.Profile, dir string) (territory, error) {
	t := surveyor{territory{"/": readable, "/dev": untouched}, resolver{}}
	for _, path := range devices {
		t.territory[path] = changeable
	}
	for _, path := range private {
		t.territory[path] = untouched
	}
	visible := []string{"/run/current-system", "/run/wrappers"}
	if p.Network == confine.NetworkFull {
		visible = append(visible, "/run/systemd/resolve")
	}
	for _, path := range visible {
		t.mark(path, readable)
	}
	for _, path := range append([]string{p.Temp}, p.Writable...) {
		real, err := t.links.follow(path)
		if err != nil {
			return nil, fmt.Errorf("the folder that the command may change cannot be found: %w", err)
		}
		if real == "/" {
			return nil, fmt.Errorf("%w: the whole file system cannot be a folder to change", ErrNoConfinement)
		}
		t.territory[real] = changeable
	}
	for _, path := range p.Readable {
		t.mark(path, readable)
	}
	for _, path := range p.Protected {
		if err := t.keep(path); err != nil {
			return nil, err
		}
	}
	for _, path := range p.Hidden {
		if err := t.hide(path); err != nil {
			return nil, err
		}
	}
	if real, err := t.links.follow(dir); err == nil && t.at(real) < readable && isPrivate(real) {
		t.territory[real] = readable
	}
	return t.territory, nil
}

// mark says what may be done with a path, if it exists.
func (t surveyor) mark(path string, a access) {
	if real, err := t.links.follow(path); err == nil {
		t.territory[real] = a
	}
}

// hide makes a file or a folder unreadable. One that does not exist must not
// appear.
func (t surveyor) hide(path string) error {
	real, err := t.links.follow(path)
	if err != nil {
		return t.keep(path)
	}
	t.territory[real] = untouched
	if !t.links.isDir(real) {
		t.territory[real] = listed
	}
	return nil
}

// keep protects a file or a folder. One that does not exist keeps the folder in
// which it would be from getting new entries.
func (t surveyor) keep(path string) error {
	parent, err := t.links.follow(filepath.Dir(path))
	if err != nil {
		return t.keep(filepath.Dir(path)) // nothing can appear there before its folder does
	}
	path = filepath.Join(parent, filepath.Base(path))
	if t.at(parent) != changeable {
		return nil
	}
	if _, err := protectable(path); err != nil {
		return err
	}
	t.territory[path] = min(t.at(path), readable)
	return nil
}

// at returns what may be done at a path.
func (t territory) at(path string) access {
	for {
		if a, ok := t[path]; ok {
			return a
		}
		path = filepath.Dir(path)
	}
}

// inside returns the entries below a folder.
func (t territory) inside(dir string) (paths []string) {
	prefix := strings.TrimSuffix(dir, "/") + "/"
	for path := range t {
		if path != dir && strings.HasPrefix(path, prefix) {
			paths = append(paths, path)
		}
	}
	return paths
}

// frozen returns the folders that may change, but whose own entries cannot be
// created, renamed or removed, because something in them has less.
func (t territory) frozen() (dirs []string) {
	for path := range t {
		if t.at(path) == changeable {
			continue
		}
		for dir := filepath.Dir(path); t.at(dir) == changeable && !slices.Contains(dirs, dir); dir = filepath.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// grant calls allow with every place and what is to be allowed in it and
// everything below it. What is allowed in a folder cannot be taken away below it
// again. A folder with something inside that has less therefore gets only what
// all of it has, and its entries are allowed one by one, as they are now.
func (t territory) grant(allow func(path string, a access) error) error {
	return t.grantAt("/", t["/"], allow)
}

func (t territory) grantAt(path string, a access, allow func(string, access) error) error {
	inside := t.inside(path)
	least := a
	for _, p := range inside {
		least = min(least, t[p])
	}
	if least > untouched {
		if err := allow(path, least); err != nil {
			return err
		}
	}
	if len(inside) == 0 {
		return nil
	}
	for _, child := range children(path, inside, least < a) {
		childAccess, ok := t[child]
		if !ok {
			childAccess = a
		}
		if err := t.grantAt(child, childAccess, allow); err != nil {
			return err
		}
	}
	return nil
}

// children returns the paths in a folder that lead to one of some paths inside
// it, and all others as well if asked for. Links have no contents of their own.
func children(dir string, inside []string, all bool) (paths []string) {
	prefix := strings.TrimSuffix(dir, "/") + "/"
	seen := map[string]bool{}
	for _, path := range inside {
		name, _, _ := strings.Cut(strings.TrimPrefix(path, prefix), "/")
		if !seen[name] {
			seen[name] = true
			paths = append(paths, prefix+name)
		}
	}
	if !all {
		return paths
	}
	entries, _ := os.ReadDir(dir) // nothing is allowed in what cannot be listed
	for _, e := range entries {
		if !seen[e.Name()] && e.Type()&os.ModeSymlink == 0 {
			paths = append(paths, prefix+e.Name())
		}
	}
	return paths
}

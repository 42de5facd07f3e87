// Package reinstall keeps what npm ci deletes until it has been installed anew. npm
// deletes node_modules before it fetches anything, so that a network which ends in
// between leaves a project that does not run.
package reinstall

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent/command"
)

const (
	// installed is what npm deletes, and complete what it writes there last.
	installed = "node_modules"
	complete  = ".package-lock.json"
	// aside holds the folder of packages meanwhile. Rules that ignore node_modules hold there.
	aside = ".before-npm-ci"
)

// cleans are npm's commands that delete what is installed first.
var cleans = strings.Fields("ci clean-install install-clean ic isntall-clean cit install-ci-test clean-install-test sit")

// Kept are the folders of packages that a command line reinstalls. A nil Kept is none.
type Kept struct {
	project string
	dirs    []string // below the project, which have packages aside
	end     sync.Once
	note    string
}

// Keep moves the packages aside that a line of bash reinstalls, if nothing before them in
// the line could need them. It returns nil if there are none. What an earlier line left
// aside, because the program ended first, is put back before.
func Keep(line string, at command.Place) *Kept {
	if !strings.Contains(line, "npm") {
		return nil
	}
	var k *Kept
	steps, _ := command.Trace(line, at)
	for _, step := range steps {
		switch {
		case step.Known && !step.Own && step.Program() == "npm" && len(step.Dirs) == 1 && isClean(step.Args):
			rel, err := filepath.Rel(at.Project, step.Dirs[0])
			if err != nil || !filepath.IsLocal(rel) {
				return k
			}
			if move(at.Project, rel) {
				if k == nil {
					k = &Kept{project: at.Project}
				}
				k.dirs = append(k.dirs, rel)
			}
		case step.Name != "" && !slices.Contains(strings.Fields("cd echo export set true printf node_modules"), step.Program()):
			return k // it may run what is installed
		}
	}
	return k
}

// isClean reports whether npm deletes what is installed in the folder in which it runs.
func isClean(args []string) bool {
	for _, arg := range args {
		switch {
		case arg == "--dry-run", arg == "-g", arg == "--global", strings.HasPrefix(arg, "--prefix"), arg == "-C", strings.HasPrefix(arg, "--location"):
			return false
		case slices.Contains(cleans, arg):
			return !slices.Contains(args, "--dry-run")
		case !strings.HasPrefix(arg, "-"):
			return false
		}
	}
	return false
}

// move moves the packages of a folder aside.
func move(project, rel string) bool {
	root, err := os.OpenRoot(filepath.Join(project, rel))
	if err != nil {
		return false
	}
	defer root.Close()
	restore(root)
	if info, err := root.Lstat(installed); err != nil || !info.IsDir() {
		return false
	}
	if err := root.Mkdir(aside, 0o700); err != nil {
		return false
	}
	if err := root.Rename(installed, filepath.Join(aside, installed)); err != nil {
		_ = root.Remove(aside)
		return false
	}
	return true
}

// restore puts packages back that stand aside, unless others are whole. It reports
// whether it did.
func restore(root *os.Root) (restored bool) {
	before := filepath.Join(aside, installed)
	if info, err := root.Lstat(before); err != nil || !info.IsDir() {
		_ = root.Remove(aside) // if it is an empty folder
		return false
	}
	if isWhole(root) {
		_ = root.RemoveAll(aside)
		return false
	}
	if err := root.RemoveAll(installed); err != nil {
		return false
	}
	if err := root.Rename(before, installed); err != nil {
		return false
	}
	_ = root.Remove(aside)
	return true
}

func isWhole(root *os.Root) bool {
	info, err := root.Lstat(filepath.Join(installed, complete))
	return err == nil && info.Mode()&fs.ModeType == 0
}

// End puts the packages back where others were not installed, once the line has ended,
// and removes them elsewhere. It returns a sentence about what it put back.
func (k *Kept) End() string {
	if k == nil {
		return ""
	}
	k.end.Do(func() {
		var back []string
		for _, rel := range k.dirs {
			root, err := os.OpenRoot(filepath.Join(k.project, rel))
			if err != nil {
				continue
			}
			if restore(root) {
				back = append(back, filepath.Join(rel, installed))
			}
			_ = root.Close()
		}
		if len(back) > 0 {
			k.note = "npm did not finish, so " + strings.Join(back, ", ") + " is as it was before."
		}
	})
	return k.note
}

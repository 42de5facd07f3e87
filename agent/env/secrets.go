package env

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/moby/sys/atomicwriter"

	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/repository"
	"atelier.dev/atelier/agent/sandbox"
	"atelier.dev/atelier/agent/sandbox/confine"
)

// Limits of what is looked through and hidden for a confined command.
const (
	maxSecretDirs  = 20_000
	maxSecretNames = 500_000
	maxSecrets     = 1000
)

// settled is how old a folder's time has to be for it to tell that nothing was added
// since: it is kept in steps of a few milliseconds.
const settled = 100 * time.Millisecond

// skippedDirs hold what programs fetch or make.
var skippedDirs = strings.Fields(".git node_modules .venv venv __pycache__ target .tox .cache")

// secretFiles finds the files of a project that may hold secrets. It looks again at
// the folders that have changed only. It is safe for concurrent use.
type secretFiles struct {
	mu   sync.Mutex
	dirs map[string]secretDir
	// hidden were found once: adding one to the repository does not make it readable.
	hidden map[string]bool
	// known are the files that git tracks, as its index says that was of this time.
	known   map[string]bool
	indexed time.Time
}

type secretDir struct {
	changed                 time.Time
	names                   int
	secrets, settings, dirs []string
}

// find returns the files below a project that may hold secrets and that git does not
// track, since those are in its history anyway, and files of settings that may hold
// tokens. It reports false if there are more than can be looked through or hidden.
func (f *secretFiles) find(project string) (secrets, settings []string, whole bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	before, names := f.dirs, 0
	f.dirs = map[string]secretDir{}
	whole = true
	for rest := []string{project}; len(rest) > 0; rest = rest[1:] {
		if len(f.dirs) >= maxSecretDirs || names > maxSecretNames {
			whole = false
			break
		}
		dir, ok := readSecretDir(project, rest[0], before[rest[0]])
		if !ok {
			continue // the command cannot read it either
		}
		f.dirs[rest[0]] = dir
		names += dir.names
		rest = append(rest, dir.dirs...)
		secrets, settings = append(secrets, dir.secrets...), append(settings, dir.settings...)
	}
	secrets = f.untracked(project, secrets)
	slices.Sort(secrets)
	if len(secrets) > maxSecrets {
		secrets, whole = secrets[:maxSecrets], false
	}
	return secrets, settings, whole
}

// readSecretDir reads a folder, unless it is as it was.
func readSecretDir(project, path string, before secretDir) (secretDir, bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return secretDir{}, false
	}
	if changed := info.ModTime(); changed.Equal(before.changed) {
		return before, true
	}
	dir := secretDir{}
	if time.Since(info.ModTime()) > settled {
		dir.changed = info.ModTime()
	}
	folder, err := os.Open(path)
	if err != nil {
		return secretDir{}, false
	}
	defer folder.Close()
	entries, _ := folder.ReadDir(maxSecretNames)
	dir.names = len(entries)
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		switch {
		case e.IsDir():
			if !slices.Contains(skippedDirs, e.Name()) && !exists(filepath.Join(name, "pyvenv.cfg")) {
				dir.dirs = append(dir.dirs, name)
			}
		case e.Type().IsRegular() && sensitive.Secret(name[len(project):]):
			dir.secrets = append(dir.secrets, name)
		case e.Type().IsRegular() && sensitive.HasLines(name):
			dir.settings = append(dir.settings, name)
		}
	}
	return dir, true
}

// untracked leaves out the files that git tracks, unless they were hidden before.
func (f *secretFiles) untracked(project string, paths []string) []string {
	if len(paths) == 0 {
		return nil
	}
	index, err := os.Stat(filepath.Join(project, ".git", "index"))
	if f.known == nil || err != nil || !index.ModTime().Equal(f.indexed) || time.Since(f.indexed) < settled {
		f.known = map[string]bool{}
		if root, names, ok := tracked(project); ok {
			for _, name := range names {
				f.known[filepath.Join(root, filepath.FromSlash(name))] = true
			}
		}
		if err == nil {
			f.indexed = index.ModTime()
		}
	}
	var kept []string
	for _, path := range paths {
		if f.known[path] && !f.hidden[path] {
			continue
		}
		if f.hidden == nil {
			f.hidden = map[string]bool{}
		}
		if len(f.hidden) < maxSecrets {
			f.hidden[path] = true
		}
		kept = append(kept, path)
	}
	return kept
}

// replace replaces files of settings by copies without their tokens: those that the
// profile hides, and those of the project that have some. A file that cannot be copied
// stays hidden.
func (l *Local) replace(p *confine.Profile, settings []string) {
	for _, path := range append(slices.Clone(p.Hidden), settings...) {
		if !sensitive.HasLines(path) {
			continue
		}
		text, has, err := sensitive.WithoutTokens(path)
		isHidden := slices.Contains(p.Hidden, path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !has && !isHidden {
			continue
		}
		source := ""
		if err == nil {
			source, err = l.copyOf(path, text)
		}
		if err != nil {
			p.Hidden = append(p.Hidden, path)
			continue
		}
		p.Hidden = slices.DeleteFunc(p.Hidden, func(hidden string) bool { return hidden == path })
		p.Shown = append(p.Shown, confine.Shown{Path: path, Source: source})
	}
}

// exclude has git ignore what stands in the project only while a command runs.
func exclude(l *Local, p *confine.Profile, found repository.Repository) {
	path, text := found.Excludes(*p)
	info, err := os.Lstat(path)
	switch {
	case text == "" || err != nil && !exists(filepath.Dir(path)):
	case errors.Is(err, fs.ErrNotExist), err == nil && sandbox.IsPlaceholder(info):
		p.Protected, p.Stubs = append(p.Protected, path), append(p.Stubs, confine.Stub{Path: path, Text: text})
	case err == nil && info.Mode().IsRegular():
		if source, err := l.copyOf(path, []byte(text)); err == nil {
			p.Shown = append(p.Shown, confine.Shown{Path: path, Source: source, Harmless: true})
		}
	}
}

// copyOf keeps a text beside the outputs of commands, which confined commands read and
// cannot change.
func (l *Local) copyOf(path string, text []byte) (string, error) {
	if l.SpillDir == "" {
		return "", os.ErrNotExist
	}
	sum := sha256.Sum256([]byte(path))
	dir := filepath.Join(l.SpillDir, "settings")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(dir, hex.EncodeToString(sum[:8]))
	if before, err := os.ReadFile(name); err == nil && bytes.Equal(before, text) {
		return name, nil
	}
	return name, atomicwriter.WriteFile(name, text, 0o600)
}

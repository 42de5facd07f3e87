// Package recent remembers the project folders that the user opened. Each has a
// small file of its own, so that processes that open folders at the same time
// do not overwrite each other's entry, and damage costs one entry.
package recent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/moby/sys/atomicwriter"
)

// Most limits how many folders are remembered.
const Most = 50

const (
	maxEntry = 32 << 10 // bytes of a file; JSON writes some characters of a path as six
	maxFiles = 1000     // files that are looked at
	suffix   = ".json"
)

// Project is a folder that was opened.
type Project struct {
	Folder string    `json:"folder"`
	Opened time.Time `json:"opened"`
}

// Add remembers that the absolute folder was opened, and forgets the oldest
// folders beyond [Most] as well as damaged entries.
func Add(home, folder string, now time.Time) error {
	dir := place(home)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("create the folder of recent projects: %w", err)
	}
	b, err := json.Marshal(Project{Folder: folder, Opened: now})
	if err != nil {
		return fmt.Errorf("encode recent project: %w", err)
	}
	if err := atomicwriter.WriteFile(filepath.Join(dir, nameOf(folder)), b, 0o600); err != nil {
		return fmt.Errorf("write recent project: %w", err)
	}
	return prune(dir)
}

// List returns the remembered folders, the one that was opened last first. They
// may no longer exist. A damaged entry is left out.
func List(home string) ([]Project, error) {
	list, _, err := read(place(home))
	return list[:min(len(list), Most)], err
}

// Remove forgets a folder. It does nothing to the folder itself.
func Remove(home, folder string) error {
	if err := os.Remove(filepath.Join(place(home), nameOf(folder))); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget recent project: %w", err)
	}
	return nil
}

func place(home string) string { return filepath.Join(home, "projects") }

// nameOf returns the name of a folder's entry.
func nameOf(folder string) string {
	sum := sha256.Sum256([]byte(folder))
	return hex.EncodeToString(sum[:8]) + suffix
}

func prune(dir string) error {
	list, damaged, err := read(dir)
	if err != nil {
		return err
	}
	for _, p := range list[min(len(list), Most):] {
		damaged = append(damaged, nameOf(p.Folder))
	}
	for _, name := range damaged {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget recent project: %w", err)
		}
	}
	return nil
}

// read returns all entries, newest first, and the names of damaged files.
func read(dir string) (list []Project, damaged []string, err error) {
	d, err := os.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, fmt.Errorf("open the folder of recent projects: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(maxFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, nil, fmt.Errorf("list recent projects: %w", err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		p, err := entry(filepath.Join(dir, name))
		switch {
		case errors.Is(err, fs.ErrNotExist): // another process forgot it
		case err != nil || nameOf(p.Folder) != name || !filepath.IsAbs(p.Folder):
			damaged = append(damaged, name)
		default:
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b Project) int {
		return cmp.Or(b.Opened.Compare(a.Opened), cmp.Compare(a.Folder, b.Folder))
	})
	return list, damaged, nil
}

func entry(path string) (Project, error) {
	f, err := os.Open(path)
	if err != nil {
		return Project{}, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxEntry))
	if err != nil {
		return Project{}, err
	}
	var p Project
	return p, json.Unmarshal(b, &p)
}

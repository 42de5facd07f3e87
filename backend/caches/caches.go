package caches

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// Limits of caches.
const (
	// MaxBytes is how much all caches take together.
	MaxBytes = 5_000_000_000
	// A cache that has not changed for the time unused is deleted in any case.
	// One that changed within the time fresh is left alone, because a command
	// may be using it.
	unused = 60 * 24 * time.Hour
	fresh  = time.Hour
	// often is the time between two looks at the caches.
	often = time.Hour
)

// Caches are the caches below a folder. Use [New].
type Caches struct {
	dir   string
	limit int64
	now   func() time.Time

	mu      sync.Mutex
	next    time.Time // when to look again
	trimmed sync.WaitGroup
}

// New returns the caches below a folder, which need not exist. They take at most
// limit bytes.
func New(dir string, limit int64, now func() time.Time) *Caches {
	return &Caches{dir: dir, limit: limit, now: now}
}

// Of returns the folder of a project's caches, given the project's name among
// them.
func (c *Caches) Of(name string) string { return filepath.Join(c.dir, name) }

// cache is the folder of one program in one project, or a file beside these folders.
type cache struct {
	path    string
	size    int64
	changed time.Time
}

// Size returns how much the caches take, in bytes. Unreadable files do not
// count.
func (c *Caches) Size(ctx context.Context) (int64, error) {
	all, err := c.list(ctx)
	return total(all), err
}

func total(all []cache) (sum int64) {
	for _, each := range all {
		sum += each.size
	}
	return sum
}

// list returns all caches, those that changed last first.
func (c *Caches) list(ctx context.Context) ([]cache, error) {
	paths, err := filepath.Glob(filepath.Join(escaped(c.dir), "*", "*"))
	if err != nil {
		return nil, fmt.Errorf("list the caches: %w", err)
	}
	all := make([]cache, 0, len(paths))
	for _, path := range paths {
		each := cache{path: path}
		err := filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return nil //nolint:nilerr // what cannot be read does not count
			}
			if info, err := d.Info(); err == nil {
				if info.Mode().IsRegular() {
					each.size += info.Size()
				}
				if info.ModTime().After(each.changed) {
					each.changed = info.ModTime()
				}
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("measure the caches: %w", err)
		}
		all = append(all, each)
	}
	slices.SortFunc(all, func(a, b cache) int { return cmp.Or(b.changed.Compare(a.changed), cmp.Compare(a.path, b.path)) })
	return all, nil
}

// escaped returns a path as a pattern for it alone.
func escaped(path string) string {
	var b []rune
	for _, r := range path {
		if slices.Contains([]rune(`*?[\`), r) && filepath.Separator == '/' {
			b = append(b, '\\')
		}
		b = append(b, r)
	}
	return string(b)
}

// Use says that caches are about to be used. Now and then it looks in the
// background whether they must be trimmed; ctx ends that.
func (c *Caches) Use(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Before(c.next) {
		return
	}
	c.next = now.Add(often)
	c.trimmed.Go(func() { _ = c.Trim(ctx) }) // ends with its work or ctx; the next time tries again
}

// Wait waits for what Use began.
func (c *Caches) Wait() { c.trimmed.Wait() }

// Trim deletes caches that were not used for long, and then those used least
// recently until the rest is within the limit. One that may be in use stays.
func (c *Caches) Trim(ctx context.Context) error {
	all, err := c.list(ctx)
	if err != nil {
		return err
	}
	now, sum := c.now(), int64(0)
	var errs []error
	for _, each := range all {
		age := now.Sub(each.changed)
		if sum += each.size; age < fresh || age < unused && sum <= c.limit {
			continue
		}
		sum -= each.size
		errs = append(errs, c.remove(each.path))
	}
	return errors.Join(errs...)
}

// Clear deletes all caches, also those in use: programs fill them again.
func (c *Caches) Clear(ctx context.Context) error {
	all, err := c.list(ctx)
	if err != nil {
		return err
	}
	var errs []error
	for _, each := range all {
		errs = append(errs, c.remove(each.path))
	}
	return errors.Join(errs...)
}

// remove deletes a folder, even if folders in it are read-only, as those of Go's
// modules are. Commands may put links there meanwhile, which lead nowhere.
func (c *Caches) remove(path string) error {
	root, err := os.OpenRoot(c.dir)
	if err != nil {
		return fmt.Errorf("open the caches: %w", err)
	}
	defer root.Close()
	name, err := filepath.Rel(c.dir, path)
	if err != nil {
		return fmt.Errorf("find a cache: %w", err)
	}
	if root.RemoveAll(name) == nil {
		return nil
	}
	_ = fs.WalkDir(root.FS(), filepath.ToSlash(name), func(path string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			_ = root.Chmod(filepath.FromSlash(path), 0o700)
		}
		return nil
	})
	if err := root.RemoveAll(name); err != nil {
		return fmt.Errorf("delete a cache: %w", err)
	}
	return nil
}

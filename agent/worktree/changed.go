package worktree

import (
	"context"
	"crypto/sha1" //nolint:gosec // git's name of a content, not a secret
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"atelier.dev/atelier/agent/internal/gitguard"
	"atelier.dev/atelier/agent/sandbox"
)

// The limits of what is read of a worktree's changes.
const (
	MaxChanged = 2000    // files
	maxBlob    = 8 << 20 // bytes of a content
)

// The modes of git for what is no plain file.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
	modeProgram   = "100755"
)

// Changed is a file that a worktree has otherwise than the commit where its branch left
// the project's: committed, not committed, or not even known to git.
type Changed struct {
	Path string // below the folder, with slashes
	// Blob names the content in that commit; empty if it had none. Link, Program and
	// Submodule say what it was.
	Blob                     string
	Link, Program, Submodule bool
	// Added and Removed count lines; those of a file that git does not know are not counted.
	Added, Removed int
	Untracked      bool
}

// Changes are those of a worktree.
type Changes struct {
	Base  string // the commit where its branch left the project's
	Files []Changed
	More  int // beyond MaxChanged
	at    *git
}

// ChangesOf returns what differs in a worktree from the commit where it left a folder of
// the project, also what is not committed there. What git ignores is not in it, see [Look].
func ChangesOf(ctx context.Context, t Tree, folder string) (Changes, error) {
	if err := t.check(); err != nil {
		return Changes{}, err
	}
	project, err := open(ctx, folder)
	if err != nil {
		return Changes{}, err
	}
	own, err := open(ctx, t.Path())
	if err != nil {
		return Changes{}, err
	}
	if own.top != t.Path() || own.common != project.common { // its user can write to its .git file
		return Changes{}, fmt.Errorf("git does not know %s as a worktree of the project: look at the folder", t.Path())
	}
	head, _, err := project.last(ctx, folder)
	if err != nil {
		return Changes{}, err
	}
	base, err := own.run(ctx, "merge-base", "HEAD", head)
	if err != nil {
		return Changes{}, fmt.Errorf("find where the worktree left the project: %w", err)
	}
	own.dir = filepath.Join(own.top, project.prefix)
	c := Changes{Base: base, at: own}
	return c, c.read(ctx)
}

// Folder is where the files are: the worktree, or what stands for the project in it.
func (c *Changes) Folder() string { return c.at.dir }

// read lists the files.
func (c *Changes) read(ctx context.Context) error {
	tracked, err := c.diff(ctx, "--raw", "--no-abbrev")
	if err != nil {
		return err
	}
	parts := strings.Split(tracked, "\x00")
	for i := 0; i+1 < len(parts); i += 2 {
		fields := strings.Fields(strings.TrimPrefix(parts[i], ":"))
		if len(fields) < 5 {
			return fmt.Errorf("read git's list of changes: %q is none", parts[i])
		}
		f := Changed{
			Path: parts[i+1], Link: fields[0] == modeLink, Program: fields[0] == modeProgram,
			Submodule: fields[0] == modeSubmodule || fields[1] == modeSubmodule,
		}
		if strings.Trim(fields[0], "0") != "" {
			f.Blob = fields[2]
		}
		c.add(f)
	}
	if err := c.count(ctx); err != nil {
		return err
	}
	untracked, err := c.at.run(ctx, "ls-files", "--others", "--exclude-standard", "-z", "--", ".")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(untracked, "\x00") {
		if name == "" {
			continue
		}
		inner := strings.HasSuffix(name, "/") // a repository of its own
		c.add(Changed{Path: strings.TrimSuffix(name, "/"), Submodule: inner, Untracked: true})
	}
	slices.SortFunc(c.Files, func(a, b Changed) int { return strings.Compare(a.Path, b.Path) })
	return nil
}

// diff compares the files with the commit.
func (c *Changes) diff(ctx context.Context, form ...string) (string, error) {
	args := append([]string{"diff", "--no-ext-diff", "--no-textconv", "-z", "--no-renames", "--relative", "--ignore-submodules=dirty"}, form...)
	return c.at.run(ctx, append(args, c.Base, "--", ".")...)
}

// count counts the lines of the files that git knows.
func (c *Changes) count(ctx context.Context) error {
	list, err := c.diff(ctx, "--numstat")
	if err != nil {
		return err
	}
	at := make(map[string]int, len(c.Files))
	for i, f := range c.Files {
		at[f.Path] = i
	}
	for entry := range strings.SplitSeq(list, "\x00") {
		fields := strings.SplitN(entry, "\t", 3)
		if len(fields) < 3 {
			continue
		}
		if i, ok := at[fields[2]]; ok {
			c.Files[i].Added, _ = strconv.Atoi(fields[0]) // "-" of what is not text
			c.Files[i].Removed, _ = strconv.Atoi(fields[1])
		}
	}
	return nil
}

// add lists a file once: one that was taken from the index and left in the folder is in
// both of git's lists.
func (c *Changes) add(f Changed) {
	i := slices.IndexFunc(c.Files, func(o Changed) bool { return o.Path == f.Path })
	switch {
	case i >= 0:
	case len(c.Files) >= MaxChanged:
		c.More++
	default:
		c.Files = append(c.Files, f)
	}
}

// Content returns the content of a file in the commit where the branches parted. What is
// too large, or comes out of git otherwise than its name says, is an error.
func (c *Changes) Content(ctx context.Context, f Changed) ([]byte, error) {
	if f.Blob == "" {
		return nil, nil
	}
	var data []byte
	large := false
	environ := slices.DeleteFunc(sandbox.Filter{}.Apply(sandbox.Environ()), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return slices.Contains(elsewhere, strings.ToUpper(name))
	})
	r, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: slices.Concat([]string{c.at.program}, gitguard.Arguments(), configured, c.at.off, []string{"cat-file", "blob", f.Blob}),
		Dir:  c.at.dir, Env: append(environ, gitguard.Variables()...), Timeout: c.at.limit,
		Raw: func(p []byte) {
			if large = large || len(data)+len(p) > maxBlob; !large {
				data = append(data, p...)
			}
		},
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s as it was: %w", f.Path, err)
	case large:
		return nil, fmt.Errorf("read %s as it was: it has more than %d bytes", f.Path, maxBlob)
	case r.ExitCode != 0 || blobName(data, len(f.Blob)) != f.Blob:
		return nil, fmt.Errorf("read %s as it was: %w", f.Path, os.ErrInvalid)
	}
	return data, nil
}

// blobName returns the name that git gives a content, in a repository whose names have
// some length.
func blobName(data []byte, length int) string {
	whole := append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...)
	if length == sha256.Size*2 {
		sum := sha256.Sum256(whole)
		return hex.EncodeToString(sum[:])
	}
	sum := sha1.Sum(whole) //nolint:gosec // as above
	return hex.EncodeToString(sum[:])
}

package agentdef

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/filetree"
)

// Limits of what is read.
const (
	MaxFiles   = 500 // of all folders
	maxEntries = 20_000
	maxDepth   = 8
)

// Root is a folder in which agent files are looked for.
type Root struct {
	Path  string
	Scope agent.Scope
	// OpenCode says that its files follow opencode's rules.
	OpenCode bool
	// Within is the folder out of which no link is followed; empty means that links may
	// lead anywhere.
	Within string
}

// Roots returns where agent files are looked for, the weakest first, for a user's home folder
// and a project's folder. Either may be empty.
func Roots(user, folder string) (roots []Root) {
	add := func(base string, scope agent.Scope, opencode bool, names ...string) {
		if base == "" {
			return
		}
		root := Root{Path: filepath.Join(append([]string{base}, names...)...), Scope: scope, OpenCode: opencode}
		if scope == agent.ScopeProject {
			root.Within = base
		}
		roots = append(roots, root)
	}
	add(user, agent.ScopeUser, true, ".config", "opencode", "agent")
	add(user, agent.ScopeUser, true, ".config", "opencode", "agents")
	add(user, agent.ScopeUser, false, ".agent", "agents")
	add(user, agent.ScopeUser, false, ".claude", "agents")
	add(folder, agent.ScopeProject, true, ".opencode", "agent")
	add(folder, agent.ScopeProject, true, ".opencode", "agents")
	add(folder, agent.ScopeProject, false, ".agent", "agents")
	add(folder, agent.ScopeProject, false, ".claude", "agents")
	return roots
}

// Discover reads the agent files of folders, in their order, also those that cannot be read. It
// reports whether there are more than it read. It ends early when its context ends.
func Discover(ctx context.Context, roots []Root) (found []Definition, more bool) {
	d := &discovery{ctx: ctx}
	for _, root := range roots {
		d.root(root)
	}
	for i, x := range d.found {
		if x.Broken() {
			continue
		}
		again := slices.IndexFunc(d.found[i+1:], func(o Definition) bool { return o.Name == x.Name && !o.Broken() })
		if again >= 0 {
			d.found[i].find(FindingNameTwice, 0, x.Name, filepath.Base(d.found[i+1+again].Place.File))
		}
	}
	return d.found, d.more
}

type discovery struct {
	ctx    context.Context
	found  []Definition
	walked int
	more   bool
}

func (d *discovery) full() bool {
	if len(d.found) >= MaxFiles || d.walked > maxEntries {
		d.more = true
		return true
	}
	return d.ctx.Err() != nil
}

func (d *discovery) root(root Root) {
	t, err := filetree.Open(root.Within)
	if err != nil {
		return
	}
	defer t.Close()
	folder, err := t.Real(root.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return
	case err != nil:
		d.unread(Place{root.Scope, root.Path}, err)
		return
	}
	walk := filetree.Walk{Depth: maxDepth, Full: d.full, Read: func(entries int, more bool) { d.walked += entries; d.more = d.more || more }}
	err = t.Texts(folder, walk, func(file, below string, err error) {
		place := Place{root.Scope, filepath.Join(root.Path, filepath.FromSlash(below))}
		var text string
		if err == nil {
			text, err = t.Read(file, MaxFile)
		}
		switch {
		case err != nil:
			d.unread(place, err)
		case root.OpenCode:
			if x, enabled := ParseOpenCode(place, strings.TrimSuffix(path.Base(below), path.Ext(below)), text); enabled {
				d.found = append(d.found, x)
			}
		default:
			d.found = append(d.found, Parse(place, "", text))
		}
	})
	if err != nil {
		d.unread(Place{root.Scope, root.Path}, err)
	}
}

// unread adds what cannot be read.
func (d *discovery) unread(place Place, err error) {
	x := Definition{Name: strings.TrimSuffix(filepath.Base(place.File), ".md"), Place: place}
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	x.fail(FindingUnread, 0, err.Error())
	d.found = append(d.found, x)
}

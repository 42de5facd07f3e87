package workbench

import (
	"path/filepath"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
)

// rebase returns a path as it is written in another folder.
type rebase func(path string) string

// seenFrom returns how the paths of an agent, whose tools act in folder, are written in
// base, the folder of the session that shows them. It reports false if folder is not in
// base, so that base says nothing of its files.
func seenFrom(base, folder string) (rebase, bool) {
	below, err := filepath.Rel(base, folder)
	if err != nil || !filepath.IsLocal(below) {
		return nil, false
	}
	return func(path string) string {
		if !filepath.IsAbs(path) {
			return filepath.Join(below, path)
		}
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return rel
		}
		return path
	}, true
}

// logged is rebase for a path as the log has it.
func (r rebase) logged(path string) string {
	return changes.Quote(filepath.ToSlash(r(filepath.FromSlash(changes.Unquote(path)))))
}

// files returns what was changed with its paths.
func (r rebase) files(changed *agent.FilesChanged) *agent.FilesChanged {
	if changed == nil {
		return nil
	}
	out := *changed
	out.Files = slices.Clone(out.Files)
	for i := range out.Files {
		out.Files[i].Path = r.logged(out.Files[i].Path)
	}
	return &out
}

// event returns an event that says what was changed, with its paths.
func (r rebase) event(ev agent.Event) agent.Event {
	switch d := ev.Data.(type) {
	case agent.ToolCallEnd:
		d.Files = r.files(d.Files)
		ev.Data = d
	case agent.LocalCommandEnd:
		d.Files = r.files(d.Files)
		ev.Data = d
	case agent.HookEnd:
		d.Files = r.files(d.Files)
		ev.Data = d
	case agent.FilesRestored:
		d.FilesChanged = *r.files(&d.FilesChanged)
		d.Paths, d.Partly, d.Conflicts = slices.Clone(d.Paths), slices.Clone(d.Partly), slices.Clone(d.Conflicts)
		for _, list := range [][]string{d.Paths, d.Partly} {
			for i := range list {
				list[i] = r.logged(list[i])
			}
		}
		for i := range d.Conflicts {
			d.Conflicts[i].Path = r.logged(d.Conflicts[i].Path)
		}
		ev.Data = d
	}
	return ev
}

// edit returns what one call changed, with its paths.
func (r rebase) edit(e edit) edit {
	e.changes = slices.Clone(e.changes)
	for i := range e.changes {
		c := &e.changes[i]
		if c.Path = r(c.Path); c.MovedTo != "" {
			c.MovedTo = r(c.MovedTo)
		}
	}
	return e
}

package filelog

import (
	"path/filepath"
	"slices"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/changes"
)

// Rebase returns a path as it is written in another folder.
type Rebase func(path string) string

// SeenFrom returns how the paths of an agent, whose tools act in folder, are written in
// base, the folder of the session that shows them. It reports false if folder is not in
// base, so that base says nothing of its files.
func SeenFrom(base, folder string) (Rebase, bool) {
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

// logged is Rebase for a path as the log has it.
func (r Rebase) logged(path string) string {
	return changes.Quote(filepath.ToSlash(r(filepath.FromSlash(changes.Unquote(path)))))
}

// Event returns an event that says what was changed, with its paths.
func (r Rebase) Event(ev agent.Event) agent.Event {
	ev = Rewrite(ev, func(changed *agent.FilesChanged) *agent.FilesChanged {
		out := *changed
		out.Files = slices.Clone(out.Files)
		for i := range out.Files {
			out.Files[i].Path = r.logged(out.Files[i].Path)
		}
		return &out
	})
	if d, ok := ev.Data.(agent.FilesRestored); ok {
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

// Edits returns what was edited, with its paths.
func (r Rebase) Edits(edits []changes.Edit) []changes.Edit {
	edits = slices.Clone(edits)
	for i := range edits {
		c := &edits[i]
		if c.Path = r(c.Path); c.MovedTo != "" {
			c.MovedTo = r(c.MovedTo)
		}
	}
	return edits
}

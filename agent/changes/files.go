package changes

import (
	"context"
	"slices"

	"atelier.dev/atelier/agent/env"
)

// Files lists the files of the folder, by their paths in order, at most [MaxFiles].
// Files that ignore files name are left out, and git's own. It reports whether there
// are more.
func (f *Folder) Files(ctx context.Context) (paths []string, more bool, err error) {
	hits, err := f.env.Glob(ctx, env.GlobQuery{Pattern: "**", Limit: MaxFiles})
	if err != nil {
		return nil, false, f.unreadable(".", err)
	}
	for _, name := range hits.Lines {
		paths = append(paths, Quote(name))
	}
	slices.Sort(paths)
	return paths, hits.More || hits.TimedOut, nil
}

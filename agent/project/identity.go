package project

import (
	"context"
	"path/filepath"
	"strings"

	"atelier.dev/atelier/agent/sandbox"
)

// Identity is what remains of a folder when it is moved.
type Identity struct {
	// Root is the first commit of its repository, and the folder's path in it; empty
	// outside a repository and in one without commits.
	Root string `json:"root,omitempty"`
	// Marker names the folder on its disk: the disk, the folder's number there and
	// the moment when it was made, because numbers are used again. It is empty where the
	// system does not tell them.
	Marker string `json:"marker,omitempty"`
}

// Identify looks at a folder. It writes nothing into it, and runs none of a
// repository's programs.
func Identify(ctx context.Context, folder string) Identity {
	id := Identity{Marker: marker(folder)}
	root, _, ok := repository(folder)
	g := git{program: sandbox.LookPath("git"), folder: folder}
	if !ok || g.program == "" || !g.disarm(ctx) {
		return id
	}
	var commits strings.Builder
	if !g.run(ctx, func(s string) { commits.WriteString(s) }, "rev-list", "--first-parent", "--max-parents=0", "HEAD", "--") {
		return id
	}
	rel, err := filepath.Rel(root, folder)
	if commit := strings.TrimSpace(commits.String()); err == nil && commit != "" && strings.Trim(commit, "0123456789abcdef") == "" {
		id.Root = commit + ":" + filepath.ToSlash(rel)
	}
	return id
}

// Is reports whether two identities are of the same project, and how that is known:
// by "marker" or by "root". A copy has the same root, too.
func (id Identity) Is(other Identity) (by string, same bool) {
	switch {
	case id.Marker != "" && id.Marker == other.Marker:
		return "marker", true
	case id.Root != "" && id.Root == other.Root:
		return "root", true
	}
	return "", false
}

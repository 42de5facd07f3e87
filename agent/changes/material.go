package changes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/internal/text"
)

// maxNamed limits how many files Material names.
const maxNamed = 100

// Material returns what a commit's message is to be written from: the last
// messages, the files, and the beginning of the diff, of what is staged or, if
// that is nothing, of all that is uncommitted. It has at most limit bytes, and
// nothing of files whose names mark secrets.
func (f *Folder) Material(ctx context.Context, limit int) (string, error) {
	r, err := f.open(ctx)
	if err != nil {
		return "", err
	}
	var l Listing
	if err := r.list(ctx, Query{Scope: ScopeUncommitted}, &l); err != nil {
		return "", err
	}
	staged := slices.ContainsFunc(l.Files, func(f File) bool { return f.Staged != StagedNone })
	var b strings.Builder
	if log, err := r.git(ctx, "log", "--no-show-signature", "--no-color", "--format=%s", "-n5"); err == nil {
		fmt.Fprintf(&b, "The last commits:\n%s\n", log)
	}
	b.WriteString("Files:\n")
	named := 0
	for _, file := range l.Files {
		if staged && file.Staged == StagedNone {
			continue
		}
		if named++; named > maxNamed {
			b.WriteString("and more\n")
			break
		}
		fmt.Fprintf(&b, "%s %s +%d -%d\n", file.State, file.Path, file.Added, file.Removed)
	}
	if named == 0 {
		return "", &Error{Kind: NothingStaged}
	}
	args := append(slices.Clone(large), drawn...)
	if args = append(args, "--unified=2"); staged {
		args = append(args, "--cached")
	} else {
		tree, _, err := r.against(ctx, Query{Scope: ScopeUncommitted})
		if err != nil {
			return "", err
		}
		args = append(args, tree)
	}
	diff, err := r.git(ctx, append(args, "--", ".")...)
	b.WriteString("\n" + withoutSecrets(text.Head(diff, limit)))
	return text.Head(b.String(), limit), err
}

// withoutSecrets removes the diffs of files whose names mark secrets.
func withoutSecrets(diff string) string {
	var b strings.Builder
	const begin = "diff --git "
	for i, section := range strings.Split("\n"+diff, "\n"+begin) {
		if i == 0 { // before the first file
			continue
		}
		header, _, _ := strings.Cut(section, "\n@@")
		if !slices.ContainsFunc(strings.FieldsFunc(header, func(r rune) bool { return r == '\n' || r == ' ' || r == '"' }), func(word string) bool {
			return sensitive.Secret("/" + word)
		}) {
			b.WriteString(begin + section + "\n")
		}
	}
	return b.String()
}

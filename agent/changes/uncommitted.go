package changes

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// The limits of counting the lines of untracked files: the bytes that are read, the
// files, and the time.
const (
	maxCounted  = 64 << 20
	maxMeasured = 50_000
	countTime   = 5 * time.Second
)

// list fills in what git knows.
func (r *repository) list(ctx context.Context, q Query, l *Listing) error {
	tree, base, err := r.against(ctx, q)
	if err != nil {
		return err
	}
	l.Branch, l.Base = r.branch(ctx), base
	if q.Scope == ScopeBranch {
		if l.Bases, err = r.branches(ctx); err != nil {
			return err
		}
	}
	t := &tally{repository: r, listing: l, at: map[string]int{}, began: time.Now()}
	if q.Scope != ScopeUncommitted {
		if err := t.compare(ctx, StagedNone, tree); err != nil {
			return err
		}
		return t.status(ctx)
	}
	if err := t.compare(ctx, StagedAll, "--cached", tree); err != nil {
		return err
	}
	l.Commit = Sums{len(l.Files) + l.More, l.Added, l.Removed}
	if err := t.compare(ctx, StagedNone); err != nil {
		return err
	}
	return t.status(ctx)
}

// tally adds up what git reports. At most [MaxFiles] files are kept.
type tally struct {
	*repository
	listing *Listing
	at      map[string]int // the place of each path in the listing
	counted int            // lines of --numstat, which come in the order of --raw
	read    int            // bytes of untracked files
	group   Staged         // of what is compared
	began   time.Time
}

// drawn are the arguments by which a repository cannot change a diff.
var drawn = []string{
	"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative", "--find-renames", "--ignore-submodules=dirty", "--submodule=short",
	"--src-prefix=a/", "--dst-prefix=b/",
}

// large switches off the comparison of very large files.
var large = []string{"-c", fmt.Sprintf("core.bigFileThreshold=%d", maxShownFile)}

// compare lists the differences between what the arguments name: a tree and the working
// tree, --cached a tree and the index, nothing the index and the working tree.
func (t *tally) compare(ctx context.Context, group Staged, between ...string) error {
	first := len(t.listing.Files)
	t.group, t.counted = group, first
	clear(t.at)
	args := append(append([]string{}, large...), drawn...)
	args = append(append(append(args, "--raw", "--numstat"), between...), "--", ".")
	feed := lineFeed{each: func(line string) { t.difference(ctx, line) }}
	result, err := t.run(ctx, t.programs, call{args: args, output: feed.write})
	if err == nil && result.ExitCode != 0 {
		err = refusal(result.Stderr)
	}
	t.unmerged(first)
	return err
}

// unmerged lists a file with conflicts once, among those that are not staged. Git lists
// it in both groups, and what is in the working tree beside the conflict.
func (t *tally) unmerged(first int) {
	l := t.listing
	isConflict := map[string]bool{}
	for _, f := range l.Files[first:] {
		isConflict[f.Path] = isConflict[f.Path] || f.State == Conflicted
	}
	kept := l.Files[:first]
	at := map[string]int{}
	for _, f := range l.Files[first:] {
		i, again := at[f.Path]
		switch {
		case isConflict[f.Path] && t.group == StagedAll:
		case again:
			kept[i].Added, kept[i].Removed = kept[i].Added+f.Added, kept[i].Removed+f.Removed
		default:
			if isConflict[f.Path] {
				f.State = Conflicted
			}
			at[f.Path] = len(kept)
			kept = append(kept, f)
		}
	}
	l.Files, t.at = kept, at
}

// difference takes a line of --raw or --numstat.
func (t *tally) difference(ctx context.Context, line string) {
	if raw, ok := parseRaw(line); ok {
		t.add(File{Path: t.shown(raw.path), From: t.shown(raw.from), State: stateOf(raw), Staged: t.group})
		return
	}
	added, removed, binary, ok := parseCounts(line)
	if !ok {
		return
	}
	t.listing.Added += added
	t.listing.Removed += removed
	if t.counted < len(t.listing.Files) {
		f := &t.listing.Files[t.counted]
		f.Added, f.Removed, f.Binary = added, removed, binary
		if binary { // git says so of files, too, that are too large for it
			info, err := t.lstat(ctx, Unquote(f.Path))
			f.Large = err == nil && info.Size() > maxShownFile
			f.Binary = !f.Large
		}
	}
	t.counted++
}

// add lists a file, or counts it.
func (t *tally) add(f File) {
	if len(t.listing.Files) >= MaxFiles {
		t.listing.More++
		return
	}
	t.listing.Files = append(t.listing.Files, f)
}

// shown returns a path of the repository as lists show it.
func (r *repository) shown(name string) string {
	if name == "" {
		return ""
	}
	if below, ok := strings.CutPrefix(name, r.prefix); ok {
		return Quote(below)
	}
	return Quote(strings.Repeat("../", strings.Count(r.prefix, "/")) + name)
}

// stateOf says what a line of --raw reports.
func stateOf(r rawLine) FileState {
	switch {
	case r.oldMode == modeSubmodule || r.newMode == modeSubmodule:
		return Submodule
	case r.letter == 'U':
		return Conflicted
	case r.letter == 'D':
		return Deleted
	case r.newMode == modeLink:
		return Link
	case r.letter == 'A':
		return Added
	case r.letter == 'R' || r.letter == 'C':
		return Renamed
	}
	return Modified
}

// status adds untracked files. The lines of at most maxMeasured are counted.
func (t *tally) status(ctx context.Context) error {
	var untracked []string
	feed := lineFeed{each: func(line string) {
		s, ok := parseStatus(line)
		switch {
		case !ok || s.kind != '?':
		case len(untracked) < maxMeasured:
			untracked = append(untracked, s.path)
		default:
			t.listing.More++
			t.listing.Uncounted = true
		}
	}}
	result, err := t.run(ctx, t.programs, call{output: feed.write, args: []string{
		"status", "--porcelain=v2", "--untracked-files=all", "--ignore-submodules=dirty", "--find-renames", "--", ".",
	}})
	if err == nil && result.ExitCode != 0 {
		err = refusal(result.Stderr)
	}
	if err != nil {
		return err
	}
	for _, name := range untracked {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		t.untracked(ctx, name)
	}
	return nil
}

// untracked lists a file that git does not know.
func (t *tally) untracked(ctx context.Context, name string) {
	f := File{Path: t.shown(name), State: Untracked, Staged: StagedNone}
	if strings.HasSuffix(name, "/") { // a repository of its own
		f.Path, f.State = t.shown(strings.TrimSuffix(name, "/")), Submodule
	} else {
		f = t.measure(ctx, f)
	}
	if _, ok := t.at[f.Path]; ok { // removed from the index alone
		return
	}
	t.listing.Added += f.Added
	t.listing.Uncounted = t.listing.Uncounted || f.Large
	t.add(f)
}

// measure counts the lines of an untracked file.
func (t *tally) measure(ctx context.Context, f File) File {
	name := Unquote(f.Path)
	info, err := t.lstat(ctx, name)
	switch {
	case err != nil:
		return f
	case info.Mode()&fs.ModeSymlink != 0:
		f.State, f.Added = Link, 1
		return f
	case !info.Mode().IsRegular():
		f.Binary = true
		return f
	case info.Size() > MaxDiff || t.read > maxCounted || time.Since(t.began) > t.counting:
		f.Large = true
		return f
	}
	data, err := t.env.ReadFile(ctx, name)
	if err != nil {
		return f
	}
	t.read += len(data)
	if f.Binary = isBinary(data); !f.Binary {
		f.Added = len(linesOf(string(data)))
	}
	return f
}

// lstat describes a name, without following a link if the environment can tell.
func (f *Folder) lstat(ctx context.Context, name string) (fs.FileInfo, error) {
	if f.tree != nil {
		return f.tree.Lstat(name)
	}
	info, err := f.env.Stat(ctx, name)
	return statInfo{name: path.Base(name), Info: info}, err
}

// isBinary reports whether content is not text, as git decides it.
func isBinary(data []byte) bool { return bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 }

// diff returns the change of one file.
func (r *repository) diff(ctx context.Context, q Query, name, from string, shape Shape) (Diff, error) {
	between, err := r.between(ctx, q)
	if err != nil {
		return Diff{}, err
	}
	d := Diff{Path: Quote(name)}
	if d.Seen, err = r.seen(ctx, name); err != nil {
		return d, err
	}
	if info, err := r.lstat(ctx, name); err == nil && info.Size() > maxShownFile { // git would read all of it
		d.Large = true
		return d, nil
	}
	names := []string{name}
	if from != "" {
		names = append(names, from)
	}
	args := append(append([]string{}, large...), drawn...)
	args = append(args, fmt.Sprintf("--unified=%d", shape.context()), "--inter-hunk-context=0")
	if shape.IgnoreSpace {
		args = append(args, "--ignore-all-space")
	}
	result, err := r.run(ctx, r.programs, call{args: slices.Concat(args, between, []string{"--"}, names)})
	switch {
	case err != nil:
		return d, err
	case result.ExitCode != 0:
		return d, refusal(result.Stderr)
	case result.Stdout == "" && !shape.IgnoreSpace:
		return r.plain(ctx, d, name)
	}
	d.Diff, d.Binary = hunksOf(result.Stdout)
	d.Mode = modeChange(result.Stdout)
	if d.Large = result.Dropped > 0 || strings.Count(d.Diff, "\n") > MaxDiffLines; !d.Large {
		d.Added, d.Removed = countOf(d.Diff)
		return d, nil
	}
	d.Diff = ""
	counts, err := r.git(ctx, slices.Concat(large, drawn, []string{"--numstat"}, between, []string{"--"}, names)...)
	for line := range strings.SplitSeq(counts, "\n") {
		if added, removed, _, ok := parseCounts(line); ok {
			d.Added, d.Removed = d.Added+added, d.Removed+removed
		}
	}
	return d, err
}

// plain returns the diff of a file that does not differ from the tree: one that
// git does not know, one that vanished, or none.
func (r *repository) plain(ctx context.Context, d Diff, name string) (Diff, error) {
	known, err := r.git(ctx, "ls-files", "--", name)
	if err != nil || d.Seen == absent {
		d.Vanished = d.Seen == absent
		return d, err
	}
	if known != "" {
		return d, nil
	}
	text, binary, large, err := r.contentOf(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		d.Vanished = true
		return d, nil
	}
	if err != nil {
		return d, r.unreadable(name, err)
	}
	d.Binary, d.Large = binary, large
	if !binary && !large {
		d.Diff = Unified("", text, 3)
		d.Added, d.Removed = countOf(d.Diff)
	}
	if d.Large = d.Large || len(d.Diff) > MaxDiff || d.Added > MaxDiffLines; d.Large {
		d.Diff = ""
	}
	return d, nil
}

// contentOf returns the text of a file, or the target of a link.
func (f *Folder) contentOf(ctx context.Context, name string) (text string, binary, large bool, err error) {
	info, err := f.lstat(ctx, name)
	switch {
	case err != nil:
		return "", false, false, err
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := f.target(name)
		return target, false, false, err
	case !info.Mode().IsRegular():
		return "", true, false, nil
	case info.Size() > MaxDiff:
		return "", false, true, nil
	}
	data, err := f.env.ReadFile(ctx, name)
	if isBinary(data) {
		return "", true, false, err
	}
	return string(data), false, len(data) > MaxDiff, err
}

func (s Shape) context() int {
	if s.Context <= 0 {
		return 3
	}
	return min(s.Context, MaxDiffLines)
}

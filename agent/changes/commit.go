package changes

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxMessage limits a commit's message, in characters. maxLine limits the
// command line that names the files of a commit, in bytes.
const (
	MaxMessage = 20_000
	maxLine    = 100 << 10
)

// Committed is a new commit.
type Committed struct {
	ID string // shortened
	// HooksSkipped names the hooks that git would have run. A hook is a program
	// that a repository brings along, so none is run.
	HooksSkipped []string
	// Unsigned says that git is configured to sign commits and that this one is
	// not signed, because that too would run a program.
	Unsigned bool
}

// forChange opens the repository for a change of its index or its branches.
func (f *Folder) forChange(ctx context.Context, shown []string) (*repository, []string, error) {
	if f.tree == nil {
		return nil, nil, &Error{Kind: ReadOnly}
	}
	names := make([]string, len(shown))
	for i, s := range shown {
		name, err := f.inside(s)
		if err != nil {
			return nil, nil, err
		}
		names[i] = name
	}
	r, err := f.open(ctx)
	return r, names, err
}

// Stage puts the present state of files into git's index.
func (f *Folder) Stage(ctx context.Context, paths []string) error {
	r, names, err := f.forChange(ctx, paths)
	if err != nil || len(names) == 0 {
		return err
	}
	if err := r.unfiltered(ctx, names); err != nil {
		return err
	}
	var inner []string // repositories within the repository
	for _, name := range names {
		info, err := r.tree.Lstat(name)
		if err != nil || !info.IsDir() {
			continue
		}
		if _, err := r.tree.Lstat(path.Join(name, ".git")); err != nil {
			return &Error{Kind: NotPossible, Path: Quote(name)} // it may contain some
		}
		inner = append(inner, name)
	}
	if err := r.record(ctx, inner); err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return slices.Contains(inner, name) })
	if len(names) == 0 {
		return nil
	}
	if err = r.list0(ctx, names, "add", "--all"); err != nil {
		return r.explained(ctx, names, err)
	}
	return nil
}

// explained returns the error of files that could not be staged. git fails if it
// knows nothing of a file that is gone.
func (r *repository) explained(ctx context.Context, names []string, err error) error {
	for _, name := range names[:min(len(names), maxExplained)] {
		if _, missing := r.tree.Lstat(name); !errors.Is(missing, fs.ErrNotExist) {
			continue
		}
		if known, failed := r.git(ctx, "ls-files", "--", name); failed == nil && known == "" {
			return &Error{Kind: Vanished, Path: Quote(name), Err: err}
		}
	}
	return err
}

// maxExplained limits how many files are asked about.
const maxExplained = 20

// record stages which commit is checked out in repositories within the
// repository. git add would also ask them what changed in them, and so run the
// filters that they configure.
func (r *repository) record(ctx context.Context, names []string) error {
	if len(names) == 0 {
		return nil
	}
	result, err := r.feed(ctx, r.programs, strings.Join(names, "\x00")+"\x00", "update-index", "--add", "-z", "--stdin")
	if err == nil && result.ExitCode != 0 {
		err = refusal(result.Stdout)
	}
	return err
}

// Unstage gives files in git's index the state of the last commit. The working
// tree stays as it is.
func (f *Folder) Unstage(ctx context.Context, paths []string) error {
	r, names, err := f.forChange(ctx, paths)
	if err != nil || len(names) == 0 {
		return err
	}
	return r.unstage(ctx, names)
}

func (r *repository) unstage(ctx context.Context, names []string) error {
	if r.head == "" {
		return r.list0(ctx, names, "rm", "--cached", "--quiet", "--ignore-unmatch", "-r")
	}
	return r.list0(ctx, names, "reset", "--quiet")
}

// list0 runs a command on files, which it reads from its input.
func (r *repository) list0(ctx context.Context, names []string, args ...string) error {
	result, err := r.feed(ctx, r.programs, strings.Join(names, "\x00")+"\x00",
		append(args, "--pathspec-from-file=-", "--pathspec-file-nul")...)
	if err == nil && result.ExitCode != 0 {
		err = refusal(result.Stdout)
	}
	return err
}

// Commit commits what is staged or, if paths are given, these files as they are
// now and nothing else. Hooks do not run.
func (f *Folder) Commit(ctx context.Context, message string, paths []string) (Committed, error) {
	message = strings.TrimSpace(message)
	if message == "" || utf8.RuneCountInString(message) > MaxMessage || strings.ContainsRune(message, 0) {
		return Committed{}, &Error{Kind: NoMessage, Path: "20,000"}
	}
	r, names, err := f.forChange(ctx, paths)
	if err != nil {
		return Committed{}, err
	}
	if err := r.ready(ctx, names); err != nil {
		return Committed{}, err
	}
	undo, err := r.announce(ctx, names)
	if err != nil {
		return Committed{}, err
	}
	if err := r.differ(ctx, names); err != nil {
		undo(context.WithoutCancel(ctx))
		return Committed{}, err
	}
	args := []string{"commit", "--quiet", "--no-gpg-sign", "--cleanup=whitespace", "--file=-"}
	if len(names) > 0 {
		args = append(append(args, "--only", "--"), names...)
	}
	result, err := r.feed(ctx, r.programs, message+"\n", args...)
	if err == nil && result.ExitCode != 0 {
		err = commitRefusal(result.Stdout)
	}
	if err != nil {
		undo(context.WithoutCancel(ctx))
		return Committed{}, err
	}
	c := Committed{HooksSkipped: r.hooks(ctx)}
	c.Unsigned = r.configuredAs(ctx, "commit.gpgSign") == "true"
	id, err := r.git(ctx, "rev-parse", "--short", "HEAD")
	c.ID = strings.TrimSpace(id)
	return c, err
}

// ready refuses a commit that git would refuse, or that would commit more than
// the folder shows.
func (r *repository) ready(ctx context.Context, names []string) error {
	unmerged, err := r.git(ctx, "ls-files", "--unmerged", "--full-name")
	if err != nil {
		return err
	}
	if line, _, _ := strings.Cut(unmerged, "\n"); line != "" {
		_, name, _ := strings.Cut(line, "\t")
		return &Error{Kind: Conflicts, Path: r.shown(Unquote(name))}
	}
	doing := r.progress(ctx)
	if len(names) > 0 {
		size := 0
		for _, name := range names {
			size += len(name) + 3
		}
		if size > maxLine {
			return &Error{Kind: TooLarge, Path: Quote(names[0])}
		}
		if doing != "" && doing != Bisecting {
			return &Error{Kind: InProgress, Path: string(doing)}
		}
		return r.unfiltered(ctx, names)
	}
	staged, err := r.git(ctx, "diff", "--cached", "--name-only", "--no-renames", "--no-ext-diff", "--no-textconv", "--no-relative", "--ignore-submodules=dirty")
	if err != nil {
		return err
	}
	if staged == "" && doing != Merging {
		return &Error{Kind: NothingStaged}
	}
	for line := range strings.Lines(staged) {
		if !strings.HasPrefix(Unquote(strings.TrimSuffix(line, "\n")), r.prefix) {
			return &Error{Kind: StagedOutside}
		}
	}
	return nil
}

// announce tells git about untracked files, which it would not commit
// otherwise, and returns how to take that back.
func (r *repository) announce(ctx context.Context, names []string) (undo func(context.Context), err error) {
	undo = func(context.Context) {}
	if len(names) == 0 {
		return undo, nil
	}
	list, err := r.git(ctx, append([]string{"ls-files", "--others", "--"}, names...)...)
	if err != nil {
		return undo, err
	}
	var unknown []string
	for line := range strings.Lines(list) {
		unknown = append(unknown, Unquote(strings.TrimSuffix(line, "\n")))
	}
	if len(unknown) == 0 {
		return undo, nil
	}
	return func(ctx context.Context) { _ = r.unstage(ctx, unknown) }, r.list0(ctx, unknown, "add", "--intent-to-add")
}

// differ refuses files that do not differ from the last commit. git would
// refuse them too, but show its status first, for which it asks submodules what
// changed in them.
func (r *repository) differ(ctx context.Context, names []string) error {
	if len(names) == 0 || r.head == "" {
		return nil
	}
	args := append(slices.Clone(drawn), "--quiet", r.head, "--")
	result, err := r.run(ctx, r.programs, call{args: append(args, names...)})
	if err == nil && result.ExitCode == 0 {
		err = &Error{Kind: NothingStaged}
	}
	return err
}

// commitRefusal explains why git did not commit.
func commitRefusal(said string) error {
	for _, known := range []struct {
		part string
		kind Refusal
	}{
		{"tell me who you are", NoIdentity}, {"empty ident name", NoIdentity}, {"auto-detect", NoIdentity},
		{"nothing to commit", NothingStaged}, {"nothing added to commit", NothingStaged}, {"no changes added", NothingStaged},
	} {
		if strings.Contains(said, known.part) {
			return &Error{Kind: known.kind, Detail: strings.TrimSpace(said)}
		}
	}
	return refusal(said)
}

// hooksOfCommit are the hooks that git runs around a commit.
var hooksOfCommit = []string{"pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "pre-merge-commit"}

// hooks names the hooks of a commit that the repository has.
func (r *repository) hooks(ctx context.Context) (names []string) {
	dir := r.configuredAs(ctx, hooksPath)
	if dir != "" && !path.IsAbs(dir) {
		dir = strings.Repeat("../", strings.Count(r.prefix, "/")) + dir
	} else if dir == "" {
		common, err := r.git(ctx, "rev-parse", "--git-common-dir")
		if err != nil {
			return nil
		}
		dir = path.Join(strings.TrimSpace(common), "hooks")
	}
	for _, name := range hooksOfCommit {
		info, err := r.env.Stat(ctx, path.Join(dir, name))
		if err == nil && info.Mode.IsRegular() && (info.Mode&0o111 != 0 || r.env.Platform() == "windows") {
			names = append(names, name)
		}
	}
	for _, name := range r.programs.Hooks[:min(len(r.programs.Hooks), maxHooks)] {
		events, err := r.git(ctx, "config", "--get-all", "hook."+name+".event")
		if err == nil && slices.ContainsFunc(strings.Fields(events), func(event string) bool { return slices.Contains(hooksOfCommit, event) }) {
			names = append(names, name)
		}
	}
	return names
}

// maxHooks limits how many configured hooks are asked about.
const maxHooks = 20

// configuredAs returns a setting as it would be without our own arguments.
func (r *repository) configuredAs(ctx context.Context, setting string) string {
	args := []string{"config", "--show-scope", "--get-all", setting}
	if setting == hooksPath {
		args = slices.Insert(args, 1, "--type=path")
	}
	list, err := r.git(ctx, args...)
	if err != nil {
		return ""
	}
	value := ""
	for line := range strings.Lines(list) {
		if scope, set, _ := strings.Cut(strings.TrimSpace(line), "\t"); scope != "command" {
			value = set
		}
	}
	return value
}

const hooksPath = "core.hooksPath"

// Branch makes a branch at HEAD and switches to it. The working tree and the
// index stay as they are.
func (f *Folder) Branch(ctx context.Context, name string) error {
	r, _, err := f.forChange(ctx, nil)
	if err != nil {
		return err
	}
	valid, err := r.run(ctx, r.programs, call{args: []string{"check-ref-format", "--branch", name}})
	if err != nil {
		return err
	}
	if valid.ExitCode != 0 || strings.TrimSuffix(valid.Stdout, "\n") != name {
		return &Error{Kind: BranchInvalid, Path: name}
	}
	if doing := r.progress(ctx); doing != "" && doing != Bisecting {
		return &Error{Kind: InProgress, Path: string(doing)}
	}
	if there, err := r.run(ctx, r.programs, call{args: []string{"show-ref", "--verify", "--quiet", "refs/heads/" + name}}); err != nil || there.ExitCode == 0 {
		if err == nil {
			err = &Error{Kind: BranchExists, Path: name}
		}
		return err
	}
	if r.head == "" {
		_, err = r.git(ctx, "symbolic-ref", "HEAD", "refs/heads/"+name)
	} else {
		_, err = r.git(ctx, "checkout", "--quiet", "--no-track", "-b", name)
	}
	return err
}

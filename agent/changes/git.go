package changes

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/internal/gitguard"
)

// repository is the repository that contains the folder.
type repository struct {
	*Folder
	prefix   string            // the folder below the repository's top; empty, or ending in a slash
	dir      string            // git's own folder, absolute
	programs gitguard.Programs // they do not run
	head     string            // the commit of HEAD; empty before the first commit
}

// maxShownFile is the size up to which git compares a file, in bytes.
const maxShownFile = 20 << 20

// configured are settings that a repository could use to run programs, or to
// change the form of the output.
var configured = []string{
	"-c", "safe.bareRepository=explicit", "-c", "core.quotePath=true", "-c", "diff.suppressBlankEmpty=false", "-c", "diff.orderFile=/dev/null",
	"-c", "diff.ignoreSubmodules=dirty", "-c", "log.showSignature=false", "-c", "core.editor=false",
	"-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "status.relativePaths=false",
	"-c", "rerere.enabled=false", // it runs merge drivers
	"-c", "gc.auto=0", "-c", "maintenance.auto=false", // a commit starts them, with programs of their own
	"-c", "submodule.recurse=false", "-c", "core.sshCommand=false", "-c", "core.askPass=false", "-c", "credential.helper=",
}

// unset removes variables that would lead git to another repository, which a
// program inherits if git started it.
const unset = "unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_OBJECT_DIRECTORY GIT_NAMESPACE GIT_EXTERNAL_DIFF GIT_DIFF_OPTS; "

// call is one run of git.
type call struct {
	args   []string
	output func(string) // receives the output as it comes; may be nil
}

// run runs git and returns its result, whatever its exit code.
func (f *Folder) run(ctx context.Context, programs gitguard.Programs, c call) (env.CommandResult, error) {
	command, err := f.command(programs, c.args)
	if err != nil {
		return env.CommandResult{}, err
	}
	command.Output = c.output
	r, err := f.env.Exec(ctx, command)
	return r, f.ended(ctx, r, err)
}

// feed is run for a command that reads its input. Its output and error are
// merged, and shortened if they are long.
func (f *Folder) feed(ctx context.Context, programs gitguard.Programs, input string, args ...string) (env.CommandResult, error) {
	command, err := f.command(programs, args)
	if err != nil {
		return env.CommandResult{}, err
	}
	command.Input = true
	p, err := f.env.Start(ctx, command)
	if err != nil {
		return env.CommandResult{}, &Error{Kind: Refused, Detail: err.Error(), Err: err}
	}
	defer p.Stop()
	failed := p.Write(input + "\x04")
	r, err := p.Wait(ctx)
	if err != nil {
		return r, context.Cause(ctx)
	}
	if r.Stdout = p.Read(); failed != nil && r.ExitCode == 0 {
		return r, &Error{Kind: Refused, Detail: failed.Error(), Err: failed}
	}
	return r, f.ended(ctx, r, nil)
}

// command returns the command line of git with its guards.
func (f *Folder) command(programs gitguard.Programs, args []string) (env.Command, error) {
	line, err := quoted(f.env.Platform(), slices.Concat(
		[]string{"git"}, gitguard.Arguments(), []string{"--literal-pathspecs"}, configured, programs.Off(), args))
	return env.Command{Line: line, Env: gitguard.Variables()}, err
}

// ended returns the error of a git that did not come to its own end.
func (f *Folder) ended(ctx context.Context, r env.CommandResult, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return &Error{Kind: Refused, Detail: err.Error(), Err: err}
	case r.ExitCode == 127 || r.ExitCode == 9009: // bash and cmd.exe: there is no such program
		return &Error{Kind: NoGit}
	}
	return nil
}

// quoted returns a line for bash, or for cmd.exe, that runs words.
func quoted(platform string, words []string) (string, error) {
	line := make([]string, len(words))
	for i, word := range words {
		if platform == "windows" {
			if strings.ContainsAny(word, "\"%\r\n") {
				return "", &Error{Kind: Refused, Detail: fmt.Sprintf("cmd.exe cannot be given %q", word)}
			}
			line[i] = `"` + word + `"`
			continue
		}
		line[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	if platform == "windows" {
		return strings.Join(line, " "), nil
	}
	return unset + strings.Join(line, " "), nil
}

// git runs git and returns its output; any exit code but 0 is an error.
func (r *repository) git(ctx context.Context, args ...string) (string, error) {
	result, err := r.run(ctx, r.programs, call{args: args})
	if err == nil && result.ExitCode != 0 {
		err = refusal(result.Stderr)
	}
	return result.Stdout, err
}

// refusal returns the error of a git that failed.
func refusal(stderr string) error {
	kind := Refused
	if strings.Contains(stderr, "index.lock") || strings.Contains(stderr, "cannot lock ref") {
		kind = Locked
	}
	return &Error{Kind: kind, Detail: strings.TrimSpace(stderr)}
}

// open finds the repository and its programs.
func (f *Folder) open(ctx context.Context) (*repository, error) {
	found, err := f.run(ctx, gitguard.Programs{}, call{args: []string{"rev-parse", "--is-inside-work-tree", "--show-prefix", "--absolute-git-dir"}})
	if err != nil {
		return nil, err
	}
	lines := strings.Split(found.Stdout, "\n")
	switch {
	case strings.Contains(found.Stderr, "not a git repository (or any "), strings.Contains(found.Stderr, "use bare repository"):
		return nil, &Error{Kind: NoRepository}
	case found.ExitCode != 0 || len(lines) < 3:
		return nil, refusal(found.Stderr)
	case lines[0] != "true": // in .git itself, or in a bare repository
		return nil, &Error{Kind: NoRepository}
	}
	r := &repository{Folder: f, prefix: lines[1], dir: strings.Join(lines[2:len(lines)-1], "\n")}
	list, err := f.run(ctx, gitguard.Programs{}, call{args: gitguard.ListPrograms()})
	if err != nil {
		return nil, err
	}
	var ok bool
	if r.programs, ok = gitguard.Find(list.Stdout); !ok || list.ExitCode != 0 || list.Dropped > 0 {
		return nil, &Error{Kind: Refused, Detail: "git does not list the repository's filters and hooks, which could run programs. " + strings.TrimSpace(list.Stderr)}
	}
	head, err := r.run(ctx, r.programs, call{args: []string{"rev-parse", "--verify", "--quiet", "HEAD^{commit}"}})
	if err != nil {
		return nil, err
	}
	r.head = strings.TrimSpace(head.Stdout)
	return r, nil
}

// operations are the files in git's folder that tell which operation git is in
// the middle of.
var operations = []struct {
	file string
	is   GitOperation
}{
	{"rebase-merge", Rebasing}, {"rebase-apply/applying", Applying}, {"rebase-apply", Rebasing}, {"MERGE_HEAD", Merging},
	{"CHERRY_PICK_HEAD", CherryPicking}, {"REVERT_HEAD", Reverting}, {"BISECT_LOG", Bisecting},
}

// progress returns the operation that waits to be finished; empty if there is
// none.
func (r *repository) progress(ctx context.Context) GitOperation {
	for _, o := range operations {
		if _, err := r.env.Stat(ctx, path.Join(r.dir, o.file)); err == nil {
			return o.is
		} else if !errors.Is(err, fs.ErrNotExist) {
			continue // it is unknown
		}
	}
	return ""
}

// branch returns the name of the branch; empty if HEAD is detached.
func (r *repository) branch(ctx context.Context) string {
	name, err := r.git(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(name)
}

// against returns the tree that the scope compares the working tree with.
func (r *repository) against(ctx context.Context, q Query) (tree, base string, err error) {
	if q.Scope == ScopeBranch {
		if base = q.Base; base == "" {
			base = r.guessBase(ctx)
		}
		if tree, err = r.fork(ctx, base); tree != "" || err != nil {
			return tree, base, err
		}
	}
	if r.head != "" {
		return r.head, base, nil
	}
	tree, err = r.git(ctx, "hash-object", "-t", "tree", "--stdin") // the empty tree: its input is empty
	return strings.TrimSpace(tree), base, err
}

// between returns the arguments of git diff for what a query compares, as
// [tally.compare] takes them.
func (r *repository) between(ctx context.Context, q Query) ([]string, error) {
	if q.Scope == ScopeUncommitted && q.Staged == StagedNone {
		return nil, nil
	}
	tree, _, err := r.against(ctx, q)
	if q.Scope == ScopeUncommitted && q.Staged == StagedAll {
		return []string{"--cached", tree}, err
	}
	return []string{tree}, err
}

// fork returns the commit where the branch left its base; empty if it has no
// base or no commit of its own.
func (r *repository) fork(ctx context.Context, base string) (string, error) {
	if base == "" {
		return "", nil
	}
	commit, err := r.run(ctx, r.programs, call{args: []string{"rev-parse", "--verify", "--quiet", "--end-of-options", base + "^{commit}"}})
	if err != nil {
		return "", err
	}
	if commit.ExitCode != 0 {
		return "", &Error{Kind: BaseUnknown, Path: base}
	}
	if r.head == "" {
		return "", nil
	}
	found, err := r.run(ctx, r.programs, call{args: []string{"merge-base", "HEAD", strings.TrimSpace(commit.Stdout)}})
	if err != nil {
		return "", err
	}
	fork, _, _ := strings.Cut(strings.TrimSpace(found.Stdout), "\n")
	if found.ExitCode != 0 || fork == "" {
		return "", &Error{Kind: BaseUnrelated, Path: base}
	}
	return fork, nil
}

// guessBase returns the branch that HEAD's branch was probably made from: its
// upstream if that has another name, the default branch of the remote, main or
// master, else its upstream.
func (r *repository) guessBase(ctx context.Context) string {
	own := r.branch(ctx)
	upstream, err := r.git(ctx, "rev-parse", "--abbrev-ref", "--symbolic-full-name", "@{upstream}")
	if err != nil {
		upstream = ""
	}
	upstream = strings.TrimSpace(upstream)
	_, short, _ := strings.Cut(upstream, "/")
	guesses := []string{"origin/HEAD", "main", "master", "origin/main", "origin/master", upstream}
	if upstream != "" && short != own {
		guesses = append([]string{upstream}, guesses...)
	}
	for _, guess := range guesses {
		if guess == "" || guess == own {
			continue
		}
		name, err := r.git(ctx, "rev-parse", "--verify", "--quiet", "--abbrev-ref", "--end-of-options", guess)
		if name = strings.TrimSpace(strings.TrimPrefix(name, "--end-of-options\n")); err == nil && name != "" {
			return name
		}
	}
	return ""
}

// branches lists the names of branches, the newest first, at most
// [MaxBranches].
func (r *repository) branches(ctx context.Context) ([]string, error) {
	list, err := r.git(ctx, "for-each-ref", "--sort=-committerdate", "--format=%(refname:short)",
		fmt.Sprintf("--count=%d", MaxBranches), "refs/heads", "refs/remotes")
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(list, "\n"), func(name string) bool {
		return name == "" || strings.ContainsRune(name, '\uFFFD')
	}), nil
}

package repository

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/agent/sandbox"
)

// start is a branch that a line may make, and what it begins at; empty if git looks for a
// branch of the name among those of remotes.
type start struct{ branch, from string }

var (
	// namesBranch is an option of git switch, checkout and worktree add that a new branch
	// follows, alone or as the last of several letters.
	namesBranch = regexp.MustCompile(`^-[a-zA-Z]*[bBcC]$`)
	// branchName is what git for-each-ref takes for a name and not for a pattern.
	branchName = regexp.MustCompile(`^[\w][\w./+@-]*$`)
)

// unfollowing are the options with which git makes no branch that follows another one.
var unfollowing = strings.Fields("-d -D --delete --detach --no-track --no-guess --orphan -p --patch --")

// startOf returns the branch that a git command makes. It reports false if it makes none.
func startOf(verb string, args []string) (start, bool) {
	var words []string
	named := ""
	for i := 0; i < len(args); i++ {
		switch arg := args[i]; {
		case slices.Contains(unfollowing, arg):
			return start{}, false
		case verb != "branch" && namesBranch.MatchString(arg) && i+1 < len(args):
			i++
			named = args[i]
		case !strings.HasPrefix(arg, "-"):
			words = append(words, arg)
		}
	}
	made := start{branch: named}
	switch {
	case verb == "branch" && len(words) == 1:
		made = start{words[0], "HEAD"}
	case verb == "branch" && len(words) == 2:
		made = start{words[0], words[1]}
	case verb == "worktree" && named != "" && len(words) == 3 && words[0] == "add":
		made.from = words[2]
	case (verb == "switch" || verb == "checkout") && named != "" && len(words) == 0:
		made.from = "HEAD"
	case (verb == "switch" || verb == "checkout") && named != "" && len(words) == 1:
		made.from = words[0]
	case (verb == "switch" || verb == "checkout") && named == "" && len(words) == 1:
		made.branch = words[0]
	default:
		return start{}, false
	}
	made.from = strings.TrimPrefix(strings.TrimPrefix(made.from, "refs/"), "remotes/")
	return made, branchName.MatchString(made.branch) && (made.from == "" || branchName.MatchString(made.from))
}

// deleted returns the branches that git branch deletes.
func deleted(args []string) []string {
	if !slices.ContainsFunc(args, func(arg string) bool { return slices.Contains([]string{"-d", "-D", "--delete"}, arg) }) {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(args), func(arg string) bool { return !branchName.MatchString(arg) })
}

// renames reports whether arguments of git branch change the settings of a branch, which
// would be half done where the configuration is read-only.
func renames(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return slices.Contains(strings.Fields("-m -M --move -c -C --copy -u --set-upstream-to --unset-upstream --edit-description -t --track"), name)
	})
}

// mostBranches limits how many branches of a line are looked at.
const mostBranches = 50

// refs returns the names of the branches that a line may make or delete, and of those at
// remotes that they may follow.
func (r Repository) refs(ctx context.Context, line Line) (map[string]bool, error) {
	args := []string{"for-each-ref", "--format=%(refname)"}
	for _, s := range line.starts[:min(len(line.starts), mostBranches)] {
		args = append(args, "refs/heads/"+s.branch, "refs/remotes/*/"+s.branch)
		if s.from != "" {
			args = append(args, "refs/remotes/"+s.from)
		}
	}
	for _, branch := range line.deleted[:min(len(line.deleted), mostBranches)] {
		args = append(args, "refs/heads/"+branch)
	}
	found := map[string]bool{}
	if len(args) == 2 || line.branches {
		return found, nil
	}
	out, err := r.git(ctx, args...)
	for name := range strings.FieldsSeq(out) {
		found[name] = true
	}
	return found, err
}

// settle does what a line could not do because the configuration is read-only meanwhile:
// a new branch follows the one at a remote that it begins at, and the settings of a
// deleted branch go.
func (w *Watch) settle(ctx context.Context, say func(string, error)) {
	r, line := w.repository, w.line
	if line.branches || len(line.starts)+len(line.deleted) == 0 {
		return
	}
	now, err := r.refs(ctx, line)
	if err != nil {
		return // the line itself has said what is wrong with the repository
	}
	seen := map[string]bool{}
	for _, s := range line.starts {
		if seen[s.branch] { // what is first makes it
			continue
		}
		seen[s.branch] = true
		local := "refs/heads/" + s.branch
		from := s.followed(now)
		if w.refs[local] || !now[local] || from == "" {
			continue
		}
		_, at, _ := strings.Cut(from, "/")
		auto, _ := r.git(ctx, "config", "--get", "branch.autoSetupMerge")
		if auto = strings.ToLower(strings.TrimSpace(auto)); auto == "false" || auto == "simple" && at != s.branch {
			continue
		}
		_, err := r.git(ctx, "branch", "--quiet", "--set-upstream-to="+from, s.branch)
		say("The new branch "+s.branch+" was set to follow "+from, err)
	}
	for _, branch := range line.deleted {
		if local := "refs/heads/" + branch; w.refs[local] && !now[local] {
			_, _ = r.git(ctx, "config", "--remove-section", "branch."+branch) // it may have none
		}
	}
}

// followed returns the branch at a remote that a new branch begins at; empty if there is
// none, or more than one.
func (s start) followed(refs map[string]bool) (found string) {
	const remotes = "refs/remotes/"
	if s.from != "" {
		if refs[remotes+s.from] {
			return s.from
		}
		return ""
	}
	for name := range refs {
		if short, ok := strings.CutPrefix(name, remotes); ok {
			if _, branch, _ := strings.Cut(short, "/"); branch != s.branch {
				continue
			}
			if found != "" {
				return ""
			}
			found = short
		}
	}
	return found
}

// git runs a git command outside of the confinement, without anything that the repository
// could have it run.
func (r Repository) git(ctx context.Context, args ...string) (string, error) {
	end, err := sandbox.Run(ctx, sandbox.Spec{
		Argv: append([]string{
			"git", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "--git-dir=" + r.dir, "--work-tree=" + r.tree,
		}, args...),
		Dir: r.tree, Timeout: patience, Whole: true, Env: append(sandbox.Filter{}.Apply(sandbox.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"),
	})
	if err == nil && end.ExitCode != 0 {
		err = fmt.Errorf("git %s: exit code %d: %s", args[0], end.ExitCode, strings.TrimSpace(end.Stderr))
	}
	return end.Stdout, err
}

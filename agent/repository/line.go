package repository

import (
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"atelier.dev/atelier/agent/command"
)

// Line is what is known of a line of git commands.
type Line struct {
	// branches says that it changes nothing but names of branches. Git then writes its
	// configuration and runs no hook that matters.
	branches bool
	// cleans says that it makes no file in the working tree.
	cleans bool
	// starts are the branches that it may make, and deleted those that it may delete.
	starts  []start
	deleted []string
	// unlinks says that it removes working trees and runs no hooks that matter.
	unlinks bool
	// dirs are the folders in which its git commands run that change a repository.
	dirs []string
}

// OnlyGit reports whether every program of a bash command line is git, in a form that
// runs no other program of the line's choice, or one that only reads, and whether it may
// change the repository. At is where the line begins.
func OnlyGit(text string, at command.Place) (line Line, ok bool) {
	steps, ok := gitSteps(text, at)
	if !ok {
		return Line{}, false
	}
	line, changes, renamed, hooked := Line{branches: true, cleans: true}, false, false, false
	for _, s := range steps {
		before, verb, args := splitGit(s.Args)
		if s.Program() != "git" || len(s.Effects) == 0 && verb != "clean" { // clean -n counts what stands for files as files
			continue
		}
		line.branches = line.branches && verb == "branch"
		line.cleans = line.cleans && (verb == "clean" || verb == "stash" && stashesNew(args))
		if made, ok := startOf(verb, args); ok {
			line.starts = append(line.starts, made)
		}
		unlinks := verb == "worktree" && slices.Contains([]string{"remove", "prune"}, firstWord(args))
		line.unlinks = line.unlinks || unlinks
		hooked = hooked || !unlinks && verb != "branch" && verb != "tag" && verb != "stash"
		if verb == "branch" {
			line.deleted = append(line.deleted, deleted(args)...)
			renamed = renamed || renames(args)
		}
		changes = true
		for _, dir := range s.Dirs {
			for i, arg := range before {
				if arg == "-C" && i+1 < len(before) {
					dir = absolute(dir, before[i+1])
				}
			}
			line.dirs = append(line.dirs, dir)
		}
	}
	// What would be half done is not begun.
	return line, changes && (line.branches || !renamed) && !(line.unlinks && hooked)
}

// OnlyInit reports whether a line is git init alone, for the folder in which it runs and
// without another place or template.
func OnlyInit(text string, at command.Place) bool {
	if len(text) > maxLine || !strings.Contains(text, "init") || !plainVariables(text) {
		return false
	}
	steps, _ := command.Trace(text, at)
	if len(steps) != 1 || strings.Contains(text, "$") || steps[0].Unread != "" || steps[0].Name != "git" || !steps[0].Known || steps[0].Own || len(steps[0].Scripts) > 0 {
		return false
	}
	before, verb, args := splitGit(steps[0].Args)
	for i := 0; i < len(args); i++ {
		switch name, _, _ := strings.Cut(args[i], "="); {
		case name == "-b":
			i++
		case !slices.Contains([]string{"-q", "--quiet", "--initial-branch", "."}, name):
			return false
		}
	}
	return verb == "init" && len(before) == 0
}

func firstWord(args []string) string {
	for _, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			return arg
		}
	}
	return ""
}

// stashesNew reports whether the arguments of git stash take files away that git does
// not know.
func stashesNew(args []string) bool {
	return (len(args) == 0 || args[0] == "push" || args[0] == "save" || strings.HasPrefix(args[0], "-")) && slices.ContainsFunc(args, func(arg string) bool {
		return slices.Contains([]string{"-u", "-a", "--all", "--include-untracked"}, arg)
	})
}

// maxLine limits the length of a line that is looked at, in bytes.
const maxLine = 16 << 10

func gitSteps(line string, at command.Place) ([]command.Step, bool) {
	if len(line) > maxLine || !strings.Contains(line, "git") || !plainVariables(line) {
		return nil, false
	}
	steps, _ := command.Trace(line, at)
	for _, s := range steps {
		if !isGit(s) && !isAllowed(s) {
			return nil, false
		}
	}
	return steps, true
}

// plainVariables reports whether a line sets no variable that programs take settings
// from, and defines no function.
func plainVariables(line string) bool {
	file, err := syntax.NewParser().Parse(strings.NewReader(line), "")
	if err != nil {
		return false
	}
	plain := true
	syntax.Walk(file, func(node syntax.Node) bool {
		switch n := node.(type) {
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.CoprocClause:
			plain = false
		case *syntax.CallExpr:
			plain = plain && (len(n.Assigns) == 0 || len(n.Args) == 0)
		case *syntax.Assign:
			plain = plain && n.Name != nil && n.Name.Value == strings.ToLower(n.Name.Value)
		}
		return plain
	})
	return plain
}

// others are the programs that a line of git commands may also have: they run nothing,
// and it is known what they write.
var others = strings.Fields(`
	cd pwd echo printf true false : test [ [[ head tail wc sort uniq grep cut tr cat ls date basename dirname sleep touch mkdir rm rmdir`)

func isAllowed(s command.Step) bool {
	if s.Name != "" && (!s.Known || s.Own || !slices.Contains(others, s.Name)) {
		return false
	}
	return len(s.Scripts)+len(s.Vague) == 0 && s.Unread == "" && !writesRepository(s)
}

// writesRepository reports whether a step itself writes where a repository is kept.
func writesRepository(s command.Step) bool {
	return slices.ContainsFunc(s.Writes, func(path string) bool {
		return slices.ContainsFunc(strings.Split(path, string(filepath.Separator)), func(name string) bool { return strings.EqualFold(name, ".git") })
	})
}

// verbs are the git commands that may change a repository and take no program to run.
var verbs = strings.Fields(`
	add am apply bisect branch checkout cherry-pick clean commit fetch gc merge mv notes prune pull push rebase reset restore revert rm stash switch
	tag update-index update-ref write-tree commit-tree read-tree hash-object worktree reflog repack pack-refs symbolic-ref
	status diff log show describe rev-parse rev-list ls-files ls-tree cat-file blame shortlog for-each-ref grep name-rev count-objects fsck whatchanged cherry
	range-diff merge-base merge-tree show-ref show-branch diff-tree diff-index diff-files check-ignore version`)

// running are options with which git runs a program or writes a file that the line names.
var running = strings.Fields(`
	--exec --output --output-directory --upload-pack --receive-pack --exec-path --ext-diff --textconv --template --separate-git-dir --open-files-in-pager
	--git-dir --work-tree --config-env --namespace --unsafe-paths --directory --trailer --edit-todo --track --set-upstream --super-prefix`)

// messages are the git commands whose option -m is followed by a message, which may be
// any text. Of others it is an option of its own.
var messages = []string{"commit", "merge", "notes", "stash", "tag"}

func isGit(s command.Step) bool {
	if s.Name != "git" || !s.Known || len(s.Scripts) > 0 || s.Unread != "" || writesRepository(s) {
		return false
	}
	before, verb, args := splitGit(s.Args)
	if !slices.Contains(verbs, verb) || slices.ContainsFunc(before, func(arg string) bool {
		return strings.HasPrefix(arg, "-") && !slices.Contains([]string{"-C", "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs"}, arg)
	}) {
		return false
	}
	message := false // the next argument is one
	for _, arg := range args {
		if arg == "--" {
			break
		}
		name, _, _ := strings.Cut(arg, "=")
		switch {
		case message:
		case strings.HasPrefix(arg, "$"), strings.HasPrefix(arg, "`"):
			return false
		case strings.HasPrefix(arg, "--") && slices.ContainsFunc(running, func(long string) bool { return strings.HasPrefix(long, name) }):
			return false // git takes the beginning of an option for all of it
		case verb == "rebase" && strings.HasPrefix(arg, "-x"), verb == "grep" && strings.HasPrefix(arg, "-O"):
			return false
		case (verb == "switch" || verb == "checkout" || verb == "worktree") && (arg == "-t"):
			return false // it would write the configuration, and be half done without
		}
		message = slices.Contains(messages, verb) && (arg == "--message" || strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.HasSuffix(arg, "m"))
	}
	return verb != "bisect" || !slices.Contains(args, "run")
}

// splitGit splits the arguments of git.
func splitGit(all []string) (before []string, verb string, args []string) {
	for i := 0; i < len(all); i++ {
		switch {
		case all[i] == "-C":
			i++
		case !strings.HasPrefix(all[i], "-"):
			return all[:i], all[i], all[i+1:]
		}
	}
	return all, "", nil
}

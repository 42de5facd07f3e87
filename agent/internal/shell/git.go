package shell

import (
	"slices"
	"strings"
)

// Options that several of git's commands share.
const (
	gitLimits = "after= all author= before= branches? committer= date-order exclude= first-parent fixed-strings grep= " +
		"left-right max-count= merges no-merges regexp-ignore-case remotes? reverse since= skip= tags? topo-order until="
	gitFormats = "abbrev? abbrev-commit color? date= decorate? decorate-refs= follow format= full-history graph no-abbrev-commit no-color " +
		"no-decorate oneline pretty? boundary cherry-pick"
	gitDiffs = "binary check color? color-words? compact-summary diff-algorithm= diff-filter= dirstat? exit-code find-copies? " +
		"find-renames? full-index function-context histogram ignore-all-space ignore-blank-lines ignore-space-at-eol " +
		"ignore-space-change indent-heuristic inter-hunk-context= merge-base minimal name-only name-status no-color no-ext-diff no-patch " +
		"no-prefix no-renames no-textconv numstat patch patch-with-stat patience pickaxe-all quiet raw shortstat stat? summary text " +
		"unified= word-diff? ignore-submodules?"
)

// gitCommand describes the harmless use of one of git's commands.
type gitCommand struct {
	program
	// listing has options of which one makes the operands a selection. Without
	// such an option, operands would be created; nil if they never are.
	listing []string
	// words are the allowed first operands; nil allows any.
	words []string
}

// gitCommands leaves out commands that write, talk to a server, or run programs
// with some option.
var gitCommands = map[string]gitCommand{
	"status": {program: program{flags: "sbz", tails: "u", long: "short branch long porcelain? untracked-files? ignored? show-stash ahead-behind " +
		"no-ahead-behind null renames no-renames find-renames?"}},
	"log":  {program: program{flags: "pusbwziRm", values: "nSGL", tails: "UMC", count: true, long: gitLimits + " " + gitFormats + " " + gitDiffs}},
	"show": {program: program{flags: "pusbwzRm", values: "nSG", tails: "UMC", count: true, long: gitLimits + " " + gitFormats + " " + gitDiffs}},
	"diff": {program: program{flags: "pusbwzRaW", values: "SG", tails: "UMC", long: "cached staged " + gitDiffs}},
	"blame": {program: program{flags: "wsfenltcb", values: "L", tails: "MC",
		long: "abbrev= date= line-porcelain porcelain root show-email show-name show-number since="}},
	"branch": {
		program: program{flags: "arvi", long: "all color? column? contains? ignore-case list merged? no-abbrev no-color no-column no-contains? " +
			"no-merged? points-at= remotes show-current sort= verbose format="},
		listing: []string{"list", "contains", "no-contains", "merged", "no-merged", "points-at"},
	},
	"tag": {
		program: program{flags: "il", long: "contains? ignore-case list merged? no-contains? no-merged? points-at= sort="},
		listing: []string{"l", "list", "contains", "no-contains", "merged", "no-merged", "points-at"},
	},
	"rev-parse": {program: program{flags: "q", long: "abbrev-ref? absolute-git-dir all branches? git-common-dir git-dir is-bare-repository " +
		"is-inside-git-dir is-inside-work-tree quiet remotes? short? show-cdup show-prefix show-toplevel symbolic symbolic-full-name tags? verify"}},
	"rev-list": {program: program{values: "n", count: true, long: "abbrev-commit count objects? " + gitLimits}},
	"ls-files": {program: program{flags: "cdikmostuvz", long: "cached deleted directory error-unmatch exclude-standard full-name ignored " +
		"killed modified others stage unmerged"}},
	"ls-tree":  {program: program{flags: "dlrtz", long: "abbrev? full-name full-tree long name-only name-status"}},
	"cat-file": {program: program{flags: "epst"}},
	"describe": {program: program{long: "abbrev= all always candidates= contains dirty? exact-match exclude= first-parent long match= tags"}},
	"shortlog": {program: program{flags: "cens", long: "committer email numbered summary " + gitLimits}},
	"grep": {program: program{flags: "aEFGhHIilnPvwcoLWpqz", values: "ABCem", operands: pattern, long: "all-match and break cached color? count " +
		"extended-regexp files-with-matches files-without-match fixed-strings function-context heading ignore-case invert-match line-number " +
		"max-depth= name-only no-color only-matching perl-regexp quiet show-function word-regexp"}},
	"remote": {program: program{flags: "v", long: "verbose"}, words: []string{"get-url"}},
	"stash": {program: program{flags: "pu", long: "patch stat shortstat numstat name-only name-status include-untracked no-color color?"},
		words: []string{"list", "show"}},
	"worktree":      {program: program{long: "porcelain"}, words: []string{"list"}},
	"reflog":        {program: program{values: "n", count: true, operands: none}},
	"merge-base":    {program: program{flags: "a", long: "all is-ancestor octopus independent"}},
	"symbolic-ref":  {program: program{flags: "q", long: "quiet short", most: 1}},
	"show-ref":      {program: program{flags: "dhqs", long: "dereference heads branches tags verify quiet hash? abbrev?"}},
	"for-each-ref":  {program: program{long: "format= sort= count= points-at= contains? no-contains? merged? no-merged?", operands: texts}},
	"name-rev":      {program: program{long: "always name-only refs= tags"}},
	"count-objects": {program: program{flags: "vH", long: "verbose human-readable", operands: none}},
	"check-ignore":  {program: program{flags: "vqn", long: "verbose quiet non-matching no-index", operands: texts}},
	"cherry":        {program: program{flags: "v", long: "abbrev? verbose"}},
	"diff-tree":     {program: program{flags: "rt", long: "name-only name-status no-commit-id no-renames root stat numstat shortstat"}},
	"version":       {program: program{operands: none}},
	"--version":     {program: program{operands: none}},
}

// judgeGit accepts git's own commands, which no alias can replace. A word that
// is not an option may be a revision or a file, and counts as a file.
func judgeGit(words []word) (command, bool) {
	read := command{program: "git"}
	for len(words) > 0 && strings.HasPrefix(words[0].text, "-") {
		switch {
		case words[0].text == "--no-pager" || words[0].text == "--no-optional-locks":
			words = words[1:]
			continue
		case words[0].text == "-C" && len(words) > 1 && read.dir == "" && isPath(words[1].text) && !strings.HasPrefix(words[1].text, "-"):
			if words[1].pattern != "" {
				return read, false
			}
			read.dir, words = words[1].text, words[2:]
			continue
		}
		break
	}
	if len(words) == 0 || slices.ContainsFunc(words, func(w word) bool { return w.pattern != "" }) {
		return read, false
	}
	if words[0].text == "config" {
		asked := words[len(words)-1].text
		read.remotes = strings.HasPrefix(asked, "remote.") || strings.HasPrefix(asked, "branch.")
		return read, asksSetting(words[1:])
	}
	g, ok := gitCommands[words[0].text]
	if !ok {
		return read, false
	}
	c, ok := g.parse(words[1:])
	if !ok || !g.collect(c, &read) || c.has("help", "version") {
		return read, false
	}
	for _, o := range c.options {
		if runsGPG(o.value) || o.name == "ignore-submodules" && o.value != "" && o.value != "all" { // else git runs in them
			return read, false
		}
	}
	for _, value := range c.late {
		if !isPath(value) {
			return read, false
		}
		read.paths = append(read.paths, value)
	}
	if !printed(words[0].text, c, &read) {
		return read, false
	}
	read.remotes = words[0].text == "remote" && (len(c.operands) > 0 || len(c.options) > 0)
	switch {
	case g.listing != nil && len(c.operands) > 0:
		return read, c.has(g.listing...)
	case g.words != nil && len(c.operands) > 0:
		return read, slices.Contains(g.words, c.operands[0].text)
	case g.words != nil:
		return read, words[0].text == "remote" // the others do something else then
	case words[0].text == "ls-files" && !slices.ContainsFunc(c.operands, elsewhere) && !c.has("s", "stage", "t", "u", "unmerged", "v", "error-unmatch"):
		read.lists = nameList{trees: []string{"."}, zero: c.has("z"), bare: true, index: true}
	}
	return read, true
}

// elsewhere reports whether a pattern may choose names outside the folder in
// which git runs.
func elsewhere(pattern word) bool {
	return strings.HasPrefix(pattern.text, ":") || strings.HasPrefix(pattern.text, "/")
}

// asksSetting accepts questions for settings that hold no secret. With a second
// operand, a setting would be changed.
func asksSetting(words []word) bool {
	for len(words) > 0 && slices.Contains([]string{"--get", "--get-all", "--global", "--local", "get"}, words[0].text) {
		words = words[1:]
	}
	return len(words) == 1 && toldSettings().MatchString(words[0].text)
}

var toldSettings = lazily(`^(?i:user\.(name|email)|core\.[a-z]+|init\.[a-z]+|pull\.[a-z]+|push\.[a-z]+|merge\.[a-z]+|rebase\.[a-z]+|commit\.[a-z]+|color\.[a-z]+|branch\.[A-Za-z0-9_/-]+\.(remote|merge|rebase)|remote\.[A-Za-z0-9_/-]+\.url)$`)

// runsGPG reports whether a format checks signatures, for which git runs a
// program that the configuration names.
func runsGPG(format string) bool {
	return strings.Contains(format, "%G") || strings.Contains(format, "signature")
}

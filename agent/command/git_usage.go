package command

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

// gitUsage describes the harmless use of one of git's commands.
type gitUsage struct {
	usage
	// listing has options of which one makes the operands a selection. Without
	// such an option, operands would be created; nil if they never are.
	listing []string
	// words are the allowed first operands; nil allows any.
	words []string
}

// gitUsages leaves out commands that write, talk to a server, or run programs
// with some option.
var gitUsages = map[string]gitUsage{
	"status": {usage: usage{flags: "sbz", tails: "u", long: "short branch long porcelain? untracked-files? ignored? show-stash ahead-behind " +
		"no-ahead-behind null renames no-renames find-renames?"}},
	"log":  {usage: usage{flags: "pusbwziRm", values: "nSGL", tails: "UMC", count: true, long: gitLimits + " " + gitFormats + " " + gitDiffs}},
	"show": {usage: usage{flags: "pusbwzRm", values: "nSG", tails: "UMC", count: true, long: gitLimits + " " + gitFormats + " " + gitDiffs}},
	"diff": {usage: usage{flags: "pusbwzRaW", values: "SG", tails: "UMC", long: "cached staged " + gitDiffs}},
	"blame": {usage: usage{flags: "wsfenltcb", values: "L", tails: "MC",
		long: "abbrev= date= line-porcelain porcelain root show-email show-name show-number since="}},
	"branch": {
		usage: usage{flags: "arvi", long: "all color? column? contains? ignore-case list merged? no-abbrev no-color no-column no-contains? " +
			"no-merged? points-at= remotes show-current sort= verbose format="},
		listing: []string{"list", "contains", "no-contains", "merged", "no-merged", "points-at"},
	},
	"tag": {
		usage:   usage{flags: "il", long: "contains? ignore-case list merged? no-contains? no-merged? points-at= sort="},
		listing: []string{"l", "list", "contains", "no-contains", "merged", "no-merged", "points-at"},
	},
	"rev-parse": {usage: usage{flags: "q", long: "abbrev-ref? absolute-git-dir all branches? git-common-dir git-dir is-bare-repository " +
		"is-inside-git-dir is-inside-work-tree quiet remotes? short? show-cdup show-prefix show-toplevel symbolic symbolic-full-name tags? verify"}},
	"rev-list": {usage: usage{values: "n", count: true, long: "abbrev-commit count objects? " + gitLimits}},
	"ls-files": {usage: usage{flags: "cdikmostuvz", long: "cached deleted directory error-unmatch exclude-standard full-name ignored " +
		"killed modified others stage unmerged"}},
	"ls-tree":  {usage: usage{flags: "dlrtz", long: "abbrev? full-name full-tree long name-only name-status"}},
	"cat-file": {usage: usage{flags: "epst"}},
	"describe": {usage: usage{long: "abbrev= all always candidates= contains dirty? exact-match exclude= first-parent long match= tags"}},
	"shortlog": {usage: usage{flags: "cens", long: "committer email numbered summary " + gitLimits}},
	"grep": {usage: usage{flags: "aEFGhHIilnPvwcoLWpqz", values: "ABCem", operands: takesPattern, long: "all-match and break cached color? count " +
		"extended-regexp files-with-matches files-without-match fixed-strings function-context heading ignore-case invert-match line-number " +
		"max-depth= name-only no-color only-matching perl-regexp quiet show-function word-regexp"}},
	"remote": {usage: usage{flags: "v", long: "verbose"}, words: []string{"get-url"}},
	"stash": {usage: usage{flags: "pu", long: "patch stat shortstat numstat name-only name-status include-untracked no-color color?"},
		words: []string{"list", "show"}},
	"worktree":      {usage: usage{long: "porcelain"}, words: []string{"list"}},
	"reflog":        {usage: usage{values: "n", count: true, operands: takesNone}},
	"merge-base":    {usage: usage{flags: "a", long: "all is-ancestor octopus independent"}},
	"symbolic-ref":  {usage: usage{flags: "q", long: "quiet short", most: 1}},
	"show-ref":      {usage: usage{flags: "dhqs", long: "dereference heads branches tags verify quiet hash? abbrev?"}},
	"for-each-ref":  {usage: usage{long: "format= sort= count= points-at= contains? no-contains? merged? no-merged?", operands: takesTexts}},
	"name-rev":      {usage: usage{long: "always name-only refs= tags"}},
	"count-objects": {usage: usage{flags: "vH", long: "verbose human-readable", operands: takesNone}},
	"check-ignore":  {usage: usage{flags: "vqn", long: "verbose quiet non-matching no-index", operands: takesTexts}},
	"cherry":        {usage: usage{flags: "v", long: "abbrev? verbose"}},
	"diff-tree":     {usage: usage{flags: "rt", long: "name-only name-status no-commit-id no-renames root stat numstat shortstat"}},
	"version":       {usage: usage{operands: takesNone}},
	"--version":     {usage: usage{operands: takesNone}},
}

// judgeGit accepts git's own commands, which no alias can replace. A word that
// is not an option may be a revision or a file, and counts as a file.
func judgeGit(words []word) (reading, bool) {
	read := reading{program: "git"}
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
	g, ok := gitUsages[words[0].text]
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

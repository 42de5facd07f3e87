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
	g := gitTable[words[0].text]
	if g.usage == nil {
		return read, false
	}
	c, ok := g.usage.parse(words[1:])
	if !ok || !g.usage.collect(c, &read) || c.has("help", "version") {
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
	case g.listing != "" && len(c.operands) > 0:
		return read, c.has(strings.Fields(g.listing)...)
	case g.words != "" && len(c.operands) > 0:
		return read, slices.Contains(strings.Fields(g.words), c.operands[0].text)
	case g.words != "":
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

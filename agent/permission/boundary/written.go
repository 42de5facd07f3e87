package boundary

import (
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
)

// runsWritten checks what a line runs or uses after it has written it. A script that the
// line changes is not the one that can be read now, and a link that it makes leads where no
// path says. Of what builds and tests
// run, only the text is known that the line has in it.
func (c *Checker) runsWritten(steps []command.Step) Verdict {
	if !c.restrictsPrograms() && !c.restrictsPaths() {
		return allowed
	}
	verdict := allowed
	var files, texts, links []string
	for _, s := range steps {
		for _, path := range slices.Concat(s.Reads, s.Writes) {
			if slices.ContainsFunc(links, func(link string) bool { return path != link && c.below(link, path) }) && c.restrictsPaths() {
				return denied("The command uses ", path, " through a link that it makes itself.")
			}
		}
		if s.Program() == "ln" {
			links = append(links, s.Writes...)
		}
		for _, script := range s.Scripts {
			if slices.ContainsFunc(files, func(file string) bool { return c.below(file, script) }) {
				return denied("The command runs the script ", script, ", which it writes itself.")
			}
		}
		runs := slices.ContainsFunc(s.Effects, func(e agent.Effect) bool { return e.ID == agent.EffectRunsProject })
		if entry := c.names(texts); entry != "" && runs && len(files) > 0 {
			verdict = Stricter(verdict, undecided("The command ", s.Program(), " may run ", entry, ", which is in deniedCommands."))
		}
		files, texts = append(files, s.Writes...), append(texts, s.Args...)
	}
	return verdict
}

// escapes are what printf makes blanks of, and what make takes from the beginning
// of a command.
var escapes = strings.NewReplacer(`\n`, " ", `\t`, " ", "@", " ", "\t-", " ")

// names returns the entry of deniedCommands that texts have as a word each of
// them, or none.
func (c *Checker) names(texts []string) string {
	var words []string
	for _, text := range texts {
		words = append(words, strings.FieldsFunc(escapes.Replace(text), func(r rune) bool { return strings.ContainsRune(" \t\n;|&()=!,:'\"`$\\", r) })...)
	}
	for _, entry := range c.settings.DeniedCommands {
		named := strings.Fields(entry)
		if len(named) == 0 {
			continue
		}
		at := slices.IndexFunc(words, func(word string) bool { return c.same(filepath.Base(word), filepath.Base(named[0])) })
		if at >= 0 && hasInOrder(words[at+1:], named[1:]) {
			return entry
		}
	}
	return ""
}

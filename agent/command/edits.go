package command

import (
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// edits looks at programs that change their files in place with an option.
func edits(w *walker, program string, args []value, s *scope) {
	if program == "sed" {
		args = withoutSuffix(args)
	}
	rest, options := operands(args, "efl")
	script := either(options["e"], options["expression"])
	if program == "sed" && !has(options, "e", "f", "expression", "file") && len(rest) > 0 {
		if rest[0].exact() && rest[0].text() == "" && has(options, "i") { // the empty suffix of macOS
			rest = rest[1:]
		}
		if len(rest) > 0 {
			script, rest = rest[0], rest[1:]
		}
	}
	inPlace := has(options, "i", "in-place", "w", "inplace")
	for _, file := range rest {
		if inPlace {
			w.writes(file, s)
		} else {
			w.reads(file, s)
		}
	}
	if program == "sed" && (sedDoesMore(script) || has(options, "f", "file")) {
		w.add(agent.EffectUnknown, strings.TrimSpace(program+" "+script.text()))
	}
	if inPlace && len(rest) == 0 {
		w.add(agent.EffectChanges)
	}
}

// withoutSuffix removes the suffix of -i, whose letters are not options.
func withoutSuffix(args []value) []value {
	args = slices.Clone(args)
	for i, arg := range args {
		text := arg.text()
		if text == "--" {
			break
		}
		if !arg.exact() || !arg.isOption() || strings.HasPrefix(text, "--") {
			continue
		}
		if at := strings.IndexAny(text, "efli"); at > 0 && text[at] == 'i' {
			args[i] = literal(text[:at+1])
		}
	}
	return args
}

// sedDoesMore reports whether a script of sed may do more than print lines, or is
// not understood. The values follow each other as lines.
func sedDoesMore(script value) bool {
	var lines []string
	for _, p := range script {
		if !p.exact || p.glob {
			return true
		}
		lines = append(lines, p.text)
	}
	return SedDoesMore(lines)
}

package skill

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Lines returns the command lines that are run before the skill is sent. Places of the skill
// stand in them as they are; its arguments do not: see [Script].
func (s Skill) Lines() []string {
	parts := segments(s.Body)
	fromZero := countsFromZero(parts)
	var lines []string
	for _, part := range parts {
		if part.kind != command || len(lines) == maxLines {
			continue
		}
		line := part.code
		if fromZero {
			line = countFromOne(line)
		}
		lines = append(lines, s.placed(line))
	}
	return lines
}

// countFromOne writes "$0" as a shell names the first argument.
func countFromOne(line string) string {
	var out strings.Builder
	for i := 0; i < len(line); {
		if n, length, ok := position(command, line, i); ok && (i == 0 || line[i-1] != '\\') {
			fmt.Fprintf(&out, "${%d}", n+1)
			i += length
			continue
		}
		out.WriteByte(line[i])
		i++
	}
	return out.String()
}

var plainPath = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\w./@+,:-]+$`) })

// placed writes the skill's folders into a line. A path that a shell would take apart becomes a
// variable. The session's folder is where the line runs.
func (s Skill) placed(line string) string {
	line = strings.NewReplacer("{baseDir}", "${CLAUDE_SKILL_DIR}", "${CLAUDE_PROJECT_DIR}", "${PWD}").Replace(line)
	var variables strings.Builder
	for _, p := range []place{{"CLAUDE_SKILL_DIR", s.folder()}, {"CLAUDE_PLUGIN_ROOT", s.above()}} {
		written := "${" + p.name + "}"
		switch {
		case p.value == "" || !strings.Contains(line, written):
		case plainPath().MatchString(p.value):
			line = strings.ReplaceAll(line, written, p.value)
		default:
			variables.WriteString(p.name + "=" + quote(p.value) + "\n")
		}
	}
	return variables.String() + line
}

// Script returns what a shell has to run for one of a skill's lines: the line, with the arguments
// as its positional parameters, in the variable ARGUMENTS and under their names. They are quoted
// and never part of the line's own text, so that nothing in them is run. A line that uses none of
// them stays as it is, so that permission rules can match it.
func Script(line, args string, names []string) string {
	if !usesArguments(line, names) {
		return line
	}
	line = indexed().ReplaceAllStringFunc(line, func(m string) string {
		n, _ := strconv.Atoi(indexed().FindStringSubmatch(m)[1])
		return "${" + strconv.Itoa(n+1) + "}"
	})
	words := splitWords(args)
	var out strings.Builder
	out.WriteString("set --")
	for _, word := range words {
		out.WriteString(" " + quote(word))
	}
	out.WriteString("; ARGUMENTS=" + quote(args))
	for i, name := range names {
		if !isVariable(name) {
			continue
		}
		value := ""
		if i < len(words) {
			value = words[i]
		}
		out.WriteString("; " + name + "=" + quote(value))
	}
	return out.String() + "\n" + line
}

var (
	indexed  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$ARGUMENTS\[(\d{1,2})\]`) })
	argument = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$(?:\{?(?:ARGUMENTS\b|\d)|[@*#]|\{[@*#])`) })
	variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{?([A-Za-z_]\w*)`) })
)

// usesArguments reports whether a command line uses arguments.
func usesArguments(line string, names []string) bool {
	if argument().MatchString(line) {
		return true
	}
	return slices.ContainsFunc(variable().FindAllStringSubmatch(line, -1), func(m []string) bool {
		return slices.Contains(names, m[1])
	})
}

// isVariable reports whether an argument may be a variable of a shell. Names in capitals are those
// of the environment, of which some change what programs run.
func isVariable(name string) bool {
	return isName(name) && strings.ToUpper(name) != name && !strings.HasSuffix(strings.ToLower(name), "_proxy")
}

// quote quotes a text for a shell.
func quote(s string) string {
	return "'" + strings.ReplaceAll(strings.ReplaceAll(s, "\x00", ""), "'", `'\''`) + "'"
}

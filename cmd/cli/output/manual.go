package output

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Described is one command, such as "sessions list".
type Described struct {
	Words []string
	Use   string // how it is written, with its arguments
	Flags *pflag.FlagSet
}

// CommandLine is a whole command line. Its texts come from the program's own help.
type CommandLine struct {
	Name     string
	Also     []string // other names of the program
	About    string
	Commands []Described
	Codes    [][2]string // exit codes, and what they mean
}

// Shells are the names that [CommandLine.Completion] knows.
var Shells = []string{"bash", "zsh", "fish"}

// Completion returns the script that completes the command line in a shell; empty for one that
// is not known.
func (l *CommandLine) Completion(shell string) string {
	switch shell {
	case "bash":
		return l.bash()
	case "zsh":
		return l.zsh()
	case "fish":
		return l.fish()
	}
	return ""
}

// next returns the words that can follow some, and whether some are a command.
func (l *CommandLine) next(words ...string) (next []string, command bool) {
	for _, c := range l.Commands {
		if len(c.Words) < len(words) || !slices.Equal(c.Words[:len(words)], words) {
			continue
		}
		if len(c.Words) == len(words) {
			command = true
		} else if word := c.Words[len(words)]; !slices.Contains(next, word) {
			next = append(next, word)
		}
	}
	return next, command
}

// groups are the beginnings of commands that other words follow.
func (l *CommandLine) groups() (groups [][]string) {
	groups = append(groups, nil)
	for _, c := range l.Commands {
		if len(c.Words) > 1 && !slices.ContainsFunc(groups, func(g []string) bool { return slices.Equal(g, c.Words[:1]) }) {
			groups = append(groups, c.Words[:1])
		}
	}
	return groups
}

func (c *Described) flags() (out []*pflag.Flag) {
	c.Flags.VisitAll(func(f *pflag.Flag) { out = append(out, f) })
	return out
}

// cases writes what each beginning is completed with.
func (l *CommandLine) cases(write func(words string, list []string, flags []*pflag.Flag)) {
	for _, g := range l.groups() {
		next, _ := l.next(g...)
		write(strings.Join(g, " "), next, nil)
	}
	for _, c := range l.Commands {
		write(strings.Join(c.Words, " "), nil, c.flags())
	}
}

func (l *CommandLine) bash() string {
	var b strings.Builder
	fmt.Fprintf(&b, `# Completion of %[1]s for bash: source <(%[1]s completion bash)
_%[1]s() {
  local cur=${COMP_WORDS[COMP_CWORD]} at='' w
  for w in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $w in -*) continue ;; esac
    case "${at:+$at }$w" in
`, l.Name)
	var known []string
	l.cases(func(words string, _ []string, _ []*pflag.Flag) {
		if words != "" {
			known = append(known, "'"+words+"'")
		}
	})
	fmt.Fprintf(&b, "      %s) at=\"${at:+$at }$w\" ;;\n    esac\n  done\n  case $at in\n", strings.Join(known, "|"))
	l.cases(func(words string, list []string, flags []*pflag.Flag) {
		for _, f := range flags {
			list = append(list, "--"+f.Name)
		}
		fmt.Fprintf(&b, "    '%s') COMPREPLY=($(compgen -W '%s' -- \"$cur\")) ;;\n", words, strings.Join(list, " "))
	})
	fmt.Fprintf(&b, "  esac\n}\ncomplete -o default -F _%s %s\n", l.Name, strings.Join(append([]string{l.Name}, l.Also...), " "))
	return b.String()
}

// quoted is a text in single quotes of a shell.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func (l *CommandLine) zsh() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#compdef %s\n", strings.Join(append([]string{l.Name}, l.Also...), " "))
	fmt.Fprintf(&b, "# Completion of %[1]s for zsh: source <(%[1]s completion zsh)\n_%[1]s() {\n", l.Name)
	b.WriteString("  local at='' w\n  local -a items\n  for w in \"${(@)words[2,CURRENT-1]}\"; do\n    [[ $w = -* ]] && continue\n    case \"${at:+$at }$w\" in\n")
	var known []string
	l.cases(func(words string, _ []string, _ []*pflag.Flag) {
		if words != "" {
			known = append(known, quoted(words))
		}
	})
	fmt.Fprintf(&b, "      %s) at=\"${at:+$at }$w\" ;;\n    esac\n  done\n  case $at in\n", strings.Join(known, "|"))
	l.cases(func(words string, list []string, flags []*pflag.Flag) {
		items := slices.Clone(list)
		for _, f := range flags {
			items = append(items, "--"+f.Name+":"+strings.ReplaceAll(f.Usage, ":", "\\:"))
		}
		fmt.Fprintf(&b, "    %s)\n      items=(\n", quoted(words))
		for _, item := range items {
			fmt.Fprintf(&b, "        %s\n", quoted(item))
		}
		b.WriteString("      ) ;;\n")
	})
	fmt.Fprintf(&b, "  esac\n  _describe -o %[1]s items\n  _files\n}\nif [[ $zsh_eval_context[-1] = loadautofunc ]]; then _%[1]s \"$@\"; else compdef _%[1]s %[2]s; fi\n", l.Name, strings.Join(append([]string{l.Name}, l.Also...), " "))
	return b.String()
}

func (l *CommandLine) fish() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Completion of %[1]s for fish: %[1]s completion fish | source\n", l.Name)
	for _, name := range append([]string{l.Name}, l.Also...) {
		for _, g := range l.groups() {
			next, command := l.next(g...)
			when := "__fish_use_subcommand"
			if len(g) > 0 && !command {
				when = fmt.Sprintf("__fish_seen_subcommand_from %s; and not __fish_seen_subcommand_from %s", g[0], strings.Join(next, " "))
			} else if len(g) > 0 {
				when = "__fish_seen_subcommand_from " + g[0]
			}
			fmt.Fprintf(&b, "complete -c %s -n %s -a %s\n", name, quoted(when), quoted(strings.Join(next, " ")))
		}
		for _, c := range l.Commands {
			var when []string
			for _, w := range c.Words {
				when = append(when, "__fish_seen_subcommand_from "+w)
			}
			for _, f := range c.flags() {
				fmt.Fprintf(&b, "complete -c %s -n %s -l %s", name, quoted(strings.Join(when, "; and ")), f.Name)
				if f.Shorthand != "" {
					fmt.Fprintf(&b, " -s %s", f.Shorthand)
				}
				if f.NoOptDefVal == "" {
					b.WriteString(" -r")
				}
				fmt.Fprintf(&b, " -d %s\n", quoted(f.Usage))
			}
		}
	}
	return b.String()
}

// roff is a text for a manual page.
func roff(s string) string {
	s = strings.NewReplacer(`\`, `\e`, "-", `\-`, "“", `\(lq`, "”", `\(rq`, "…", "...", "’", `\(cq`, "'", `\(aq`).Replace(s)
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// Man returns the manual page.
func (l *CommandLine) Man(version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s %s\"\n.SH NAME\n%s \\- a workbench for coding agents\n", strings.ToUpper(l.Name), l.Name, version, l.Name)
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.nf\n%s\n.fi\n.SH COMMANDS\n", roff(strings.TrimSpace(l.About)))
	for _, c := range l.Commands {
		fmt.Fprintf(&b, ".SS %s\n", roff(c.Use))
		for _, f := range c.flags() {
			kind, usage := pflag.UnquoteUsage(f)
			name := "--" + f.Name
			if f.Shorthand != "" {
				name = "-" + f.Shorthand + ", " + name
			}
			fmt.Fprintf(&b, ".TP\n\\fB%s\\fR %s\n%s\n", roff(name), roff(kind), roff(usage))
		}
	}
	b.WriteString(".SH EXIT STATUS\n")
	for _, code := range l.Codes {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", code[0], roff(code[1]))
	}
	return b.String()
}

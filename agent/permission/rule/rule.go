package rule

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelier.dev/atelier/agent"
)

// Limits of rules.
const (
	MaxLength = 4096 // bytes of one rule
	MaxRules  = 1000 // of one file or session
)

// Rule says what happens to some calls.
type Rule struct {
	// Tool is the tool's name, which may have "*" in it. Selector says which of its
	// calls are meant; empty means all.
	Tool, Selector string
	Decision       agent.Decision
	Scope          agent.Scope
	// Expires is when the rule ends, in milliseconds since 1970; 0 means never.
	Expires int64
	// Unread is the text of a rule that cannot be read. It asks about every call of
	// its Tool.
	Unread string
}

// String returns the rule as it is written.
func (r Rule) String() string {
	switch {
	case r.Unread != "":
		return r.Unread
	case r.Selector == "":
		return r.Tool
	}
	return r.Tool + "(" + r.Selector + ")"
}

// Ref returns the rule's name in verdicts.
func (r Rule) Ref() *agent.RuleRef {
	return &agent.RuleRef{Text: r.String(), Decision: r.Decision, Scope: r.Scope}
}

// Expired reports whether a rule has ended at a time in milliseconds since 1970.
func (r Rule) Expired(now int64) bool { return r.Expires != 0 && r.Expires <= now }

// Fault says why a rule cannot be read.
type Fault string

// The faults. Comments name their arguments.
const (
	FaultEmpty    Fault = "empty"    //
	FaultLong     Fault = "long"     // the most bytes
	FaultHidden   Fault = "hidden"   //
	FaultBracket  Fault = "bracket"  //
	FaultTool     Fault = "tool"     // what should be a tool's name
	FaultSelector Fault = "selector" //
	FaultTools    Fault = "tools"    // the name, which is of several tools
	FaultParent   Fault = "parent"   //
	FaultPattern  Fault = "pattern"  //
	FaultStars    Fault = "stars"    // the most of them
	FaultDomain   Fault = "domain"   //
)

// faults are the English sentences.
var faults = map[Fault]string{
	FaultEmpty:    "the rule is empty",
	FaultLong:     "the rule is longer than {0} bytes",
	FaultHidden:   "the rule has characters that cannot be seen",
	FaultBracket:  "the rule has one bracket without the other",
	FaultTool:     `"{0}" is not the name of a tool`,
	FaultSelector: "the brackets of the rule are empty",
	FaultTools:    "{0} names several tools, so the rule cannot have brackets",
	FaultParent:   `the pattern has ".." in it; begin it with // or ~/ instead`,
	FaultPattern:  "the pattern ends in a backslash or has a bracket that is not closed",
	FaultStars:    `the pattern has "**" more than {0} times`,
	FaultDomain:   "a rule for hosts is of the form WebFetch(domain:example.com) or Network(domain:example.com)",
}

// Error says why a rule cannot be read.
type Error struct {
	Fault Fault
	Args  []string
}

// Error implements the error interface.
func (e *Error) Error() string { return agent.Fill(faults[e.Fault], e.Args) }

func fault(f Fault, args ...string) error { return &Error{f, args} }

// Parse reads a rule. Its decision, scope and end are the caller's to set. An
// error is an [Error].
func Parse(text string) (Rule, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return Rule{}, fault(FaultEmpty)
	case len(text) > MaxLength:
		return Rule{}, fault(FaultLong, strconv.Itoa(MaxLength))
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(c rune) bool {
		return unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point)
	}):
		return Rule{}, fault(FaultHidden)
	}
	tool, rest, bracket := strings.Cut(text, "(")
	selector, closed := strings.CutSuffix(rest, ")")
	if bracket != closed {
		return Rule{}, fault(FaultBracket)
	}
	if tool == "" || strings.ContainsFunc(tool, func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.*", c)
	}) {
		return Rule{}, fault(FaultTool, tool)
	}
	r := Rule{Tool: tool, Selector: strings.TrimSpace(selector)}
	switch {
	case !bracket:
		return r, nil
	case r.Selector == "":
		return Rule{}, fault(FaultSelector)
	case strings.Contains(tool, "*"):
		return Rule{}, fault(FaultTools, tool)
	}
	return r.checked()
}

// checked checks a selector. One for everything is as good as none.
func (r Rule) checked() (Rule, error) {
	if r.Selector == "*" || r.Selector == "**" && r.kind() != kindCommand {
		r.Selector = ""
		return r, nil
	}
	if p, isPath := r.pattern(); isPath {
		if err := p.check(); err != nil {
			return Rule{}, err
		}
	}
	if host, ok := strings.CutPrefix(r.Selector, "domain:"); (r.kind() == kindDomain || r.kind() == kindReached) && (!ok || host == "") {
		return Rule{}, fault(FaultDomain)
	}
	return r, nil
}

// kind is what the selector of a rule is about.
type kind int

const (
	kindOther   kind = iota // nothing that is known
	kindCommand             // command lines
	kindRead                // files that are read
	kindWrite               // files that are changed
	kindDomain              // hosts
	kindReached             // hosts that confined commands reach
	kindAgent               // agents
)

// kinds has the tools whose rules may have a selector. Several names are one
// tool of other programs, whose rules are read as well.
var kinds = map[string]kind{
	"Bash": kindCommand, "Monitor": kindCommand,
	"Read": kindRead, "ReadMany": kindRead, "Grep": kindRead, "Glob": kindRead, "ListDir": kindRead, "LS": kindRead,
	"Edit": kindWrite, "Write": kindWrite, "ApplyPatch": kindWrite, "MultiEdit": kindWrite, "NotebookEdit": kindWrite,
	"WebFetch": kindDomain, "Browser": kindDomain,
	"Network": kindReached,
	"Agent":   kindAgent, "Task": kindAgent, "SpawnAgent": kindAgent,
}

func (r Rule) kind() kind { return kinds[r.Tool] }

// names reports whether the rule's tool is that of a call. Read stands for every
// tool that looks at files and Edit for every one that changes them, Bash for every one that runs command lines.
func (r Rule) names(call agent.GateCall) bool {
	tool := r.Tool
	switch {
	case tool == call.Tool:
		return true
	case tool == "Edit" || tool == "MultiEdit" || tool == "NotebookEdit":
		return kinds[call.Tool] == kindWrite
	case tool == "Read":
		return kinds[call.Tool] == kindRead
	case tool == "Bash":
		return kinds[call.Tool] == kindCommand
	case tool == "LS":
		return call.Tool == "ListDir"
	case tool == "AskUserQuestion":
		return call.Tool == "AskUser"
	case kinds[tool] == kindAgent:
		return kinds[call.Tool] == kindAgent
	case strings.HasPrefix(tool, "mcp__") && !strings.Contains(tool, "*") && strings.HasPrefix(call.Tool, tool+"__"):
		return true
	}
	if !strings.Contains(tool, "*") {
		return false
	}
	ok, err := path.Match(tool, call.Tool)
	return err == nil && ok
}

// hostMatches reports whether a rule's domain has a host. A rule that denies also
// holds for the hosts below it.
func (r Rule) hostMatches(host string) bool {
	want := strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(r.Selector, "domain:"), "."))
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if below, ok := strings.CutPrefix(want, "*."); ok {
		return strings.HasSuffix(host, "."+below)
	}
	return host == want || want == "*" || r.Decision != agent.Allow && strings.HasSuffix(host, "."+want)
}

// Banned reports whether allowing every call with a program, as a rule such as
// Bash(python *) does, would allow everything.
func Banned(program string) bool {
	program = strings.TrimSuffix(strings.ToLower(path.Base(program)), ".exe")
	if slices.Contains(banned, program) {
		return true
	}
	bare := strings.TrimRight(program, "0123456789.-")
	return bare != "" && bare != program && slices.Contains(banned, bare)
}

// banned are programs that run what their arguments say.
var banned = strings.Fields(`
	bash sh zsh dash ksh ash fish csh tcsh busybox toybox pwsh powershell cmd
	env sudo doas su runuser nohup nice ionice timeout time stdbuf setsid chroot unshare nsenter flock script watch parallel xargs strace ltrace gdb lldb
	eval exec source . command builtin trap coproc bwrap firejail systemd-run at batch crontab
	python py pypy ipython node nodejs deno bun ts-node tsx ruby irb perl php lua luajit tclsh wish expect Rscript R julia ghci scala groovy jshell elixir iex erl swift osascript
	awk gawk mawk nawk sed ed ex vi vim nvim emacs find fd make ssh docker podman kubectl npx bunx pnpx uvx pipx
`)

// TooWide reports whether a rule that allows would allow nearly everything.
func (r Rule) TooWide() bool {
	if r.Decision != agent.Allow || r.Unread != "" {
		return false
	}
	if strings.Contains(r.Tool, "*") && !strings.HasPrefix(r.Tool, "mcp__") || r.kind() == kindCommand && r.Selector == "" {
		return true
	}
	if r.kind() != kindCommand {
		return false
	}
	p := parseCommand(r.Selector)
	return !p.exact() && (p.words[0].open() || Banned(p.words[0].text()))
}

package rule

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/permission/boundary"
)

// Meaning says in words what a rule is about. The page has a sentence for each in
// every language.
type Meaning string

// The meanings. Comments name their arguments.
const (
	MeansCommand  Meaning = "command"  // exactly this command: the command
	MeansPrefix   Meaning = "prefix"   // commands that begin so: the words
	MeansPattern  Meaning = "pattern"  // commands of this form: the pattern
	MeansCommands Meaning = "commands" // every command
	MeansReads    Meaning = "reads"    // reading these files: the pattern
	MeansEdits    Meaning = "edits"    // changing these files: the pattern
	MeansHost     Meaning = "host"     // pages of a host: its name
	MeansNetwork  Meaning = "network"  // a host that confined commands reach: its name
	MeansAgent    Meaning = "agent"    // an agent: its name
	MeansServer   Meaning = "server"   // every tool of a server: its name
	MeansTool     Meaning = "tool"     // every call of a tool: its name
	MeansTools    Meaning = "tools"    // every tool whose name is of this form: the pattern
	MeansNothing  Meaning = "nothing"  // nothing that is known here: the rule
)

// Describe returns what a rule is about.
func Describe(r Rule) (Meaning, string) {
	switch {
	case r.Unread != "":
		return MeansNothing, r.Unread
	case r.Selector == "" && strings.Contains(r.Tool, "*"):
		return MeansTools, r.Tool
	case r.Selector == "" && r.Tool == "Bash":
		return MeansCommands, ""
	case r.Selector == "" && strings.HasPrefix(r.Tool, "mcp__") && strings.Count(r.Tool, "__") == 1:
		return MeansServer, strings.TrimPrefix(r.Tool, "mcp__")
	case r.Selector == "":
		return MeansTool, r.Tool
	}
	switch r.kind() {
	case kindCommand:
		c := parseCommand(r.Selector)
		last := len(c.words) - 1
		switch {
		case c.exact():
			return MeansCommand, c.line
		case c.stars == 1 && last > 0 && c.words[last].anything():
			return MeansPrefix, strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(c.line, "*"), " "), ":")
		}
		return MeansPattern, r.Selector
	case kindRead:
		return MeansReads, r.Selector
	case kindWrite:
		return MeansEdits, r.Selector
	case kindDomain:
		return MeansHost, strings.TrimPrefix(r.Selector, "domain:")
	case kindReached:
		return MeansNetwork, strings.TrimPrefix(r.Selector, "domain:")
	case kindAgent:
		return MeansAgent, r.Selector
	}
	return MeansNothing, r.String()
}

// Suggest returns rules that would allow a call, narrowest first. There are none
// for a call that no rule can allow.
func Suggest(call agent.GateCall, at Place) []Rule {
	var texts []string
	access := call.Access
	switch {
	case len(access.Hosts) > 0:
		texts = hostRules(access.Hosts)
	case access.Task != "", len(access.Command) > MaxLength/2, strings.ContainsAny(access.Command, "\n\t"):
		return nil
	case access.Command != "":
		texts = append(texts, "Bash("+Escape(strings.TrimSpace(access.Command))+")")
		if prefix := commonPrefix(call, at); prefix != "" {
			texts = append(texts, "Bash("+prefix+" *)")
		}
	case len(access.Writes) > 0:
		texts = pathRules("Edit", access.Writes, at)
	case len(access.Reads) > 0:
		texts = pathRules("Read", access.Reads, at)
	case kinds[call.Tool] == kindDomain:
		v := view{call: call}
		if host, ok := v.host(); ok {
			texts = append(texts, call.Tool+"(domain:"+host+")")
		}
	default:
		texts = append(texts, call.Tool)
	}
	var rules []Rule
	for _, text := range texts {
		if r, ok := suggestion(text); ok && New(at, []Rule{r}).Judge(call, nil).Decision == agent.Allow {
			rules = append(rules, r)
		}
	}
	return rules
}

// suggestion returns a rule that allows; false if it cannot be suggested.
func suggestion(text string) (Rule, bool) {
	r, err := Parse(text)
	r.Decision = agent.Allow
	return r, err == nil && !r.TooWide()
}

// maxParts limits how many rules are suggested together.
const maxParts = 8

// SuggestParts returns rules that would allow a command line only together: one for
// each host that it needs or, if it needs none, for each program of it that needs one
// and each folder outside the project that it reads. There are none if one rule of [Suggest] does, or if no rules can.
func SuggestParts(call agent.GateCall, at Place) []Rule {
	if call.Access.Command == "" || call.Access.Task != "" {
		return nil
	}
	texts := hostRules(call.Access.Hosts)
	if len(texts) == 0 {
		texts = partRules(call, at)
	}
	slices.Sort(texts)
	if texts = slices.Compact(texts); len(texts) == 0 || len(texts) > maxParts {
		return nil
	}
	var rules []Rule
	for _, text := range texts {
		r, ok := suggestion(text)
		if !ok {
			return nil
		}
		rules = append(rules, r)
	}
	if New(at, rules).Judge(call, nil).Decision != agent.Allow {
		return nil
	}
	return rules
}

// partRules returns a rule for each part of a command line; none if a part can have
// none.
func partRules(call agent.GateCall, at Place) (texts []string) {
	v := &view{call: call, set: New(at, nil), free: func(string, bool) bool { return false }}
	for _, s := range v.trace().steps {
		if s.Name != "" && !s.Own && !v.harmless(s) {
			prefix := prefixOf(s)
			if prefix == "" {
				return nil
			}
			texts = append(texts, "Bash("+prefix+" *)")
		}
		for i, path := range slices.Concat(s.Writes, s.Reads) {
			if write := i < len(s.Writes); !v.freely(path, write) && !(write && v.inProject(path)) {
				texts = append(texts, folderRule(path, write, at))
			}
		}
	}
	return texts
}

// folderRule returns a rule for the folder that a path is, or for the one that it is
// in. It is empty, which is no rule, for the home folder and the root.
func folderRule(path string, write bool, at Place) string {
	tool := "Read"
	if write {
		tool = "Edit"
	}
	texts := pathRules(tool, []string{path}, at)
	switch info, err := os.Stat(path); {
	case err == nil && info.IsDir() && path != filepath.Dir(path) && path != at.Home:
		return texts[0]
	case err == nil && info.IsDir() || len(texts) < 2:
		return ""
	}
	return texts[1]
}

// subcommands are programs whose first argument says what they do. With "run" it
// takes another one to know that.
var subcommands = strings.Fields(`git npm pnpm yarn go cargo gh glab pip pip3 poetry uv bundle gem composer dotnet mvn gradle rake just task brew apt apt-get
	systemctl terraform helm flutter dart swift mix rustup nix conda hg svn jj`)

var plainWord = regexp.MustCompile(`^[a-z][a-z0-9:_-]*$`)

// commonPrefix returns the program with its subcommand, if only one program of a
// line needs a rule.
func commonPrefix(call agent.GateCall, at Place) string {
	v := &view{call: call, set: New(at, nil)}
	var prefixes []string
	for _, s := range v.trace().steps {
		if s.Name != "" && !s.Own && !v.harmless(s) {
			prefixes = append(prefixes, prefixOf(s))
		}
	}
	slices.Sort(prefixes)
	if prefixes = slices.Compact(prefixes); len(prefixes) != 1 {
		return ""
	}
	return prefixes[0]
}

// prefixOf returns the program of a step with its subcommand; empty if no rule should
// mean every call that begins so.
func prefixOf(s command.Step) string {
	words := []string{s.Name}
	if slices.Contains(subcommands, s.Program()) {
		for _, arg := range s.Args {
			if !plainWord.MatchString(arg) {
				break
			}
			if words = append(words, arg); arg != "run" && arg != "exec" || len(words) > 2 {
				break
			}
		}
		if len(words) == 1 {
			return ""
		}
		if s.Program() == "npm" && len(s.Args) >= len(words) && s.Args[len(words)-1] == "--" {
			words = append(words, "--")
		}
	}
	if Banned(s.Name) || strings.ContainsAny(s.Name, " \t'\"\\*()") || slices.Contains(words, "exec") {
		return ""
	}
	return strings.Join(words, " ")
}

// pathRules returns rules for one path and for its folder.
func pathRules(tool string, paths []string, at Place) []string {
	real := boundary.Resolve(paths[0])
	var texts []string
	if len(paths) == 1 {
		texts = append(texts, tool+"("+anchored(real, at)+")")
	}
	dir := filepath.Dir(real)
	for _, path := range paths[1:] {
		for dir != filepath.Dir(dir) && !isBelow(dir, boundary.Resolve(path)) {
			dir = filepath.Dir(dir)
		}
	}
	home := at.Home != "" && dir == boundary.Resolve(at.Home)
	if dir != filepath.Dir(dir) && !home {
		texts = append(texts, tool+"("+strings.TrimSuffix(anchored(dir, at), "/")+"/**)")
	}
	return texts
}

// anchored returns a path as a pattern for it alone.
func anchored(real string, at Place) string {
	for _, b := range []struct{ root, sign string }{{at.Project, "/"}, {at.Home, "~/"}} {
		if b.root == "" {
			continue
		}
		if rel, err := filepath.Rel(boundary.Resolve(b.root), real); err == nil && filepath.IsLocal(rel) {
			if rel == "." {
				return b.sign
			}
			return b.sign + escapePath(filepath.ToSlash(rel))
		}
	}
	return "/" + escapePath(filepath.ToSlash(real))
}

func isBelow(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

package skill

import (
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/internal/frontmatter"
	"atelier.dev/atelier/agent/internal/toollist"
	"atelier.dev/atelier/agent/llm"
)

// KnownTools returns the canonical name of a tool. A nil KnownTools is [KnownTool].
type KnownTools = toollist.Known

// KnownTool returns the canonical name of a tool of ours or of Claude Code, in whatever
// case it is written.
func KnownTool(name string) (string, bool) { return toollist.KnownTool(name) }

// Limits of one skill.
const (
	MaxFile    = 1 << 20 // bytes of its main file
	maxAliases = 20
	maxNames   = 20       // of arguments
	maxText    = 16 << 10 // bytes of a description

	maxFindings = 100
)

// Parse reads the text of a skill's main file. It never fails: what is wrong is among the
// skill's findings.
func Parse(place Place, name, text string, known KnownTools) Skill {
	s := Skill{Name: callName(name), Place: place, Usage: Usage{ByUser: true, ByModel: place.Kind != KindCommand}}
	if s.Name != name {
		s.find(ruleName, 0, name, s.Name)
	}
	if len(text) > MaxFile {
		return s.broken(ruleSize)
	}
	if strings.HasPrefix(text, "\xff\xfe") || strings.HasPrefix(text, "\xfe\xff") { // its limits could not be read either
		return s.broken(ruleUnread, "it is UTF-16, not UTF-8")
	}
	front := frontmatter.Read(text)
	if front.TooLong {
		return s.broken(ruleFront)
	}
	s.Body = front.Body
	switch {
	case front.Problem != "":
		s.find(ruleYAML, front.ProblemLine, front.Problem)
	case !front.Present && place.Kind != KindCommand:
		s.find(ruleNoFront, 1)
	}
	for _, f := range front.Repeated {
		s.find(ruleRepeated, f.Line, f.Key)
	}
	s.describe(front)
	s.call(front)
	s.limit(front, known)
	for _, key := range []string{"context", "agent", "background", "hooks", "paths", "shell"} {
		if f, ok := front.Field(key); ok && f.Kind != frontmatter.Empty && (key != "shell" || strings.ToLower(f.Text) != "bash") {
			s.find(ruleNoEffect, f.Line, f.Key)
		}
	}
	return s
}

// callName returns the name that calls a skill: without spaces, characters that cannot be
// seen and slashes, which would make it look like a path.
func callName(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || !unicode.IsPrint(c) || c == unicode.ReplacementChar || c == '/' || c == '\\' {
			return '-'
		}
		return c
	}, name)
}

// text returns the value of a key as one text.
func text(front frontmatter.Front, key string) (string, frontmatter.Field) {
	f, _ := front.Field(key)
	value := strings.TrimSpace(f.Text)
	if len(value) > maxText {
		value = strings.ToValidUTF8(value[:maxText], "")
	}
	return value, f
}

// describe reads what says what the skill is for.
func (s *Skill) describe(front frontmatter.Front) {
	if label, _ := text(front, "name"); s.Place.Kind != KindCommand && label != s.Name {
		s.Label = label
	}
	s.Description, _ = text(front, "description")
	s.WhenToUse, _ = text(front, "when-to-use")
}

// call reads who may call the skill, and how.
func (s *Skill) call(front frontmatter.Front) {
	s.Usage.Hint, _ = text(front, "argument-hint")
	if f, ok := front.Field("argument-hint"); ok && f.Kind != frontmatter.Text && f.Raw != "" { // [x] is a list to YAML
		s.Usage.Hint = f.Raw
	}
	for _, alias := range words(front, "aliases") {
		alias = callName(strings.TrimPrefix(alias, "/"))
		if alias != "" && alias != s.Name && len(s.Aliases) < maxAliases && !slices.Contains(s.Aliases, alias) {
			s.Aliases = append(s.Aliases, alias)
		}
	}
	for _, name := range words(front, "arguments") {
		if len(s.Usage.Arguments) < maxNames { // also what cannot be a name, which has its place among them
			s.Usage.Arguments = append(s.Usage.Arguments, name)
		}
	}
	if f, ok := front.Field("user-invocable"); ok && s.Place.Kind != KindCommand {
		s.Usage.ByUser = s.boolean(f, true)
	}
	if f, ok := front.Field("disable-model-invocation"); ok && s.boolean(f, true) {
		s.Usage.ByModel = false
	}
	if !s.Usage.ByUser && !s.Usage.ByModel {
		s.find(ruleNobody, 1)
	}
}

// boolean reads a boolean, which is otherwise if it cannot be read.
func (s *Skill) boolean(f frontmatter.Field, otherwise bool) bool {
	switch {
	case frontmatter.Yes(f.Text):
		return true
	case frontmatter.No(f.Text):
		return false
	}
	s.find(ruleBoolean, f.Line, f.Key, f.Text)
	return otherwise
}

// words returns a list that is written with commas or spaces, or as a list.
func words(front frontmatter.Front, key string) []string {
	f, _ := front.Field(key)
	items := f.Items
	if f.Kind == frontmatter.Text {
		items = []string{toollist.Unbracket(f.Text)}
	}
	var out []string
	for _, item := range items {
		for _, w := range strings.FieldsFunc(item, func(c rune) bool { return c == ',' || unicode.IsSpace(c) }) {
			out = append(out, frontmatter.Unquote(w))
		}
	}
	return out
}

func isName(s string) bool {
	return frontmatter.IsKey(s) && !strings.Contains(s, "-") && (s[0] < '0' || s[0] > '9')
}

// A key that limits tools, where YAML that is not valid hides it.
var (
	allowedKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?im)^[\s{,"'?-]*allowed[-_]?tools["'\s]*:|[{,]\s*["']?allowed[-_]?tools["'\s]*:`)
	})
	disallowedKey = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?im)^[\s{,"'?-]*disallowed[-_]?tools["'\s]*:|[{,]\s*["']?disallowed[-_]?tools["'\s]*:`)
	})
)

// approves reports whether allowed-tools are an approval in advance, as they are for Claude
// Code, and no limit (K-46): if the skill says so, else if it stands in a folder of that
// program.
func (s *Skill) approves(front frontmatter.Front) bool {
	policy, f := text(front, "tools-policy")
	switch strings.ToLower(policy) {
	case "approve":
		return true
	case "limit":
		return false
	case "":
	default:
		s.find(rulePolicy, f.Line, policy)
		return false
	}
	return s.Place.Kind != KindBuiltIn && filepath.Base(filepath.Dir(s.Place.Root)) == ".claude"
}

// limit reads what holds while the skill is in use. A list of tools that cannot be read allows
// none, and approves none.
func (s *Skill) limit(front frontmatter.Front, known KnownTools) {
	places := s.places()
	approves := s.approves(front)
	if f, ok := front.Field("allowed-tools"); ok {
		list := toollist.Read(f, known, false, places)
		s.report(list, f)
		if approves {
			s.Limits.Approved = slices.DeleteFunc(list.Tools, func(tool string) bool { return slices.Contains(list.Unknown, tool) })
		} else if s.Limits.Limited = !list.All; s.Limits.Limited {
			s.Limits.Tools = list.Tools
			if !list.Allows() {
				s.find(ruleNoTools, f.Line, f.Key)
			}
		}
	} else if front.Problem != "" && front.Mentions(allowedKey()) && !approves {
		s.Limits.Limited = true
		s.find(ruleNoTools, front.ProblemLine, "allowed-tools")
	}
	if f, ok := front.Field("disallowed-tools"); ok {
		list := toollist.Read(f, known, true, places)
		s.report(list, f)
		s.Limits.Denied = list.Tools
		if list.All || list.More > 0 {
			s.Limits.Limited, s.Limits.Tools = true, nil
		}
	} else if front.Problem != "" && front.Mentions(disallowedKey()) {
		s.Limits.Limited, s.Limits.Tools = true, nil
		s.find(ruleNoTools, front.ProblemLine, "disallowed-tools")
	}
	if model, _ := text(front, "model"); !strings.EqualFold(model, "inherit") {
		s.Limits.Model = model
	}
	if value, f := text(front, "effort"); value != "" {
		effort := llm.Effort(strings.ToLower(value))
		switch effort {
		case llm.EffortNone, llm.EffortMinimal, llm.EffortLow, llm.EffortMedium, llm.EffortHigh, llm.EffortXHigh, llm.EffortMax:
			s.Limits.Effort = effort
		default:
			s.find(ruleEffort, f.Line, value)
		}
	}
}

// report says which tools of a list are not known.
func (s *Skill) report(list toollist.List, f frontmatter.Field) {
	for _, name := range list.Unknown {
		s.find(ruleTool, f.Line, name)
	}
	if list.More > 0 {
		s.find(ruleTools, f.Line, strconv.Itoa(list.More))
	}
}

// find adds a finding.
func (s *Skill) find(r rule, line int, args ...string) {
	if len(s.Findings) >= maxFindings {
		return
	}
	for i, a := range args {
		if len(a) > 200 {
			args[i] = strings.ToValidUTF8(a[:200], "") + "…"
		}
	}
	say := findings[r]
	file := "SKILL.md"
	if s.Place.File != "" {
		file = filepath.Base(s.Place.File)
	}
	s.Findings = append(s.Findings, SkillFinding{
		Skill: s.Name, Rule: string(r), Title: say.title, Severity: say.severity, File: file, Line: line,
		Message: agent.Fill(say.message, args), Fix: agent.Fill(say.fix, args), Args: args,
	})
}

// broken returns a skill that cannot be read, which nobody can use.
func (s Skill) broken(r rule, args ...string) Skill {
	s.find(r, 0, args...)
	s.Usage, s.Body = Usage{}, ""
	return s
}

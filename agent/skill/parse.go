package skill

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// Limits of one skill.
const (
	MaxFile    = 1 << 20 // bytes of its main file
	maxAliases = 20
	maxNames   = 20 // of arguments
	maxText    = 16 << 10
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
	front := ReadFront(text)
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
		if f, ok := front.Field(key); ok && f.Kind != FieldEmpty && (key != "shell" || strings.ToLower(f.Text) != "bash") {
			s.find(ruleNoEffect, f.Line, f.Key)
		}
	}
	return s
}

// callName returns the name that calls a skill: without spaces and characters that
// cannot be seen.
func callName(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsSpace(c) || !unicode.IsPrint(c) || c == unicode.ReplacementChar {
			return '-'
		}
		return c
	}, name)
}

// text returns the value of a key as one text.
func text(front Front, key string) (string, Field) {
	f, _ := front.Field(key)
	value := f.Text
	if f.Kind == FieldList || f.Kind == FieldMap {
		value = f.Raw
		if value == "" {
			value = strings.Join(f.Items, ", ")
		}
	}
	value = strings.TrimSpace(value)
	if len(value) > maxText {
		value = strings.ToValidUTF8(value[:maxText], "")
	}
	return value, f
}

// describe reads what says what the skill is for.
func (s *Skill) describe(front Front) {
	if label, _ := text(front, "name"); s.Place.Kind != KindCommand && label != s.Name {
		s.Label = label
	}
	s.Description, _ = text(front, "description")
	s.WhenToUse, _ = text(front, "when-to-use")
}

// call reads who may call the skill, and how.
func (s *Skill) call(front Front) {
	s.Usage.Hint, _ = text(front, "argument-hint")
	if f, ok := front.Field("argument-hint"); ok && f.Kind != FieldText {
		s.Usage.Hint = f.Raw
	}
	for _, alias := range words(front, "aliases") {
		alias = callName(strings.TrimPrefix(alias, "/"))
		if alias != "" && alias != s.Name && len(s.Aliases) < maxAliases && !slices.Contains(s.Aliases, alias) {
			s.Aliases = append(s.Aliases, alias)
		}
	}
	for _, name := range words(front, "arguments") {
		if isName(name) && len(s.Usage.Arguments) < maxNames {
			s.Usage.Arguments = append(s.Usage.Arguments, name)
		}
	}
	if value, f := text(front, "user-invocable"); s.Place.Kind != KindCommand && f.Kind != FieldEmpty {
		s.Usage.ByUser = !s.no(value, f)
	}
	if value, f := text(front, "disable-model-invocation"); f.Kind != FieldEmpty && s.yes(value, f) {
		s.Usage.ByModel = false
	}
}

// words returns a list that is written with commas or spaces, or as a list.
func words(front Front, key string) []string {
	f, _ := front.Field(key)
	items := f.Items
	if f.Kind == FieldText {
		items = []string{unbracket(f.Text)}
	}
	var out []string
	for _, item := range items {
		for _, w := range strings.FieldsFunc(item, func(c rune) bool { return c == ',' || unicode.IsSpace(c) }) {
			out = append(out, unquote(w))
		}
	}
	return out
}

func isName(s string) bool {
	return isKey(s) && !strings.Contains(s, "-") && (s[0] < '0' || s[0] > '9')
}

// yes and no read a boolean that means false if it cannot be read.
func (s *Skill) yes(value string, f Field) bool {
	if !truth(value) && !falsehood(value) {
		s.find(ruleBoolean, f.Line, f.Key, value)
	}
	return truth(value)
}

func (s *Skill) no(value string, f Field) bool {
	s.yes(value, f)
	return falsehood(value)
}

// limit reads what holds while the skill is in use.
func (s *Skill) limit(front Front, known KnownTools) {
	if f, ok := front.Field("allowed-tools"); ok {
		list := ReadTools(f, known)
		s.report(list, f)
		s.Limits.Limited = !list.All
		if s.Limits.Limited {
			s.Limits.Tools = list.Tools
		}
		if s.Limits.Limited && len(list.Tools) == len(list.Unknown) {
			s.find(ruleNoTools, f.Line, f.Key)
		}
	}
	if f, ok := front.Field("disallowed-tools"); ok {
		list := ReadTools(f, known)
		s.report(list, f)
		s.Limits.Denied = list.Tools
		if list.All {
			s.Limits.Limited, s.Limits.Tools = true, nil
		}
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
func (s *Skill) report(list ToolList, f Field) {
	for _, name := range list.Unknown {
		s.find(ruleTool, f.Line, name)
	}
	if list.More > 0 {
		s.find(ruleTools, f.Line, strconv.Itoa(list.More))
	}
}

// find adds a finding.
func (s *Skill) find(r rule, line int, args ...string) {
	for i, a := range args {
		if len(a) > 200 {
			args[i] = strings.ToValidUTF8(a[:200], "") + "…"
		}
	}
	say := findings[r]
	file := ""
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

package rule

import (
	"path/filepath"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/command"
	"atelier.dev/atelier/agent/internal/sensitive"
	"atelier.dev/atelier/agent/permission/boundary"
)

// allowsCommand returns a rule if the whole line is allowed: by a rule for exactly
// this line, or because each part is allowed by a rule or only reads inside the
// project.
func (v *view) allowsCommand(rules []compiled) *Rule {
	l := v.trace()
	if has(l.effects, agent.EffectSecrets, agent.EffectControls) { // they are asked about each time
		return nil
	}
	rules = slices.DeleteFunc(slices.Clone(rules), func(r compiled) bool {
		if v.call.Access.Confinement == agent.Unconfined && (r.Selector == "" || r.TooWide()) {
			return true // only what names the command lets it out of the confinement (K-47)
		}
		return !r.names(v.call) && !r.isPath || r.kind() == kindCommand && r.Selector == "" && l.typed && r.Tool != v.call.Tool
	})
	var by *Rule
	for i, r := range rules {
		whole := r.names(v.call) && (r.Selector == "" || r.kind() == kindCommand && r.command.exact() && r.command.line == l.text)
		if whole && (!l.typed || r.Tool == v.call.Tool && r.Selector == "") && v.inProject(resolved(v.call.Access.Dir)) {
			return &rules[i].Rule
		}
	}
	switch {
	case !l.clear || l.typed || !v.inProject(resolved(v.call.Access.Dir)):
		return nil
	case has(l.effects, agent.EffectHidden, agent.EffectLeaks, agent.EffectTooLong):
		return nil
	}
	for _, s := range l.steps {
		r, ok := v.allowsStep(s, rules)
		if !ok {
			return nil
		}
		if by == nil {
			by = r
		}
	}
	return by
}

// allowsStep reports whether a step of a line is allowed, and by which rule if it
// needs one.
func (v *view) allowsStep(s command.Step, rules []compiled) (*Rule, bool) {
	if s.Name != "" && !s.Known || len(s.Vague) > 0 || slices.ContainsFunc(s.Dirs, func(dir string) bool { return !v.inProject(dir) }) {
		return nil, false
	}
	by, named := v.names(s, rules)
	sure := by != nil && (by.command.exact() || by.TooWide())
	switch {
	case !named && s.Name != "" && !v.harmless(s):
		return nil, false
	case s.Unread != "" && !sure:
		return nil, false
	case agent.OutlookOf(append(s.Effects, agent.Effect{ID: agent.EffectReads})...).Risk == agent.RiskDangerous && !sure:
		return nil, false
	case s.Name == "" && slices.ContainsFunc(s.Effects, func(e agent.Effect) bool {
		return !slices.Contains([]agent.EffectID{agent.EffectReads, agent.EffectChanges, agent.EffectOutside}, e.ID)
	}):
		return nil, false
	}
	var file *Rule
	for i, path := range slices.Concat(s.Writes, s.Reads, s.Scripts) {
		write := i < len(s.Writes)
		if r := v.set.file(rules, path, write); r != nil {
			file = r
		} else if !v.freely(path, write) && !(named && write && v.inProject(path)) {
			return nil, false
		}
	}
	if by != nil {
		return &by.Rule, true
	}
	return file, true
}

// names returns the rule that allows a step's program with its arguments. The
// body of a function has been looked at where it stands.
func (v *view) names(s command.Step, rules []compiled) (*compiled, bool) {
	if s.Own {
		return nil, true
	}
	for i, r := range rules {
		if s.Name != "" && r.kind() == kindCommand && r.Selector != "" && r.command.allows(s) {
			return &rules[i], true
		}
	}
	return nil, false
}

// systemFolders have the programs of the system, which may be named with them.
var systemFolders = []string{"/bin", "/usr/bin", "/usr/local/bin"}

// harmless reports whether a step only reads, and no secrets.
func (v *view) harmless(s command.Step) bool {
	if slices.ContainsFunc(s.Trees, func(tree string) bool { secrets, ok := sensitive.Below(tree, s.Hidden); return !ok || len(secrets) > 0 }) {
		return false
	}
	return len(s.Effects)+len(s.Writes)+len(s.Scripts) == 0 && s.Unread == "" && !s.Unfamiliar &&
		(!strings.ContainsRune(s.Name, filepath.Separator) || slices.Contains(systemFolders, filepath.Dir(s.Name)))
}

// allows reports whether a pattern is a step, word by word. "*" as a word of its
// own stands for any number of arguments at the end, and elsewhere for one. An
// argument with a pattern of files in it is only allowed by "*".
func (c commandPattern) allows(s command.Step) bool {
	name := s.Name
	if !strings.ContainsRune(c.words[0].text(), filepath.Separator) && slices.Contains(systemFolders, filepath.Dir(name)) {
		name = filepath.Base(name)
	}
	if !c.words[0].matches(name) || c.words[0].open() && strings.ContainsRune(name, filepath.Separator) {
		return false
	}
	want, args := c.words[1:], s.Args
	if len(want) == 0 && c.words[0].endless() {
		return true
	}
	for i, w := range want {
		if last := i == len(want)-1; last && w.anything() || last && w.endless() && len(args) > 0 && w.matches(args[0]) {
			ended := slices.ContainsFunc(want[:i], func(w word) bool { return w.text() == "--" })
			return i == 0 || ended || s.Program() != "npm" || !steersNpm(args)
		}
		if len(args) == 0 || !w.matches(args[0]) || !w.open() && strings.ContainsAny(args[0], "*?[{$~") {
			return false
		}
		args = args[1:]
	}
	return len(args) == 0
}

// harmlessForNpm are npm's own options that do not decide what runs.
var harmlessForNpm = strings.Fields("--silent -s --quiet -q --verbose -d --loglevel --if-present --workspace -w --workspaces --ws --color --no-color --foreground-scripts --no-fund --no-audit")

// steersNpm reports whether arguments after the name of a script have options of
// npm itself, such as --script-shell: it takes all before "--" for its own.
func steersNpm(args []string) bool {
	for _, arg := range args {
		if arg == "--" {
			return false
		}
		name, _, _ := strings.Cut(arg, "=")
		if strings.HasPrefix(arg, "-") && !slices.Contains(harmlessForNpm, name) {
			return true
		}
	}
	return false
}

func resolved(dir string) string {
	if dir == "" {
		return ""
	}
	return boundary.Resolve(dir)
}

// inProject reports whether a folder or file, without links, is in the project;
// empty means the project's folder.
func (v *view) inProject(real string) bool {
	if real == "" {
		return true
	}
	rel, err := filepath.Rel(v.set.at.project, real)
	return err == nil && filepath.IsLocal(rel)
}

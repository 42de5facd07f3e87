package skill

import (
	"cmp"
	"path/filepath"

	"atelier.dev/atelier/agent"
)

// Root is a folder in which skills or commands are looked for.
type Root struct {
	Path  string
	Scope agent.Scope
	Kind  SkillKind
	// Within is the folder out of which no link is followed; empty means Path itself for a
	// project's folder. The user's own folders may link to anywhere, because whoever can
	// change them can change the skills as well.
	Within string
}

// Roots returns where skills and commands are looked for, the weakest first, for a user's
// home folder and a project's folder. Either may be empty.
func Roots(user, folder string) []Root {
	var roots []Root
	add := func(base string, scope agent.Scope, kind SkillKind, names ...string) {
		if base == "" {
			return
		}
		root := Root{Path: filepath.Join(append([]string{base}, names...)...), Scope: scope, Kind: kind}
		if scope == agent.ScopeProject {
			root.Within = base
		}
		roots = append(roots, root)
	}
	add(user, agent.ScopeUser, KindCommand, ".agent", "commands")
	add(user, agent.ScopeUser, KindSkill, ".agent", "skills")
	add(user, agent.ScopeUser, KindSkill, ".config", "agents", "skills")
	add(user, agent.ScopeUser, KindSkill, ".agents", "skills")
	add(user, agent.ScopeUser, KindCommand, ".claude", "commands")
	add(user, agent.ScopeUser, KindSkill, ".claude", "skills")
	add(folder, agent.ScopeProject, KindSkill, ".agents", "skills")
	add(folder, agent.ScopeProject, KindCommand, ".agent", "commands")
	add(folder, agent.ScopeProject, KindSkill, ".agent", "skills")
	add(folder, agent.ScopeProject, KindCommand, ".claude", "commands")
	add(folder, agent.ScopeProject, KindSkill, ".claude", "skills")
	return roots
}

// bounds returns the folder out of which no link is followed; empty if all are.
func (r Root) bounds() string {
	if r.Scope != agent.ScopeProject {
		return ""
	}
	return cmp.Or(r.Within, r.Path)
}

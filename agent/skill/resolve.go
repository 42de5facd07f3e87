package skill

import "slices"

// Resolution says which skill each name calls.
type Resolution struct {
	// Skills are those that can be called by their names, the strongest first.
	Skills []Skill
	// HiddenBy maps the key of each skill that has the name of a stronger one to that one's key.
	HiddenBy map[string]string
}

// Resolve decides which skill each name calls: of two skills the one that was found later. An unreadable
// skill has no name. An alias belongs to the strongest skill that has it, and the others get
// a finding.
func Resolve(all []Skill) Resolution {
	r := Resolution{HiddenBy: map[string]string{}}
	owner := map[string]string{}
	first := 0 // of those of one folder, which stay in their order
	for _, s := range slices.Backward(all) {
		if s.Broken() {
			continue
		}
		if by, taken := owner[s.Name]; taken {
			r.HiddenBy[s.Key()] = by
			continue
		}
		owner[s.Name] = s.Key()
		if n := len(r.Skills); n > 0 && !sameFolder(r.Skills[n-1], s) {
			slices.Reverse(r.Skills[first:])
			first = n
		}
		r.Skills = append(r.Skills, s)
	}
	slices.Reverse(r.Skills[first:])
	r.Skills = settleAliases(r.Skills)
	return r
}

func sameFolder(a, b Skill) bool {
	return a.Place.Root == b.Place.Root && a.Place.Kind == b.Place.Kind
}

// settleAliases leaves each alias to the first skill that has it, unless it is a name.
func settleAliases(skills []Skill) []Skill {
	owner := map[string]string{}
	for _, s := range skills {
		owner[s.Name] = s.Name
	}
	out := slices.Clone(skills)
	for i := range out {
		s := &out[i]
		var kept []string
		for _, alias := range s.Aliases {
			if by, taken := owner[alias]; taken && by != s.Name {
				s.Findings = slices.Clip(s.Findings)
				s.find(ruleAlias, 0, alias, by)
				continue
			}
			owner[alias] = s.Name
			kept = append(kept, alias)
		}
		s.Aliases = kept
	}
	return out
}

// Find returns the skill that a name or an alias calls.
func Find(lib Library, name string) (Skill, bool) { return find(lib.Skills(), name) }

func find(skills []Skill, name string) (Skill, bool) {
	if name == "" {
		return Skill{}, false
	}
	for _, s := range skills {
		if s.Name == name {
			return s, true
		}
	}
	for _, s := range skills {
		if slices.Contains(s.Aliases, name) {
			return s, true
		}
	}
	return Skill{}, false
}

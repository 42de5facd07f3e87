package skill

import (
	"cmp"
	"slices"
)

// Standing says which skill has each name.
type Standing struct {
	// Skills are those that can be called by their names, the strongest first.
	Skills []Skill
	// HiddenBy maps the key of each skill that has the name of a stronger one to that one's key.
	HiddenBy map[string]string
}

// Stand decides who has each name: of two skills the later one. What cannot be read has no
// name. An alias belongs to the strongest skill that has it; the others get a finding.
func Stand(all []Skill) Standing {
	st := Standing{HiddenBy: map[string]string{}}
	owner := map[string]string{}
	for _, s := range slices.Backward(all) {
		if s.Broken() {
			continue
		}
		if by, taken := owner[s.Name]; taken {
			st.HiddenBy[s.Key()] = by
			continue
		}
		owner[s.Name] = s.Key()
		st.Skills = append(st.Skills, s)
	}
	slices.SortStableFunc(st.Skills, func(a, b Skill) int { return cmp.Compare(strength(b), strength(a)) })
	st.Skills = settleAliases(st.Skills)
	return st
}

// strength orders skills by where they stand.
func strength(s Skill) int {
	if s.Place.Kind == KindBuiltIn {
		return 0
	}
	return 1
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

package skills

import (
	"slices"

	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/agent/skill/validate"
)

// maxChecked limits for how many skills the list checks every file; of the others it
// checks the main file. A skill that is shown is checked whole.
const maxChecked = 300

// check returns what is wrong with the skills of a place, by their keys.
func (s *Skills) check(p *place) map[string][]skill.SkillFinding {
	out := map[string][]skill.SkillFinding{}
	checked := 0
	for _, x := range p.rows {
		out[x.Key()] = x.Findings
		if x.Place.Kind != skill.KindSkill || checked >= maxChecked || s.ctx.Err() != nil {
			continue
		}
		checked++
		out[x.Key()] = s.checkFolder(x, p.folder)
	}
	return out
}

// checkFolder returns everything that is wrong with a skill in its folder.
func (s *Skills) checkFolder(x placed, folder string) []skill.SkillFinding {
	if x.Broken() { // a link that leads out of the project is not followed here either
		return x.Findings
	}
	found, err := validate.Check(x.Place.Folder, s.options(folder))
	if err != nil {
		return x.Findings // it is gone by now
	}
	return merged(found, x.Findings)
}

func (s *Skills) options(folder string) validate.Options {
	return validate.Options{Preset: validate.Generic, Known: s.cfg.Known, ProjectRoot: folder}
}

// merged joins findings, each once, gravest first.
func merged(lists ...[]skill.SkillFinding) (out []skill.SkillFinding) {
	for _, list := range lists {
		for _, f := range list {
			if !slices.ContainsFunc(out, func(o skill.SkillFinding) bool {
				return o.Rule == f.Rule && o.File == f.File && o.Line == f.Line && o.Message == f.Message
			}) {
				out = append(out, f)
			}
		}
	}
	validate.Order(out)
	return out
}

// checkText returns what is wrong with a text that is not saved.
func (s *Skills) checkText(now skill.Skill, content string) []skill.SkillFinding {
	if now.Place.Kind != skill.KindSkill {
		return merged(now.Findings)
	}
	return merged(validate.CheckText(now, content, s.options("")))
}

// IsWellNamed reports whether a skill's name has the form that it should have.
func IsWellNamed(s skill.Skill) bool { return validate.HasNameForm(s.Name) }

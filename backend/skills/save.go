package skills

import (
	"context"
	"strconv"

	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// mainFile is the name of a skill's main file.
const mainFile = "SKILL.md"

func tooLarge() error {
	return backend.Problem(backend.ProblemSkillLarge, strconv.Itoa(skill.MaxFile>>10))
}

// Save is skills.save.
func (s *Skills) Save(context.Context, SkillSaveRequest) (SkillRef, error) {
	return SkillRef{}, backend.Problem(backend.ProblemSkillScope)
}

// Remove is skills.remove. It moves the skill to the trash below Atelier's home folder.
func (s *Skills) Remove(context.Context, SkillRef) (backend.Empty, error) {
	return backend.Empty{}, backend.Problem(backend.ProblemSkillScope)
}

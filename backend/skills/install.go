package skills

import (
	"context"

	"atelier.dev/atelier/backend"
)

// Inspect is skills.inspect.
func (s *Skills) Inspect(context.Context, SkillInstallRequest) (SkillInspectReply, error) {
	return SkillInspectReply{}, backend.Problem(backend.ProblemSkillScope)
}

// Install is skills.install.
func (s *Skills) Install(context.Context, SkillInstallRequest) (SkillsReply, error) {
	return SkillsReply{}, backend.Problem(backend.ProblemSkillScope)
}

package cli

import (
	"fmt"

	"atelier.dev/atelier/backend/skills"
)

// settleSkills trusts the skills of the project that run something, if the user said so,
// and tells which of them are not offered. Nobody can be asked about them.
func (c *command) settleSkills(a *app, trusted bool) error {
	if trusted {
		if _, err := a.TrustSkills(c.ctx); err != nil {
			return err
		}
	}
	reply, err := ask[skills.SkillsReply](c.ctx, a, "skills.list", skills.SkillsRequest{})
	if err != nil {
		return err
	}
	waiting := 0
	for _, row := range reply.Skills {
		if row.State == skills.SkillUntrusted || row.State == skills.SkillChanged {
			waiting++
		}
	}
	count, them, they := fmt.Sprintf("%d skills of this project are", waiting), "them", "they stand"
	switch waiting {
	case 0:
		return nil
	case 1:
		count, them, they = "1 skill of this project is", "it", "it stands"
	}
	if trusted {
		fmt.Fprintf(c.err, "%s not offered, because not everything that would run can be checked.\n", count)
		return nil
	}
	fmt.Fprintf(c.err, "%s not offered, because you did not trust %s as %s there now. Look at %[2]s with atelier skills list. To trust %[2]s for one run, add --trust-skills.\n", count, them, they)
	return nil
}

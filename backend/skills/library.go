package skills

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// Library returns the skills that sessions may use in a folder: the project, or a work tree
// of it. Trust may end between listing and use; see [Skills.MayUse].
func (s *Skills) Library(ctx context.Context, folder string) skill.Library {
	if _, err := s.at(ctx, folder); err != nil {
		slog.Warn("skills were not read", "folder", folder, "err", err)
	}
	return library{s, folder}
}

// library is a view of what is known of a folder.
type library struct {
	skills *Skills
	folder string
}

func (l library) place() *place {
	p, err := l.skills.at(l.skills.ctx, l.folder)
	if err != nil {
		return &place{}
	}
	return p
}

// Skills implements [skill.Library].
func (l library) Skills() []skill.Skill { return l.place().library }

// Version implements [skill.Library].
func (l library) Version() uint64 { return l.place().version }

// MayUse is asked just before a skill is used in a folder, and judges the skill as the
// caller holds it: it must be on and, if it runs something or approves calls in advance, all
// of its files must be what the user accepted.
func (s *Skills) MayUse(ctx context.Context, x skill.Skill, folder string) error {
	off, err := s.switches(ctx)
	if err != nil {
		return err
	}
	if off.isOff(s.id(x, folder)) {
		return backend.Problem(backend.ProblemSkillOff, x.Name)
	}
	if !needsTrust(x) {
		return nil
	}
	state, err := s.trusted(x, folder)
	switch {
	case err != nil:
		return err
	case state == SkillReady:
		return nil
	case state == SkillChanged:
		return backend.Problem(backend.ProblemSkillChanged, x.Name)
	}
	return backend.Problem(backend.ProblemSkillUntrusted, x.Name)
}

// Used takes note that a skill of the project was used.
func (s *Skills) Used(name string, at time.Time) {
	for _, folder := range s.folders() {
		p := s.known(folder)
		if p == nil {
			continue
		}
		if i := slices.IndexFunc(p.rows, func(x placed) bool { return x.Name == name && x.named() }); i >= 0 {
			s.uses.add(p.rows[i].id, at)
			s.cfg.Changed()
			return
		}
	}
}

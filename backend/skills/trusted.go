package skills

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend/review"
	"atelier.dev/atelier/backend/trust"
)

// runs reports whether a skill of the project makes something run: command lines before
// it is sent, or files of its own.
func runs(x skill.Skill) bool {
	if x.Place.Scope != agent.ScopeProject || x.Broken() {
		return false
	}
	return len(x.Lines()) > 0 || len(programs(x)) > 0 || x.MoreFiles > 0
}

// reading are the tools that need no approval in a project, and get none outside it from the project.
var reading = []string{"Read", "ReadMany", "NotebookRead", "ListDir", "LS", "Glob", "Grep", "TodoRead", "TodoWrite", "Skill"}

// approvals lists the calls about which nobody is asked while a skill is in use: of one of
// the project, those for which the user has to trust it.
func approvals(x skill.Skill) []string {
	if x.Place.Scope != agent.ScopeProject {
		return x.Limits.Approved
	}
	return slices.DeleteFunc(slices.Clone(x.Limits.Approved), func(tool string) bool { return slices.Contains(reading, tool) })
}

// needsTrust reports whether the user is asked about a skill of the project: it runs
// something, or approves calls in advance.
func needsTrust(x skill.Skill) bool {
	return runs(x) || x.Place.Scope == agent.ScopeProject && !x.Broken() && len(approvals(x)) > 0
}

// approved returns a skill with its approvals as far as the user trusts it. One of the
// user's own is trusted.
func (s *Skills) approved(x skill.Skill, folder string) skill.Skill {
	x.Limits.Approved = approvals(x)
	if x.Place.Scope != agent.ScopeProject || len(x.Limits.Approved) == 0 {
		return x
	}
	if state, err := s.trusted(x, folder); err != nil || state != SkillReady {
		x.Limits.Approved = nil
	}
	return x
}

// programs lists the files of a skill that can be run.
func programs(x skill.Skill) (names []string) {
	for _, f := range x.Files {
		if f.Runs {
			names = append(names, f.Path)
		}
	}
	return names
}

// item is what the user is asked to trust: what a skill runs, and all of its files.
func (s *Skills) item(x skill.Skill, folder string) trust.Item {
	with := x.Place.Folder
	if with == "" {
		with = x.Place.File
	}
	shown := struct {
		Name  string   `json:"name"`
		Lines []string `json:"runs before it is sent,omitempty"`
		Files []string `json:"files that can be run,omitempty"`
		Tools []string `json:"runs without asking while it is in use,omitempty"`
	}{x.Name, x.Lines(), programs(x), approvals(x)}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(shown) // texts always have a JSON form
	return trust.Item{
		Kind: trust.KindSkill, ID: s.id(x, folder), Title: "/" + x.Name, Scope: x.Place.Scope,
		Origin: s.cfg.Folder + "/" + below(folder, x.Place.File), Definition: strings.TrimSpace(b.String()),
		Command: trust.Command{Line: strings.Join(x.Lines(), "\n"), With: []string{below(folder, with)}},
	}
}

// stand says which skills of the project run something, or approve calls in advance.
func (s *Skills) stand(all []skill.Skill) {
	items := []trust.Item{}
	for _, x := range all {
		if needsTrust(x) {
			items = append(items, s.item(x, s.cfg.Folder))
		}
	}
	s.cfg.Trust.SetItems(trust.KindSkill, items)
}

// UpdateItems implements [review.Owner].
func (s *Skills) UpdateItems(ctx context.Context) (more bool) {
	p, err := s.at(ctx, s.cfg.Folder)
	return err == nil && p.found.More
}

// Decided implements [review.Owner].
func (s *Skills) Decided(ctx context.Context, id string, _ review.TrustDecision) {
	if _, _, err := s.find(ctx, id); err == nil {
		_ = s.again() // what cannot be read stays as it was
	}
}

// TrustForRun trusts the skills that stand there until the program ends, and returns how
// many those are.
func (s *Skills) TrustForRun(ctx context.Context) (int, error) {
	if _, err := s.at(ctx, s.cfg.Folder); err != nil {
		return 0, err
	}
	n, err := s.cfg.Trust.AcceptForRun(ctx, trust.KindSkill)
	if err != nil {
		return n, err
	}
	return n, s.again()
}

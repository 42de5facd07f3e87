package skills

import (
	"context"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
)

// severities are in the order of the list, gravest first.
var severities = []skill.SkillSeverity{skill.Critical, skill.High, skill.Medium, skill.Low}

// states are in the order of the list.
var states = []SkillState{
	SkillReady, SkillUntrusted, SkillChanged, SkillUnavailable, SkillHidden, SkillRefused, SkillOff, SkillBroken,
}

// List is skills.list.
func (s *Skills) List(ctx context.Context, in SkillsRequest) (SkillsReply, error) {
	p, err := s.at(ctx, s.folderOf(ctx, in.Session))
	if err != nil {
		return SkillsReply{}, err
	}
	uses, err := s.uses.all(ctx)
	if err != nil {
		return SkillsReply{}, err
	}
	l := p.listing()
	reply := SkillsReply{Tokens: l.Tokens, Budget: skill.ListBudget, Unlisted: l.Unlisted, More: p.found.More, Removed: s.removed(p.folder)}
	for _, f := range p.found.Folders {
		reply.Folders = append(reply.Folders, s.folder(f, p))
	}
	for _, x := range p.rows {
		reply.Skills = append(reply.Skills, s.row(x, p, uses[x.id]))
	}
	slices.SortStableFunc(reply.Skills, func(a, b SkillRow) int {
		return slices.Index(states, a.State) - slices.Index(states, b.State)
	})
	return reply, nil
}

func (s *Skills) folder(f skill.FolderState, p *place) SkillFolder {
	out := SkillFolder{Path: s.shown(f.Path, f.Scope, p.folder), Scope: f.Scope, Kind: f.Kind, Missing: f.Missing, Count: f.Count}
	if f.Err != nil {
		out.Problem = backend.Problem(backend.ProblemSkillUnread, out.Path).Because(f.Err)
	}
	return out
}

// shown returns a path as it is shown: relative to the project, or to the home folder.
func (s *Skills) shown(path string, scope agent.Scope, folder string) string {
	if scope != agent.ScopeUser {
		return below(folder, path)
	}
	if rel := below(s.cfg.User, path); !strings.HasPrefix(rel, "/") {
		return "~/" + rel
	}
	return path
}

func (s *Skills) row(x placed, p *place, u used) SkillRow {
	row := SkillRow{
		ID: x.id, Name: x.Name, Label: x.Label, Aliases: x.Aliases, Kind: x.Place.Kind, Description: x.Summary(), State: x.state,
		Usage: SkillUsage{ByUser: x.Usage.ByUser, ByModel: x.Usage.ByModel, Last: u.Last, Count: u.Count, Hint: x.Usage.Hint, Why: x.why},
		// Most texts have about four bytes for each token.
		Weight: SkillWeight{Listed: p.listing().Weights[x.Key()], Body: (len(x.Body) + 3) / 4},
		Others: s.others(x, p),
	}
	if x.Place.Kind != skill.KindBuiltIn {
		row.Place = SkillPlace{Scope: x.Place.Scope, File: s.shown(x.Place.File, x.Place.Scope, p.folder), Editable: !x.Broken()}
	}
	if x.Place.Folder != "" {
		row.Place.Folder = s.shown(x.Place.Folder, x.Place.Scope, p.folder)
	}
	if needsTrust(x.Skill) {
		row.Place.Trust = x.id
		row.Place.Waits = !runs(x.Skill) && len(s.approved(x.Skill, p.folder).Limits.Approved) == 0
	}
	row.Findings = counted(p.findings()[x.Key()])
	return row
}

// counted counts findings by their severity.
func counted(findings []skill.SkillFinding) (out []SkillCount) {
	for _, severity := range severities {
		n := 0
		for _, f := range findings {
			if f.Severity == severity {
				n++
			}
		}
		if n > 0 {
			out = append(out, SkillCount{severity, n})
		}
	}
	return out
}

// others returns, of a hidden skill, the file of the one that has its name; of any other,
// the files of those that it hides.
func (s *Skills) others(x placed, p *place) (files []string) {
	for _, o := range p.rows {
		if p.hiddenBy[x.Key()] == o.Key() || p.hiddenBy[o.Key()] == x.Key() {
			files = append(files, s.named(o, p))
		}
	}
	return files
}

// named returns the file of a skill as it is shown; the name of a built-in one.
func (s *Skills) named(x placed, p *place) string {
	if x.Place.Kind == skill.KindBuiltIn {
		return x.Name
	}
	return s.shown(x.Place.File, x.Place.Scope, p.folder)
}

package skills

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/skill"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/trust"
)

// maxPlaces limits the folders whose skills are known at once: the project and work trees
// of it. The one that was not asked for longest is forgotten.
const maxPlaces = 32

// place is what stands in one folder. It does not change.
type place struct {
	folder string
	found  skill.Found
	rows   []placed // in the order in which they were found
	// library are those that may be used, in the order in which they are listed.
	library []skill.Skill
	version uint64 // of the library
	// hiddenBy maps the key of a hidden skill to that of the one that has its name.
	hiddenBy map[string]string
	findings func() map[string][]skill.SkillFinding // by key
	listing  func() skill.Listing
}

// placed is a skill in a place.
type placed struct {
	skill.Skill
	id    string
	state SkillState
	why   string // it is unavailable
}

// roots returns where the skills of a folder are looked for.
func (s *Skills) roots(folder string) []skill.Root {
	if folder == s.cfg.User {
		folder = "" // all of it is the user's own
	}
	return skill.Roots(s.cfg.User, folder)
}

// at returns what stands in a folder, as it was read last.
func (s *Skills) at(ctx context.Context, folder string) (*place, error) {
	s.watch.start()
	if p := s.known(folder); p != nil {
		return p, nil
	}
	select {
	case s.reader <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.reader }()
	if p := s.known(folder); p != nil {
		return p, nil
	}
	p, err := s.read(folder)
	if err != nil {
		return nil, err
	}
	s.keep(p)
	if folder != s.cfg.Folder {
		s.watch.Wake() // which has it read again, so that no change in between is missed
	}
	return p, nil
}

// known returns what is known of a folder, and takes note that it was asked for.
func (s *Skills) known(folder string) *place {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.places[folder]
	if p != nil && s.order[len(s.order)-1] != folder {
		s.order = append(slices.DeleteFunc(s.order, func(f string) bool { return f == folder }), folder)
	}
	return p
}

// keep takes over what was read of a folder.
func (s *Skills) keep(p *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.places[p.folder]
	if before != nil && reflect.DeepEqual(before.library, p.library) {
		p.version = before.version
	} else {
		s.version++
		p.version = s.version
	}
	if before == nil {
		s.order = append(s.order, p.folder)
	}
	s.places[p.folder] = p
	for len(s.order) > maxPlaces {
		oldest := slices.IndexFunc(s.order, func(f string) bool { return f != s.cfg.Folder })
		delete(s.places, s.order[oldest])
		s.order = slices.Delete(s.order, oldest, oldest+1)
	}
}

// folders lists the folders whose skills are known.
func (s *Skills) folders() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.order)
}

// again reads everything again that is known, after something has changed.
func (s *Skills) again() error {
	s.reader <- struct{}{}
	err := func() error {
		defer func() { <-s.reader }()
		for _, folder := range s.folders() {
			p, err := s.read(folder)
			if err != nil {
				return err
			}
			s.keep(p)
		}
		return nil
	}()
	s.cfg.Changed()
	return err
}

// read reads what stands in a folder. The result is shared, so reading does not end
// with the caller who began it.
func (s *Skills) read(folder string) (*place, error) {
	p := &place{folder: folder, found: skill.Discover(s.ctx, s.roots(folder), s.cfg.Known)}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	off, err := s.switches(s.ctx)
	if err != nil {
		return nil, err
	}
	if folder == s.cfg.Folder {
		s.stand(p.found.Skills)
	}
	var named []skill.Skill
	for _, x := range p.found.Skills {
		row := placed{Skill: x, id: s.id(x, folder)}
		row.state, row.why = s.judge(x, row.id, folder, off)
		if row.named() {
			named = append(named, x)
		}
		p.rows = append(p.rows, row)
	}
	p.settle(named)
	for i, x := range p.library {
		p.library[i] = s.approved(x, folder)
	}
	p.findings = sync.OnceValue(func() map[string][]skill.SkillFinding { return s.check(p) })
	p.listing = sync.OnceValue(func() skill.Listing { return skill.List(p.library, skill.ListBudget) })
	return p, nil
}

// named reports whether a skill takes its name from weaker ones. One that is off or
// refused does not. One that waits for a decision does, so that no other replaces it
// unnoticed.
func (x placed) named() bool {
	switch x.state {
	case SkillReady, SkillUntrusted, SkillChanged:
		return true
	}
	return false
}

// settle decides who has each name.
func (p *place) settle(named []skill.Skill) {
	resolved := skill.Resolve(named)
	p.hiddenBy = resolved.HiddenBy
	at := map[string]int{}
	for i := range p.rows {
		row := &p.rows[i]
		at[row.Key()] = i
		if _, hidden := p.hiddenBy[row.Key()]; hidden && row.named() {
			row.state = SkillHidden
		}
	}
	for _, x := range resolved.Skills {
		row := &p.rows[at[x.Key()]]
		row.Skill = x // with the aliases that it has here
		if row.state == SkillReady {
			p.library = append(p.library, x)
		}
	}
}

// judge says whether a skill may be used in a folder, apart from its name.
func (s *Skills) judge(x skill.Skill, id, folder string, off switches) (state SkillState, why string) {
	why = x.Available(folder)
	switch {
	case x.Broken():
		return SkillBroken, ""
	case off.isOff(id):
		return SkillOff, ""
	case why != "":
		return SkillUnavailable, why
	case !runs(x):
		return SkillReady, ""
	}
	state, err := s.trusted(x, folder)
	if err != nil {
		slog.Warn("a skill is not offered, because nobody can tell whether it is trusted", "skill", x.Name, "err", err)
	}
	return state, ""
}

// trusted says what the user decided about a skill that runs something.
func (s *Skills) trusted(x skill.Skill, folder string) (SkillState, error) {
	state, err := s.cfg.Trust.CheckThis(s.ctx, s.item(x, folder), folder)
	switch {
	case err != nil:
		return SkillUntrusted, err
	case state == trust.StateTrusted:
		return SkillReady, nil
	case state == trust.StateChanged:
		return SkillChanged, nil
	case state == trust.StateRefused:
		return SkillRefused, nil
	}
	return SkillUntrusted, nil
}

// id returns the id of what stands at a place: the same for one of the project and for the
// one that stands there in a work tree of it.
func (s *Skills) id(x skill.Skill, folder string) string {
	at := x.Key()
	if x.Place.Scope == agent.ScopeProject {
		at = s.cfg.Folder + "\x00" + below(folder, x.Place.File)
	}
	sum := sha256.Sum256([]byte(string(x.Place.Scope) + "\x00" + at))
	return "skill-" + hex.EncodeToString(sum[:10])
}

// below returns a path relative to a folder, with slashes; as it is if it is not below.
func below(folder, path string) string {
	rel, err := filepath.Rel(folder, path)
	if err != nil || !filepath.IsLocal(rel) {
		return filepath.ToSlash(path)
	}
	return filepath.ToSlash(rel)
}

// find returns a skill by its id, and the place where it stands: the project or, if it
// does not stand there, a work tree.
func (s *Skills) find(ctx context.Context, id string) (placed, *place, error) {
	if _, err := s.at(ctx, s.cfg.Folder); err != nil {
		return placed{}, nil, err
	}
	folders := s.folders()
	slices.SortStableFunc(folders, func(a, b string) int {
		switch s.cfg.Folder {
		case a:
			return -1
		case b:
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, folder := range folders {
		p := s.known(folder)
		if p == nil {
			continue
		}
		if i := slices.IndexFunc(p.rows, func(x placed) bool { return x.id == id }); i >= 0 {
			return p.rows[i], p, nil
		}
	}
	return placed{}, nil, backend.Problem(backend.ProblemSkillMissing)
}

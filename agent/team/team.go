package team

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Role is what an agent is in a team.
type Role string

// The roles.
const (
	Leader   Role = "leader"
	Ordinary Role = "member"
)

// Status says whether a team works together.
type Status string

// The statuses.
const (
	Active    Status = "active"
	Disbanded Status = "disbanded"
)

// Self is the name of the session that a user leads.
const Self = "self"

// Member is one agent of a team.
type Member struct {
	Name string `json:"name"`
	Role Role   `json:"role"`
}

// Team is a group of agents. CreatedAt is in milliseconds since 1970.
type Team struct {
	ID      string   `json:"id"`
	Name    string   `json:"name"`
	Members []Member `json:"members"`
	// LeaderID is the agent that made the team; [Self] if it is the user's session. It is no
	// member, but can be written to.
	LeaderID  string `json:"leader_id"`
	CreatedAt int64  `json:"created_at"`
	Status    Status `json:"status"`
}

// Has reports whether an agent is in the team, as a member or as its leader.
func (t Team) Has(agent string) bool { return agent == t.LeaderID || t.member(agent) >= 0 }

func (t Team) member(agent string) int {
	return slices.IndexFunc(t.Members, func(m Member) bool { return m.Name == agent })
}

// Others returns whom an agent of the team can write to: the leader first.
func (t Team) Others(agent string) (names []string) {
	for _, name := range append([]string{t.LeaderID}, t.Names()...) {
		if name != agent && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Names returns the names of the members, without the leader.
func (t Team) Names() (names []string) {
	for _, m := range t.Members {
		names = append(names, m.Name)
	}
	return names
}

// Limits of a roster.
const (
	MaxTeams   = 50 // of one session, with those that were disbanded
	MaxMembers = 20
)

// Errors of changes.
var (
	ErrNoTeam    = errors.New("there is no such team")
	ErrDisbanded = errors.New("the team is disbanded")
	ErrNameTaken = errors.New("the name is taken")
	ErrNoMember  = errors.New("it is not in the team")
	ErrFull      = errors.New("there are too many")
)

// Roster is the teams of a session and its agents. The zero Roster has none.
type Roster struct {
	// Last is the number of the team that was made last.
	Last  int    `json:"last"`
	Teams []Team `json:"teams,omitempty"`
}

// Create makes a team, to which it gives an id. Members without a role are ordinary ones.
// An empty leader is [Self].
func (r *Roster) Create(name, leader string, members []Member, now time.Time) (Team, error) {
	if _, err := r.Active(name); err == nil {
		return Team{}, fmt.Errorf("%w: a team %q is there already", ErrNameTaken, name)
	}
	if len(r.Teams) >= MaxTeams || len(members) > MaxMembers {
		return Team{}, fmt.Errorf("%w: %d teams with %d members each are the most", ErrFull, MaxTeams, MaxMembers)
	}
	if leader == "" {
		leader = Self
	}
	t := Team{ID: "team_" + strconv.Itoa(r.Last+1), Name: name, LeaderID: leader, CreatedAt: now.UnixMilli(), Status: Active, Members: []Member{}}
	for _, m := range members {
		if err := t.add(m); err != nil {
			return Team{}, err
		}
	}
	r.Last++
	r.Teams = append(slices.Clip(r.Teams), t)
	return t, nil
}

func (t *Team) add(m Member) error {
	if m.Role == "" {
		m.Role = Ordinary
	}
	switch {
	case m.Role != Leader && m.Role != Ordinary:
		return fmt.Errorf("there is no role %.50q; use leader or member", m.Role)
	case IsLeader(m.Name) || m.Name == t.LeaderID || t.member(m.Name) >= 0:
		return fmt.Errorf("%w: %q is in the team already", ErrNameTaken, m.Name)
	case len(t.Members) >= MaxMembers:
		return fmt.Errorf("%w: a team has at most %d members", ErrFull, MaxMembers)
	}
	t.Members = append(slices.Clip(t.Members), m)
	return nil
}

// Find returns a team by its id, or the newest of a name.
func (r *Roster) Find(called string) (Team, error) {
	for _, t := range slices.Backward(r.Teams) {
		if called != "" && (t.ID == called || t.Name == called) {
			return t, nil
		}
	}
	return Team{}, fmt.Errorf("%w: %.50q", ErrNoTeam, called)
}

// Active is [Roster.Find] for a team that was not disbanded.
func (r *Roster) Active(called string) (Team, error) {
	t, err := r.Find(called)
	if err == nil && t.Status != Active {
		err = fmt.Errorf("%w: %s", ErrDisbanded, t.Name)
	}
	return t, err
}

// Of returns the active team of an agent, the newest first. Every team that the user's session
// made is that of [Self].
func (r *Roster) Of(agent string) (Team, bool) {
	for _, t := range slices.Backward(r.Teams) {
		if t.Status == Active && t.Has(agent) {
			return t, true
		}
	}
	return Team{}, false
}

// Disband ends a team. It stays on the roster, and its members stay as they were.
func (r *Roster) Disband(called string) (Team, error) {
	return r.change(called, func(t *Team) error {
		t.Status = Disbanded
		return nil
	})
}

// AddMember adds an agent to a team that is not disbanded.
func (r *Roster) AddMember(called string, m Member) (Team, error) {
	return r.change(called, func(t *Team) error { return t.add(m) })
}

// RemoveMember removes an agent from a team that is not disbanded.
func (r *Roster) RemoveMember(called, agent string) (Team, error) {
	return r.change(called, func(t *Team) error {
		i := t.member(agent)
		if i < 0 {
			return fmt.Errorf("%w: %.50q", ErrNoMember, agent)
		}
		t.Members = slices.Delete(slices.Clone(t.Members), i, i+1)
		return nil
	})
}

// change changes an active team.
func (r *Roster) change(called string, change func(*Team) error) (Team, error) {
	t, err := r.Active(called)
	if err != nil {
		return Team{}, err
	}
	if err := change(&t); err != nil {
		return Team{}, err
	}
	r.Teams = slices.Clone(r.Teams)
	r.Teams[slices.IndexFunc(r.Teams, func(o Team) bool { return o.ID == t.ID })] = t
	return t, nil
}

// IsLeader reports whether a name means whoever leads the team.
func IsLeader(name string) bool {
	return slices.Contains([]string{Self, "leader", "lead", "team-lead", "team_lead"}, strings.ToLower(name))
}

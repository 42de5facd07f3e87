package skill

import (
	"slices"
	"sync"
)

// Library is where a session finds its skills. It is safe for concurrent use.
type Library interface {
	// Skills returns what may be used now, in the order in which it is listed, each name
	// once. It is called often and has to be quick. Callers must not change it.
	Skills() []Skill
	// Version changes whenever Skills does.
	Version() uint64
}

// Registry is a Library for programs that register their skills themselves. Skills keep
// the order in which they were registered. It is safe for concurrent use.
type Registry struct {
	mu         sync.RWMutex
	registered []Skill // as they were given
	settled    []Skill // each alias once
	version    uint64
}

// NewRegistry returns a registry with skills.
func NewRegistry(skills ...Skill) *Registry {
	r := &Registry{}
	for _, s := range skills {
		r.Register(s)
	}
	return r
}

// Register adds a skill. It replaces one of the same name.
func (r *Registry) Register(s Skill) { r.put(s, true) }

// Replace replaces the skill of the same name, and reports whether there was one.
func (r *Registry) Replace(s Skill) bool { return r.put(s, false) }

func (r *Registry) put(s Skill, add bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.registered, func(old Skill) bool { return old.Name == s.Name })
	switch {
	case at >= 0:
		r.registered[at] = s
	case add:
		r.registered = append(r.registered, s)
	default:
		return false
	}
	r.settle()
	return true
}

// Remove takes the skill of a name out, and reports whether there was one.
func (r *Registry) Remove(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := len(r.registered)
	r.registered = slices.DeleteFunc(r.registered, func(s Skill) bool { return s.Name == name })
	if len(r.registered) == before {
		return false
	}
	r.settle()
	return true
}

func (r *Registry) settle() {
	r.settled = settleAliases(r.registered)
	r.version++
}

// Find returns the skill that a name or an alias calls.
func (r *Registry) Find(name string) (Skill, bool) { return Find(r, name) }

// Skills returns all skills.
func (r *Registry) Skills() []Skill {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.settled
}

// UserInvocable returns the skills that a person may call by "/name".
func (r *Registry) UserInvocable() []Skill {
	return slices.DeleteFunc(slices.Clone(r.Skills()), func(s Skill) bool { return !s.Usage.ByUser })
}

// Version changes whenever Skills does.
func (r *Registry) Version() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.version
}

package skill

// Library is where a session finds its skills. It is safe for concurrent use.
type Library interface {
	// Skills returns what may be used now, in the order in which it is listed, each name
	// once. It is called often and has to be quick. Callers must not change it.
	Skills() []Skill
	// Version changes whenever Skills does.
	Version() uint64
}

package catalogue

import (
	"regexp"
	"slices"
	"sync/atomic"
	"time"
)

//go:generate go test . -run TestRows -update

// Catalogue is a set of rows. Several goroutines may read it once registration
// has ended.
type Catalogue struct {
	models []Model
	index  map[key]int // by id and by alias
	kins   atomic.Pointer[[]kin]
}

type key struct{ provider, id string }

// New returns the built-in rows, which models.json holds. What a row points to
// belongs to all catalogues: replace it, do not change it.
func New() *Catalogue {
	c := &Catalogue{models: make([]Model, 0, len(rows)), index: make(map[key]int, len(rows))}
	for _, m := range rows {
		if m.Provider == "zai" {
			c.Register(atHome(m))
		}
		m.Provider = ourName(m.Provider)
		c.Register(m)
	}
	return c
}

// atHome returns a model of Z.AI as the same company offers it in China, at
// another price. A row for that place, with the price, comes later.
func atHome(m Model) Model {
	m.Provider, m.Prices = ourName("zhipuai"), Prices{}
	return m
}

// Register adds a model, or replaces the one with the same id (OAS-713).
func (c *Catalogue) Register(m Model) {
	c.kins.Store(nil)
	i, ok := c.index[key{m.Provider, m.ID}]
	if ok && c.models[i].ID == m.ID {
		c.models[i] = m
	} else {
		i = len(c.models)
		c.models = append(c.models, m)
	}
	c.index[key{m.Provider, m.ID}] = i
	for _, alias := range m.Aliases {
		if k := (key{m.Provider, alias}); !c.hasID(k) {
			c.index[k] = i
		}
	}
}

func (c *Catalogue) hasID(k key) bool {
	i, ok := c.index[k]
	return ok && c.models[i].ID == k.id
}

// dated matches the date at the end of an id, which pins a model's version.
var dated = regexp.MustCompile(`-20\d\d-?\d\d-?\d\d$`)

// Lookup finds a model by its id or an alias, with or without a date at the
// end.
func (c *Catalogue) Lookup(provider, id string) (Model, bool) {
	i, ok := c.index[key{provider, id}]
	if !ok {
		i, ok = c.index[key{provider, dated.ReplaceAllString(id, "")}]
	}
	if !ok {
		return Model{}, false
	}
	return c.models[i], true
}

// Models returns the rows of a provider that can still be called at the given
// time, in the file's order: the newest first, the user's own last.
func (c *Catalogue) Models(provider string, at time.Time) []Model {
	today := at.UTC().Format(time.DateOnly)
	var out []Model
	for _, m := range c.models {
		if m.Provider == provider && (!m.Deprecated || m.Shutdown > today) {
			out = append(out, m)
		}
	}
	return slices.Clip(out)
}

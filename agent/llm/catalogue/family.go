package catalogue

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Known returns the row of a model, else an assumed row, else an empty row.
func (c *Catalogue) Known(provider, id string) Model {
	m, ok := c.Lookup(provider, id)
	if !ok {
		m, _ = c.Assume(provider, id)
	}
	return m
}

// Assume returns an assumed row for a model that is not listed. It has the
// limits, the thinking and the abilities of the newest listed model of its
// family that is not newer than the model itself; Assumed names that one.
// Prices are never assumed. Assume reports false if no such model is listed.
func (c *Catalogue) Assume(provider, id string) (Model, bool) {
	owner, name := ownerOf(provider, dated.ReplaceAllString(id, ""))
	if m, ok := c.Lookup(owner, name); ok && owner != provider { // the vendor's own model at another provider
		return assumed(m, provider, id), true
	}
	wanted, kins := family(name), c.families()
	best := -1
	for i := range c.models {
		if c.models[i].Provider != owner {
			continue
		}
		if f := kins[i]; f.words != wanted.words || slices.Compare(f.version, wanted.version) > 0 {
			continue
		}
		if best < 0 || slices.Compare(kins[best].version, kins[i].version) < 0 {
			best = i
		}
	}
	if best < 0 || wanted.words == "" {
		return Model{}, false
	}
	return assumed(c.models[best], provider, id), true
}

func assumed(from Model, provider, id string) Model {
	return Model{
		Provider: provider, ID: id, Name: id, Assumed: from.ID,
		Limits: from.Limits, Thinking: from.Thinking, Abilities: from.Abilities,
	}
}

// ownerOf returns the vendor and the model that an id names. Resellers put the
// vendor before the name, and an Azure deployment usually has its model's name.
func ownerOf(provider, id string) (owner, name string) {
	vendor, rest, ok := strings.Cut(id, "/")
	switch {
	case provider == "azure":
		return "openai", id
	case !ok:
		return provider, id
	}
	owner = cmp.Or(map[string]string{
		"x-ai": "xai", "z-ai": "zai", "mistralai": "mistral", "moonshotai": "moonshot", "deepseek-ai": "deepseek",
	}[vendor], ourName(vendor))
	return owner, vendorsForm(owner, rest)
}

// vendorsForm returns a name as the vendor writes it: Anthropic's ids have
// dashes where others have points.
func vendorsForm(owner, name string) string {
	if owner == "anthropic" {
		return strings.ReplaceAll(name, ".", "-")
	}
	return strings.ToLower(name)
}

// kin is a name split into words and version: claude-opus-5-5 is "claude opus",
// 5, 5.
type kin struct {
	words   string
	version []float64
}

// families returns the family of each model, which it finds once.
func (c *Catalogue) families() []kin {
	if kins := c.kins.Load(); kins != nil {
		return *kins
	}
	kins := make([]kin, len(c.models))
	for i := range c.models {
		kins[i] = family(c.models[i].ID)
	}
	c.kins.Store(&kins)
	return kins
}

// family splits a name at its dashes. A part that begins with letters is a
// word, even if a number follows directly, as in qwen3.8. A number of
// parameters, as in 27b, is left out.
func family(id string) kin {
	var k kin
	var words []string
	for _, part := range strings.Split(id, "-") {
		at := strings.IndexFunc(part, unicode.IsDigit)
		if at < 0 {
			words = append(words, part)
			continue
		}
		if at > 0 && part[:at] != "v" {
			words = append(words, part[:at])
		}
		if n, err := strconv.ParseFloat(part[at:], 64); err == nil {
			k.version = append(k.version, n)
		}
	}
	k.words = strings.Join(words, " ")
	return k
}

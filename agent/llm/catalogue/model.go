package catalogue

import (
	"cmp"

	"atelier.dev/atelier/agent/llm"
)

// Model is one row: what is known about one model of one provider. Empty, zero
// and nil mean unknown.
type Model struct {
	Provider string   `json:"provider"`
	ID       string   `json:"id"`
	Name     string   `json:"display_name"`
	Aliases  []string `json:"aliases"` // other ids of the same model
	// Assumed is the id of the model from which the row was taken if this model
	// is not listed; see [Catalogue.Assume].
	Assumed string `json:"-"`
	Limits
	Prices
	Thinking
	Abilities
	Life
	Provenance
}

// Blind reports whether the model is known to take no pictures.
func (m Model) Blind() bool { return m.Assumed == "" && m.Images != nil && !*m.Images }

// Limits are in tokens.
type Limits struct {
	ContextWindow int64 `json:"context_window"`
	MaxInput      int64 `json:"max_input"`
	MaxOutput     int64 `json:"max_output"`
}

// Window returns how many tokens a conversation may have. Some models accept
// less input than their window, however short the answer.
func (l Limits) Window() int64 { return cmp.Or(l.MaxInput, l.ContextWindow) }

// Thinking says how a model's reasoning is controlled (LOOP-16).
type Thinking struct {
	Reasons bool                `json:"reasoning"`
	Efforts []llm.Effort        `json:"effort_levels"`
	Modes   []llm.ReasoningMode `json:"reasoning_control"`
	Budget  *Budget             `json:"thinking_budget"`
	// Field is the field in which a Chat Completions endpoint returns
	// reasoning.
	Field string `json:"reasoning_field"`
}

// Control returns what an adapter needs to know about it.
func (t Thinking) Control() llm.ReasoningControl {
	c := llm.ReasoningControl{Modes: t.Modes, Levels: t.Efforts}
	if t.Budget != nil {
		c.MinBudget, c.MaxBudget = t.Budget.Min, t.Budget.Max
	}
	return c
}

// Budget bounds the thinking tokens of a model; 0 means unbounded.
type Budget struct {
	Min int `json:"min"`
	Max int `json:"max"`
}

// Abilities are a model's known inputs and features.
type Abilities struct {
	// Images is nil if it is not known whether the model takes pictures.
	Images     *bool `json:"supports_images"`
	PDF        bool  `json:"supports_pdf"`
	Tools      bool  `json:"supports_tools"`
	Structured bool  `json:"supports_structured_output"`
	// Temperature is false if the model refuses every value but the default.
	Temperature *bool `json:"supports_temperature"`
}

// Life is a model's dates, as YYYY-MM-DD or a prefix of it.
type Life struct {
	// Recommended models are a first choice for coding (OC-10); a list of ours, not of vendors.
	Recommended     bool   `json:"recommended"`
	KnowledgeCutoff string `json:"knowledge_cutoff"`
	Released        string `json:"release_date"`
	// Deprecated models have been switched off, or will be on the day Shutdown.
	Deprecated  bool   `json:"deprecated"`
	Shutdown    string `json:"shutdown_date"`
	Replacement string `json:"replacement"`
}

// Provenance says where a row was taken from.
type Provenance struct {
	Source     []string `json:"source"`
	Unverified []string `json:"unverified"` // fields inferred from a sibling
	Notes      string   `json:"notes"`
}

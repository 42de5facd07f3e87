// Package catalogue knows what is known about models in advance: names,
// limits, effort levels. It is data, dated and advisory: a model that it does
// not list can be used all the same (LLM-15).
package catalogue

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"sync"

	"atelier.dev/atelier/agent/llm"
)

//go:embed models.json
var file []byte

// Model is one row. Zero and nil mean unknown.
type Model struct {
	Provider      string       `json:"provider"`
	ID            string       `json:"id"`
	Name          string       `json:"display_name"`
	ContextWindow int64        `json:"context_window"`
	MaxOutput     int64        `json:"max_output"`
	Efforts       []llm.Effort `json:"effort_levels"`
	Deprecated    bool         `json:"deprecated"`
}

// load parses the embedded file once. It was checked when it was built, so a
// fault in it is a fault of the program.
var load = sync.OnceValue(func() []Model {
	var f struct {
		Models []Model `json:"models"`
	}
	if err := json.Unmarshal(file, &f); err != nil {
		panic(fmt.Sprintf("catalogue: %v", err))
	}
	return f.Models
})

// Models returns the rows of a provider that are not going away, in the
// file's order: newest first.
func Models(provider string) []Model {
	var out []Model
	for _, m := range load() {
		if m.Provider == provider && !m.Deprecated {
			out = append(out, m)
		}
	}
	return out
}

package catalogue

import (
	"fmt"
	"strings"
)

// Level is the size of model that a job needs (COM-51).
type Level string

// The levels: small jobs such as titles and summaries, ordinary work, and work
// that needs the best model.
const (
	LevelLow  Level = "low"
	LevelMid  Level = "mid"
	LevelHigh Level = "high"
)

// levels names each provider's model for a level.
var levels = map[string]map[Level]string{
	"openai":    {LevelLow: "gpt-6-luna", LevelMid: "gpt-6.1-terra", LevelHigh: "gpt-6.1-sol"},
	"anthropic": {LevelLow: "claude-haiku-5-5", LevelMid: "claude-sonnet-5-5", LevelHigh: "claude-opus-5-5"},
	"gemini":    {LevelLow: "gemini-3.1-flash-lite", LevelMid: "gemini-3.7-flash", LevelHigh: "gemini-4-argon"},
	"deepseek":  {LevelLow: "deepseek-flash", LevelMid: "deepseek-flash", LevelHigh: "deepseek-v4-pro"},
}

// Level returns a provider's model for a level. It reports false if none is
// known.
func (c *Catalogue) Level(provider string, l Level) (Model, bool) {
	return c.Lookup(provider, levels[provider][l])
}

// ParseRef splits a model's name of the form PROVIDER/ID. An id may contain
// slashes.
func ParseRef(ref string) (provider, id string, err error) {
	provider, id, _ = strings.Cut(strings.TrimSpace(ref), "/")
	if provider == "" || id == "" {
		return "", "", fmt.Errorf("%q is not a model: write PROVIDER/ID", ref)
	}
	return provider, id, nil
}

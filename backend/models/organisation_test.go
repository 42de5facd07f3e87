package models

import (
	"context"
	"slices"
	"testing"

	"atelier.dev/atelier/backend"
)

// noKeys and noSettings are empty.
type (
	noKeys     struct{ backend.KeyStore }
	noSettings struct{ backend.Settings }
)

func (noKeys) Key(string) (string, backend.KeySource, error) { return "", "", nil }

func (noSettings) Setting(context.Context, string) (string, error) { return "", nil }

// LLM-02: the organisation and the project are sent to OpenAI, but not to
// another address.
func TestOrganisation(t *testing.T) {
	t.Parallel()
	env := []string{"OPENAI_API_KEY", "k", "OPENAI_ORG_ID", "org", "OPENAI_PROJECT_ID", "project"}
	for _, tt := range []struct {
		provider string
		env      []string
		want     string
	}{
		{"openai", env, "org project"},
		{"openai", append(env[:len(env):len(env)], "OPENAI_BASE_URL", "http://127.0.0.1:1/v1"), " "},
		{"deepseek", env, " "},
	} {
		p := New(Config{Keys: noKeys{}, Settings: noSettings{}, Getenv: func(name string) string {
			if i := slices.Index(tt.env, name); i >= 0 {
				return tt.env[i+1]
			}
			return ""
		}})
		row, a, err := p.get(t.Context(), tt.provider)
		h := p.config(row, a).Header
		if got := h.Get("OpenAI-Organization") + " " + h.Get("OpenAI-Project"); err != nil || got != tt.want {
			t.Errorf("%s is told %q, want %q (%v)", tt.provider, got, tt.want, err)
		}
	}
}

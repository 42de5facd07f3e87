package llm_test

import (
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm"
)

// LLM-38
func TestValidToolName(t *testing.T) {
	for name, want := range map[string]bool{
		"Read": true, "r": true, "mcp__a-b__c_1": true, strings.Repeat("a", 64): true,
		"": false, "1a": false, "_a": false, "-a": false, "a.b": false, "a b": false, "é": false, "a\n": false, strings.Repeat("a", 65): false,
	} {
		if got := llm.ValidToolName(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

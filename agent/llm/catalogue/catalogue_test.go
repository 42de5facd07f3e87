package catalogue

import "testing"

// LLM-15: the embedded file parses, and rows say what a picker needs.
func TestModels(t *testing.T) {
	t.Parallel()
	rows := Models("openai")
	if len(rows) == 0 {
		t.Fatal("no OpenAI models")
	}
	for _, m := range rows {
		if m.ID == "" || m.Name == "" || m.ContextWindow <= 0 || m.Deprecated {
			t.Errorf("incomplete or deprecated row: %+v", m)
		}
	}
	if got := Models("nobody"); got != nil {
		t.Errorf("Models(nobody) = %v", got)
	}
}

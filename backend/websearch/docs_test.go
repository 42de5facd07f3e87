package websearch_test

import (
	"os"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/websearch"
)

// The guide names each service with its variable.
func TestGuideHasEveryService(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/guide/web-and-code.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range websearch.Services() {
		if !strings.Contains(string(page), s.Title) || !strings.Contains(string(page), "| `"+s.Variable+"` |") {
			t.Errorf("the guide has no row for %s with %s", s.Title, s.Variable)
		}
	}
}

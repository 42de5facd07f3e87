package provider_test

import (
	"os"
	"strings"
	"testing"

	"atelier.dev/atelier/agent/llm/provider"
)

// The guide has a row for each provider, with its name, its keys and its address.
func TestGuideHasEveryProvider(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/guide/providers.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range provider.Table() {
		_, line, ok := strings.Cut(string(page), "| `"+row.ID+"` |")
		if line, _, _ = strings.Cut(line, "\n"); !ok {
			t.Errorf("the guide has no row for %s", row.ID)
			continue
		}
		wanted := []string{}
		if row.URLVariable != "" {
			wanted = append(wanted, row.URLVariable)
		}
		if row.Needs.Key {
			wanted = append(wanted, row.KeyVariables...)
		}
		for _, name := range wanted {
			if !strings.Contains(line, "`"+name+"`") {
				t.Errorf("the row of %s does not name %s", row.ID, name)
			}
		}
	}
}

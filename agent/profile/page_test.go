package profile_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/browser"
	"atelier.dev/atelier/agent/config"
	"atelier.dev/atelier/agent/env"
	"atelier.dev/atelier/agent/lsp"
	"atelier.dev/atelier/agent/moving"
	"atelier.dev/atelier/agent/profile"
	"atelier.dev/atelier/agent/recall"
	"atelier.dev/atelier/agent/schedule"
	"atelier.dev/atelier/agent/skill"
)

const (
	toolsPage  = "../../docs/guide/tools.md"
	pageMarker = "<!-- The table is written by: go test ./agent/profile -run TestToolsPage -update -->\n"
)

// TestToolsPage compares the guide's table of tools with what models are shown.
func TestToolsPage(t *testing.T) {
	t.Parallel()
	local, err := env.NewLocal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tools := append(productTools(local), browser.Tool(nil), config.Tool(nil), lsp.Tool(nil, local), lsp.RenameTool(nil, local), skill.Tool(nil), recall.Tool(nil))
	tools = append(append(tools, moving.Tools(nil, "")...), schedule.Tools(nil, "", time.Now)...)
	registry, err := agent.NewRegistry(tools...)
	if err != nil {
		t.Fatal(err)
	}
	profiles := profile.New(registry, profile.Surroundings{Folder: t.TempDir(), Home: t.TempDir()})
	vendors := []string{"anthropic", "openai", "gemini", "compat"}
	names := map[string]map[string]string{} // of a tool, by vendor
	does := map[string]string{}
	for _, vendor := range vendors {
		shown := profiles.Profile(vendor, "m").Tools
		for _, spec := range shown.Definitions() {
			name := shown.Canonical(spec.Name)
			if names[name] == nil {
				names[name] = map[string]string{}
			}
			names[name][vendor] = "`" + spec.Name + "`"
			if does[name] == "" {
				does[name] = firstSentence(spec.Description)
			}
		}
	}
	var table strings.Builder
	table.WriteString(pageMarker + "\n| Tool | Anthropic | OpenAI | Gemini | others | What it does |\n|---|---|---|---|---|---|\n")
	for _, tool := range tools {
		name := tool.Spec().Name
		row := []string{name}
		for _, vendor := range vendors {
			row = append(row, names[name][vendor])
		}
		if does[name] != "" {
			fmt.Fprintf(&table, "| %s |\n", strings.Join(append(row, does[name]), " | "))
		}
	}
	page, err := os.ReadFile(toolsPage)
	if err != nil {
		t.Fatal(err)
	}
	head, got, ok := strings.Cut(string(page), pageMarker)
	if !ok {
		t.Fatalf("%s has no line %q", toolsPage, pageMarker)
	}
	if *update {
		if err := os.WriteFile(toolsPage, []byte(head+table.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(strings.TrimPrefix(table.String(), pageMarker), got); diff != "" {
		t.Errorf("docs/guide/tools.md (-want +got); -update rewrites it:\n%s", diff)
	}
}

// firstSentence returns the first sentence of a description, for a cell of a table.
func firstSentence(description string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(description), "\n")
	if before, _, ok := strings.Cut(line, ". "); ok {
		line = before + "."
	}
	return strings.ReplaceAll(line, "|", `\|`)
}

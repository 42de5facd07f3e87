package toolbox_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"atelier.dev/atelier/backend/toolbox"
)

// guide has a row for each tool, written from the tools themselves.
const guide = "../../docs/guide/tools.md"

// settings has the words of the page's settings in English; the type check asks for the Chinese ones.
const settings = "../../frontend/src/lib/settings/messages.ts"

// OAS-206, OAS-207: the tiers have the thirty-five tools of the specification, every tool of the guide has
// a tier, and each that can be switched is one of the guide's.
func TestTiers(t *testing.T) {
	t.Parallel()
	for tier, names := range map[toolbox.ToolTier]string{
		toolbox.TierCore:     "Read Write Edit Glob Grep Bash AskUser ToolSearch WebFetch WebSearch",
		toolbox.TierAdvanced: "Agent Skill TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate SendMessage TeamCreate TeamDelete NotebookEdit",
		toolbox.TierSpecialist: "CronCreate CronDelete CronList LSP RenameSymbol TodoWrite EnterPlanMode ExitPlanMode EnterWorktree ExitWorktree RemoteTrigger " +
			"ListMcpResources ReadMcpResource",
	} {
		for _, name := range strings.Fields(names) {
			if got := toolbox.TierOf(name); got != tier {
				t.Errorf("%s is %q, not %q", name, got, tier)
			}
		}
	}
	if got := toolbox.TierOf("mcp__a__b"); got != "" {
		t.Errorf("a server's tool is %q", got)
	}
	page, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range strings.Lines(string(page)) {
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " |")
		if strings.HasPrefix(line, "| ") && name != "Tool" {
			rows = append(rows, name)
		}
	}
	if len(rows) < 30 {
		t.Fatalf("the guide has %v", rows)
	}
	for _, name := range rows {
		if toolbox.TierOf(name) == "" {
			t.Errorf("%s has no tier", name)
		}
	}
	words, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range toolbox.Switches().Tools {
		if !strings.Contains(string(words), "\n  does_"+s.Name+": '") {
			t.Errorf("Settings do not say what %s is for", s.Name)
		}
		if !slices.Contains(rows, s.Name) {
			t.Errorf("%s can be switched, and the guide does not have it", s.Name)
		}
	}
}

// Only names of tools can be switched off, and not without end.
func TestCheckOff(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		names []string
		ok    bool
	}{
		{nil, true}, {[]string{"WebFetch", "LSP"}, true}, {[]string{"webfetch"}, false}, {[]string{""}, false}, {[]string{"ToolSearch"}, false},
		{[]string{"mcp__a__b"}, false}, {slices.Repeat([]string{"Read"}, 10_000), false},
	} {
		if err := toolbox.CheckOff(tt.names); (err == nil) != tt.ok {
			t.Errorf("%.60q: %v", tt.names, err)
		}
	}
}

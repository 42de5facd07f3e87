package toolbox

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/dispatch"
)

// ToolTier says how special a tool is (OAS-206).
type ToolTier string

// The tiers.
const (
	TierCore       ToolTier = "core"       // files, commands, the web, questions
	TierAdvanced   ToolTier = "advanced"   // agents, skills, boards, notebooks
	TierSpecialist ToolTier = "specialist" // schedules, worktrees, plans, code, MCP resources
)

// ToolSwitch is a tool that the user can switch off.
type ToolSwitch struct {
	Name string   `json:"name"`
	Tier ToolTier `json:"tier"`
}

// ToolSwitches are all of them, by tier and then in the order in which models see them.
type ToolSwitches struct {
	Tools []ToolSwitch `json:"tools,omitempty"`
}

// tiers has the canonical names of the tools of each tier: first the ten, twelve and
// thirteen of OAS-206, then those that Atelier adds.
var tiers = []struct {
	tier  ToolTier
	names string
}{
	{TierCore, "Read Write Edit Glob Grep Bash AskUser ToolSearch WebFetch WebSearch " +
		"MultiEdit ReadMany ListDir ApplyPatch WriteStdin"},
	{TierAdvanced, "Agent Skill TaskCreate TaskGet TaskList TaskOutput TaskStop TaskUpdate SendMessage TeamCreate TeamDelete NotebookEdit " +
		"SendInput Wait CloseAgent Monitor Recall"},
	{TierSpecialist, "CronCreate CronDelete CronList LSP RenameSymbol TodoWrite EnterPlanMode ExitPlanMode EnterWorktree ExitWorktree RemoteTrigger ListMcpResources ReadMcpResource " +
		"ScheduleWakeup Browser Config"},
}

// ofServers are the tools that come and go with the MCP servers, whose panel switches them.
var ofServers = []string{"ToolSearch", "ListMcpResources", "ReadMcpResource"}

// maxOff is far above the number of tools.
const maxOff = 200

// TierOf returns the tier of a tool by its canonical name; empty for one that has none,
// such as a server's.
func TierOf(name string) ToolTier {
	for _, t := range tiers {
		if slices.Contains(strings.Fields(t.names), name) {
			return t.tier
		}
	}
	return ""
}

// Switches returns the tools that the user can switch.
func Switches() (all ToolSwitches) {
	for _, t := range tiers {
		for _, name := range strings.Fields(t.names) {
			if !slices.Contains(ofServers, name) {
				all.Tools = append(all.Tools, ToolSwitch{Name: name, Tier: t.tier})
			}
		}
	}
	return all
}

// Register registers the methods of the page.
func Register(d *dispatch.Dispatcher) {
	dispatch.Handle(d, "tools.list", func(context.Context, backend.Empty) (ToolSwitches, error) { return Switches(), nil })
}

// Left returns the tools that the user and the names in deny leave a session (OAS-207,
// OAS-212). If the user's choice cannot be read, it leaves those that deny leaves.
func Left(ctx context.Context, store backend.Settings, tools []agent.Tool, deny []string) []agent.Tool {
	prefs, err := backend.StoredPreferences(ctx, store)
	if err != nil {
		slog.Warn("could not read which tools are switched off", "err", err)
	}
	return agent.Filter(tools, nil, slices.Concat(deny, prefs.ToolsOff))
}

// CheckOff returns an error if a list of tools to switch off has names that cannot be
// switched.
func CheckOff(names []string) error {
	all := Switches().Tools
	if len(names) > maxOff {
		return backend.Problem(backend.ProblemArguments, "preferences.change")
	}
	for _, name := range names {
		if !slices.ContainsFunc(all, func(s ToolSwitch) bool { return s.Name == name }) {
			return backend.Problem(backend.ProblemToolUnknown, cmp.Or(name, "?"))
		}
	}
	return nil
}

package hook

import (
	"encoding/json"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
)

// Example shows a point to those who write hooks.
type Example struct {
	Point agent.HookPoint `json:"point"`
	// Event is its name in settings files.
	Event string `json:"event"`
	// Target is the member of the input that matchers look at; empty if the point
	// has no matcher.
	Target string `json:"target,omitempty"`
	// Input is what a hook reads, exactly as it is sent.
	Input json.RawMessage `json:"input"`
	// May lists what hooks of this point can do beside showing something.
	May []Power `json:"may,omitempty"`
}

// Power is something that hooks of a point can do.
type Power string

// The powers.
const (
	PowerDeny    Power = "deny"
	PowerAsk     Power = "ask"
	PowerAllow   Power = "allow"
	PowerInput   Power = "input"   // change the call's input
	PowerOutput  Power = "output"  // replace what the model is told of a result
	PowerContext Power = "context" // tell the model something
	PowerEnd     Power = "end"     // end the turn
)

// Examples returns one example of each point, in the order in which a session
// meets them. They are calls of a session in the folder /home/me/shop.
func Examples() []Example {
	o := Options{Folder: "/home/me/shop"}
	aboutAgent := o
	aboutAgent.Agent = &Agent{ID: "4f2a"}
	var all []Example
	for _, data := range exampleData() {
		point := data.Point()
		from, call := o, agent.HookCall{Session: "9c31", Mode: agent.ModeDefault, Data: data}
		switch point {
		case agent.HookSubagentStart, agent.HookSubagentStop, agent.HookTeammateIdle:
			from, call.Session = aboutAgent, aboutAgent.Agent.ID
		}
		all = append(all, Example{
			Point: point, Event: EventName(point), Target: targets[point], Input: from.input(call, view{own: true}), May: powers[point],
		})
	}
	return all
}

// powers lists what hooks can do at each point.
var powers = map[agent.HookPoint][]Power{
	agent.HookSetup:              {PowerContext, PowerEnd},
	agent.HookSessionStart:       {PowerContext, PowerEnd},
	agent.HookUserPromptSubmit:   {PowerDeny, PowerContext, PowerEnd},
	agent.HookPreToolUse:         {PowerDeny, PowerAsk, PowerAllow, PowerInput, PowerContext, PowerEnd},
	agent.HookPermissionRequest:  {PowerDeny, PowerAllow, PowerInput, PowerContext, PowerEnd},
	agent.HookPermissionDenied:   {PowerContext, PowerEnd},
	agent.HookPostToolUse:        {PowerOutput, PowerContext, PowerEnd},
	agent.HookPostToolUseFailure: {PowerOutput, PowerContext, PowerEnd},
	agent.HookPostSampling:       {PowerContext, PowerEnd},
	agent.HookStop:               {PowerDeny, PowerContext, PowerEnd},
	agent.HookSubagentStart:      {PowerContext, PowerEnd},
	agent.HookSubagentStop:       {PowerDeny, PowerContext, PowerEnd},
	agent.HookTeammateIdle:       {PowerContext},
	agent.HookTaskCreated:        {PowerContext},
	agent.HookTaskCompleted:      {PowerContext},
	agent.HookNotification:       {PowerContext},
	agent.HookConfigChange:       {PowerContext},
	agent.HookCwdChanged:         {PowerContext, PowerEnd},
	agent.HookFileChanged:        {PowerContext},
	agent.HookWorktreeCreate:     {PowerDeny, PowerContext},
	agent.HookWorktreeRemove:     {PowerContext},
	agent.HookPreCompact:         {PowerDeny, PowerContext},
	agent.HookPostCompact:        {PowerContext},
}

// exampleData returns an input of each point.
func exampleData() []agent.HookInput {
	about := agent.HookTool{Tool: "Bash", Input: json.RawMessage(`{"command":"go test ./..."}`), CallID: "call_7"}
	const said = "All tests pass."
	stop := agent.StopInput{Reason: agent.EndDone, Message: said}
	return []agent.HookInput{
		agent.SetupInput{Trigger: "init"},
		agent.SessionStartInput{Source: "startup", Model: "claude-sonnet-5-5"},
		agent.UserPromptSubmitInput{Prompt: "Run the tests."},
		agent.PreToolUseInput{HookTool: about},
		agent.PermissionRequestInput{HookTool: about, Reason: "the mode asks about commands"},
		agent.PermissionDeniedInput{HookTool: about, Reason: "the user refused", By: agent.ByPerson},
		agent.PostToolUseInput{HookTool: about, Output: "ok  \tshop\t0.2s", DurationMs: 2140},
		agent.PostToolUseFailureInput{HookTool: about, Error: "exit code 1", DurationMs: 2140},
		agent.PostSamplingInput{Model: "claude-sonnet-5-5", Message: said, Calls: 1, Usage: llm.Usage{Input: 812, CacheRead: 9_344, Output: 164, Known: true}},
		stop,
		agent.SubagentStartInput{AgentID: "4f2a", Parent: "9c31", Task: "Find all callers of Price."},
		agent.SubagentStopInput{StopInput: stop, AgentID: "4f2a", Parent: "9c31"},
		agent.TeammateIdleInput{AgentID: "4f2a", Parent: "9c31", Message: said},
		agent.TaskCreatedInput{TaskID: "1", Command: "npm run dev"},
		agent.TaskCompletedInput{TaskID: "1", Command: "npm run dev", ExitCode: 1},
		agent.NotificationInput{Type: "permission_prompt", Title: "Bash", Message: "the mode asks about commands"},
		agent.ConfigChangeInput{Source: "project_settings", Path: "/home/me/shop/.agent/settings.json"},
		agent.CwdChangedInput{Old: "/home/me/shop", New: "/home/me/shop/web"},
		agent.FileChangedInput{Path: "/home/me/shop/.env", Event: "change"},
		agent.WorktreeCreateInput{Name: "write-the-tests-4f2a9c", Path: "/home/me/shop/.worktrees/write-the-tests-4f2a9c", Branch: "worktree-write-the-tests-4f2a9c"},
		agent.WorktreeRemoveInput{Name: "write-the-tests-4f2a9c", Path: "/home/me/shop/.worktrees/write-the-tests-4f2a9c"},
		agent.PreCompactInput{Trigger: agent.CompactAuto},
		agent.PostCompactInput{Trigger: agent.CompactAuto, Summary: "The user wants the tests to pass."},
		agent.SessionEndInput{Reason: "closed"},
	}
}

package subagent

import (
	"slices"

	"atelier.dev/atelier/agent"
)

// claudeAgent is the tool as Anthropic's models know it.
type claudeAgent struct {
	Description  string `json:"description" jsonschema:"the task in three to five words, for the user"`
	Prompt       string `json:"prompt" jsonschema:"what to do, with everything the agent needs to know: it does not see this conversation"`
	SubagentType string `json:"subagent_type,omitempty" jsonschema:"which agent does it; general-purpose if left out"`
	Model        string `json:"model,omitempty" jsonschema:"another model of the same provider; or low, mid or high for how much of a model the task is worth"`
	Background   bool   `json:"run_in_background,omitempty" jsonschema:"true returns at once with the agent's id"`
	Name         string `json:"name,omitempty" jsonschema:"what you call the agent later, beside its id"`
	Isolation    string `json:"isolation,omitempty" jsonschema:"worktree gives it a git worktree of the last commit; left out, it works on the same files as you"`
	Resume       string `json:"resume,omitempty" jsonschema:"the id or name of an agent that goes on with this prompt, instead of a new one"`
	Mode         string `json:"mode,omitempty" jsonschema:"a tighter permission mode than yours, such as plan"`
	MaxTurns     int    `json:"max_turns,omitempty" jsonschema:"how many rounds of tool calls it may take, 50 if left out"`
	TeamName     string `json:"team_name,omitempty" jsonschema:"the team that it joins under its name"`
}

// specSpawn is the tool as the loop specification has it (LOOP-48), with what came since.
type specSpawn struct {
	Task       string `json:"task" jsonschema:"what to do, with everything the agent needs to know: it does not see this conversation"`
	AgentType  string `json:"agent_type,omitempty" jsonschema:"which agent does it; general-purpose if left out"`
	WorkingDir string `json:"working_dir,omitempty" jsonschema:"a folder to stay in, relative to yours"`
	Model      string `json:"model,omitempty" jsonschema:"another model of the same provider; or low, mid or high for how much of a model the task is worth"`
	MaxTurns   int    `json:"max_turns,omitempty" jsonschema:"how many rounds of tool calls it may take, 50 if left out"`
	Name       string `json:"name,omitempty" jsonschema:"what you call the agent later, beside its id"`
	Isolation  string `json:"isolation,omitempty" jsonschema:"worktree gives it a git worktree of the last commit; left out, it works on the same files as you"`
	TeamName   string `json:"team_name,omitempty" jsonschema:"the team that it joins under its name"`
}

// synonyms are what other programs call the members of Input.
var synonyms = map[string]string{
	"task": "prompt", "message": "prompt", "input": "prompt", "instructions": "prompt", "agent_type": "subagent_type", "agent": "subagent_type",
	"cwd": "working_dir", "background": "run_in_background", "task_name": "description", "agent_id": "resume", "team": "team_name",
}

// agentBindings say how models know the tool Agent. The form of the loop specification starts
// an agent in the background (K-05).
func agentBindings(agents string) map[string][]agent.Binding {
	claude := agent.Understand[claudeAgent, Input]("Agent", "Agent", func(in Input) (Input, error) { return in, nil })
	claude.Aliases, claude.Lenience.Synonyms = []string{"Task"}, synonyms
	spec := agent.Understand[specSpawn, Input]("Agent", "spawn_agent", func(in Input) (Input, error) {
		if in.Background == nil {
			background := true
			in.Background = &background
		}
		return in, nil
	})
	spec.Description = withAgents(spawnDescription, agents)
	spec.Aliases, spec.Lenience.Synonyms = []string{"SpawnAgent"}, synonyms
	gemini := spec
	gemini.Aliases = []string{"invoke_agent"}
	return map[string][]agent.Binding{"anthropic": {claude}, "openai": {spec}, "gemini": {gemini}, "spec": {spec}}
}

// bindings say how models know a tool that is about one agent.
func bindings(tool, name string, aliases ...string) map[string][]agent.Binding {
	own, spec := agent.Called(tool, tool), agent.Called(tool, name)
	spec.Aliases = slices.Clone(aliases)
	members := map[string]string{"to": "agent_id", "target": "agent_id", "targets": "agent_id", "id": "agent_id", "ids": "agent_id", "agent_ids": "agent_id", "name": "agent_id"}
	if tool == "SendInput" {
		members["input"], members["prompt"] = "message", "message"
	}
	own.Lenience.Synonyms, spec.Lenience.Synonyms = members, members
	return map[string][]agent.Binding{"anthropic": {own}, "openai": {spec}, "gemini": {spec}, "spec": {spec}}
}

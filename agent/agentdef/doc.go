// Package agentdef reads the definitions of agents that a model can start: built-in ones, Markdown
// files of Claude Code and opencode, and JSON. What a file says only ever narrows: a list of tools
// that cannot be read allows no tool, and a mode is never looser than that of who starts the agent.
//
// Tools of a definition are limits of the session like a skill's (agent.SkillUse.Agent), which hold
// whatever skill is in use; tools of which no call is allowed are not shown. Hooks that cannot be
// read keep the agent from starting. The agent's first event has what holds, so a file that changes
// later changes nothing for agents that were started.
package agentdef

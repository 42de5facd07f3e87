// Package profile decides what a model is shown: the system prompt, and the
// tools under the names, schemas and forms that the models of its vendor were
// trained on (LOOP-21). Each capability has one tool; a profile is a table of
// bindings to it (K-04). The texts are our own and cover the topics of the
// vendors' own agents (K-26).
//
// OpenAI's, Anthropic's and Gemini's models have their vendors' profiles. Every other endpoint has
// the plain profile, because it may serve any vendor's models, and the vendor is never guessed from
// a model's name. The demo has Anthropic's names. The naming spec shows the specification's names
// to any model. OpenAI's models know commands as sessions that yield (exec_command, write_stdin),
// Gemini's as background processes, Anthropic's as tasks.
//
// The system prompt has a base, the environment and the repository's state, what the permission
// mode allows, the tools, the project's documents, and the user's own AGENTS.md last
// (situation.go). The base says who follows the work: the user of a window, nobody, or the agent
// that waits for a report. Tools of servers come and go: before each request the profile asks for
// them (Growing) and shows them after its own, which they cannot replace.
package profile

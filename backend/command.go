package backend

// CommandsReply answers commands.list: what can be typed after a slash.
type CommandsReply struct {
	Commands []SlashCommand `json:"commands,omitempty"`
}

// SlashCommand is something that can be typed after a slash.
type SlashCommand struct {
	Name        string      `json:"name"`
	Kind        CommandKind `json:"kind"`
	Description string      `json:"description,omitempty"`
	// Source is the server of a prompt, and the file of anything else.
	Source string `json:"source"`
	// Aliases are other names for it. Hint shows what may follow the name.
	Aliases   []string         `json:"aliases,omitempty"`
	Hint      string           `json:"hint,omitempty"`
	Arguments []PromptArgument `json:"arguments,omitempty"`
}

// CommandKind says what a slash command is.
type CommandKind string

// The kinds. The text of a prompt is asked for with commands.expand; a skill is sent as
// it was typed, with a [CommandCall].
const (
	CommandPrompt CommandKind = "prompt" // of a server
	CommandSkill  CommandKind = "skill"  // or a command from a file
)

// CommandCall is a skill that a person uses, by its name or an alias of it.
type CommandCall struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments,omitempty"`
}

// PromptArgument is an argument of a prompt.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

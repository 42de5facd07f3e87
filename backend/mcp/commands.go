package mcp

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"atelier.dev/atelier/agent"
	client "atelier.dev/atelier/agent/mcp"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/internal/text"
)

// The limits of commands.
const (
	maxCommands   = 500
	maxExpanded   = 200 << 10 // bytes
	maxCompleted  = 100
	maxValue      = 500 // bytes of a completed value
	maxAbout      = 500 // bytes of a description
	promptTime    = 20 * time.Second
	completedTime = 3 * time.Second
)

// prompter has the prompts of servers. A [client.Manager] is one.
type prompter interface {
	Prompts(ctx context.Context, server string) ([]client.Prompt, error)
	GetPrompt(ctx context.Context, server, prompt string, arguments map[string]string) (client.PromptText, error)
	Complete(context.Context, client.CompleteRequest) (client.Completion, error)
}

// commands are the prompts of servers as slash commands.
type commands struct {
	prompter
	// on reports whether a server is on; nil means that all are.
	on func(server string) bool
}

// slashName is the name of a prompt as a slash command, which has no spaces.
func slashName(server, prompt string) string {
	return client.ToolName(server, prompt, func(string) bool { return false })
}

// all lists the prompts of the servers that are on.
func (c commands) all(ctx context.Context) ([]client.Prompt, error) {
	prompts, err := c.Prompts(ctx, "")
	if err != nil && len(prompts) == 0 {
		return nil, fmt.Errorf("list prompts: %w", err)
	}
	if c.on != nil {
		prompts = slices.DeleteFunc(slices.Clone(prompts), func(p client.Prompt) bool { return !c.on(p.Server) })
	}
	return prompts[:min(len(prompts), maxCommands)], nil
}

// list lists what can be typed. A server that does not answer has no commands.
func (c commands) list(ctx context.Context) backend.CommandsReply {
	ctx, cancel := context.WithTimeout(ctx, completedTime)
	defer cancel()
	prompts, err := c.all(ctx)
	if err != nil {
		return backend.CommandsReply{}
	}
	var reply backend.CommandsReply
	for _, p := range prompts {
		reply.Commands = append(reply.Commands, backend.SlashCommand{
			Name: slashName(p.Server, p.Name), Kind: backend.CommandPrompt, Description: text.Head(cmp.Or(p.Description, p.Title), maxAbout),
			Source: p.Server, Arguments: promptArguments(p),
		})
	}
	slices.SortStableFunc(reply.Commands, func(a, b backend.SlashCommand) int { return cmp.Compare(a.Name, b.Name) })
	return reply
}

func promptArguments(p client.Prompt) []backend.PromptArgument {
	var out []backend.PromptArgument
	for _, a := range p.Arguments {
		out = append(out, backend.PromptArgument{Name: a.Name, Description: text.Head(cmp.Or(a.Description, a.Title), maxAbout), Required: a.Required})
	}
	return out
}

// find returns the prompt that a command names.
func (c commands) find(ctx context.Context, name string) (client.Prompt, error) {
	prompts, err := c.all(ctx)
	if err != nil {
		return client.Prompt{}, backend.Problem(backend.ProblemCommandFailed, name).Because(err)
	}
	at := slices.IndexFunc(prompts, func(p client.Prompt) bool { return slashName(p.Server, p.Name) == name })
	if at < 0 {
		return client.Prompt{}, backend.Problem(backend.ProblemCommandUnknown, text.Head(name, maxAbout))
	}
	return prompts[at], nil
}

// expand returns the text that a command stands for. The text is the server's: it
// says so, is bounded, and has no marks that a model could take for our own.
func (c commands) expand(ctx context.Context, in ExpandRequest) (ExpandReply, error) {
	ctx, cancel := context.WithTimeout(ctx, promptTime)
	defer cancel()
	p, err := c.find(ctx, in.Name)
	if err != nil {
		return ExpandReply{}, err
	}
	arguments := map[string]string{}
	for _, a := range p.Arguments {
		value, given := in.Arguments[a.Name]
		if a.Required && value == "" {
			return ExpandReply{}, backend.Problem(backend.ProblemCommandArgument, in.Name, text.Head(a.Name, maxAbout))
		}
		if given {
			arguments[a.Name] = value
		}
	}
	expanded, err := c.GetPrompt(ctx, p.Server, p.Name, arguments)
	if err != nil {
		return ExpandReply{}, backend.Problem(backend.ProblemCommandFailed, in.Name).Because(err)
	}
	body := written(expanded)
	if len(body) > maxExpanded {
		body = text.Head(body, maxExpanded) + "\n\n[The rest was left out: the prompt has more than 200 kilobytes.]"
	}
	return ExpandReply{Text: agent.EscapeTags(fmt.Sprintf("I run the prompt %q of the server %q. Its text:\n\n%s", p.Name, p.Server, body))}, nil
}

// written writes a prompt's messages as one text.
func written(p client.PromptText) string {
	var parts []string
	several := slices.ContainsFunc(p.Messages, func(m client.PromptMessage) bool { return m.Role != "user" })
	for _, m := range p.Messages {
		var said []string
		for _, c := range m.Content {
			switch {
			case c.Text != "":
				said = append(said, strings.ToValidUTF8(c.Text, "\uFFFD"))
			case c.Kind == client.ContentLink:
				said = append(said, "[A resource: "+c.URI+"]")
			default:
				said = append(said, fmt.Sprintf("[A part that is not text was left out: %s]", cmp.Or(c.MIME, string(c.Kind))))
			}
		}
		body := strings.Join(said, "\n\n")
		if several {
			who := "User"
			if m.Role == "assistant" {
				who = "Assistant"
			}
			body = who + ":\n" + body
		}
		parts = append(parts, body)
	}
	return strings.Join(parts, "\n\n")
}

// complete asks for values of an argument. After an error the list is empty, and
// the person types on.
func (c commands) complete(ctx context.Context, in CompleteRequest) CompleteReply {
	ctx, cancel := context.WithTimeout(ctx, completedTime)
	defer cancel()
	p, err := c.find(ctx, in.Name)
	if err != nil {
		return CompleteReply{}
	}
	got, err := c.Complete(ctx, client.CompleteRequest{
		Server: p.Server, Prompt: p.Name, Argument: in.Argument, Value: in.Value, Known: in.Arguments,
	})
	if err != nil {
		return CompleteReply{}
	}
	reply := CompleteReply{More: got.More || len(got.Values) > maxCompleted}
	for _, value := range got.Values[:min(len(got.Values), maxCompleted)] {
		if len(value) <= maxValue {
			reply.Values = append(reply.Values, value)
		}
	}
	return reply
}

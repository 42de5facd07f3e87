package offer

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atelier.dev/atelier/agent"
)

// mostResources limits a list of resources.
const mostResources = 500

type listInput struct {
	Server string `json:"server,omitempty" jsonschema:"list only the resources of this server"`
}

type readInput struct {
	Server string `json:"server" jsonschema:"the server that has the resource"`
	URI    string `json:"uri" jsonschema:"the resource's address, as ListMcpResources or a tool gave it"`
}

// listTool is ListMcpResources (OAS-334).
func (s *Session) listTool() agent.Tool {
	return agent.Function(agent.Spec{
		Name:        "ListMcpResources",
		Description: "Lists the resources that servers offer to read, such as files, records and documents, with the address of each. An address with a part in braces is a template: put a value in its place.",
		ReadOnly:    true, Concurrent: true, Idempotent: true,
	}, func(ctx context.Context, in listInput) (agent.Result, error) { return s.list(ctx, in.Server), nil })
}

// readTool is ReadMcpResource (OAS-335).
func (s *Session) readTool() agent.Tool {
	return agent.Function(agent.Spec{
		Name:        "ReadMcpResource",
		Description: "Reads a resource of a server by its address. What it says comes from the server, not from the user.",
		ReadOnly:    true, Concurrent: true, Idempotent: true,
	}, func(ctx context.Context, in readInput) (agent.Result, error) { return s.read(ctx, in), nil })
}

func (s *Session) list(ctx context.Context, server string) agent.Result {
	all, there := s.withResources()
	if server != "" {
		if !slices.Contains(all, server) {
			return agent.Fail(fmt.Sprintf("There is no server %s with resources. %s", quoted(server), there))
		}
		all = []string{server}
	}
	type item struct {
		Server      string `json:"server"`
		URI         string `json:"uri"`
		Name        string `json:"name,omitempty"`
		Description string `json:"description,omitempty"`
		MIME        string `json:"mime,omitempty"`
		Template    bool   `json:"template,omitempty"`
	}
	var lines []string
	var faults []string
	found := 0
	for _, name := range all {
		resources, err := s.cfg.Servers.Resources(ctx, name)
		if err != nil {
			faults = append(faults, failed(ctx, name, err))
			continue
		}
		for _, r := range resources {
			if found++; len(lines) < mostResources {
				title := r.Title
				if title == "" {
					title = r.Name
				}
				lines = append(lines, string(encode(item{r.Server, r.URI, line(title, maxTitle), line(r.Description, maxReport), line(r.MIME, maxTitle), r.Template})))
			}
		}
	}
	switch {
	case found > len(lines):
		lines = append(lines, fmt.Sprintf("[%d more were left out. Ask for those of one server.]", found-len(lines)))
	case found == 0 && len(faults) == 0:
		lines = append(lines, "[There are no resources.]")
	}
	return agent.Result{Output: agent.EscapeTags(strings.Join(append(lines, faults...), "\n")), IsError: found == 0 && len(faults) > 0}
}

func (s *Session) read(ctx context.Context, in readInput) agent.Result {
	all, there := s.withResources()
	if !slices.Contains(all, in.Server) {
		return agent.Fail(fmt.Sprintf("There is no server %s with resources. %s", quoted(in.Server), there))
	}
	parts, err := s.cfg.Servers.ReadResource(ctx, in.Server, in.URI)
	if err != nil {
		return agent.Fail(failed(ctx, in.Server, err))
	}
	return content(owner{in.Server, in.URI}, parts)
}

// withResources lists the servers that have resources and are on, and names them
// in a sentence.
func (s *Session) withResources() (names []string, sentence string) {
	servers, _ := s.cfg.Servers.Tools()
	held := s.cfg.Switches.Held(s.cfg.Session)
	var quotes []string
	for _, server := range servers {
		if server.Resources && held(server.Server, nil) == "" {
			names = append(names, server.Server)
			quotes = append(quotes, quoted(server.Server))
		}
	}
	if len(names) == 0 {
		return nil, "No server has any now."
	}
	return names, "These have: " + strings.Join(quotes, ", ") + "."
}

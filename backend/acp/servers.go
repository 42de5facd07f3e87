package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	acp "github.com/coder/acp-go-sdk"
)

// serverFile writes the client's servers into a file that only the user reads, in the form
// of settings, and returns its path.
func (s *Server) serverFile(servers []acp.McpServer) (string, error) {
	if len(servers) > maxServers {
		return "", errors.New("there are too many MCP servers")
	}
	all := map[string]map[string]any{}
	for _, server := range servers {
		switch {
		case server.Stdio != nil:
			env := map[string]string{}
			for _, v := range server.Stdio.Env {
				env[v.Name] = v.Value
			}
			all[server.Stdio.Name] = map[string]any{"command": server.Stdio.Command, "args": server.Stdio.Args, "env": env}
		case server.Http != nil:
			headers := map[string]string{}
			for _, h := range server.Http.Headers {
				headers[h.Name] = h.Value
			}
			all[server.Http.Name] = map[string]any{"type": "http", "url": server.Http.Url, "headers": headers}
		default:
			return "", errors.New("an MCP server is neither a program nor reached over HTTP")
		}
	}
	raw, err := json.Marshal(map[string]any{"mcpServers": all})
	if err != nil {
		return "", fmt.Errorf("encode MCP servers: %w", err)
	}
	s.mu.Lock()
	s.files++
	path := filepath.Join(s.cfg.Dir, fmt.Sprintf("servers-%d.json", s.files))
	s.mu.Unlock()
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return "", fmt.Errorf("keep MCP servers: %w", err)
	}
	return path, nil
}

package oauthtest

import (
	"encoding/json"
	"net/http"
)

// serveMCP is a server of the protocol of November 2025 with two tools, "whoami" and
// "admin".
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request) {
	switch known, allowed := s.allows(r, s.cfg.Scopes); {
	case !known:
		code := ""
		if r.Header.Get("Authorization") != "" {
			code = "invalid_token"
		}
		s.refuseMCP(w, http.StatusUnauthorized, code, s.cfg.Scopes)
		return
	case !allowed:
		s.refuseMCP(w, http.StatusForbidden, "insufficient_scope", s.cfg.Scopes)
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name    string `json:"name"`
			Version string `json:"protocolVersion"`
		} `json:"params"`
	}
	if err := json.NewDecoder(r.Body).Decode(&call); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	if len(call.ID) == 0 {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	answer := map[string]any{"jsonrpc": "2.0", "id": call.ID}
	switch call.Method {
	case "initialize":
		answer["result"] = map[string]any{
			"protocolVersion": "2025-11-25", "capabilities": map[string]any{"tools": map[string]any{}},
			"serverInfo": map[string]any{"name": "oauthtest", "version": "1"},
		}
	case "ping":
		answer["result"] = map[string]any{}
	case "tools/list":
		schema := map[string]any{"type": "object"}
		answer["result"] = map[string]any{"tools": []any{
			map[string]any{"name": "whoami", "description": "Says who the user is.", "inputSchema": schema},
			map[string]any{"name": "admin", "description": "Needs another right.", "inputSchema": schema},
		}}
	case "tools/call":
		if _, allowed := s.allows(r, []string{s.cfg.Admin}); call.Params.Name == "admin" && s.cfg.Admin != "" && !allowed {
			s.refuseMCP(w, http.StatusForbidden, "insufficient_scope", []string{s.cfg.Admin})
			return
		}
		answer["result"] = map[string]any{"content": []any{map[string]any{"type": "text", "text": "a user of " + call.Params.Name}}}
	default:
		answer["error"] = map[string]any{"code": -32601, "message": "no such method"}
	}
	reply(w, http.StatusOK, answer)
}

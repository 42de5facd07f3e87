package workbench_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/llm"
	"atelier.dev/atelier/agent/llm/llmtest"
	"atelier.dev/atelier/backend"
	"atelier.dev/atelier/backend/redact"
	"atelier.dev/atelier/backend/sessionlist"
	"atelier.dev/atelier/backend/transfer"
	"atelier.dev/atelier/backend/workbench"
	"atelier.dev/atelier/storage"
)

// foreign are transcripts of other programs, with what makes requests invalid
// elsewhere: ids that repeat or have signs, calls without results or with strange
// arguments, results without calls, reasoning of another model, an interrupt.
const (
	foreignClaude = `{"type":"user","uuid":"1","sessionId":"s","cwd":"/elsewhere","timestamp":"2026-01-02T03:04:05Z","message":{"role":"user","content":"Look around."}}
{"type":"assistant","uuid":"2","parentUuid":"1","timestamp":"2026-01-02T03:04:06Z","message":{"id":"m","model":"claude-x","content":[{"type":"thinking","thinking":"Hm.","signature":"forged"},{"type":"text","text":"I look."},{"type":"tool_use","id":"../t 1","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"../t 1","name":"mcp__a.b/c","input":"text"}],"usage":{"input_tokens":50,"output_tokens":10}}}
{"type":"user","uuid":"3","parentUuid":"2","timestamp":"2026-01-02T03:04:07Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"../t 1","content":[{"type":"text","text":"a.txt"},{"type":"image","source":{"type":"base64","data":"AA"}}]}]}}
{"type":"user","uuid":"4","parentUuid":"3","timestamp":"2026-01-02T03:04:08Z","message":{"role":"user","content":"[Request interrupted by user]"}}
{"type":"user","uuid":"5","parentUuid":"4","timestamp":"2026-01-02T03:04:09Z","message":{"role":"user","content":"Again, with the key ghp_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9"}}
{"type":"assistant","uuid":"6","parentUuid":"5","timestamp":"2026-01-02T03:04:10Z","message":{"id":"n","model":"claude-x","content":[{"type":"tool_use","id":"t2","name":"Read","input":{"file_path":"a.txt"}}]}}
`
	foreignCodex = `{"timestamp":"2026-02-02T03:04:05Z","type":"session_meta","payload":{"id":"c1","cwd":"/elsewhere"}}
{"timestamp":"2026-02-02T03:04:05Z","type":"response_item","payload":{"type":"reasoning","summary":[],"encrypted_content":"zzz"}}
{"timestamp":"2026-02-02T03:04:05Z","type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{broken","call_id":"k"}}
{"timestamp":"2026-02-02T03:04:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"k","output":""}}
{"timestamp":"2026-02-02T03:04:05Z","type":"response_item","payload":{"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch","call_id":"k"}}
{"timestamp":"2026-02-02T03:04:05Z","type":"response_item","payload":{"type":"function_call_output","call_id":"other","output":"?"}}
{"timestamp":"2026-02-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Fix it."}]}}
{"timestamp":"2026-02-02T03:04:05Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Now."}]}}
`
)

// importing returns a page whose user has transcripts of other programs.
func importing(t *testing.T, server *llmtest.Server) *page {
	t.Helper()
	home := t.TempDir()
	put := writer(t)
	put(filepath.Join(home, ".claude", "projects", "-elsewhere", "s.jsonl"), foreignClaude)
	put(filepath.Join(home, ".codex", "sessions", "2026", "02", "02", "rollout-1.jsonl"), foreignCodex)
	getenv := everywhere(server)
	return newPage(t, t.TempDir(), t.TempDir(), func(name string) string {
		if name == "HOME" || name == "USERPROFILE" {
			return home
		}
		return getenv(name)
	})
}

// LIVE-02: the transcripts on this machine are listed, imported once, and continue with
// every provider and as a fork. Their dates are their own, and nothing of them is in the
// ledgers.
func TestImportTranscripts(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := importing(t, server)
	list := must[transfer.FoundReply](p, "transcripts.found", transfer.FoundRequest{})
	if list.Total != 2 || len(list.Found) != 2 {
		t.Fatalf("%+v", list)
	}
	if one := must[transfer.FoundReply](p, "transcripts.found", transfer.FoundRequest{Offset: 1, Limit: 1}); len(one.Found) != 1 || one.Found[0].Name != list.Found[1].Name {
		t.Errorf("%+v", one)
	}
	rules := map[string]llmtest.Rules{"openai": llmtest.OpenAIRules, "compat": llmtest.OpenAIRules, "anthropic": llmtest.AnthropicRules, "gemini": llmtest.GoogleRules}
	for _, found := range list.Found {
		in := transfer.ImportRequest{Program: found.Program, Name: found.Name}
		reply := must[transfer.ImportReply](p, "transcripts.import", in)
		info := reply.Session
		if reply.Already || info.Imported == nil || info.Imported.Program != found.Program || info.Imported.Folder != "/elsewhere" || info.Folder != p.folder || info.State != agent.StateIdle {
			t.Fatalf("%+v", info)
		}
		if year := 1_767_225_600_000; info.CreatedAt < int64(year) || info.UpdatedAt > int64(year)+40*86_400_000 || info.Cost != (llm.Spending{}) {
			t.Errorf("%+v", info)
		}
		if again := must[transfer.ImportReply](p, "transcripts.import", in); !again.Already || again.Grown || again.Session.ID != info.ID {
			t.Errorf("%+v", again)
		}
		for provider, rule := range rules {
			server.Strict(rule)
			server.Add(llmtest.Round{Text: "On."})
			set := agent.Settings{Provider: provider, Model: model, Mode: agent.ModeDefault}
			fork := must[workbench.ForkReply](p, "sessions.fork", workbench.ForkRequest{Session: info.ID, Settings: &set})
			p.send(fork.Session.ID, "go")
			if end := await(p, anyOf[agent.ProcessingEnd]); end.Reason != agent.EndDone {
				t.Errorf("%s continues with %s as %s", found.Program, provider, end.Reason)
			}
		}
	}
	if costs := must[backend.CostSummary](p, "costs.summary", sessionlist.CostsRequest{}); costs.Total.Requests != 8 {
		t.Errorf("%d requests are in the ledger", costs.Total.Requests)
	}
	if rows := must[struct {
		Rows []json.RawMessage `json:"rows"`
	}](p, "permissions.ledger", workbench.LedgerRequest{Limit: 50}); len(rows.Rows) != 0 {
		t.Errorf("%d imported calls are listed as ours", len(rows.Rows))
	}
	after := must[transfer.FoundReply](p, "transcripts.found", transfer.FoundRequest{})
	for _, found := range after.Found {
		if found.Session == "" || found.Grown {
			t.Errorf("%+v is not known as imported", found)
		}
	}
}

// saved exports a session and reads it as the page does.
func saved(p *page, in transfer.ExportRequest) (name, text string) {
	p.t.Helper()
	out := must[transfer.Exported](p, "transcripts.save", in)
	var all []byte
	for offset := int64(0); ; {
		part := must[transfer.ExportBytes](p, "transcripts.read", transfer.ExportPart{Token: out.Token, Offset: offset})
		all = append(all, part.Data...)
		if offset = part.Next; offset == 0 {
			break
		}
	}
	if _, err := call[transfer.ExportBytes](p, "transcripts.read", transfer.ExportPart{Token: out.Token}); err == nil || err.ID != backend.ProblemExportGone {
		p.t.Errorf("it can be read twice: %v", err)
	}
	return out.Name, string(all)
}

// A session is reviewed and exported in every format without its secrets, unless the
// user keeps them, and our own format is imported again.
func TestExport(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	p := importing(t, server)
	info := must[transfer.ImportReply](p, "transcripts.import", transfer.ImportRequest{Program: agent.ProgramClaudeCode, Name: "-elsewhere/s.jsonl"}).Session
	const secret = "ghp_aB3dE5gH7jK9mN1pQ3sTaB3dE5gH7jK9"
	review := must[transfer.ExportReview](p, "transcripts.review", transfer.ExportRequest{Session: info.ID, Format: transfer.ExportHTML})
	if len(review.Findings) != 1 || review.Findings[0].Value != secret || review.Findings[0].Kind != redact.KindKey || len(review.Findings[0].Places) == 0 ||
		!strings.Contains(review.Preview, "## You") || strings.Contains(review.Preview, secret) || review.Cut {
		t.Errorf("%+v", review)
	}
	for _, format := range []transfer.ExportFormat{transfer.ExportMarkdown, transfer.ExportHTML, transfer.ExportJSON, transfer.ExportOpenAgent, transfer.ExportComate} {
		in := transfer.ExportRequest{Session: info.ID, Format: format}
		name, text := saved(p, in)
		if !strings.HasPrefix(name, "look-around") || strings.Contains(text, secret) || !strings.Contains(text, "[redacted]") || !strings.Contains(text, "a.txt") || !strings.Contains(text, "I look.") {
			t.Errorf("%s %s: %s", format, name, text)
		}
		in.Redact = redact.RedactPolicy{Keep: []string{review.Findings[0].ID}, Words: []string{"look"}}
		in.NoOutput, in.NoReasoning = true, true
		if _, text := saved(p, in); !strings.Contains(text, secret) || strings.Contains(text, "I look.") || strings.Contains(text, "Hm.") || strings.Contains(text, "a.txt\\n[A picture") {
			t.Errorf("%s with another policy: %s", format, text)
		}
	}
	path := filepath.Join(p.folder, "session.json")
	_, text := saved(p, transfer.ExportRequest{Session: info.ID, Format: transfer.ExportJSON})
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	back := must[transfer.ImportReply](p, "transcripts.import", transfer.ImportRequest{Path: "session.json"})
	if back.Session.Imported.ID != info.ID || back.Session.Title != info.Title || back.Session.Messages != info.Messages || back.Session.Imported.Skipped != 0 {
		t.Errorf("%+v", back.Session)
	}
	if left, err := os.ReadDir(filepath.Join(p.home, "exports")); err == nil && len(left) > 0 {
		t.Errorf("%d exports are left", len(left))
	}
}

// The host of a window saves the file where the user wants it, whole or not at all.
func TestExportToAPlace(t *testing.T) {
	t.Parallel()
	server := llmtest.Serve(t)
	place := ""
	p := openPage(t, t.TempDir(), t.TempDir(), environment(server, "sk-test"), func(s *storage.Store) backend.Store { return s }, func(cfg *workbench.Config) {
		cfg.PickSave = func(name string) (string, error) {
			if name != "session.md" {
				t.Errorf("the name is %s", name)
			}
			return place, nil
		}
	})
	id := p.session("compat")
	in := transfer.ExportRequest{Session: id, Format: transfer.ExportMarkdown}
	if out := must[transfer.Exported](p, "transcripts.save", in); out.Path != "" || out.Token != "" {
		t.Errorf("%+v", out)
	}
	place = filepath.Join(t.TempDir(), "out.md")
	must[transfer.Exported](p, "transcripts.save", in)
	info, err := os.Stat(place)
	if err != nil || info.Size() == 0 {
		t.Errorf("%v %v", info, err)
	}
	place = filepath.Join(place, "below", "a", "file")
	if _, err := call[transfer.Exported](p, "transcripts.save", in); err == nil || err.ID != backend.ProblemExportUnsaved {
		t.Errorf("%v", err)
	}
}

// What cannot be imported is refused with the reason, and leaves no session.
func TestImportRefused(t *testing.T) {
	t.Parallel()
	p := importing(t, llmtest.Serve(t))
	put := writer(t)
	put(filepath.Join(p.folder, "diary.txt"), "Dear diary,")
	put(filepath.Join(p.folder, "cut.json"), `{"metadata":{},"messages":[{"role":"user","content":"hi"}`)
	put(filepath.Join(p.folder, "newer.json"), `{"format":"atelier-session","version":99,"events":[]}`)
	put(filepath.Join(p.folder, "empty.jsonl"), `{"type":"summary","summary":"x","leafUuid":"y"}`)
	for path, want := range map[string]backend.ProblemID{
		"diary.txt": backend.ProblemImportUnknown, "cut.json": backend.ProblemImportUnread, "newer.json": backend.ProblemImportNewer,
		"empty.jsonl": backend.ProblemImportEmpty, "gone.json": backend.ProblemImportMissing, ".": backend.ProblemImportUnknown,
	} {
		if _, err := call[transfer.ImportReply](p, "transcripts.import", transfer.ImportRequest{Path: path}); err == nil || err.ID != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, in := range []transfer.ImportRequest{{Program: agent.ProgramClaudeCode, Name: "../../.codex/sessions/2026/02/02/rollout-1.jsonl"}, {Program: "unknown", Name: "x"}, {}} {
		if _, err := call[transfer.ImportReply](p, "transcripts.import", in); err == nil {
			t.Errorf("%+v was imported", in)
		}
	}
	if list, err := p.store.Sessions(t.Context(), p.folder); err != nil || len(list) != 0 {
		t.Errorf("%d sessions, %v", len(list), err)
	}
}

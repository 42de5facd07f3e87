package hooks

import (
	"encoding/json"

	"atelier.dev/atelier/agent"
)

// templates are hooks to begin with. Their commands need a POSIX shell, and what the
// page says beside their names. One without an example has that of its point.
var templates = []HookTemplate{
	{ID: TemplateSecrets, Draft: HookDraft{
		Name: "Keep .env private", Point: agent.HookPreToolUse, Matcher: "*",
		Action: HookAction{Kind: KindCommand, Command: `if grep -qE '\.env(["./ *]|\.[a-z]+|$)'; then echo 'Environment files hold secrets. Work without them.' >&2; exit 2; fi`},
	}, Example: json.RawMessage(`{"hook_event_name":"PreToolUse","tool_name":"Read","tool_input":{"file_path":".env"}}`)},
	{ID: TemplateFormat, Draft: HookDraft{
		Name: "Format Go files", Point: agent.HookPostToolUse, Matcher: "^(Edit|Write)$", Timeout: 30,
		Action: HookAction{Kind: KindCommand, Command: formatGo},
	}, Example: json.RawMessage(`{"hook_event_name":"PostToolUse","tool_name":"Edit","tool_input":{"file_path":"no-such-file.go"},"tool_response":"Edited no-such-file.go."}`)},
	{ID: TemplateTests, Draft: HookDraft{
		Name: "Run the tests", Point: agent.HookStop, Timeout: 300,
		Action: HookAction{Kind: KindCommand, Command: `make test >/tmp/hook-tests.$$ 2>&1 || { tail -40 /tmp/hook-tests.$$ >&2; exit 2; }`},
	}},
	{ID: TemplateNotify, Draft: HookDraft{
		Name: "Tell me at the end", Point: agent.HookStop,
		Action: HookAction{Kind: KindCommand, Command: `printf '{"notification":{"title":"Atelier","body":"The turn has ended.","level":"info"}}'`},
	}},
}

// formatGo formats the one file that was edited. A missing program is reported,
// because a shell goes on without its output.
const formatGo = `for program in python3 gofmt; do
  command -v $program >/dev/null || { echo "Formatting Go files needs $program, which is not installed." >&2; exit 1; }
done
file=$(python3 -c 'import json, sys; print(json.load(sys.stdin)["tool_input"]["file_path"])') || exit 1
case $file in *.go) gofmt -w -- "$file" ;; esac`

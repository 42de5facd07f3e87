package hooks

import "atelier.dev/atelier/agent"

// templates are hooks to begin with. Their commands need nothing but a POSIX shell
// and what their names say.
var templates = []HookTemplate{
	{ID: TemplateSecrets, Draft: HookDraft{
		Name: "Keep .env private", Point: agent.HookPreToolUse, Matcher: "*",
		Action: HookAction{Kind: KindCommand, Command: `if grep -qE '\.env(["./ *]|\.[a-z]+|$)'; then echo 'Environment files hold secrets. Work without them.' >&2; exit 2; fi`},
	}},
	{ID: TemplateFormat, Draft: HookDraft{
		Name: "Format Go files", Point: agent.HookPostToolUse, Matcher: "Edit|Write",
		Action: HookAction{Kind: KindCommand, Command: `git diff --name-only --diff-filter=AM -- '*.go' | xargs -r gofmt -w`},
	}},
	{ID: TemplateTests, Draft: HookDraft{
		Name: "Run the tests", Point: agent.HookStop, Timeout: 300,
		Action: HookAction{Kind: KindCommand, Command: `make test >/tmp/hook-tests.$$ 2>&1 || { tail -40 /tmp/hook-tests.$$ >&2; exit 2; }`},
	}},
	{ID: TemplateNotify, Draft: HookDraft{
		Name: "Tell me at the end", Point: agent.HookStop,
		Action: HookAction{Kind: KindCommand, Command: `printf '{"notification":{"title":"Atelier","body":"The turn has ended.","level":"info"}}'`},
	}},
}

package hook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelier.dev/atelier/agent"
	"atelier.dev/atelier/agent/hook"
	"atelier.dev/atelier/agent/network"
)

// posts returns hooks that post to an address before calls.
func posts(t *testing.T, address, more string) []hook.Handler {
	t.Helper()
	return parse(t, hook.FormAgent, `{"PreToolUse":[{"hooks":[{"type":"http","url":"`+address+`","timeout":60`+more+`}]}]}`)
}

// An http hook posts the input and answers like a command.
func TestRequest(t *testing.T) {
	t.Parallel()
	var got struct {
		Tool string `json:"tool_name"`
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil || r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s %v %v", r.Method, r.Header, err)
		}
		_, _ = io.WriteString(w, `{"hookSpecificOutput":{"permissionDecision":"deny","permissionDecisionReason":"not on Fridays"}}`)
	}))
	defer server.Close()
	r := newRig(t, posts(t, server.URL+"/hook", "")...)
	advice := r.fire(use("Bash", `{}`))
	if advice.Decision != agent.Deny || advice.Reason != "not on Fridays" || got.Tool != "Bash" || r.log[0].Exit.Code != 200 {
		t.Errorf("%+v, %+v, %+v", advice, got, r.log[0])
	}
}

// Only an answer of success with JSON decides. With any other response a guard
// denies the call, and the session goes on.
func TestServersThatMisbehave(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Error("another host was asked")
	}))
	defer elsewhere.Close()
	const allows = `{"permissionDecision":"allow"}`
	for name, c := range map[string]struct {
		serve   http.HandlerFunc
		outcome hook.Outcome
		cause   hook.Cause
		want    agent.Decision
	}{
		"says nothing": {func(http.ResponseWriter, *http.Request) {}, hook.OutcomeRan, "", ""},
		"says no JSON": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }, hook.OutcomeRan, "", ""},
		"half JSON":    {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, allows[:20]) }, hook.OutcomeFailed, hook.CauseJSON, agent.Deny},
		"500":          {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500); _, _ = io.WriteString(w, allows) }, hook.OutcomeFailed, hook.CauseStatus, agent.Deny},
		"404":          {http.NotFound, hook.OutcomeFailed, hook.CauseStatus, agent.Deny},
		"much": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "{\"x\":\""+strings.Repeat("x", 2<<20)+"\"}")
		}, hook.OutcomeFailed, hook.CauseOutput, agent.Deny},
		"without end": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = io.WriteString(w, strings.Repeat("x", 1<<16))
			}
		}, hook.OutcomeFailed, hook.CauseOutput, agent.Deny},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }, hook.OutcomeTimedOut, "", agent.Deny},
		"hangs within": {func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			_, _ = io.WriteString(w, "{")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, hook.OutcomeTimedOut, "", agent.Deny},
		"breaks off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, hook.OutcomeFailed, hook.CauseRequest, agent.Deny},
		"redirects": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		}, hook.OutcomeFailed, hook.CauseRequest, agent.Deny},
		"drops inputs": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/x", http.StatusSeeOther) }, hook.OutcomeFailed, hook.CauseRequest, agent.Deny},
		"in a circle":  {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusPermanentRedirect) }, hook.OutcomeFailed, hook.CauseRequest, agent.Deny},
		"moved at home": {func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); r.URL.Path == "/new" && strings.Contains(string(body), "tool_name") {
				_, _ = io.WriteString(w, allows)
				return
			}
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
		}, hook.OutcomeRan, "", agent.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(c.serve)
			defer server.Close()
			handlers := posts(t, server.URL, "")
			if c.outcome == hook.OutcomeTimedOut {
				handlers = timed(handlers, 50*time.Millisecond)
			}
			r := newRig(t, handlers...)
			advice := r.fire(use("Bash", `{}`))
			if advice.Decision != c.want || r.log[0].Outcome != c.outcome || r.log[0].Cause != c.cause {
				t.Errorf("%+v: %s %s %s", advice, r.log[0].Outcome, r.log[0].Cause, r.log[0].Detail)
			}
			if name == "redirects" && !strings.Contains(advice.Reason, "redirects to another host") {
				t.Errorf("%+v", advice)
			}
		})
	}
}

// A stop by the user ends a request.
func TestInterruptedRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	r := newRig(t, timed(posts(t, server.URL, ""), hook.MostTime)...)
	if advice := r.fireIn(ctx, use("Bash", `{}`)); advice.Decision != agent.Deny || r.outcomes() != "interrupted" {
		t.Errorf("%+v, %+v", advice, r.log)
	}
}

// A request reaches the address that the user has seen, and nothing that is
// denied. What cannot be reached denies the call without naming more than the host.
func TestRequestsKeepToTheRules(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }))
	defer server.Close()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	gone := closed.Addr().String()
	closed.Close()
	for address, c := range map[string]struct {
		denied []string
		says   string
	}{
		server.URL: {nil, ""},
		strings.Replace(server.URL, "127.0.0.1", "localhost", 1): {nil, ""},
		server.URL + "/":  {[]string{"127.0.0.1"}, "127.0.0.1"},
		server.URL + "/x": {[]string{"not a host!"}, "rule"},
		"http://" + gone + "/?key=secret-in-the-address": {nil, gone},
		"http://metadata.invalid/":                       {nil, "metadata.invalid"},
	} {
		r := newRig(t, posts(t, address, "")...)
		r.options.Network = func() network.Settings { return network.Settings{DeniedDomains: c.denied} }
		advice := r.fire(use("Bash", `{}`))
		if (advice.Decision == agent.Deny) != (c.says != "") || !strings.Contains(advice.Reason, c.says) || strings.Contains(advice.Reason, "secret-in") {
			t.Errorf("%s: %+v", address, advice)
		}
	}
}

// K-35: a header gets the variables that the hook lists. A hook of a project gets
// none that looks like a secret unless the user lets it pass.
func TestHeaders(t *testing.T) {
	t.Setenv("HOOK_WEB_TOKEN", "tok-12345678")
	t.Setenv("HOOK_WEB_TEAM", "blue-team")
	var headers http.Header
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		headers = r.Header
		fmt.Fprintf(w, `{"reason":%q,"permissionDecision":"ask"}`, "echo "+r.Header.Get("Authorization")+r.Header.Get("X-Team"))
	}))
	defer server.Close()
	for _, c := range []struct {
		scope   hook.Scope
		allowed string
		allow   []string
		auth    string
		cause   hook.Cause
	}{
		{hook.ScopeUser, `"HOOK_WEB_TOKEN","HOOK_WEB_TEAM"`, nil, "Bearer tok-12345678", ""},
		{hook.ScopeUser, `"HOOK_WEB_TEAM"`, nil, "", hook.CauseNotAllowed},
		{hook.ScopeProject, `"HOOK_WEB_TOKEN","HOOK_WEB_TEAM"`, nil, "", hook.CauseNotAllowed},
		{hook.ScopeLocal, `"HOOK_WEB_TOKEN","HOOK_WEB_TEAM"`, nil, "", hook.CauseNotAllowed},
		{hook.ScopeProject, `"HOOK_WEB_TOKEN","HOOK_WEB_TEAM"`, []string{"HOOK_WEB_TOKEN"}, "Bearer tok-12345678", ""},
	} {
		handlers := posts(t, server.URL, `,"headers":{"Authorization":"Bearer $HOOK_WEB_TOKEN","X-Team":"${HOOK_WEB_TEAM}!"},"allowedEnvVars":[`+c.allowed+`]`)
		handlers[0].Origin.Scope = c.scope
		r := newRig(t, handlers...)
		r.options.Allow = c.allow
		headers = http.Header{}
		advice := r.fire(use("Bash", `{}`))
		if headers.Get("Authorization") != c.auth || r.log[0].Cause != c.cause || c.auth != "" && headers.Get("X-Team") != "blue-team!" {
			t.Errorf("%s, %s: %v, %+v", c.scope, c.allowed, headers, r.log[0])
		}
		if c.cause != "" && (advice.Decision != agent.Deny || !strings.Contains(advice.Reason, "HOOK_WEB_TOKEN")) {
			t.Errorf("%+v", advice)
		}
		if text, _ := json.Marshal(r.log[0]); strings.Contains(string(text), "tok-12345678") || strings.Contains(string(text), "blue-team") {
			t.Errorf("logged %s", text)
		}
	}
}

// K-16: a server that repeats what it was sent brings no secret to the model, the user or
// a log, whether a variable or the file had it.
func TestServersThatRepeatHeaders(t *testing.T) {
	t.Setenv("HOOK_WEB_TOKEN", "tok-12345678")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		said := strings.ReplaceAll(`{"permissionDecision":"ask","reason":"R","additionalContext":"R","systemMessage":"R","updatedToolOutput":"R",
			"notification":{"title":"R","body":"R"},"stopReason":"R","sessionTitle":"R"}`, "R", r.Header.Get("X-Token")+" "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		_, _ = io.WriteString(w, said)
	}))
	defer server.Close()
	handlers := posts(t, server.URL, `,"headers":{"Authorization":"Bearer written-down","X-Token":"$HOOK_WEB_TOKEN","Accept":"application/json"},"allowedEnvVars":["HOOK_WEB_TOKEN"]`)
	r := newRig(t, handlers...)
	advice := r.fire(use("Bash", `{}`))
	if advice.Decision != agent.Ask || advice.Reason != "[redacted] [redacted]" || *advice.Output != advice.Reason {
		t.Errorf("%+v", advice)
	}
	for _, what := range []any{advice, r.reported, r.log} {
		if text, _ := json.Marshal(what); strings.Contains(string(text), "tok-12345678") || strings.Contains(string(text), "written-down") {
			t.Errorf("%s", text)
		}
	}
}
